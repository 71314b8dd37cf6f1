#!/usr/bin/env python3
"""Writes arrays of NumPy, or a table of numbers, as HDF5, which weft pack dense reads.

usage: analysis/toh5.py FILE.npz|X.npy [Y.npy ...] -o F.h5
       weft pack dense F.h5 x=NAME y=NAME -o DATA.h5

Arrays of an npz have their names there, those of npy files the names of these: x.npy is x. Large
arrays are copied in blocks. A table of pandas (Parquet, Feather, Arrow, Excel, Stata or a pickle)
of numbers alone is the array x, times as seconds since 1970; its label is a column by number.
Arrays of Python objects are refused, and so no code of theirs runs; a pickle of a table runs what
is in it: open only your own.
"""
import argparse
import os
import shutil
import sys
import tempfile
import zipfile
import zlib

import totable

BLOCK = 1 << 24  # bytes


def load(numpy, path, where):
    with open(path, "rb") as file:
        if file.read(6) != b"\x93NUMPY":
            sys.exit(f"{where}: is no npy or npz file of NumPy, or cut short")
    try:
        try:
            return numpy.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError:  # without elements nothing can be mapped
            return numpy.load(path, allow_pickle=False)
    except (ValueError, EOFError) as why:
        if "Object arrays" in str(why):
            sys.exit(f"{where}: is of Python objects; x.astype(float) makes numbers, x.astype('U') texts")
        sys.exit(f"{where}: {' '.join(str(why).split())}")


def arrays(numpy, path, room):
    """Name and array of each in a file; room: a directory for one that is unpacked."""
    base, ending = os.path.splitext(os.path.basename(path))
    if ending in totable.READERS:
        try:
            import pandas
        except ImportError as why:
            sys.exit(f"{path}: {why}; pip install pandas")
        table = totable.plain(pandas, totable.read(pandas, path), True)
        try:
            yield "x", table.to_numpy(dtype=float, na_value=numpy.nan)
        except (TypeError, ValueError) as why:
            sys.exit(f"{path}: give a table of numbers alone, or write it by analysis/totable.py: {why}")
        return
    if not zipfile.is_zipfile(path):
        yield base, load(numpy, path, path)
        return
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        if not names:
            sys.exit(f"{path}: has no arrays of NumPy in it; of Excel, give a file that ends in .xlsx")
        for name in names:
            with archive.open(name) as packed, open(os.path.join(room, "one.npy"), "wb") as file:
                shutil.copyfileobj(packed, file)
            yield name[:-4], load(numpy, file.name, f"{path}: {name[:-4]}")


def write(h5py, numpy, file, name, x):
    """In native order, so that the numbers are used where they are in the file."""
    if x.dtype.kind not in "biufSU":
        sys.exit(f"{name}: is of {x.dtype}; give numbers or texts, as x.astype(float) or x.astype('int64') make")
    if x.dtype.kind == "f" and x.dtype.itemsize > 8:
        sys.exit(f"{name}: is of {x.dtype}; x.astype(float) makes numbers that are read")
    kind = h5py.string_dtype() if x.dtype.kind == "U" else x.dtype.newbyteorder("=")
    if name in file:
        sys.exit(f"{name}: two arrays are called so; give one of them another name")
    to = file.create_dataset(name, x.shape, kind)
    if x.ndim == 0:
        to[()] = x[()]
        return
    rows = max(1, BLOCK // max(1, x[:1].nbytes))
    for i in range(0, len(x), rows):
        block = numpy.asarray(x[i:i + rows], order="C")
        to[i:i + rows] = block.astype(object if x.dtype.kind == "U" else kind, copy=False)
    print(f"{name}: {' x '.join(map(str, x.shape))} {x.dtype.name}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="+")
    parser.add_argument("-o", dest="output", required=True, metavar="F.h5")
    options = parser.parse_args()
    try:
        import h5py
        import numpy
    except ImportError as why:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {why}; pip install numpy h5py")
    for path in options.file:
        if not os.path.isfile(path):
            sys.exit(f"{path}: there is no such file")
    if os.path.exists(options.output):
        sys.exit(f"{options.output}: is there already; give another name")
    try:
        with tempfile.TemporaryDirectory(dir=os.path.dirname(options.output) or ".") as room:
            made = os.path.join(room, "made.h5")
            with h5py.File(made, "w") as file:
                for path in options.file:
                    for name, x in arrays(numpy, path, room):
                        write(h5py, numpy, file, name, x)
            os.replace(made, options.output)
    except (EOFError, OSError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error) as why:
        sys.exit(f"{options.output}: {' '.join(str(why).split())}")


if __name__ == "__main__":
    main()
