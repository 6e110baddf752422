# The program and this package write the same model file. ROOFS_PROGRAM names the program; without it nothing is tested.
library(roofs)

program <- Sys.getenv("ROOFS_PROGRAM")
if (program != "") {
    write_npy <- function(values, file, shape)
    {
        header <- sprintf("{'descr': '<f8', 'fortran_order': True, 'shape': (%s), }", shape)
        header <- paste0(formatC(header, width = -117), "\n")
        out <- file(file, "wb")
        on.exit(close(out))
        writeBin(as.raw(c(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, 118, 0)), out)
        writeBin(charToRaw(header), out)
        writeBin(as.vector(values), out)
    }
    bytes <- function(file) readBin(file, "raw", file.size(file))

    set.seed(2)
    n <- 400
    p <- 333
    x <- matrix(rnorm(n * p), n)
    y <- drop(x[, 1:20] %*% rnorm(20)) + rnorm(n, sd = 0.1)
    y[1:80] <- y[1:80] + 50
    folder <- tempfile()
    dir.create(folder)
    at <- function(name) file.path(folder, name)
    write_npy(x, at("X.npy"), sprintf("%d, %d", n, p))
    write_npy(y, at("y.npy"), sprintf("%d,", n))
    run <- function(...) stopifnot(system2(program, c(...), stderr = FALSE) == 0)

    for (method in roofs_methods()$method) {
        run("fit", "--y", at("y.npy"), "--mu", "20", "--method", method, "--clean-ratio", "0.7", "--quiet",
            at("X.npy"), "-o", at("program.json"))
        fit <- suppressWarnings(roofs(x, y, mu = 20, method = method, clean_ratio = 0.7, threads = 2))
        write_roofs(fit, at("r.json"))
        stopifnot(identical(bytes(at("program.json")), bytes(at("r.json"))))
    }

    # The defaults, and text with names.
    run("fit", "--y", at("y.npy"), "--quiet", at("X.npy"), "-o", at("program.json"))
    fit <- suppressWarnings(roofs(x, y, threads = 2))
    write_roofs(fit, at("r.json"))
    stopifnot(identical(bytes(at("program.json")), bytes(at("r.json"))))
    stopifnot(identical(coef(read_roofs(at("program.json"))), coef(fit)))
    unlink(folder, recursive = TRUE)
}
