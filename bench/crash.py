#!/usr/bin/env python3
"""Crash exploration, as ratios in one run: growth with the number of recorded operations (10, 100, 1,000: time and runs a failure point should stay
the same), two jobs against one, lazy against prefix, and failure points a second on a libpmemobj program.

    bench/crash.py [OPERATIONS]...        after `make mutants`"""
import json
import os
import subprocess
import sys
import tempfile
import time

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PMEND = "build/pmend"


def record(program, operations, folder):
    """Gives the trace of so many operations on a pool that exists."""
    pool, trace = (os.path.join(folder, f"{os.path.basename(program)}-{operations}{end}") for end in ("", ".pmt"))
    subprocess.run([program, pool, "run", "5", "1"], stdout=subprocess.DEVNULL, check=True)
    subprocess.run([PMEND, "record", "-q", "-o", trace, "--", program, pool, "run", str(operations), "2"], stdout=subprocess.DEVNULL, check=True)
    return trace


def explore(program, trace, *options):
    """Gives (seconds, coverage) of one exploration."""
    start = time.monotonic()
    p = subprocess.run([PMEND, "crash", "--recover", f"'{program}' {{}} check", "--format", "json", "--timeout", "60", *options, trace],
                       capture_output=True, text=True)
    seconds = time.monotonic() - start
    if p.returncode != 0:
        sys.exit(f"pmend crash ended with {p.returncode}: {p.stderr}{p.stdout[:500]}")
    return seconds, json.loads(p.stdout)["coverage"]


def show(what, seconds, c):
    print(f"{what:34} {c['failure_points']:6} failure points, {c['runs']:6} runs, {c['runs'] / c['failure_points']:5.2f} a point, "
          f"{seconds / c['failure_points'] * 1000:8.1f} ms a point, {c['runs'] / seconds:7.1f} runs/s", flush=True)


def main():
    counts = [int(a) for a in sys.argv[1:]] or [10, 100, 1000]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        program, points = "build/mutants/hash-O2", []
        for n in counts:
            trace = record(program, n, folder)
            seconds, c = explore(program, trace)
            show(f"hash, {n} operations", seconds, c)
            points.append(seconds / c["failure_points"])
        print(f"growth: a failure point costs {points[-1] / points[0]:.2f} times as much with {counts[-1]} operations as with {counts[0]}")
        one, c = explore(program, trace, "--jobs", "1")
        two, c = explore(program, trace, "--jobs", "2")
        print(f"two jobs: {one / two:.2f} times as fast as one ({os.cpu_count()} cores)")
        seconds, c = explore(program, trace, "--strategy", "prefix")
        show("hash, prefix", seconds, c)
        program = "build/mutants/list-O2"
        trace = record(program, 5, folder)
        seconds, c = explore(program, trace, "--max-time", "120")
        show("libpmemobj list, 5 operations", seconds, c)
        print(f"libpmemobj: {c['failure_points'] / seconds:.2f} failure points/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
