#!/usr/bin/env python3
"""Makes bpe.tsv: what subword-nmt learns from sentences and makes of others, for t_bpe.
usage: bpe.py [TRANSLATIONS.tsv MERGES TO]      in the top directory; needs subword-nmt 0.3.8

Without arguments the sentences are those of phrases.py; else all of the columns of a file, and the
values go to TO (`build/opt/tests/t_bpe TO` compares them).
Fields are separated by tabs; bytes that are not printable ASCII, and backslashes, are \\xHH.
    text   SET TEXT
    merges KIND SET PAIRS          in the order in which they are learnt: LEFT RIGHT LEFT RIGHT ...
    pieces KIND SET TEXT PIECES    of texts that were not learnt from, separated by blanks
A set is a language, or `joint`. KIND words: by learn_bpe and BPE of subword-nmt, of words between
blanks. KIND units: of runs of letters or signs, of which only those before a blank end with </w>,
by the functions that learn_bpe calls.
"""
import collections
import io
import sys
import unicodedata

from phrases import WORDS, sentences
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import get_pair_statistics, learn_bpe, replace_pair, update_pair_statistics

LEARNT, TRIED, MERGES = 20, 6, 90
END = "</w>"


def escape(text):
    return "".join(chr(b) if 32 <= b < 127 and b != 92 else f"\\x{b:02x}" for b in text.encode())


def units(text):
    """Symbols of each unit."""
    made = []
    for word in text.split():
        start = len(made)
        last = None
        for char in word:
            kind = unicodedata.category(char)[0] in "PS"
            if kind != last:
                made.append([])
            made[-1].append(char)
            last = kind
        assert len(made) > start and max(map(len, made[start:])) <= 200
        made[-1][-1] += END
    return [tuple(unit) for unit in made]


def learn_units(texts, merges):
    counts = collections.Counter(unit for text in texts for unit in units(text))
    words = sorted(counts.items(), key=lambda item: item[1], reverse=True)
    stats, indices = get_pair_statistics(words)
    learnt = []
    while len(learnt) < merges and stats:
        best = max(stats, key=lambda pair: (stats[pair], pair))
        if stats[best] < 2:
            break
        learnt.append(best)
        update_pair_statistics(best, replace_pair(best, words, indices), stats, indices)
    return learnt


def encode_units(text, learnt):
    rank = {pair: i for i, pair in reversed(list(enumerate(learnt)))}
    made = []
    for unit in units(text):
        unit = list(unit)
        while True:
            pairs = [(rank[pair], pair) for pair in zip(unit, unit[1:]) if pair in rank]
            if not pairs:
                break
            left, right = min(pairs)[1]
            merged = []
            for symbol in unit:
                if symbol == right and merged and merged[-1] == left:
                    merged[-1] = [left + right]  # marked: what was merged now is not merged again
                else:
                    merged.append(symbol)
            unit = [symbol if isinstance(symbol, str) else symbol[0] for symbol in merged]
        made += unit
    return made


def learn_words(texts, merges):
    codes = io.StringIO()
    learn_bpe(io.StringIO("\n".join(texts)), codes, merges)
    return codes


def encode_words(text, model):
    pieces = model.segment(text).split(" ")
    return [piece[:-2] if piece.endswith("@@") else piece + END for piece in pieces]


def write(out, name, texts, tried, merges):
    for text in texts:
        print("text", name, escape(text), sep="\t", file=out)
    codes = learn_words(texts, merges)
    model = BPE(codes)
    pairs = codes.getvalue().split("\n")[1:-1]
    learnt = learn_units(texts, merges)
    print("merges", "words", name, escape(" ".join(pairs)), sep="\t", file=out)
    print("merges", "units", name, escape(" ".join(map(" ".join, learnt))), sep="\t", file=out)
    for text in tried:
        print("pieces", "words", name, escape(text), escape(" ".join(encode_words(text, model))), sep="\t", file=out)
        print("pieces", "units", name, escape(text), escape(" ".join(encode_units(text, learnt))), sep="\t", file=out)


def main():
    sets, merges, to = {}, MERGES, "tests/gold/bpe.tsv"
    if len(sys.argv) > 1:
        merges, to = int(sys.argv[2]), sys.argv[3]
        rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[1], encoding="utf-8")]
        for column, name in list(enumerate(rows[0]))[1:]:
            texts = [" ".join(row[column].split()) for row in rows[1:] if row[column]]
            sets[name] = texts[::2], texts[1::200]
    else:
        for name in WORDS:
            sets[name] = sentences(name, LEARNT, seed=2), sentences(name, TRIED, seed=3)
        both = [[text for name in WORDS for text in sets[name][i]] for i in range(2)]
        sets["ties"] = ["cab cab1x cab cab1x ab ab1x ab ab1x", "zab- zab zab zab-y zab-y"], ["cab1 zab- bab1x"]
        sets["joint"] = both[0] + ["aaaa aaaa aaaa aaa aaa baaab baaab xaaaaax", "a a aa"], both[1] + ["aaaaaaa caaac"]
    with open(to, "w", encoding="ascii") as out:
        for name, (texts, tried) in sets.items():
            write(out, name, texts, tried, 4 * merges if name == "joint" else merges)


if __name__ == "__main__":
    main()
