#!/usr/bin/env python3
"""How many inputs, and how much time, each strategy of `pmend explore` needs to the bug of each program of tests/explore.

    bench/explore.py [--max-runs N] [--strategies A,B] [NAME]...      in the project's folder, on x86-64

All in one run; the last line is the median over the programs of pm's inputs divided by coverage's. A bug that is not found within
the runs counts as one more than those."""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "tests/explore")
import run as tests  # noqa: E402


def inputs_to_bug(case, how, strategy, max_runs):
    """Explores one input at a time, which the folder of an exploration makes cheap, until the bug is there."""
    expected = tests.marks(case)
    with tempfile.TemporaryDirectory(prefix="pmend-bench-") as folder:
        start = time.time()
        for n in range(1, max_runs + 1):
            report, _ = tests.explore(folder, case, how, 1, ["--strategy", strategy])
            if expected <= {(b["kind"], tests.bug_line(b)) for b in report["bugs"]}:
                return n, time.time() - start
            if report["coverage"]["complete"]:
                break
        return max_runs + 1, time.time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-runs", type=int, default=200)
    parser.add_argument("--strategies", default="pm,coverage,random")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    strategies = args.strategies.split(",")
    ratios = []
    print(f"{'program':24}" + "".join(f"{s:>20}" for s in strategies))
    for name, case, how, _, _ in tests.CASES:
        if (args.names and name not in args.names) or not tests.marks(case):
            continue
        results = {s: inputs_to_bug(case, how, s, args.max_runs) for s in strategies}
        print(f"{name:24}" + "".join(f"{n:>8} inputs {t:>4.0f} s" for n, t in results.values()), flush=True)
        if "pm" in results and "coverage" in results:
            ratios.append(results["pm"][0] / results["coverage"][0])
    if ratios:
        print(f"pm / coverage, median of {len(ratios)}: {statistics.median(ratios):.2f} (goal: at most 0.5)")


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    main()
