#!/usr/bin/env python3
"""Lines of the product, the benchmarks and the examples (not of tests/, where marks stand on their
lines and inputs of `fix` have styles on purpose). Two tests:
  width   a line ends at column 100, with tabs of 8. What does not is a string literal, or between
          `clang-format off` and `on`, and at most WIDE_SHARE of all lines.
  layout  every file looks as .clang-format says. Versions of clang-format differ, so only version
          VERSION is asked; where there is none, the test is skipped."""
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from includes import TOP, files  # noqa: E402

COLUMNS, TAB = 100, 8
WIDE_SHARE = 0.005
VERSION = 14

LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')


def wide_lines(path, text):
    """(number of lines, wide ones that are allowed, complaints about those that are not)."""
    allowed, bad, off = 0, [], False
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if "clang-format off" in line or "clang-format on" in line:
            off = "clang-format off" in line
        if len(line.expandtabs(TAB)) <= COLUMNS:
            continue
        if off or len(LITERAL.sub('""', line).expandtabs(TAB)) <= COLUMNS:
            allowed += 1
        else:
            bad.append(f"{path}:{number}: {len(line.expandtabs(TAB))} columns")
    return len(lines), allowed, bad


def test_width(ours):
    long_words = "word " * 30
    assert wide_lines("x.c", f"/* {long_words}*/\n")[2], "the test itself must be able to fail"
    assert wide_lines("x.c", f'/* clang-format off */\nint a; /* {long_words}*/\n')[1:] == (1, [])
    assert wide_lines("x.c", f'/* clang-format off */\n/* clang-format on */\n/* {long_words}*/\n')[2]
    assert wide_lines("x.c", f'\tputs("{long_words}");\n')[1:] == (1, [])
    assert wide_lines("x.c", f'\tputs("a"); /* {long_words}*/\n')[2]
    total, allowed, bad = 0, 0, []
    for path in ours:
        with open(os.path.join(TOP, path), encoding="utf-8") as f:
            n, wide, wrong = wide_lines(path, f.read())
        total, allowed, bad = total + n, allowed + wide, bad + wrong
    if allowed > total * WIDE_SHARE:
        bad.append(f"{allowed} of {total} lines are wider than {COLUMNS} columns; {WIDE_SHARE:.1%} may be")
    return bad


def formatter():
    """The command, or why there is none."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        if shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"version {VERSION}\.", said):
                return name, None
    return None, f"clang-format {VERSION} is not installed; other versions format differently"


def test_layout(command, ours):
    def ask(paths, **how):
        return subprocess.run([command, "--dry-run", "-Werror", *paths], cwd=TOP, capture_output=True, text=True, **how)

    assert ask(["--assume-filename=x.c"], input="int  a;\n").returncode != 0, "the test itself must be able to fail"
    p = ask(ours)
    if p.returncode == 0:
        return []
    return sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", p.stderr, re.M))) or [p.stderr.strip() or f"{command} ended with {p.returncode}"]


def main():
    ours = [p for p in files() if not p.startswith("tests/")]
    command, missing = formatter()
    tests = [("width", f"lines end at column {COLUMNS}", test_width(ours))]
    if command:
        tests.append(("layout", "files are formatted as .clang-format says", test_layout(command, ours)))
    else:
        print(f"SKIP format/layout: {missing}")
    for name, says, bad in tests:
        for b in bad:
            print(f"FAIL {name}: {b}")
        if not bad:
            print(f"ok {name}: {says}")
    return any(bad for _, _, bad in tests)


if __name__ == "__main__":
    sys.exit(main())
