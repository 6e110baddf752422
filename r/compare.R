# Compares roofs with robustbase::lmrob, glmnet and robustHD::sparseLTS on tables with corrupted responses.
#   Rscript compare.R TABLES [SPLITS]
# TABLES is a folder of NAME.csv.xz: columns of features and the response y. Prints the mean absolute error on clean
# test responses, in units of the standard deviation of the training responses, as a table in Markdown. Packages that
# are not installed are left out; lmrob needs more samples than features.
library(roofs)

methods <- list(
    roofs = function(x, y, new) predict(suppressWarnings(roofs(x, y, threads = 2)), new),
    lmrob = function(x, y, new) {
        control <- robustbase::lmrob.control(max.it = 500, k.max = 2000, maxit.scale = 1000)
        beta <- stats::coef(robustbase::lmrob(y ~ x, control = control)) # drops collinear columns
        drop(cbind(1, new) %*% ifelse(is.na(beta), 0, beta))
    },
    glmnet = function(x, y, new) {
        fit <- glmnet::cv.glmnet(x, y, type.measure = "mae")
        drop(stats::predict(fit, new, s = "lambda.min"))
    },
    sparseLTS = function(x, y, new) {
        fit <- robustHD::sparseLTS(x, y, lambda = c(0.3, 0.1, 0.03, 0.01), mode = "fraction", nsamp = c(30, 5),
                                   seed = 1)
        drop(stats::predict(fit, new))
    })
needs <- c(roofs = "roofs", lmrob = "robustbase", glmnet = "glmnet", sparseLTS = "robustHD")

attacks <- list(
    none = function(y, bad) y,
    uniform = function(y, bad) replace(y, bad, y[bad] + stats::runif(length(bad), -5, 5) * diff(range(y))),
    constant = function(y, bad) replace(y, bad, max(y) + 3 * stats::sd(y)),
    swap = function(y, bad) replace(y, bad, y[sample(bad)]))

standardised <- function(x, like)
{
    middle <- colMeans(like)
    scale <- apply(like, 2, stats::sd)
    sweep(sweep(x, 2, middle), 2, ifelse(scale > 0, scale, 1), "/")
}

error_of <- function(method, x, y, new, truth)
    tryCatch(mean(abs(method(x, y, new) - truth)), error = function(e) NA_real_)

one_split <- function(table, attack, share, split)
{
    set.seed(1000 + split)
    y <- table$y
    x <- as.matrix(table[names(table) != "y"])
    test <- sample(length(y), round(length(y) / 5))
    train <- standardised(x[-test, , drop = FALSE], x[-test, , drop = FALSE])
    new <- standardised(x[test, , drop = FALSE], x[-test, , drop = FALSE])
    unit <- stats::sd(y[-test])
    bad <- sample(nrow(train), round(share * nrow(train)))
    response <- attacks[[attack]]((y[-test] - mean(y[-test])) / unit, bad)
    truth <- (y[test] - mean(y[-test])) / unit
    vapply(methods, error_of, 0, train, response, new, truth)
}

arguments <- commandArgs(TRUE)
if (length(arguments) < 1)
    stop("usage: Rscript compare.R TABLES [SPLITS]")
splits <- if (length(arguments) > 1) as.integer(arguments[2]) else 3L
methods <- methods[vapply(needs, requireNamespace, TRUE, quietly = TRUE)]
cat("| table | responses | ", paste(names(methods), collapse = " | "), " |\n|---|---|", strrep("---|", length(methods)),
    "\n", sep = "")
for (file in list.files(arguments[1], "\\.csv\\.xz$", full.names = TRUE)) {
    table <- utils::read.csv(file)
    for (attack in names(attacks)) {
        share <- if (attack == "none") 0 else 0.2
        errors <- vapply(seq_len(splits), function(k) one_split(table, attack, share, k), numeric(length(methods)))
        errors <- rowMeans(matrix(errors, length(methods)))
        shown <- ifelse(is.na(errors), "-", sprintf("%.3f", errors))
        cat("| ", sub("\\.csv\\.xz$", "", basename(file)), " | ", if (share > 0) "20% ", attack, " | ",
            paste(shown, collapse = " | "), " |\n", sep = "")
    }
}
