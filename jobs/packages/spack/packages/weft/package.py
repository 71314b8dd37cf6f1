try:  # since Spack 1.0
    from spack_repo.builtin.build_systems.makefile import MakefilePackage

    languages = ["c"]
except ImportError:  # older ones know no languages
    languages = []
from spack.package import *


class Weft(MakefilePackage):
    """Tunes learning by weight-sharing: feature maps and federated learning, many configurations
    on one set of weights, on many processes."""

    homepage = "https://example.org/weft"
    url = "https://example.org/weft/weft-0.1.0.tar.gz"

    license("BSD-3-Clause")

    # `make dist` makes the tarball: spack install --no-checksum weft, from a mirror that has it.
    version("0.1.0")

    variant("double", default=False, description="Numbers of double precision")
    variant("python", default=True, description="h5py and matplotlib, for tables and pictures")

    for language in languages:
        depends_on(language, type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("scalapack")
    depends_on("openblas")
    depends_on("hdf5")
    depends_on("random123")
    depends_on("inih")
    depends_on("libcsv")
    depends_on("utf8proc")
    depends_on("xxhash")
    depends_on("yajl")
    depends_on("zlib-api")
    with when("+python"):
        depends_on("python@3.8:", type="run")
        depends_on("py-h5py", type="run")
        depends_on("py-matplotlib", type="run")
        depends_on("py-numpy", type="run")

    def variables(self, prefix):
        """What make is told, when it builds and when it installs."""
        where = [self.spec[name].prefix for name in ("random123", "libcsv")]
        return [
            "PREFIX=" + prefix,
            "CC=" + spack_cc,
            "REAL=" + ("double" if self.spec.satisfies("+double") else "float"),
            "CPPFLAGS=" + " ".join("-I" + p.include for p in where),
            "LDFLAGS=-L{0} -Wl,-rpath,{0}".format(self.spec["libcsv"].prefix.lib),
        ]

    def build(self, spec, prefix):
        make(*self.variables(prefix))

    def install(self, spec, prefix):
        make("install", *self.variables(prefix))

    def check(self):
        make("check", *self.variables(self.prefix))
