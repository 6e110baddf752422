# Credible sets of susieR for experiments/error_control.py. Prints the version, or "none" if the package is missing.
# After that every line of standard input is a FILE with the numbers n, p, L, X (n x p, by columns) and y as doubles.
# FILE.out gets a line per credible set: its features, from 0. The answer is "ok", or "fail" and the reason. Packages
# outside of the standard library are found by R_LIBS.

sets_of <- function(path) {
  file <- file(path, "rb")
  on.exit(close(file))
  size <- readBin(file, "double", 3)
  X <- matrix(readBin(file, "double", size[1] * size[2]), size[1])
  y <- readBin(file, "double", size[1])
  fit <- suppressWarnings(susieR::susie(X, y, L = size[3], coverage = .95))
  writeLines(vapply(fit$sets$cs, function(set) paste(set - 1, collapse = " "), ""), paste0(path, ".out"))
}

has <- suppressPackageStartupMessages(requireNamespace("susieR", quietly = TRUE))
cat(if (has) as.character(packageVersion("susieR")) else "none", "\n", sep = "")
input <- file("stdin", "r")
while (has && length(line <- readLines(input, 1))) {
  answer <- tryCatch({
    sets_of(line)
    "ok"
  }, error = function(e) paste("fail", gsub("\n", " ", conditionMessage(e))))
  cat(answer, "\n", sep = "")
}
