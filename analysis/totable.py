#!/usr/bin/env python3
"""Writes a table of pandas, from Parquet, Feather, Arrow, Excel, Stata or a pickle, as CSV.

usage: analysis/totable.py FILE [--seconds] | weft pack dense - label=NAME -o F.h5

An index is the first columns, unless it only numbers the rows. Categories are written as their
texts, gaps as empty cells, times as ISO texts or, by --seconds, as seconds since 1970; columns of
bool as 0 and 1. What was done is said on standard error. A table of numbers alone is read faster
as HDF5, which analysis/toh5.py writes. A pickle runs what is in it: open only your own.
"""
import argparse
import os
import sys

READERS = {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather",
           ".xlsx": "excel", ".xls": "excel", ".dta": "stata", ".pkl": "pickle", ".pickle": "pickle"}


def read(pandas, path):
    ending = os.path.splitext(path)[1].lower()
    if ending not in READERS or not os.path.exists(path):
        sys.exit(f"{path}: give a file that is there and ends in one of {' '.join(READERS)}")
    try:
        table = getattr(pandas, "read_" + READERS[ending])(path)
    except Exception as why:  # each library has errors of its own
        sys.exit(f"{path}: {' '.join(str(why).split())[:200] or type(why).__name__}")
    if not isinstance(table, pandas.DataFrame):
        sys.exit(f"{path}: holds a {type(table).__name__}, no DataFrame; save that")
    return flat(pandas, path, table)


def flat(pandas, path, table):
    """The table with its index as columns, unless that only numbers the rows, and with names of one level; which is said."""
    names = table.index.names
    if any(name is not None for name in names) or not pandas.api.types.is_integer_dtype(table.index.dtype):
        try:
            table = table.reset_index()
        except ValueError as why:
            sys.exit(f"{path}: {why}: the index and a column have one name; rename one")
        print("the index is written as " + ", ".join(f"'{name}'" for name in table.columns[:len(names)]), file=sys.stderr)
    if table.columns.nlevels > 1:
        table.columns = ["_".join(str(part) for part in name if str(part)) for name in table.columns]
        print(f"names of several levels are written as one, such as '{table.columns[-1]}'", file=sys.stderr)
    return table


def plain(pandas, table, seconds):
    """The table with truth as 0 and 1, and times as texts or seconds, which is said."""
    for i, (name, column) in enumerate(table.items()):
        if pandas.api.types.is_bool_dtype(column.dtype):
            table.isetitem(i, column.astype("Int8"))
        elif pandas.api.types.is_datetime64_any_dtype(column.dtype):
            since = (pandas.to_datetime(column, utc=True) - pandas.Timestamp(0, tz="UTC")).dt.total_seconds()
            table.isetitem(i, since if seconds else column.map(pandas.Timestamp.isoformat, na_action="ignore"))
            what = "seconds since 1970" if seconds else "ISO texts"
            print(f"column {i + 1}, '{name}', is of times: as {what}", file=sys.stderr)
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--seconds", action="store_true", help="times as seconds since 1970")
    options = parser.parse_args()
    import pandas
    table = plain(pandas, read(pandas, options.file), options.seconds)
    print(f"{options.file}: {len(table)} rows, {table.shape[1]} columns, {table.isna().sum().sum()} gaps", file=sys.stderr)
    table.to_csv(sys.stdout, index=False)


if __name__ == "__main__":
    main()
