# Fits: matrices, sparse matrices, streams of blocks, data frames and formulas.

roofs <- function(x, ...) UseMethod("roofs")

roofs.default <- function(x, y, ..., names = NULL, progress = FALSE, monitor = NULL)
{
    cl <- match.call()
    y <- checked_response(y)
    fit <- if (is.function(x))
        fit_stream(x, y, settings_text(...), progress, monitor)
    else
        fit_matrix(as_features(x), y, names, settings_text(...), progress, monitor)
    finished(fit, y, cl)
}

roofs.data.frame <- function(x, y, ...)
{
    cl <- match.call()
    if (missing(y))
        stop("y is missing: give the responses, or use a formula")
    frame <- model.frame(~ ., x, na.action = stats::na.fail)
    tt <- terms(frame)
    x <- design(tt, frame)
    with_terms(roofs.default(x, y, ...), cl, tt, frame, x)
}

roofs.formula <- function(formula, data, subset, na.action, ...)
{
    cl <- match.call()
    call <- cl[c(1L, match(c("formula", "data", "subset", "na.action"), names(cl), 0L))]
    call[[1L]] <- quote(stats::model.frame)
    frame <- eval(call, parent.frame())
    tt <- attr(frame, "terms")
    if (attr(tt, "response") == 0L)
        stop("the formula has no response")
    has_intercept <- attr(tt, "intercept") == 1L
    x <- design(tt, frame)
    fit <- roofs.default(x, model.response(frame, "numeric"), intercept = has_intercept, ...)
    fit$na.action <- attr(frame, "na.action")
    with_terms(fit, cl, tt, frame, x)
}

with_terms <- function(fit, call, tt, frame, x)
{
    fit$call <- call
    fit$terms <- tt
    fit$xlevels <- .getXlevels(tt, frame)
    fit$contrasts <- attr(x, "contrasts")
    fit
}

# The columns of the model matrix, without that of the intercept.
design <- function(tt, frame, contrasts = NULL)
{
    x <- model.matrix(tt, frame, contrasts.arg = contrasts)
    used <- attr(x, "contrasts")
    x <- x[, colnames(x) != "(Intercept)", drop = FALSE]
    attr(x, "contrasts") <- used
    x
}

# ---- input -----------------------------------------------------------------------------------

checked_response <- function(y)
{
    if (is.factor(y) || !(is.numeric(y) || is.logical(y)) || NCOL(y) != 1L)
        stop("y must be a numeric vector with one response per sample")
    as.double(y)
}

# A matrix of numbers or a dgCMatrix.
as_features <- function(x)
{
    if (is(x, "dgCMatrix"))
        return(x)
    if (is(x, "sparseMatrix"))
        return(as(as(as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix"))
    if (is.null(dim(x)) && is.numeric(x))
        x <- matrix(x, ncol = 1L)
    if (is(x, "Matrix") || is.data.frame(x))
        x <- as.matrix(x)
    if (!is.matrix(x) || !(is.numeric(x) || is.logical(x)))
        stop("features must be a numeric matrix, a sparse matrix of package Matrix, or a function that returns ",
             "blocks; this is ", class(x)[1L])
    x
}

check_rows <- function(x, n, what)
{
    if (nrow(x) != n)
        stop(what, " has ", nrow(x), " samples, but there are ", n, " responses")
}

feature_names <- function(x, names)
{
    if (is.null(names))
        names <- colnames(x)
    if (!is.null(names) && length(names) != ncol(x))
        stop(length(names), " names for ", ncol(x), " features")
    if (is.null(names)) NULL else as.character(names)
}

# One word per setting, as the library reads it.
settings_text <- function(...)
{
    given <- list(...)
    if (length(given) && (is.null(names(given)) || any(names(given) == "")))
        stop("settings must be named, as in roofs(x, y, mu = 50)")
    unknown <- setdiff(names(given), roofs_settings()$setting)
    if (length(unknown))
        stop("there is no setting ", unknown[1L], "; roofs_settings() lists them")
    vapply(given, one_word, "")
}

one_word <- function(value)
{
    if (length(value) != 1L || is.na(value))
        stop("a setting must be one number, TRUE, FALSE or a word")
    if (is.character(value))
        value
    else
        format(as.numeric(value), digits = 17L, scientific = FALSE, trim = TRUE)
}

# ---- the fit ---------------------------------------------------------------------------------

fit_matrix <- function(x, y, names, settings, progress, monitor)
{
    check_rows(x, length(y), "x")
    names <- feature_names(x, names)
    fit <- .Call(r_create, settings, y, ncol(x), callback_of(progress, monitor))
    fit_passes(fit, function() consume(fit, x, names))
    if (progress)
        progress_end()
    fit
}

# x(k) is block k of the stream, NULL after the last one.
fit_stream <- function(x, y, settings, progress, monitor)
{
    fit <- .Call(r_create, settings, y, 0, callback_of(progress, monitor))
    batch <- .Call(r_batch, fit)
    fit_passes(fit, function() consume_stream(fit, x, length(y), batch))
    if (progress)
        progress_end()
    fit
}

fit_passes <- function(fit, read)
{
    read()
    while (.Call(r_wants_pass, fit)) {
        checked(.Call(r_next_pass, fit))
        read()
    }
    checked(.Call(r_finish, fit))
}

# Matrices of doubles and sparse ones are not copied. Whole numbers and flags are, one batch at a time.
consume <- function(fit, x, names)
{
    if (is(x, "dgCMatrix") || is.double(x))
        return(checked(.Call(r_consume, fit, x, names, 0, ncol(x))))
    batch <- .Call(r_batch, fit)
    for (first in seq(1, by = batch, length.out = ceiling(ncol(x) / batch))) {
        columns <- first:min(first + batch - 1, ncol(x))
        part <- x[, columns, drop = FALSE]
        storage.mode(part) <- "double"
        checked(.Call(r_consume, fit, part, names[columns], 0, length(columns)))
    }
}

# Cuts the stream into batches, so that the model does not depend on where blocks begin and end.
consume_stream <- function(fit, x, n, batch)
{
    held <- NULL
    k <- 1L
    while (!is.null(block <- x(k))) {
        block <- as_features(block)
        check_rows(block, n, paste("block", k))
        held <- joined(held, block)
        whole <- ncol(held) %/% batch * batch
        if (whole > 0) {
            consume(fit, held[, seq_len(whole), drop = FALSE], colnames(held)[seq_len(whole)])
            held <- held[, -seq_len(whole), drop = FALSE]
        }
        k <- k + 1L
    }
    if (!is.null(held) && ncol(held) > 0L)
        consume(fit, held, colnames(held))
}

joined <- function(held, block)
{
    if (is.null(held) || ncol(held) == 0L)
        return(block)
    if (is.null(colnames(held)) != is.null(colnames(block)))
        stop("some features of the stream have names and others have none; name all of them, or none")
    as_features(if (is(held, "Matrix") || is(block, "Matrix")) Matrix::cbind2(held, block) else cbind(held, block))
}

# ---- progress and interrupts -----------------------------------------------------------------

callback_of <- function(progress, monitor)
{
    if (!is.null(monitor) && !is.function(monitor))
        stop("monitor must be a function")
    if (!progress && is.null(monitor))
        return(NULL)
    report <- function(now) {
        if (progress)
            cat(sprintf("\rbatch %.0f: %.0f features, %.0f kept, %.0f samples trusted ", now$batch, now$features,
                        now$selected, now$trusted), file = stderr())
        if (!is.null(monitor))
            monitor(now)
        TRUE
    }
    function(now) tryCatch(report(now), interrupt = function(condition) FALSE)
}

progress_end <- function() cat("\n", file = stderr())

checked <- function(outcome)
{
    if (outcome == "callback")
        stop("the monitor has failed: ", sub("^Error[^:]*: *", "", trimws(geterrmessage())), call. = FALSE)
    if (outcome == "interrupt") {
        condition <- structure(list(message = "", call = NULL), class = c("interrupt", "condition"))
        signalCondition(condition)
        invokeRestart("abort")
    }
    invisible(NULL)
}
