#!/usr/bin/env python3
"""Crash exploration, in one run: growth with the number of recorded operations (10, 100, 1,000: a failure point should cost the same), two jobs against one, lazy against
prefix, runs on a raw and on a libpmemobj program beside the same recovery run by itself, and one insertion into PMDK's hash map, recorded, checked and crashed. Processor time
(user and system, of all processes) is of use on a busy machine, too; time by the clock is not.

    bench/crash.py [OPERATIONS]...        after `make mutants`"""
import json
import os
import resource
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


def cpu():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def timed(command):
    """Gives (seconds, seconds of processor time, the ended process)."""
    start, before = time.monotonic(), cpu()
    p = subprocess.run(command, capture_output=True, text=True)
    return time.monotonic() - start, cpu() - before, p


def explore(program, trace, *options):
    """Gives (seconds, seconds of processor time, coverage) of one exploration."""
    seconds, used, p = timed([PMEND, "crash", "--recover", f"'{program}' {{}} check", "--format", "json", "--timeout", "60", *options, trace])
    if p.returncode != 0:
        sys.exit(f"pmend crash ended with {p.returncode}: {p.stderr}{p.stdout[:500]}")
    return seconds, used, json.loads(p.stdout)["coverage"]


def show(what, seconds, used, c):
    print(f"{what:34} {c['failure_points']:6} failure points, {c['runs'] / c['failure_points']:5.2f} runs a point, {c['runs'] / seconds:7.1f} runs/s; "
          f"processor time {used / c['failure_points'] * 1000:7.2f} ms a point, {used / c['runs'] * 1000:6.2f} a run", flush=True)


def alone(program, pool):
    """Milliseconds of processor time of one recovery that nobody watches."""
    return sorted(timed([program, pool, "check"])[1] for _ in range(15))[7] * 1000


def structures(counts, folder):
    program, points = "build/mutants/hash-O2", []
    for n in counts:
        trace = record(program, n, folder)
        seconds, used, c = explore(program, trace)
        show(f"hash, {n} operations", seconds, used, c)
        points.append(used / c["failure_points"])
    print(f"growth: a failure point costs {points[-1] / points[0]:.2f} times as much with {counts[-1]} operations as with {counts[0]}")
    one, two = (explore(program, trace, "--jobs", jobs)[0] for jobs in ("1", "2"))
    print(f"two jobs: {one / two:.2f} times as fast as one ({os.cpu_count()} cores; wanted: 1.7)")
    show("hash, prefix", *explore(program, trace, "--strategy", "prefix"))
    print(f"{'':34} recovery alone: {alone(program, trace[:-4]):.2f} ms")
    program = "build/mutants/list-O2"
    trace = record(program, 5, folder)
    show("libpmemobj list, 5 operations", *explore(program, trace, "--max-time", "120"))
    show("libpmemobj list, prefix", *explore(program, trace, "--strategy", "prefix"))
    print(f"{'':34} recovery alone: {alone(program, trace[:-4]):.2f} ms")


def insertion(folder):
    """One insertion into a pool that exists."""
    program, pool = "build/bench/hashmap", os.path.join(folder, "hashmap")
    for key in ("1", "2", "3"):
        subprocess.run([program, pool, "insert", key], check=True)
    seconds, used, p = timed([PMEND, "test", "-q", "--strategy", "prefix", "--format", "json", "--recover", f"'{program}' {{}} check", "--", program, pool, "insert", "77"])
    c = json.loads(p.stdout)["coverage"]
    print(f"an insertion into PMDK's hash map, recorded, checked and crashed at {c['failure_points']} failure points: {seconds:.2f} s (wanted: 1), "
          f"{used:.2f} s of processor time")


def main():
    counts = [int(a) for a in sys.argv[1:]] or [10, 100, 1000]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        structures(counts, folder)
        insertion(folder)


if __name__ == "__main__":
    main()
