#!/usr/bin/env python3
"""Users and samples of Shakespeare's works by LEAF's rules, with Python's regular expressions.

    python3 tests/gold/shakespeare.py raw_data.txt

raw_data.txt is 100.txt of Project Gutenberg's 1994-01-100.zip. A line has a user, the
number of its windows of 80 characters with one that follows, and the CRC-32 of its text; users
without a window are left out. The last line is the CRC-32 of the others, for t_shakespeare.
"""
import re
import sys
import zlib

LENGTH = 80
LAST = 124195  # line, from the second one on, counted from 0
AUTHOR = "by William Shakespeare"

lines = open(sys.argv[1], encoding="utf-8").read().splitlines()[1:]
named = [i for i, line in enumerate(lines) if AUTHOR in line]
plays = []
for i in range(named[1], min(LAST + 1, len(lines))):
    line = lines[i]
    if AUTHOR in line:
        title = next(lines[i - k].strip() for k in range(2, 8) if lines[i - k].strip())
        odd = title == "THE COMEDY OF ERRORS"
        indent = ("", "") if odd else ("  ", "    ")
        roles, speaker = {}, None
        plays.append((title, roles))
        continue
    speech = re.match(indent[0] + r"([a-zA-Z][a-zA-Z ]*)\. (.*)", line)
    if speech:
        speaker = speech.group(1).upper()
        if odd and speaker.startswith("ACT "):
            speaker = None
        else:
            roles.setdefault(speaker, []).append(speech.group(2))
    elif speaker and line.startswith(indent[1]):
        text = line[len(indent[1]):]
        if odd and text.startswith("<"):
            speaker = None
        else:
            roles[speaker].append(text)

users = {}
for title, roles in plays:
    for role, said in roles.items():
        if len(roles) > 1 and len(said) > 2:
            name = re.sub(r"\W+", "_", (title + "_" + role).replace(" ", "_"))
            users.setdefault(name, []).extend(said)
table = ""
for name, said in users.items():
    text = re.sub("  +", " ", "".join(line + " " for line in said))
    if len(text) > LENGTH:
        table += f"{name}\t{len(text) - LENGTH}\t{zlib.crc32(text.encode())}\n"
print(f"{table}{zlib.crc32(table.encode()):#010x}")
