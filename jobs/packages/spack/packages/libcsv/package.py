try:  # since Spack 1.0
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

    languages = ["c"]
except ImportError:  # older ones know no languages
    languages = []
from spack.package import *


class Libcsv(AutotoolsPackage):
    """A parser of comma separated values."""

    homepage = "https://sourceforge.net/projects/libcsv/"
    url = "https://deb.debian.org/debian/pool/main/libc/libcsv/libcsv_3.0.3+dfsg.orig.tar.gz"

    license("LGPL-2.1-or-later")

    version("3.0.3", url=url, sha256="06fddfaca720a4be7603bad63eb1833bca5b6c5a69b42b1c518a02cda2a73aef")

    for language in languages:
        depends_on(language, type="build")
