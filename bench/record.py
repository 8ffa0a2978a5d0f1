#!/usr/bin/env python3
"""The recorder beside `valgrind --tool=none`, memcheck and lackey on the same programs, in one run: processor time (user and system), medians of alternating
rounds. Each program does a little and a lot of its work. What the two differ by is the work alone; the rest is paid once: start-up, and the translation of code.
And the size of the traces.

    BENCH_ROUNDS=9 bench/record.py [PROGRAM]..."""
import os
import resource
import statistics
import subprocess
import sys
import tempfile

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))

# program: a little work, a lot of it, what the recorder may take of --tool=none's time for it
PROGRAMS = {"compute": (20, 320, 1.5), "persist": (500, 8500, 2.5), "pmemobj_list": (2500, 40000, 2.0), "sparse": (100, 1700, 2.5)}
# stock Valgrind dies of clwb: its tools run a build without (PMDK chooses clflush there, by CPUID)
TOOLS = {"none": ["valgrind", "-q", "--tool=none"], "pmend": ["build/pmend", "record", "-q", "-o", "TRACE", "--"],
         "memcheck": ["valgrind", "-q", "--tool=memcheck"], "lackey": ["valgrind", "-q", "--tool=lackey"]}


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=dict(os.environ, PMEM_IS_PMEM_FORCE="1"), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def stores(trace):
    out = subprocess.run(["build/pmend", "show", "--summary", trace], capture_output=True, text=True, check=True).stdout
    n = sum(int(line.split()[1]) for line in out.splitlines() if line.strip().startswith("store"))
    events = int(next(line for line in out.splitlines() if " events," in line).split()[0])
    return n, events


def measure(name, little, much, wanted, folder):
    pool, trace = os.path.join(folder, "pool"), os.path.join(folder, "t.pmt")
    times = {}
    for _ in range(ROUNDS):
        for tool, command in TOOLS.items():
            for amount in (little, much):
                program = f"build/bench/{name}" + ("" if tool == "pmend" else "_none")
                times.setdefault((tool, amount), []).append(cpu_seconds([trace if a == "TRACE" else a for a in command] + [program, pool, str(amount)]))
    took = {key: statistics.median(t) for key, t in times.items()}
    work = {tool: took[tool, much] - took[tool, little] for tool in TOOLS}
    n, events = stores(trace)
    size = os.path.getsize(trace)
    print(f"{name}: {events} events, {size / max(n, 1):.1f} bytes a store, {size / events:.2f} an event")
    for tool in TOOLS:
        print(f"  {tool:9} work {much - little:6}: {work[tool]:6.3f} s, {work[tool] / work['none']:5.2f}x none" + (f" (wanted: {wanted}x)" if tool == "pmend" else "") +
              f"   the whole run {took[tool, much]:6.3f} s, {took[tool, much] / took['none', much]:5.2f}x none", flush=True)


def main():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for name in sys.argv[1:] or PROGRAMS:
            measure(name, *PROGRAMS[name], folder)


if __name__ == "__main__":
    main()
