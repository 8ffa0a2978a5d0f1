#!/usr/bin/env python3
"""Runs `pmend test --threads --schedules` on the programs of this folder.

    tests/threads/run.py [NAME]...      all tests, or those named; in the project's folder

NAME: the correct program, on 3 schedules with 4 threads: nothing may be found, not even a warning. NAME-broken: the lines that its source marks must be
found, confirmed by a crash state. LONG=1 also runs what is slow; bench/threads runs many schedules, with 1, 4 and 16 threads."""
import os
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.dont_write_bytecode = True
sys.path[:0] = ["tests", "tests/threads"]

from each import Skip, choose, run_each  # noqa: E402
from threaded import NAMES, found, run, summary  # noqa: E402

SLOW = {"tx"}                              # libpmemobj makes pools and opens them
BROKEN = {"log": 2, "seqlock": 2, "workers": 2}  # that are run without LONG: the first schedule that shows the mistake
SCHEDULES = 3
SCHEDULES_LONG = 50
LONG = bool(os.environ.get("LONG"))


def correct(name):
    def test():
        if name in SLOW and not LONG:
            raise Skip("it takes long; LONG=1 runs it")
        report = run(name, 4, SCHEDULES)
        if report["bugs"]:
            raise AssertionError(f"a correct program is accused: {summary(report['bugs'])}")
        return f"{report['coverage']['schedules']['different']} schedules"
    return test


def broken(name):
    def test():
        if name not in BROKEN and not LONG:
            raise Skip("it takes dozens of schedules; LONG=1 runs it")
        report = run(name, 4, SCHEDULES if name in BROKEN else SCHEDULES_LONG, is_broken=True)
        first, confirmed = found(name, report)
        if confirmed is None:
            raise AssertionError(f"a crash state should confirm a marked line; there is only: {summary(report['bugs']) or 'nothing'}")
        return f"found in schedule {first}"
    return test


def main():
    tests = {name: correct(name) for name in NAMES} | {f"{name}-broken": broken(name) for name in NAMES}
    return run_each("threads", [(name, tests[name]) for name in choose(sorted(tests), sys.argv[1:])])


sys.exit(main())
