#!/usr/bin/env python3
"""Makes newsgroups.txt: tokens of 20 Newsgroups by date after scikit-learn has taken headers,
footers and quotes out, for t_folder. Needs scikit-learn and the archive's directory:
    tests/gold/newsgroups.py 20news-bydate >tests/gold/newsgroups.txt
A line: what is removed (- for nothing), documents, tokens without punctuation, documents
without any token; of train, then of test. Texts are read as Latin-1, as scikit-learn does."""
import pathlib
import sys
import unicodedata

from sklearn.datasets import _twenty_newsgroups as sk

STRIP = {
    "": lambda text: text,
    "headers": sk.strip_newsgroup_header,
    "footers": sk.strip_newsgroup_footer,
    "quotes": sk.strip_newsgroup_quoting,
}
PUNCTUATION = {
    c: None for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c))[0] in "MPS"
}


def tokens(text):
    return sum(1 for token in text.split() if token.translate(PUNCTUATION))


def main():
    for remove in ("-", "headers,footers,quotes"):
        line = [remove]
        for part in ("train", "test"):
            count = []
            for path in pathlib.Path(sys.argv[1], f"20news-bydate-{part}").glob("*/*"):
                text = path.read_bytes().decode("latin1")
                for what in remove.strip("-").split(","):
                    text = STRIP[what](text)
                count.append(tokens(text))
            line += [len(count), sum(count), count.count(0)]
        print(*line)


main()
