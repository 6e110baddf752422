# print, summary, coef, residuals, fitted, weights, nobs and predict.

coef.roofs <- function(object, all = FALSE, ...)
{
    used <- object$features[all | object$features$selected, ]
    values <- c(object$intercept, used$coef)
    names(values) <- c("(Intercept)", used$name)
    if (object$settings[["intercept"]] == "1") values else values[-1L]
}

nobs.roofs <- function(object, ...) object$n

residuals.roofs <- function(object, ...)
{
    if (is.null(object$residuals))
        stop("a model that was read from a file has no residuals; subtract predict(object, x) from the responses")
    naresid(object$na.action, object$residuals)
}

fitted.roofs <- function(object, ...)
{
    if (is.null(object$fitted.values))
        stop("a model that was read from a file has no fitted values; use predict(object, x)")
    naresid(object$na.action, object$fitted.values)
}

weights.roofs <- function(object, type = c("robustness", "prior"), ...)
{
    type <- match.arg(type)
    if (type == "prior")
        return(rep(1, object$n))
    naresid(object$na.action, if (is.null(object$clean)) as.numeric(object$trusted) else object$clean)
}

print.roofs <- function(x, digits = max(3L, getOption("digits") - 3L), ...)
{
    cat("\nCall:\n", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
    cat(format(x$method), ": ", x$n, " samples, ", sum(x$trusted), " trusted; ",
        format(x$features_seen, big.mark = ","), " features, ", nrow(x$features), " kept, ", sum(x$features$selected),
        " selected\n\n", sep = "")
    shown <- coef(x)
    cat("Coefficients of selected features:\n")
    print(utils_head(shown, 20L), digits = digits)
    if (length(shown) > 20L)
        cat("and ", length(shown) - 20L, " more\n", sep = "")
    cat("\n")
    invisible(x)
}

utils_head <- function(x, most) x[seq_len(min(length(x), most))]

summary.roofs <- function(object, ...)
{
    used <- object$features[object$features$selected, ]
    table <- cbind(Estimate = used$coef, "Std. Error" = used$error, Probability = used$probability)
    rownames(table) <- used$name
    if (object$settings[["intercept"]] == "1")
        table <- rbind("(Intercept)" = c(object$intercept, object$intercept_error, NA), table)
    table <- table[, colSums(!is.na(table)) > 0L, drop = FALSE]
    structure(list(call = object$call, method = object$method, n = object$n, trusted = sum(object$trusted),
                   features_seen = object$features_seen, kept = nrow(object$features), coefficients = table,
                   scale = object$scale, cut = object$cut, groups = object$groups, stop = object$stop,
                   residuals = object$residuals, rounds = object$rounds, warnings = object$warnings),
              class = "summary.roofs")
}

print.summary.roofs <- function(x, digits = max(3L, getOption("digits") - 3L), most = 20L, ...)
{
    cat("\nCall:\n", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
    cat("Method ", x$method, ", ", x$stop, " after ", x$rounds, " rounds\n", sep = "")
    cat(x$n, " samples, ", x$trusted, " trusted (", format(100 * x$trusted / x$n, digits = 3L), "%)\n", sep = "")
    cat(format(x$features_seen, big.mark = ","), " features seen, ", x$kept, " kept\n", sep = "")
    if (!is.null(x$residuals)) {
        cat("\nResiduals:\n")
        print(stats::quantile(x$residuals, names = FALSE), digits = digits)
    }
    cat("\nSelected features:\n")
    table <- x$coefficients
    print(table[seq_len(min(nrow(table), most)), , drop = FALSE], digits = digits, na.print = "")
    if (nrow(table) > most)
        cat("and ", nrow(table) - most, " more\n", sep = "")
    if (!is.na(x$scale))
        cat("\nScale of clean responses around the model: ", format(x$scale, digits = digits), "\n", sep = "")
    several <- Filter(function(group) nrow(group$members) > 1L, x$groups)
    for (group in utils_head(several, 5L))
        cat("One of ", nrow(group$members), " features that look alike has an effect (probability ",
            format(group$exists, digits = 3L), "): ", paste(member_names(group)[seq_len(min(5L, nrow(group$members)))],
                                                            collapse = ", "), "\n", sep = "")
    if (length(x$warnings))
        cat("Warnings of the fit: ", paste(x$warnings, collapse = ", "), "\n", sep = "")
    cat("\n")
    invisible(x)
}

member_names <- function(group)
    ifelse(is.na(group$members$name), paste0("x", group$members$index), group$members$name)

predict.roofs <- function(object, newdata, interval = c("none", "prediction"), level = 0.95, ...)
{
    interval <- match.arg(interval)
    if (missing(newdata)) {
        if (interval != "none")
            stop("intervals are for new samples: give newdata")
        return(fitted(object))
    }
    x <- new_features(object, newdata)
    if (!is(x, "dgCMatrix"))
        storage.mode(x) <- "double"
    out <- .Call(r_predict, open_model(object), x, colnames(x), if (interval == "none") NA_real_ else as.double(level))
    if (interval == "none") {
        out <- drop(out)
        names(out) <- rownames(x)
        out
    } else {
        dimnames(out) <- list(rownames(x), c("fit", "lwr", "upr"))
        out
    }
}

new_features <- function(object, newdata)
{
    tt <- object$terms
    if (is.null(tt))
        return(as_features(newdata))
    tt <- delete.response(tt)
    frame <- model.frame(tt, newdata, na.action = stats::na.pass, xlev = object$xlevels)
    if (!is.null(classes <- attr(tt, "dataClasses")))
        .checkMFClasses(classes, frame)
    design(tt, frame, object$contrasts)
}
