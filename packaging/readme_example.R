# The data of readme_example.py, fitted in R: for tests of the R package.
#   readme_example.R MODEL X.npy Y.npy
library(roofs)

read_npy <- function(path)
{
    file <- file(path, "rb")
    on.exit(close(file))
    start <- as.integer(readBin(file, "raw", 10L))
    header <- rawToChar(readBin(file, "raw", start[9L] + 256L * start[10L]))
    size <- as.integer(regmatches(header, gregexpr("[0-9]+(?=[,)])", header, perl = TRUE))[[1L]])
    values <- readBin(file, "double", prod(size))
    if (length(size) == 1L)
        return(values)
    matrix(values, size[1L], byrow = !grepl("True", header))
}

arguments <- commandArgs(TRUE)
fit <- suppressWarnings(roofs(read_npy(arguments[2L]), read_npy(arguments[3L])))
write_roofs(fit, arguments[1L])
cat("features", fit$features$index[fit$features$selected] - 1, "and", sum(!fit$trusted), "samples not to trust\n")
