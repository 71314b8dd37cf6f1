#!/usr/bin/env python3
"""A random part of labelled texts, of every class as large a share.

usage: jobs/fraction.py TEXTS.txt N PART.txt

Writes one in N of the lines LABEL TAB TEXT of each label, in random order; the same lines
whenever it is asked.
"""

import random
import sys


def main():
    if len(sys.argv) != 4 or not sys.argv[2].isdigit() or int(sys.argv[2]) < 1:
        sys.exit(__doc__)
    share = int(sys.argv[2])
    by_label = {}
    with open(sys.argv[1], encoding="utf-8", newline="\n") as texts:
        for line in texts:
            by_label.setdefault(line.partition("\t")[0], []).append(line)
    draw = random.Random(share)
    part = []
    for label in sorted(by_label):
        draw.shuffle(by_label[label])
        part += by_label[label][:max(1, round(len(by_label[label]) / share))]
    draw.shuffle(part)
    with open(sys.argv[3], "w", encoding="utf-8", newline="\n") as out:
        out.writelines(part)


if __name__ == "__main__":
    main()
