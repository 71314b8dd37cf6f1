#!/usr/bin/env python3
"""Makes tokens.tsv: what Python and NLTK say of texts, words and characters, for t_token.
Run in the top directory; needs Python 3.11, nltk 3.8.1, and its list of English stop words as the argument.

Fields are separated by tabs; bytes that are not printable ASCII, and backslashes, are \\xHH.
    text   TEXT  REMOVE SPLIT TREEBANK   tokens of the three tokenizers, separated by spaces
    lower  WORD  str.lower()
    stop   WORDS                         all that are on the stop list, separated by spaces
    chars  FIRST-LAST,... CRC            all code points of ranges (hexadecimal), see `probe`
"""
import random
import sys
import unicodedata
import zlib

from nltk.tokenize.destructive import NLTKWordTokenizer


def is_punct(c):
    return unicodedata.category(c)[0] in "MPS"


def remove(text):
    tokens = ("".join(c for c in token if not is_punct(c)) for token in text.split())
    return [token for token in tokens if token]


def split(text):
    tokens = []
    for token in text.split():
        start = 0
        for i in range(1, len(token) + 1):
            if i == len(token) or is_punct(token[i]) != is_punct(token[start]):
                tokens.append(token[start:i])
                start = i
    return tokens


TOKENIZERS = {"remove": remove, "split": split, "treebank": NLTKWordTokenizer().tokenize}

BY_HAND = [
    "",
    " \t\r\n ",
    "...!?,;--\"'",
    "Good muffins cost $3.88 (roughly 3,36 euros)\nin New York.  Please buy me\ntwo of them.\nThanks.",
    "They'll save and invest more. I can't, won't, shouldn't've; it's John's, the dogs' 1990's.",
    "\"Isn't this 'quoted'?\" she asked. ''Yes.''",
    "\"\"''`` \"(\"\"a\"\") ['' {\"x\"} <\"y\"> ```",
    "cannot gimme Gonna GOTTA lemme wanna wanna. wanna, d'ye more'n cannot'tis 'tis'twas 'Twas",
    "g\u0131mme G\u0130MME 't\u0131\u017f 'twa\u017f '\u017f",
    "\u201cCurly,\u201d \u2018single\u2019 don\u2019t \u00abguillemets\u00bb \u201elow\u201c\u2026 \u2014 \u2013",
    "a--b---c ----- -- well-made .. ... a.b. c.. 'n' rock 'n' roll 'em 'a' o'clock '80s",
    "1,000 1,a a,1 ,, ,,, ,,a :: :,: 10:30 a:b x,\u0663 x,\u00b2",
    "Ends with a period.", "ends.)", "ends.\" ", "ends. \"", "ends. ''", "ends.' \n\n", ".'\n",
    "ends. )\n)", "ends.\u201d\n", "ends,", "ends,,\n", "ends:\n", "ends'", "it's", "it's\n",
    "don't\nstop I'll\tgo we're\u00a0here I'd' \"I'm'* 'tis\n'tis\u2003'tis",
    "NUL \0 in\0side '\0 ,\0 tab\tnext\u0085line\u3000wide\x1c\x1d\x1e\x1fends",
    "caf\u00e9 cafe\u0301 \u65e5\u672c\u8a9e\u3002 \U0001f600\U0001f600ok \u20ac5 5\u20ac a_b_c a\u200bb",
    "great.<br /><br />The #1 movie @ 100% & more* [sic] {x} <y> C:\\dir a/b a=b~c^d|e+f",
]

WORDS = """cannot d'ye gimme gonna gotta lemme more'n wanna 'tis 'twas CANNOT D'YE wannA more''n
'TIS 'Twas don't it's I'm I'd we'll they're could've N'T n't 'll 'RE 's 'S 'D x a s t n 5 12 not
can na re ve m d g\u0131mme 't\u0131\u017f""".split()
SIGNS = list("\"'`.,:;@#$%&?!*[](){}<>-_/\\\u00ab\u00bb\u201c\u201d\u2018\u2019\u201e")
SIGNS += ["''", "``", "--", "..", "'", '"', "\u00e9", "e\u0301", "\u0663", "\u2014", "\0", "\u00b2"]
BLANKS = [" "] * 8 + ["\n", "\u00a0", "\u0085", "  ", "<br />"]


def at_random(rng):
    kinds = rng.choices((WORDS, SIGNS, BLANKS), (4, 4, 3), k=rng.choice((2, 4, 8, 16)))
    return "".join(rng.choice(kind) for kind in kinds)


def stops(path):
    with open(path, encoding="utf-8") as file:
        words = file.read().split()
    words = {form for word in words for form in (word, word.capitalize())}
    return words | {"".join(c for c in word if not is_punct(c)) for word in words}


RANGES = 16  # of a line


def probe(c):
    """The text in which a character is tried."""
    return f"a{c}b ,{c} '{c} :{c}.\"{c}'{c}"


def characters():
    """Ranges of assigned characters but surrogates and those of private use."""
    first = None
    for code in range(0x110001):
        there = code < 0x110000 and unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co")
        if there and first is None:
            first = code
        if not there and first is not None:
            yield first, code - 1
            first = None


def digest(ranges):
    crc = 0
    for code in (code for first, last in ranges for code in range(first, last + 1)):
        tokens = [t for f in TOKENIZERS.values() for t in f(probe(chr(code)))]
        tokens += [word.lower() for word in (chr(code), f"A\u03a3{chr(code)}", f"{chr(code)}\u03a3")]
        crc = zlib.crc32("".join(token + "\n" for token in tokens).encode(), crc)
    return crc


def escape(text):
    return "".join(chr(b) if 32 <= b < 127 and b != 92 else f"\\x{b:02x}" for b in text.encode())


def main():
    rng = random.Random(1)
    lines = []
    for text in BY_HAND + [at_random(rng) for _ in range(300)]:
        lines.append(["text", text] + [" ".join(f(text)) for f in TOKENIZERS.values()])
    words = ["", "Word", "\u0130stanbul", "\u1e9e\u00c9\u0416", "\u023a\u023e\u2126\u212a", "A\0B"]
    signs = "\u03a3\u03c3.'aA1\u0307\u00ad\u2019\u2163\u24b6\U0001f130\u02b0"
    words += ["".join(rng.choice(signs) for _ in range(rng.randint(2, 8))) for _ in range(200)]
    lines += [["lower", word, word.lower()] for word in words]
    lines.append(["stop", " ".join(sorted(stops(sys.argv[1])))])
    ranges = list(characters())
    for some in (ranges[i:i + RANGES] for i in range(0, len(ranges), RANGES)):
        lines.append(["chars", ",".join(f"{a:x}-{b:x}" for a, b in some), f"{digest(some):08x}"])
    with open("tests/gold/tokens.tsv", "w", encoding="ascii") as out:
        for line in lines:
            print("\t".join(map(escape, line)), file=out)


if __name__ == "__main__":
    main()
