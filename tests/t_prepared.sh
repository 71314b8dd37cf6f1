#!/bin/bash
# What a table becomes: every number of its packed file, and of new rows that are packed like it, is
# computed a second time by prepared.py, from what the cells mean. Prints TAP.
. tests/tap.sh
need_python "h5py, numpy"
"$python" tests/prepared.py "$weft" "$tmp" <<'END'
rows are drawn by chance:
a part is the last rows of each class:shares=end valid=0.2 test=0.15
each part has its share of each class:shares=class seed=3 valid=0.2 categories=code,colour,mixed,only,site
parts may have files of their own:valid=0 test_file=yes valid_file=yes
files of parts have columns in another order:valid_file=yes test_file=yes gaps=-99,keine
commas stand between thousands:thousands=comma weight=count seed=9
points do before a decimal comma:separator=semicolon decimal=comma thousands=point gaps=-99 drop=far,only
blanks do, of several targets:separator=tab thousands=blank label=t,u drop=y
targets have the order of their columns, rows weights:label=u,t weight=count drop=far
a whole number is a target:label=count target=regression shares=chance
rows of a group are in one part:group=site seed=2 valid=0.2
large groups come as near to the shares as they can:group=y label=u target=regression valid=0.3 test=0.18833
groups have targets, too:group=site label=u target=regression weight=count
rows of each client are drawn by chance:client=site
class by class:client=site shares=class seed=4 valid=0.2 test=0.2
from the end:client=site shares=end test_file=yes
END
