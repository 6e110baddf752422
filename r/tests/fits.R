# Every kind of input, the methods, files, errors. Each check stops with the expression that does not hold.
library(roofs)

set.seed(1)
n <- 200
x <- matrix(rnorm(n * 120), n, dimnames = list(NULL, paste0("f", 1:120)))
y <- 3 * x[, 7] - 2 * x[, 111] + rnorm(n, sd = 0.1)
y[1:40] <- y[1:40] + 100
fit <- roofs(x, y, mu = 2, threads = 2)
text <- function(fit) fit$json

# The right features, coefficients and samples.
stopifnot(identical(names(coef(fit)), c("(Intercept)", "f7", "f111")),
          max(abs(coef(fit) - c(0, 3, -2))) < 0.1,
          identical(which(weights(fit) < 0.5), 1:40), identical(which(!fit$trusted), 1:40),
          all(weights(fit, "prior") == 1), nobs(fit) == n)

# Residuals and predictions agree.
stopifnot(identical(fitted(fit), predict(fit)),
          all.equal(unname(predict(fit, x)), fitted(fit), tolerance = 1e-12),
          all.equal(residuals(fit), y - fitted(fit), tolerance = 1e-12))
p <- predict(fit, x[50:60, ], interval = "prediction", level = 0.9)
stopifnot(all(p[, "lwr"] < p[, "fit"] & p[, "fit"] < p[, "upr"]), identical(p[, "fit"], predict(fit, x[50:60, ])))
wider <- predict(fit, x[50:60, ], interval = "prediction", level = 0.99)
stopifnot(all(wider[, "upr"] - wider[, "lwr"] > p[, "upr"] - p[, "lwr"]))

# Features of new samples are found by name.
stopifnot(identical(predict(fit, x[, 120:1]), predict(fit, x)))

# Threads, blocks and storage do not change the model.
stopifnot(identical(text(roofs(x, y, mu = 2, threads = 1)), text(fit)))
for (size in c(1, 7, 60, 120)) {
    blocks <- function(k) if (size * (k - 1) < 120) x[, (size * (k - 1) + 1):min(120, size * k), drop = FALSE]
    stopifnot(identical(text(roofs(blocks, y, mu = 2, threads = 2)), text(fit)))
}
whole <- round(10 * x)
mode(whole) <- "integer"
stopifnot(identical(text(roofs(whole, y, mu = 2, threads = 2)), text(roofs(whole + 0, y, mu = 2, threads = 2))))

# Sparse matrices give the same selection as dense ones.
z <- x * (abs(x) > 1)
sparse <- Matrix::Matrix(z, sparse = TRUE)
yz <- 3 * z[, 7] - 2 * z[, 111] + rnorm(n, sd = 0.1)
a <- roofs(sparse, yz, mu = 2, threads = 2)
dense <- roofs(z, yz, mu = 2, threads = 2)
stopifnot(identical(names(coef(a)), names(coef(fit))), max(abs(coef(a) - coef(dense))) < 1e-6,
          isTRUE(all.equal(predict(a, sparse), predict(a, z))))
two <- function(k) if (k <= 2) sparse[, 60 * (k - 1) + 1:60]
stopifnot(identical(text(roofs(two, yz, mu = 2, threads = 2)), text(a)))

# Formulas, factors, missing values.
data <- data.frame(y = y, a = x[, 7], b = x[, 111], c = factor(rep(c("u", "v"), n / 2)))
data$y <- data$y + 5 * (data$c == "v")
data$a[100] <- NA
f <- roofs(y ~ ., data, threads = 2)
stopifnot(nobs(f) == n - 1, setequal(f$features$name, c("a", "b", "cv")), abs(coef(f)[["cv"]] - 5) < 0.1,
          length(residuals(f)) == n - 1)
new <- data.frame(a = 0, b = 0, c = c("v", "u"))
stopifnot(abs(diff(unname(predict(f, new))) + 5) < 0.1)
none <- roofs(y ~ a + b - 1, data, threads = 2)
stopifnot(!"(Intercept)" %in% names(coef(none)))
d <- roofs(data[-100, -1], data$y[-100], threads = 2)
stopifnot(isTRUE(all.equal(coef(d), coef(f))), isTRUE(all.equal(predict(d, new), predict(f, new))))

# Files and R's own ways to save.
file <- tempfile(fileext = ".json")
write_roofs(fit, file)
loaded <- read_roofs(file)
stopifnot(identical(coef(loaded), coef(fit)), identical(predict(loaded, x), predict(fit, x)),
          identical(text(loaded), text(fit)))
saveRDS(fit, file)
again <- readRDS(file)
stopifnot(identical(predict(again, x), predict(fit, x)), identical(residuals(again), residuals(fit)))
unlink(file)

# Errors say what is wrong.
fails <- function(expression, pattern)
{
    message <- tryCatch({ expression; "no error" }, error = conditionMessage)
    if (!grepl(pattern, message))
        stop("wanted '", pattern, "', got '", message, "'")
}
fails(roofs(x, y[-1]), "200 samples, but there are 199 responses")
fails(roofs(x, y, mo = 2), "no setting mo")
fails(roofs(x, y, 2), "settings must be named")
fails(roofs(x, y, mu = -1), "mu")
fails(roofs(x, replace(y, 3, NA)), "finite")
fails(roofs(replace(x, 201, Inf), y), "f2")
fails(roofs(x, letters), "numeric vector")
fails(predict(fit, x[, -7]), "f7")
fails(residuals(loaded), "no residuals")
fails(read_roofs(tempfile()), "cannot|No such")
fails(roofs(x, y, threads = 2, monitor = function(now) stop("enough")), "enough")
fails(roofs(function(k) if (k == 1) x else x[-1, ], y), "block 2 has 199 samples")

# The monitor gets numbers that grow.
seen <- NULL
invisible(roofs(x, y, threads = 2, monitor = function(now) seen <<- c(seen, now$features)))
stopifnot(length(seen) >= 1, !is.unsorted(seen) || max(seen) <= 360)

# Ctrl-C stops a fit, also in the monitor.
interrupt <- function(now) tools::pskill(Sys.getpid(), tools::SIGINT)
stopped <- tryCatch({ roofs(x, y, threads = 2, monitor = interrupt); "done" },
                    interrupt = function(condition) "stopped")
stopifnot(identical(stopped, "stopped"))

# Output and pictures.
shown <- capture.output(print(fit), print(summary(fit)))
stopifnot(any(grepl("160 trusted", shown)), any(grepl("Std. Error", shown)), any(grepl("f111", shown)))
pdf(NULL)
stopifnot(identical(plot(fit), fit))
invisible(dev.off())

# Every method fits.
for (method in roofs_methods()$method)
    stopifnot(inherits(roofs(x, y, mu = 5, method = method, clean_ratio = 0.7, threads = 2), "roofs"))
stopifnot(nrow(roofs_settings()) > 15)
