"""Numbers that are written as dates, or with a unit, as src/reader/dense_cell.c reads them."""
import datetime
import math
import re

MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]
MONTH = r"(?P<name>[A-Za-z]{3,9})\.?"
TIME = r"(?P<hour>\d\d?):(?P<minute>\d\d)(:(?P<second>\d\d)(?P<part>[.,]\d+)?)?( *(?P<half>[aApP][mM]))?"
BRIEF = r"(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)?(?P<part>[.,]\d+)?"
BEHIND = rf"([Tt ]+{TIME}( *(?P<zone>[Zz]|UTC|GMT|[-+](0\d|1[0-8])(:?[0-5]\d)?))?)?"
FIRST = r"(?P<year>\d{4})(?P<mark>[-./])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)" + BEHIND
DATES = {  # as weft_date_read of src/data/date.c
    "ymd": [FIRST, r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)" + BEHIND.replace(TIME, BRIEF).replace("[Tt ]+", "T"),
            r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)" + BEHIND.replace("[Tt ]+", "T"), r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)\.0"],
    "dmy": [r"(?P<day>\d\d?)(?P<mark>[-./])(?P<month>\d\d?)(?P=mark)(?P<year>\d{4}|\d\d)" + BEHIND, FIRST],
    "mdy": [r"(?P<month>\d\d?)(?P<mark>[-./])(?P<day>\d\d?)(?P=mark)(?P<year>\d{4}|\d\d)" + BEHIND, FIRST],
    "ym": [r"(?P<year>\d{4})-(?P<month>\d\d)"],
    "named": [rf"(?P<day>\d\d?)[ ,-]*{MONTH}[ ,-]*(?P<year>\d{{4}})" + BEHIND,
              rf"{MONTH}[ ,-]*(?P<day>\d\d?)[ ,-]+(?P<year>\d{{4}})" + BEHIND, FIRST],
    "time": [TIME],
    "span": [rf"(?P<days>-?\d{{1,6}}) days?(,? \+?{TIME})?",
             r"(?P<minus>-?)(?P<hours>\d{1,6}):(?P<minute>\d\d):(?P<second>\d\d)(?P<part>[.,]\d+)?",
             r"(?P<minus>-?)(?P<minutes>\d{1,6}):(?P<second>[0-5]\d)(?P<part>[.,]\d+)"],
}
CURRENCY = r"[A-Z]{0,2}\$|[£¥\u20a0-\u20cf]|(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN)(?= )"
UNITED = re.compile(rf"([-+]?) *({CURRENCY}|) *(-?)(\d(?:[\d]|[.,' ](?=\d))*(?:[eE][-+]?\d+)?) *(.*)")


def seconds(cell, order, clock):
    """The seconds since 1970, or midnight, or of a span, of a date by the clock of that many minutes; NaN where it is none."""
    found = next(filter(None, (re.fullmatch(one, cell) for one in DATES[order])), None)
    if not found:
        return math.nan
    part = {key: value for key, value in found.groupdict().items() if value and key not in ("mark", "part", "minus")}
    name, zone, half = (part.pop(key, "") for key in ("name", "zone", "half"))
    if name:
        part["month"] = sum(i for i, month in enumerate(MONTHS, 1) if name.lower() in (month, month[:3]))
    number = {key: int(value) for key, value in part.items()}
    year, hour, minute, second = (number.get(key, 0) for key in ("year", "hour", "minute", "second"))
    hour = hour % 12 + 12 * (half.lower() == "pm") if half and 1 <= hour <= 12 else 99 if half else hour
    if hour > 24 or minute > 59 or second > 60 or hour == 24 and (minute or second or found["part"]):
        return math.nan
    if order == "span" and hour > 23:
        return math.nan
    year += (2000 if year < 69 else 1900) if len(part.get("year", "0000")) == 2 else 0
    try:
        days = number.get("days", 0) if order in ("time", "span") else (datetime.date(year, number["month"], number.get("day", 1)) - datetime.date(1970, 1, 1)).days
    except ValueError:
        return math.nan
    if zone:
        sign, digits = -1 if zone[0] == "-" else 1, re.sub(r"\D", "", zone).ljust(4, "0")
        clock = sign * (60 * int(digits[:2]) + int(digits[2:]))
    hour += number.get("hours", 0)
    moment = 86400 * days + 3600 * hour + 60 * (minute + number.get("minutes", 0)) + second + float("0." + (found.groupdict().get("part") or ".0")[1:]) - 60 * clock
    return -moment if found.groupdict().get("minus") else moment


def part(name, moment, form):
    """What a model is told of a moment, as weft_date_parts of src/data/date.c."""
    clock = int(form.split(" ")[1])
    local = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=math.floor(moment) + 60 * clock)
    turn = {"month": (local.month - 1) / 12, "hour": local.hour / 24}.get(name.split(" ")[0], 0) + name.endswith("cosine") / 4
    if name.endswith("sine"):
        return round(math.sin(2 * math.pi * turn) * 2**20) / 2**20
    return {"seconds": moment, "year": local.year}.get(name, name == local.strftime("%A"))


def read(cell, form, number):
    """The number in a cell of a column of that form, NaN where there is none; number reads a plain one."""
    if form.split(" ")[0] in DATES:
        return seconds(cell, form.split(" ")[0], int(form.split(" ")[1]))
    decimal, thousands, unit = form.split(" ", 2)
    told, how = cell, {"decimal": decimal, "thousands": thousands}
    cell = re.sub("[\u00a0\u202f\u2009]", " ", cell).replace("\u2212", "-").replace("\u2019", "'")
    account = cell.startswith("(") and cell.endswith(")")
    found = UNITED.fullmatch(cell[1:-1] if account else cell)
    if not found or not (found[2] + found[5] or account or cell != told or "'" in cell):
        return number(told, how)
    minus = "-" if account or "-" in (found[1], found[3]) else ""
    return number(minus + found[4], how) if " ".join(filter(None, (found[2], found[5]))) in ("", unit) else math.nan
