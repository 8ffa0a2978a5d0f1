#!/usr/bin/env python3
"""Tests of the command line. Runs in the project's folder, on either architecture. Arguments: names of tests (default: all)."""
import glob
import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True
os.chdir(os.path.join(HERE, "..", ".."))

from each import choose, run_each  # noqa: E402
import schema  # noqa: E402,F401  (looks at every report that is read)


def tests():
    for path in sorted(glob.glob(os.path.join(HERE, "test_*.py"))):
        group = os.path.basename(path)[len("test_"):-len(".py")]
        module = importlib.import_module("test_" + group)
        for name, function in list(vars(module).items()):
            if name.startswith("test_"):
                yield f"{group}.{name[len('test_'):]}", function


def main():
    found = dict(tests())
    return run_each("cli", [(n, found[n]) for n in choose(list(found), sys.argv[1:])])


sys.exit(main())
