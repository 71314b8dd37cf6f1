#!/usr/bin/env python3
"""Makes bleu.tsv: what sacrebleu says of translations, for t_bleu.
usage: bleu.py      in the top directory; needs sacrebleu 2.6

Fields are separated by tabs; bytes that are not printable ASCII, and backslashes, are \\xHH.
    pair   SET  TRANSLATION  REFERENCE  TOKENS    13a tokens of the translation
           BLEU  CHRF                             of the pair alone, as a corpus
    score  SET  BLEU  CHRF                        of all pairs of the set
           LENGTH REFERENCE MATCH1 .. 4 TOTAL1 .. 4
The sets of languages are sentences of phrases.py with words left out, exchanged, repeated, or of
another sentence; of Thai, which has few words, characters.
"""
import random

from phrases import WORDS, sentences
from sacrebleu.metrics import BLEU, CHRF

LINES = 20
EDGES = [
    ("", ""), ("", "a"), ("a", ""), (" \t ", "a b c d"), ("a b c d", " \u3000 "),
    ("same words here now", "same words here now"), ("a", "a"), ("a b c", "a b c"),
    ("a a a a a a", "a a"), ("a a", "a a a a a a"), ("d c b a", "a b c d"),
    ("It costs $3.50, or 1,000.25 -- 5-10 %.", "It costs $ 3.50 , or 1,000.25 - 5 - 10 % ."),
    ("...!?,;--\"'", ". . . ! ? , ; - - \" '"), ("e.g. 3. and .5 and 5.", "e.g. 3 . and .5 and 5 ."),
    ("&quot;x&quot; &amp; &amp;lt; &lt;b&gt; &#39; &copy;", "\"x\" & < <b> ' c"),
    ("<skipped>cut <skip<skipped>ped>", "cut"), ("line-\nbroken at\nthe end-\n", "linebroken at the end-"),
    ("[a]{b}~(c)/d\\e^f_g`h|i@j:k;l<m=n>o?p", "[ a ] { b } ~ ( c ) / d \\ e ^ f _ g ` h | i @ j : k ; l"),
    ("don't 'quote' o'clock 1990's", "don 't 'quote ' o'clock 1990 's"), ("1-2 a-1 1-a 1--2 -1 1-", "1 - 2 a-1 1 - a"),
    ("1.2.3 1,2,3 a,b a.b ,, .. ,.", "1.2.3 1,2,3 a , b a . b"), ("\u0663.\u0663 \u0663-\u0663 5\u20ac.", "\u0663 . \u0663 5\u20ac ."),
    ("no\u00a0break\u2003em\u3000wide\x85next\x1cfile", "no break em wide next file"),
    ("zero\u200bwidth joi\u200dner \ufefftext", "zerowidth joiner text"),
    ("cafe\u0301 caf\u00e9", "caf\u00e9 cafe\u0301"), ("\U0001f600\U0001f468\u200d\U0001f469 ok", "\U0001f600 ok"),
    ("\u65e5\u672c\u8a9e\u3002\u6587", "\u65e5\u672c\u8a9e\u3002"), ("\u00abguillemets\u00bb \u201ecurly\u201c\u2026", "\u00ab guillemets \u00bb"),
    ("Xin ch\u00e0o, th\u1ebf gi\u1edbi.", "Xin ch\u00e0o th\u1ebf gi\u1edbi!"), ("\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u0e42\u0e25\u0e01"),
    ("abcdef", "abcdef"), ("abcde", "abcdef"), ("x", "abcdef"), ("abc", "xyz"), ("b a b a b a b", "a b a b a b a"),
    ("trailing blanks   ", "trailing blanks"), ("tab\tand\nline", "tab and line"), ("\ufffd \uffff \U0010ffff", "\U0010ffff \uffff"),
]
bleu, chrf = BLEU(force=True), CHRF()


def escape(text):
    return "".join(chr(b) if 32 <= b < 127 and b != 92 else f"\\x{b:02x}" for b in text.encode())


def changed(words, others, rng):
    """Words with a few of them left out, exchanged, repeated, or of another text."""
    words = list(words)
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
        at = rng.randrange(len(words)) if words else 0
        kind = rng.choice("drsn")
        if kind == "d" and words:
            del words[at]
        elif kind == "r" and words:
            words.insert(at, words[at])
        elif kind == "s" and at + 1 < len(words):
            words[at], words[at + 1] = words[at + 1], words[at]
        else:
            words[at:at + 1] = rng.sample(others, min(2, len(others)))
    return words


def pairs_of(texts, by, rng):
    pairs = []
    for text, other in zip(texts[:LINES], texts[LINES:]):
        parts, others = (list(text), list(other)) if by == "" else (text.split(), other.split())
        pairs.append((by.join(changed(parts, others, rng)), text))
    return pairs


def main():
    rng = random.Random(1)
    sets = {"edges": EDGES}
    for language in WORDS:
        sets[language] = pairs_of(sentences(language, 2 * LINES), "" if language == "th" else " ", rng)
    sets["same"] = [(reference, reference) for _, reference in sets["vi"]]
    sets["nothing"] = [("", reference) for _, reference in sets["de"]]
    sets["long"] = [(" ".join(t for t, _ in sets["cs"]), " ".join(r for _, r in sets["cs"]))]
    with open("tests/gold/bleu.tsv", "w", encoding="ascii") as out:
        for name, pairs in sets.items():
            for made, wanted in pairs:
                scores = [metric.corpus_score([made], [[wanted]]).score for metric in (bleu, chrf)]
                tokens = bleu.tokenizer(made.rstrip())
                print("pair", name, *map(escape, (made, wanted, tokens)), *map(repr, scores), sep="\t", file=out)
            made, wanted = zip(*pairs)
            of = bleu.corpus_score(made, [wanted])
            counts = [of.sys_len, of.ref_len, *of.counts, *of.totals]
            print("score", name, repr(of.score), repr(chrf.corpus_score(made, [wanted]).score), *counts, sep="\t", file=out)


if __name__ == "__main__":
    main()
