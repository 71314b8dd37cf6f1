#!/usr/bin/env python3
"""Tokens of the 50,000 IMDB reviews as Python and NLTK give them. Needs nltk; a minute or two.

    tests/gold/imdb_tokens.py aclImdb            makes imdb_tokens.tsv
    tests/gold/imdb_tokens.py aclImdb PROGRAM    compares with PROGRAM (build/opt/tests/t_token)
                                                 review by review and lists those that differ

A line of imdb_tokens.tsv is 1000 reviews, in the order of train/neg, train/pos, test/neg,
test/pos and of their names: for each tokenizer the number of tokens and, in hexadecimal, the
CRC-32 of the tokens, each ended by a newline, each review by a form feed, which is also what
PROGRAM prints. Run in the top directory.
"""
import os
import subprocess
import sys
import time
import zlib

from tokens import TOKENIZERS

BLOCK = 1000


def reviews(root):
    for part in ("train/neg", "train/pos", "test/neg", "test/pos"):
        folder = os.path.join(root, part)
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8", newline="") as file:
                yield f"{part}/{name}", file.read()


def table(texts):
    columns = []
    for tokenize in TOKENIZERS.values():
        blocks = []
        for start in range(0, len(texts), BLOCK):
            tokens = [tokenize(text) for _, text in texts[start : start + BLOCK]]
            joined = "".join("".join(t + "\n" for t in review) + "\f" for review in tokens)
            blocks.append(f"{sum(map(len, tokens))} {zlib.crc32(joined.encode()):08x}")
        columns.append(blocks)
    with open("tests/gold/imdb_tokens.tsv", "w", encoding="ascii") as out:
        for line in zip(*columns):
            print("\t".join(line), file=out)


def compare(texts, root, program):
    differ = 0
    for name, tokenize in TOKENIZERS.items():
        start = time.perf_counter()
        expected = [tokenize(text) for _, text in texts]
        seconds = time.perf_counter() - start
        said = subprocess.run([program, name, root], stdout=subprocess.PIPE, check=True).stdout
        found = [review.split("\n")[:-1] for review in said.decode().split("\f")[:-1]]
        unequal = [i for i in range(len(texts)) if found[i] != expected[i]]
        print(f"{name}: {len(texts) - len(unequal)} of {len(texts)} equal; Python {seconds:.1f} s")
        for i in unequal:
            print(" ", texts[i][0])
        differ += len(unequal)
    return differ


def main():
    texts = list(reviews(sys.argv[1]))
    if len(sys.argv) > 2:
        sys.exit(compare(texts, sys.argv[1], sys.argv[2]) > 0)
    table(texts)


if __name__ == "__main__":
    main()
