# The R object of a model. It holds the text of the model file: it can be saved as any R object.

finished <- function(fit, y, call)
{
    view <- .Call(r_view, fit)
    pointer <- .Call(r_model, fit)
    object <- object_of(pointer, view, call)
    object$residuals <- view$residuals
    object$fitted.values <- y - view$residuals
    for (word in names(view$warnings))
        warning(view$warnings[[word]], call. = FALSE)
    object
}

object_of <- function(pointer, view, call)
{
    open <- new.env(parent = emptyenv())
    open$pointer <- pointer
    features <- as.data.frame(view$features)
    no_name <- is.na(features$name)
    features$name[no_name] <- paste0("x", format(features$index, scientific = FALSE, trim = TRUE))[no_name]
    structure(list(call = call, method = view$method, intercept = view$intercept, features = features,
                   intercept_error = view$intercept_error, scale = view$scale, n = view$n,
                   features_seen = view$features_seen, trusted = view$trusted, clean = view$clean, cut = view$cut,
                   rounds = view$rounds, history = as.data.frame(view$history), groups = lapply(view$groups, group_of),
                   groups_known = !is.null(view$groups), stop = view$stop, warnings = names(view$warnings),
                   settings = settings_of(pointer), json = model_text(pointer), open = open),
              class = "roofs")
}

group_of <- function(group)
{
    group$members <- as.data.frame(group$members)
    group
}

settings_of <- function(pointer)
{
    names <- roofs_settings()$setting
    values <- lapply(names, function(name) .Call(r_model_setting, pointer, name))
    names(values) <- names
    unlist(values[!is.na(values)])
}

model_text <- function(pointer)
{
    path <- tempfile(fileext = ".json")
    on.exit(unlink(path))
    .Call(r_model_write, pointer, path)
    readChar(path, file.size(path), useBytes = TRUE)
}

# The model of the library, which is read again if the object was saved.
open_model <- function(object)
{
    if (!.Call(r_model_is_open, object$open$pointer)) {
        path <- tempfile(fileext = ".json")
        on.exit(unlink(path))
        writeChar(object$json, path, eos = NULL, useBytes = TRUE)
        object$open$pointer <- .Call(r_model_read, path)
    }
    object$open$pointer
}

write_roofs <- function(object, file)
{
    .Call(r_model_write, open_model(object), path.expand(file))
    invisible(object)
}

read_roofs <- function(file)
{
    pointer <- .Call(r_model_read, path.expand(file))
    object_of(pointer, .Call(r_model_view, pointer), match.call())
}

roofs_methods <- function() as.data.frame(.Call(r_methods))

roofs_settings <- function() as.data.frame(.Call(r_settings))
