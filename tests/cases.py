"""Writes small files of the kinds that people have: tables, libsvm, texts, word vectors, LEAF.

python3 tests/cases.py DIR. Classes are told apart by the first column or by the words, so that a
reader which loses digits, rows or classes shows in the error of a search. t_cases.sh says what is
expected of each file.
"""
import json
import os
import random
import sys

ROWS = 80
random.seed(1)
os.chdir(sys.argv[1])


def write(name, text, encoding="utf-8"):
    with open(name, "wb") as file:
        file.write(text.encode(encoding))


def rows(first="%.3f", second="%.3f", classes=("no", "yes")):
    """ROWS rows of two numbers and a class: the sign of the first number."""
    for i in range(ROWS):
        a = (1 if i % 2 else -1) * random.uniform(0.5, 2)
        yield [first % a, second % random.gauss(0, 1), classes[i % 2]]


def table(name, lines, header="a,b,y", end="\n", encoding="utf-8"):
    """Lines are texts, or lists of cells with commas between them."""
    lines = [line if isinstance(line, str) else ",".join(line) for line in lines]
    write(name, end.join(([header] if header else []) + lines) + end, encoding)


def changed(row, line, cell, text):
    """The rows with one cell, or one whole line where cell is None, replaced."""
    for i, cells in enumerate(row):
        if i == line:
            cells = text if cell is None else cells[:cell] + [text] + cells[cell + 1:]
        yield cells


def tables():
    table("plain.csv", rows())
    table("cr.csv", rows(), end="\r")
    table("crlf.csv", rows(), end="\r\n")
    table("blank.csv", ["", ""] + list(rows()))
    table("spaces.csv", [", ".join(r) for r in rows()], "a, b, y")
    table("newline.csv", rows(classes=('"no\nx"', '"yes\nx"')))
    table("constant.csv", rows(second="14.62%.0s"))
    table("comment.csv", ["a,b,y"] + list(rows()), "# made by hand")
    table("pipe.csv", ["|".join(r) for r in rows()], "a|b|y")
    table("blanks.csv", [" ".join(r) for r in rows()], "a b y")
    table("sep.csv", ["a;b;y"] + [";".join(r) for r in rows()], "sep=;")
    table("utf16.csv", rows(), encoding="utf-16")
    table("decimal.csv", [";".join(r).replace(".", ",") for r in rows()], "a;b;y")
    table("thousands.csv", (['"1,%s.5"' % (500 + int(200 * float(r[0])))] + r[1:] for r in rows()))
    table("fortran.csv", rows(second="%.3fd0"))
    for name, text in ("qmark", "?"), ("missing", ""), ("na", "NA"), ("null", "NULL"), ("nan", "nan"), \
            ("text", "red"), ("day", "2024-01-01"), ("huge", "1e39"), ("inf", "inf"):
        table(name + ".csv", changed(rows(), 41, 1, text))
    table("nolabel.csv", changed(rows(), 41, 2, ""))
    table("ragged.csv", changed(rows(), 41, None, "1.0,2.0,no,,"))
    table("trailing.csv", (r + [""] for r in rows()), "a,b,y,")
    table("twice.csv", ([r[2], r[1], r[2]] for r in rows(classes=("0", "1"))), "y,b,y")
    table("numbered.csv", rows(classes=("0", "1")), "0,1,2")
    table("codes.csv", ([str(i % 4)] + [("01", "1", "1E2", "100")[i % 4]] for i in range(ROWS)), "a,y")
    table("alike.csv", rows(classes=("0", "0.0")))
    table("continuous.csv", (r[:2] + ["%.6f" % random.random()] for r in rows()))
    table("nul.csv", changed(rows(), 41, 2, "n\0o"))
    late = [1700000000 + random.choice([0, 40]) + random.randrange(10) for _ in range(ROWS)]
    table("unix.csv", (["%d" % t, "late" if t >= 1700000040 else "early"] for t in late), "t,y")
    table("ids.csv", (["%d" % (t + 10**11), "late" if t >= 1700000040 else "early"] for t in late), "t,y")
    table("stamps.csv", (["%d" % (t * 1000), "late" if t >= 1700000040 else "early"] for t in late), "t,y")
    write("unix.svm", "".join("%d 1:%d 2:0.5\n" % (t >= 1700000040, t) for t in late))
    os.makedirs("unixleaf", exist_ok=True)
    users = ["u%d" % i for i in range(4)]
    data = {u: {"x": [[t, 0.5] for t in late[i::4]], "y": [int(t >= 1700000040) for t in late[i::4]]}
            for i, u in enumerate(users)}
    write("unixleaf/all.json", json.dumps(
        {"users": users, "num_samples": [len(data[u]["y"]) for u in users], "user_data": data}))


def libsvm():
    plain = [(r[2], ["%d:%s" % (j + 1, x) for j, x in enumerate(r[:2])]) for r in rows(classes=("0", "1"))]
    kinds = {
        "plain": lambda y, x: [y] + x, "signs": lambda y, x: ["+1" if y == "1" else "-1"] + x,
        "labels": lambda y, x: [y] if x == plain[41][1] else [y] + x,
        "notes": lambda y, x: [y] + x + ["# doc 5:77"],
        "zero": lambda y, x: [y, "0:" + x[0][2:], "1:" + x[1][2:]],
        "multi": lambda y, x: ["0,1" if y == "1" else "1"] + x,
        "query": lambda y, x: [y, "qid:3"] + x, "index": lambda y, x: [y] + x + ["2147483648:1"],
        "nan": lambda y, x: [y] + x + ["5:nan"], "minus_nan": lambda y, x: [y] + x + ["5:-nan"],
        "novalue": lambda y, x: [y] + x + ["9"],
        "real": lambda y, x: ["%.6f" % random.random()] + x,
        "long": lambda y, x: ["123456789012345" + "67"[int(y)]] + x,
        "longer": lambda y, x: ["+123456789012345678" + "34"[int(y)]] + x}
    for name, line in kinds.items():
        write(name + ".svm", "".join(" ".join(line(*row)) + "\n" for row in plain))
    write("tabs.svm", "".join("\t".join([y] + x) + "\r\n" for y, x in plain))
    write("head.svm", "# one-based\n" + "".join("%s  %s  \n" % (y, " ".join(x)) for y, x in plain))


def texts():
    words = ("bad", "poor", "awful"), ("good", "fine", "great")
    plain = [(str(i % 2), " ".join(random.choice(words[i % 2] + ("film", "story", "day")) for _ in range(8)))
             for i in range(120)]
    tsv = "".join("%s\t%s\n" % row for row in plain)
    write("plain.tsv", tsv)
    write("crlf.tsv", tsv.replace("\n", "\r\n"))
    write("header.tsv", "label\ttext\n" + tsv)
    write("stop.tsv", "".join("%s\t%s\n" % (y, ("is was a", "the of and")[int(y)]) for y, _ in plain))
    write("empty.tsv", "0\t\n1\t\n" + tsv)
    write("first.tsv", "".join("%s\t%s\n" % (t, y) for y, t in plain))
    write("news.csv", "".join('"%s","Title, %d","%s ""no"""\r\n' % (y, i, t) for i, (y, t) in enumerate(plain)))
    write("fast.txt", "".join("__label__%s %s\n" % row for row in plain))
    write("latin.tsv", tsv + "0\tcaf\u00e9 film\n", "latin-1")
    write("marks.tsv", "".join("%s\tcafe\u0301 \u0130\u00a0\u200b\u2028%s\n" % row for row in plain))
    write("quotes.tsv", "".join('%s\t"%s\n' % row for row in plain))
    write("nul.tsv", tsv + "0\tbad\0film\n")
    write("codes.tsv", "".join("%s\t%s\n" % (("01", "1")[int(y)], t) for y, t in plain))


def vectors():
    words = "film", "good", "bad"
    body = "".join("%s 0.1 0.2 0.3 0.4\n" % w for w in words)
    write("plain.vec", "3 4\n" + body)
    write("crlf.vec", "3 4\r\n" + body.replace("\n", " \r\n"))
    write("nohead.vec", body)
    write("twice.vec", "4 4\n" + body + "film 0.9 0.9 0.9 0.9\n")
    write("inner.vec", "4 4\n" + body + "New York 0.6 0.6 0.6 0.6\n")
    write("blank.vec", "4 4\n" + body + "  0.3 0.3 0.3 0.3\n")
    write("marks.vec", "5 4\n" + body + "good\u00a0day 0.3 0.3 0.3 0.3\n-0.27998 0.1 0.1 0.1 0.1\n")
    write("nan.vec", "3 4\n" + body.replace("0.3", "nan", 1))
    write("few.vec", "5 4\n" + body)
    write("many.vec", "2 4\n" + body)


def spellings():
    """As programs and people of other habits write a table, and what is none."""
    table("minus.csv", ([r[0].replace("-", "\u2212")] + r[1:] for r in rows(second="7%.0s")))
    table("brackets.csv", ([f"({r[0][1:]})" if r[0][0] == "-" else r[0]] + r[1:] for r in rows(second="7%.0s")))
    table("swiss.csv", (["1'%s.5" % (500 + int(200 * float(r[0])))] + r[1:] for r in rows()))
    table("french.csv", ("1\u202f%s,5;%s;%s" % (500 + int(200 * float(r[0])), r[1].replace(".", ","), r[2]) for r in rows()), "a;b;y")
    table("rownames.csv", ([f'"r{i}"'] + r for i, r in enumerate(rows())), '"a","b","y"')
    table("hole.csv", ([r[2], r[0], "" if i < 1 else r[1]] for i, r in enumerate(rows())), "")
    table("percent.csv", changed(([r[0] + "%"] + r[1:] for r in rows()), 41, 0, "0.5"))
    table("namibia.csv", rows(classes=("DE", "NA")))
    write("page.csv", "<!DOCTYPE html>\n<html><body>Not, found</body></html>\n")
    write("lines.csv", "".join('{"a": %s, "b": %s, "y": "%s"}\n' % tuple(r) for r in rows()))
    write("lfs.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n")
    table("utf32.csv", rows(), encoding="utf-32")
    table("slashes.csv", ([r[0], '"say \\"hi\\", no"', r[2]] for r in rows()))
    table("phones.csv", ([r[0], "+49 89 %d" % i, r[2]] for i, r in enumerate(rows())))


tables()
libsvm()
texts()
vectors()
spellings()
