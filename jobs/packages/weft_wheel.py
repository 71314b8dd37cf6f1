"""What pip calls to build weft (PEP 517), by make: a wheel with the program, linked to the libraries that are here,
the modules of python/, man page and completion; and the tarball of `make dist`, described for pip.
Variables of the Makefile: pip install . -C REAL=double."""

import base64
import gzip
import hashlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUMMARY = "Tunes machine learning on clusters: federations, shared weights, programs and functions"


def make(*arguments):
    """What `make` prints; where it fails it has said why, and pip shows that."""
    if not shutil.which("make"):
        sys.exit("weft is built by make, which is missing here")
    done = subprocess.run(["make", "-s", "-C", str(ROOT), *arguments], stdout=subprocess.PIPE, universal_newlines=True)
    if done.returncode:
        sys.exit(f"weft: make {arguments[0]} failed, as told above")
    return done.stdout.strip()


def info():
    """The directory of the description, and its files but RECORD."""
    missing = make("print-MISSING")
    if missing:
        sys.exit(f"weft: missing: {missing}; in its source `make deps` installs it or prints the names of packages; "
                 "on a cluster load the modules of MPI, ScaLAPACK, OpenBLAS and HDF5 first")
    tag = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"weft-{make('print-VERSION')}.dist-info", tag, {
        "METADATA": metadata(),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: weft\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
        "LICENSE": (ROOT / "LICENSE").read_bytes()}


def metadata():
    return (f"Metadata-Version: 2.1\nName: weft\nVersion: {make('print-VERSION')}\nSummary: {SUMMARY}\n"
            "License: BSD-3-Clause\nLicense-File: LICENSE\nRequires-Python: >=3.8\n"
            "Provides-Extra: read\nRequires-Dist: h5py; extra == 'read'\nRequires-Dist: pandas; extra == 'read'\n").encode()


def prepare_metadata_for_build_wheel(directory, config_settings=None):
    place, _, files = info()
    os.makedirs(os.path.join(directory, place))
    for name, content in files.items():
        pathlib.Path(directory, place, name).write_bytes(content)
    return place


def build_wheel(directory, config_settings=None, metadata_directory=None):
    place, tag, files = info()
    data = place.replace(".dist-info", ".data")
    content = {f"{place}/{name}": text for name, text in files.items()}
    with tempfile.TemporaryDirectory() as tmp:
        make("install", f"-j{len(os.sched_getaffinity(0))}", f"DESTDIR={tmp}", "PREFIX=/weft",
             *(f"{key}={value}" for key, value in (config_settings or {}).items()))
        tree = pathlib.Path(tmp, "weft")
        content[f"{data}/scripts/weft"] = (tree / "bin/weft").read_bytes()
        for file in (tree / "share/weft").glob("*.py"):
            content[file.name] = file.read_bytes()
        for file in ("share/man/man1/weft.1", "share/bash-completion/completions/weft", "share/weft/weft.cdx.json"):
            content[f"{data}/data/{file}"] = (tree / file).read_bytes()
    record = f"{place}/RECORD"
    rows = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b'=').decode()},{len(text)}\n"
            for name, text in sorted(content.items())]
    content[record] = "".join([*rows, f"{record},,\n"]).encode()
    wheel = f"{place.replace('.dist-info', '')}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(directory, wheel), "w", zipfile.ZIP_DEFLATED) as out:
        for name, text in sorted(content.items()):
            entry = zipfile.ZipInfo(name)  # of 1980: the same bytes give the same wheel
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            out.writestr(entry, text, zipfile.ZIP_DEFLATED)
    return wheel


def build_sdist(directory, config_settings=None):
    name, text = f"weft-{make('print-VERSION')}", metadata()
    with tempfile.TemporaryDirectory() as tmp:
        make("dist", f"BUILD={tmp}")
        tar = io.BytesIO(gzip.decompress(pathlib.Path(tmp, f"{name}.tar.gz").read_bytes()))
    with tarfile.open(fileobj=tar, mode="a") as archive:
        entry = archive.getmember(f"{name}/LICENSE")  # of the same time, owner and rights
        entry.name, entry.size = f"{name}/PKG-INFO", len(text)
        archive.addfile(entry, io.BytesIO(text))
    pathlib.Path(directory, f"{name}.tar.gz").write_bytes(gzip.compress(tar.getvalue(), mtime=0))
    return f"{name}.tar.gz"
