try:  # since Spack 1.0
    from spack_repo.builtin.build_systems.meson import MesonPackage

    languages = ["c"]
except ImportError:  # older ones know no languages
    languages = []
from spack.package import *


class Inih(MesonPackage):
    """A parser of input files, "key = value" in sections."""

    homepage = "https://github.com/benhoyt/inih"
    url = "https://github.com/benhoyt/inih/archive/refs/tags/r60.tar.gz"

    license("BSD-3-Clause")

    version("60", sha256="706aa05c888b53bd170e5d8aa8f8a9d9ccf5449dfed262d5103d1f292af26774")

    for language in languages:
        depends_on(language, type="build")

    def url_for_version(self, version):
        return "https://github.com/benhoyt/inih/archive/refs/tags/r{0}.tar.gz".format(version)

    def meson_args(self):
        return ["-Dwith_INIReader=false"]
