#!/usr/bin/env python3
"""Tests of pmend where people run it: in containers, with limits, on several file systems, and with programs of odd habits. In the project's folder.

    tests/places/run.py [NAME]...      all rows, or these
    tests/places/run.py --table        docs/places.md, made from the rows

Each row of rows.py is a test. Prints `ok NAME`, `FAIL NAME: …` or `SKIP NAME: why`."""
import functools
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True
os.chdir(os.path.join(HERE, "..", ".."))

from each import choose, run_each  # noqa: E402
import schema  # noqa: E402,F401  (looks at every report that is read)
from places import Place, expect  # noqa: E402
from rows import MACHINE, NOTED, PROGRAM, REFUSED, WORKS  # noqa: E402

PAGE = "docs/places.md"
HEAD = """# Where pmend runs

*For users of pmend who run it in a container, under limits, or on an unusual program.*

This page says how pmend behaves in containers, under limits, on various file systems, and with
programs that do unusual things. Each row is tested.

* **works**: the findings are those of an ordinary machine, and all crash states are explored.
* **works with a note**: the findings are the same, and pmend says what it did differently or what
  is missing.
* **refused**: pmend says why, and exits with status 3. It reports no false positives.

A place may make pmend slower or less complete; the report then says so. No finding appears or
disappears without a note.

`tests/places/run.py --table >docs/places.md` generates this page from the rows of
`tests/places/rows.py`. Each row is a test of that name. `tests/run.py places` runs those that the
machine allows.
"""


def table(title, rows):
    lines = [f"## {title}", "", "| | outcome | what pmend says, and what to do | test |", "|---|---|---|---|"]
    for row in rows:
        says = "; ".join(filter(None, [f"`{row.says}`" if row.says else "", row.remark]))
        lines.append(f"| {row.what} | {row.outcome} | {says} | `{row.name}` |")
    return "\n".join(lines) + "\n"


def page():
    return "\n".join([HEAD, table("The machine", MACHINE), table("A program that ...", PROGRAM)])


def check_page(_):
    """The page is that of the rows, and few of these are refused."""
    rows = MACHINE + PROGRAM
    expect(len({row.name for row in rows}) == len(rows), "two rows have one name")
    for row in rows:
        expect(row.outcome in (WORKS, NOTED, REFUSED) and bool(row.says) == (row.outcome != WORKS), f"{row.name}: what is said does not fit the outcome")
    refused = sum(row.outcome == REFUSED for row in rows)
    expect(refused * 5 <= len(rows), f"{refused} of {len(rows)} rows are refused: more than a fifth")
    with open(PAGE, encoding="utf-8") as f:
        expect(f.read() == page(), f"{PAGE} is not what the rows say: tests/places/run.py --table >{PAGE}")


def run(says, test):
    place = Place(says)
    try:
        test(place)
    finally:
        place.close()


def main():
    if sys.argv[1:] == ["--table"]:
        sys.stdout.write(page())
        return 0
    tests = {"page": functools.partial(run, "", check_page), **{row.name: functools.partial(run, row.says, row.test) for row in MACHINE + PROGRAM}}
    return run_each("places", [(n, tests[n]) for n in choose(list(tests), sys.argv[1:])])


sys.exit(main())
