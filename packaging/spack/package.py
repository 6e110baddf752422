"""Spack. The address of the source and its checksum are filled in at the release."""
from spack.package import CMakePackage, depends_on, generator, license, variant


class Roofs(CMakePackage):
    """Robust regression on features that arrive as a stream."""

    license("BSD-3-Clause")

    variant("mpi", default=False, description="Build roofs-mpi")
    variant("hdf5", default=True, description="Read HDF5 files")

    depends_on("c", type="build")
    depends_on("cmake@3.21:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("jansson")
    depends_on("random123", type="build")
    depends_on("xxhash", type="build")
    depends_on("xz")
    depends_on("zlib-api")
    depends_on("hdf5", when="+hdf5")
    depends_on("mpi", when="+mpi")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("BUILD_TESTING", False),
            self.define("ROOFS_CUDA", "OFF"),
            self.define_from_variant("ROOFS_HDF5", "hdf5"),
            self.define_from_variant("ROOFS_MPI", "mpi"),
        ]
