#!/usr/bin/env python3
"""Runs `pmend check` on the programs of this folder and compares what it finds with what their sources say.

    tests/corpus/run.py [--keep] [NAME]...      all programs, or those named; in the project's folder

The programs of the folder named as this machine's architecture, amd64 or arm64, are about its own instructions.

A program marks each expected bug at its line, `/* BUG: missing-flush */` (several: `kind, kind`; on one architecture only: `BUG amd64:`), and
each that is listed under another one, its cause, with CAUSED instead of BUG, and each that is only a warning for a reason with WARNING. Nothing else may be found: one without marks is correct. `/* CHECK: --with overwrite */` in the first
lines adds options. A header of a program's name may have marks, too. Programs files_* get a folder, all of whose files are followed; others get the path of a pool. What PMDK does on its own is folded by pmend itself.
Each program is built at -O0 and at -O2. Prints `ok NAME (O0): …` or `FAIL NAME (O0): …`."""

import collections
import concurrent.futures
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, "tests")
from each import choose  # noqa: E402
from missing import ARCH, why_not  # noqa: E402
import schema  # noqa: E402,F401  (looks at every report that is read)

PMEND = os.environ.get("PMEND", "build/pmend")
SOURCES = "tests/corpus"
PROGRAMS = "build/tests/corpus"
LEVELS = ("O0", "O2")
TIMEOUT_S = 900  # an emulated machine on a busy one

MARK = re.compile(rf"/\* (BUG|CAUSED|WARNING)(?: {ARCH})?: ([a-z, -]+) \*/")
CAUSED = " (caused by another)"
DOUBTED = " (only a warning)"
ENDINGS = {"BUG": "", "CAUSED": CAUSED, "WARNING": DOUBTED}
OPTIONS = re.compile(r"/\* CHECK: (.*) \*/")
HEAD_LINES = 5


class Program:
    def __init__(self, source):
        self.name = os.path.splitext(os.path.basename(source))[0]
        self.source = source
        self.header = self.name + ".h"
        lines = lines_of(source)
        found = OPTIONS.search("\n".join(lines[:HEAD_LINES]))
        self.options = shlex.split(found.group(1)) if found else []
        self.expected = {(kind.strip() + ENDINGS[word], number) for number, line in enumerate(lines, 1)
                         for word, kinds in MARK.findall(line) for kind in kinds.split(",")}
        self.expected |= {(kind, f"{self.header}:{number}") for number, line in enumerate(lines_of(os.path.join(SOURCES, self.header)), 1)
                          for _, kind in MARK.findall(line)}


def lines_of(path):
    """None of a file that does not exist."""
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return f.read().splitlines()


def place(program, bug):
    """(kind, line) of a bug whose first location is in the program's source; (kind, what it says instead) of any other."""
    where = bug["locations"][0] if bug["locations"] else {}
    kind = bug["kind"] + (DOUBTED if "reason" in bug else "")
    if os.path.basename(where.get("file", "")) == os.path.basename(program.source):
        return kind, where.get("line")
    if os.path.basename(where.get("file", "")) == program.header:
        return kind, f"{program.header}:{where.get('line')}"
    return kind, f"{where.get('file', where.get('object', '?'))}:{where.get('line', '?')} {where.get('function', '?')}"


def check(program, level, folder):
    """What is wrong, as text; None if nothing is."""
    pool = "{dir}" if program.name.startswith("files_") else os.path.join(folder, "a pool")
    command = [PMEND, "check", "--format", "json", *program.options, "--",
               f"{PROGRAMS}/{program.name}_{level}", pool]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          errors="replace", timeout=TIMEOUT_S)
    with open(os.path.join(folder, "report.json"), "w") as f:
        f.write(done.stdout)
    if done.returncode not in (0, 1):
        return f"pmend returned {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}"
    report = json.loads(done.stdout)
    found = {place(program, bug) for bug in report["bugs"]}
    found |= {(kind + CAUSED, line) for bug in report["bugs"] for kind, line in (place(program, c) for c in bug.get("consequences", []))}
    if done.returncode != (1 if any(bug["severity"] == "correctness" for bug in report["bugs"]) else 0):
        return f"pmend returned {done.returncode} with {len(found)} bugs"
    if not report["coverage"]["complete"]:
        return f"the trace is incomplete: {report['coverage']}"
    return difference(program.expected, found)


def difference(expected, found):
    parts = []
    for word, bugs in (("missed", expected - found), ("unexpected", found - expected)):
        if bugs:
            parts.append(f"{word} " + ", ".join(f"{kind} at {line}" for kind, line in sorted(bugs, key=lambda b: str(b[1]).zfill(5))))
    return "; ".join(parts) or None


def judge(program, level, keep):
    """One line of output, and whether it is good."""
    folder = tempfile.mkdtemp(prefix=f"pmend {program.name}-")
    started = time.monotonic()
    try:
        wrong = check(program, level, folder)
    except Exception as e:
        wrong = f"{type(e).__name__}: {e}"
    print(f"# {program.name} ({level}): {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    if wrong and keep:
        wrong += f" [{folder}]"
    else:
        shutil.rmtree(folder)
    kinds = collections.Counter(kind for kind, _ in program.expected)
    good = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())) or "nothing to find"
    return f"FAIL {program.name} ({level}): {wrong}" if wrong else f"ok {program.name} ({level}): {good}", not wrong


def main():
    words = sys.argv[1:]
    keep = "--keep" in words
    programs = [Program(path) for path in sorted(glob.glob(f"{SOURCES}/*.c") + glob.glob(f"{SOURCES}/*.cc") + glob.glob(f"{SOURCES}/{ARCH}/*.c"))]
    names = choose([p.name for p in programs], [w for w in words if w != "--keep"])
    jobs = []
    for program in [p for p in programs if p.name in names]:
        for level in LEVELS:
            if reason := why_not("corpus", f"{program.name} ({level})"):
                print(f"SKIP corpus: {program.name} ({level}): {reason}")
            else:
                jobs.append((program, level, keep))
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for line, is_good in pool.map(lambda job: judge(*job), jobs):
            print(line, flush=True)
            passed += is_good
            failed += not is_good
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
