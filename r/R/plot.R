# Four pictures of a fit.

plot.roofs <- function(x, which = 1:4, ask = FALSE, ...)
{
    pictures <- list(plot_residuals, plot_samples, plot_features, plot_stream)
    before <- par(ask = ask)
    on.exit(par(before))
    for (k in which)
        pictures[[k]](x, ...)
    invisible(x)
}

trust_colour <- function(x) ifelse(x$trusted, "grey30", "#d9432f")

plot_residuals <- function(x, ...)
{
    if (is.null(x$residuals))
        return(invisible(NULL))
    plot(x$fitted.values, x$residuals, col = trust_colour(x), pch = ifelse(x$trusted, 1L, 4L), cex = 0.7,
         xlab = "Fitted values", ylab = "Residuals", main = "Residuals", ...)
    abline(h = c(-1, 1) * x$cut, lty = 2L)
    legend("topright", c("trusted", "not trusted"), pch = c(1L, 4L), col = c("grey30", "#d9432f"), bty = "n")
}

plot_samples <- function(x, ...)
{
    if (is.null(x$clean))
        return(invisible(NULL))
    hist(x$clean, breaks = seq(0, 1, 0.05), col = "grey80", border = "white", xlab = "Probability", ylab = "Samples",
         main = "Probability that a sample is clean", ...)
}

plot_features <- function(x, most = 20L, ...)
{
    used <- x$features[x$features$selected, ]
    used <- used[utils_head(order(-abs(used$coef)), most), ]
    if (nrow(used) == 0L)
        return(invisible(NULL))
    used <- used[rev(seq_len(nrow(used))), ]
    half <- ifelse(is.na(used$error), 0, qnorm(0.975) * used$error)
    place <- seq_len(nrow(used))
    before <- par(mar = c(4, 8, 3, 1))
    on.exit(par(before))
    plot(used$coef, place, xlim = range(0, used$coef - half, used$coef + half), yaxt = "n", ylab = "",
         xlab = "Coefficient", main = "Selected features, with 95% intervals", pch = 19L, ...)
    segments(used$coef - half, place, used$coef + half, place)
    axis(2L, place, used$name, las = 1L, cex.axis = 0.8)
    abline(v = 0, lty = 3L)
}

plot_stream <- function(x, ...)
{
    if (nrow(x$history) == 0L)
        return(invisible(NULL))
    plot(cumsum(x$history$features), x$history$trusted, type = "s", xlab = "Features read", ylab = "Samples trusted",
         main = "The stream", ylim = c(0, x$n), ...)
    points(cumsum(x$history$features), x$history$trusted, pch = 20L)
}
