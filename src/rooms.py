#!/usr/bin/env python3
"""Draws the rooms of the source, src/rooms.svg: a room stands above all that it includes.

usage: src/rooms.py [--check]     from the top; --check: only tells whether the picture
is as it would be drawn now.
An arrow that follows from others is left out.
"""
import glob
import os
import re
import sys

WIDTH, HEIGHT, GAP_X, GAP_Y = 100, 26, 44, 22
COLOURS = {"base": "#e8eef7", "learn": "#e9f5e6", "tune": "#fdf0dc", "run": "#f7e6e9"}
GROUP = {"base": "base math par store kept text privacy", "learn": "data pack reader feature model net worker task",
         "tune": "space tune sampler mixing"}


def room_of(path):
    """The room of a file under src/ROOM or include/weft/ROOM; registry.h and registry.c are one of their own."""
    found = re.match(r"(?:src|include/weft)/(\w+)/", path)
    return found.group(1) if found else os.path.splitext(os.path.basename(path))[0]


def needs():
    """{room: rooms that it includes}; a public header counts as a file of its room."""
    rooms = {room_of(path): set() for path in glob.glob("src/*/*.c")}
    files = glob.glob("src/*/*.[ch]") + glob.glob("src/*/*/*.[ch]") + glob.glob("include/weft/*/*.h")
    for path in files:
        room = room_of(path)
        if room not in rooms:
            continue
        for header in re.findall(r'^#include "((?:\w+/)+\w+\.h)"', open(path).read(), re.M):
            other = room_of("include/" + header if header.startswith("weft/") else "src/" + header)
            if other in rooms and other != room and (path, other) != ("src/tune/search.c", "sampler"):
                rooms[room].add(other)
    rooms["tune"] -= {"sampler", "mixing"}  # search.c alone combines the three
    return rooms


def reach(rooms, room):
    seen, todo = set(), list(rooms[room])
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo += rooms[one]
    return seen


def draw():
    rooms = needs()
    below = {room: reach(rooms, room) for room in rooms}
    loops = sorted(room for room in rooms if room in below[room])
    if loops:
        sys.exit("rooms that include each other: " + " ".join(loops))
    floor = {}
    for room in sorted(rooms, key=lambda r: len(below[r])):
        floor[room] = 1 + max((floor[other] for other in rooms[room]), default=0)
    top = max(floor.values())
    rows = [sorted(r for r in rooms if floor[r] == f) for f in range(1, top + 1)]
    width = max(len(row) for row in rows) * (WIDTH + GAP_X) + GAP_X
    height = top * (HEIGHT + GAP_Y) + GAP_Y // 2
    at = {}
    for f, row in enumerate(rows):
        left = (width - len(row) * (WIDTH + GAP_X) + GAP_X) / 2
        for i, room in enumerate(row):
            at[room] = left + i * (WIDTH + GAP_X), height - (f + 1) * (HEIGHT + GAP_Y) + GAP_Y / 2
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             'font-family="sans-serif" font-size="15">',
             '<rect width="100%" height="100%" fill="white"/>']
    for room in sorted(rooms):
        for other in sorted(rooms[room]):
            if any(other in below[third] for third in rooms[room]):
                continue
            (x1, y1), (x2, y2) = at[room], at[other]
            lines.append(f'<path d="M{x1 + WIDTH / 2:g} {y1 + HEIGHT:g} L{x2 + WIDTH / 2:g} {y2:g}" '
                         'stroke="#999" fill="none"/>')
    for room in sorted(rooms):
        x, y = at[room]
        group = next((g for g in GROUP if room in GROUP[g].split()), "run")
        lines.append(f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="5" '
                     f'fill="{COLOURS[group]}" stroke="#555"/>')
        lines.append(f'<text x="{x + WIDTH / 2:g}" y="{y + HEIGHT / 2 + 5:g}" text-anchor="middle">{room}</text>')
    return "\n".join(lines) + "\n</svg>\n"


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    picture = draw()
    if "--check" in sys.argv:
        sys.exit(0 if os.path.exists("src/rooms.svg") and open("src/rooms.svg").read() == picture
                 else "src/rooms.svg is not as the includes are: make it again by src/rooms.py")
    open("src/rooms.svg", "w").write(picture)
