#!/usr/bin/env python3
"""Reads a picture that `weft info --plot` has drawn, with the standard library alone, and prints for t_picture.sh: its
texts, a line each; rows, columns, cells; the samples of each class in the cells that are drawn; the least and the most
samples of a client by its bar; what overlaps or lies outside of the picture."""
import re
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == SVG + "svg", root.tag
width, height = (float(root.get(key)) for key in ("width", "height"))
assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"

cells, bars, classes, outside = {}, {}, {}, 0
for rect in root.iter(SVG + "rect"):
    x, y, w, h = (float(rect.get(key, 0)) for key in ("x", "y", "width", "height"))
    outside += x < 0 or y < 0 or x + w > width + 0.01 or y + h > height + 0.01 or w < 0 or h <= 0
    title = rect.find(SVG + "title")
    cell = title is not None and re.fullmatch(r"client (.*), class (.*): (\d+)", title.text)
    bar = title is not None and re.fullmatch(r"client (.*): (\d+)", title.text)
    if cell:
        assert (x, y) not in cells, title.text
        cells[x, y] = cell[1], cell[2], int(cell[3])
        classes[cell[2]] = classes.get(cell[2], 0) + int(cell[3])
    elif bar:
        assert y not in bars, title.text
        bars[y] = bar[1], int(bar[2]), w
for text in root.iter(SVG + "text"):
    print("text", text.text)
print("rows", len(bars))
print("cells", len(cells))
for name, samples in classes.items():
    print("class", name, samples)
print("samples", min(n for _, n, _ in bars.values()), max(n for _, n, _ in bars.values()))
_, most, wide = max(bars.values(), key=lambda bar: bar[1])
longest = wide / most
print("outside", outside)
print("proportions", "good" if all(abs(w - n * longest) < 0.06 for _, n, w in bars.values()) else "wrong")
cut = any("classes, the first" in text.text for text in root.iter(SVG + "text"))
for y, (name, n, _) in bars.items():
    row = [cell for (_, at), cell in cells.items() if at == y]
    drawn = sum(cell[2] for cell in row)
    if any(cell[0] != name for cell in row) or drawn > n or (drawn < n and not cut):
        print("differs", name, n, row)
