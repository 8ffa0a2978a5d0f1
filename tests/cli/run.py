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

import cli  # noqa: E402
from missing import why_not  # noqa: E402
import schema  # noqa: E402,F401  (looks at every report that is read)


def tests():
    for path in sorted(glob.glob(os.path.join(HERE, "test_*.py"))):
        group = os.path.basename(path)[len("test_"):-len(".py")]
        module = importlib.import_module("test_" + group)
        for name, function in list(vars(module).items()):
            if name.startswith("test_"):
                yield f"{group}.{name[len('test_'):]}", function


def main():
    wanted = sys.argv[1:]
    passed = failed = 0
    for name, function in tests():
        if wanted and name not in wanted:
            continue
        if reason := why_not("cli", name):
            print(f"SKIP {name}: {reason}", flush=True)
            continue
        try:
            function()
            passed += 1
            print(f"ok {name}", flush=True)
        except cli.Skip as e:
            print(f"SKIP {name}: {e}", flush=True)
        except Exception as e:  # any exception is this test's failure, not the end of the others
            failed += 1
            print(f"FAIL {name}: {type(e).__name__}: {e}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
