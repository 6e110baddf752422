# Homebrew on Linux. The address of the source and its checksum are filled in at the release.
class Roofs < Formula
  desc "Robust regression on features that arrive as a stream"
  license "BSD-3-Clause"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "random123" => :build
  depends_on "xxhash" => :build
  depends_on "jansson"
  depends_on :linux
  depends_on "xz"
  depends_on "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DBUILD_TESTING=OFF", "-DROOFS_CUDA=OFF",
           "-DROOFS_MPI=OFF", "-DROOFS_HDF5=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    system bin/"roofs", "simulate", "-o", "data", "--n", "100", "--p", "50", "--mu", "5"
    system bin/"roofs", "fit", "--y", "data/y.npy", "data/X.npy", "-o", "model.json"
    assert_path_exists testpath/"model.json"
  end
end
