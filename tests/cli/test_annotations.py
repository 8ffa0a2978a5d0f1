"""Annotations in a native run: nothing happens without pmend; with a preloaded runtime, all of them reach it."""
import os

from cli import equal, run

FOLDER = os.path.abspath("build/tests/cli")
EXPECTED = """0 0 0 0 0
1 0 0 0 0
2 0 0 0 0
3 0 0 0 0
4 0 0 0 0
5 0 0 0 0
6 0 0 0 0
7 1 2 0 0
8 3 4 5 0
9 put
10 put
11 6 7 0 0
12 8 9 10 11
13 12 13 0 0
14 0 0 0 0
in recovery: 1
15 0 0 0 0
"""


def test_native_run_without_pmend():
    equal(run(f"{FOLDER}/annotated"), (0, "in recovery: 0\n", ""), "what the program did")
    equal(run(f"{FOLDER}/annotated_cc"), (0, "in recovery: 0\n", ""), "what the C++ program did")


def test_native_run_with_runtime():
    env = {"LD_PRELOAD": f"{FOLDER}/runtime_probe.so"}
    for program in ("annotated", "annotated_cc"):
        equal(run(f"{FOLDER}/{program}", env=env), (0, EXPECTED, ""), f"what reached the runtime from {program}")
