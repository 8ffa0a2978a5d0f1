#!/usr/bin/env python3
"""The recorder against `valgrind --tool=none` on the same program, in one run: ratios of user+system time, the best of several
alternating rounds; of the whole run, and of the work alone (less the same program with no work), at two lengths, which tells a cost
for each event from one that is paid once. And the size of the traces."""
import os
import resource
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
SCALE = float(os.environ.get("BENCH_SCALE", "1"))

#            program, full amount of work, the ratio that we want to stay below, how much more work --tool=none gets
#            so that its share of the work can be told from its start-up
PROGRAMS = [("compute", 300, 1.5, 1), ("persist", 1000, 2.5, 20), ("pmemobj_list", 10000, 2.0, 1)]


def cpu_seconds(command, env):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def stores(trace):
    out = subprocess.run(["build/pmend", "show", "--summary", trace], capture_output=True, text=True, check=True).stdout
    n = sum(int(line.split()[1]) for line in out.splitlines() if line.strip().startswith("store"))
    events = int(next(line for line in out.splitlines() if " events," in line).split()[0])
    return n, events


def measure(name, work, wanted, more, folder):
    pool, trace = os.path.join(folder, "pool"), os.path.join(folder, "t.pmt")
    env = dict(os.environ, PMEM_IS_PMEM_FORCE="1")
    tools = {"none": ["valgrind", "--tool=none", "-q"], "pmend": ["build/pmend", "record", "-q", "-o", trace, "--"]}
    lengths = (max(1, work // 4), work)
    best = {}
    for _ in range(ROUNDS):
        for tool, prefix in tools.items():
            for amount in sorted({0, *lengths, work * more if tool == "none" else work}):
                # stock Valgrind dies of clwb: it runs a build without (PMDK chooses clflush there, by CPUID)
                t = cpu_seconds(prefix + [f"build/bench/{name}" + ("_none" if tool == "none" else ""), pool, str(amount)], env)
                best[tool, amount] = min(t, best.get((tool, amount), t))
    n, events = stores(trace)
    size = os.path.getsize(trace)
    print(f"{name:14} {events} events, {size / max(n, 1):.1f} bytes a store, {size / events:.2f} an event")
    for amount in lengths:
        none = (best["none", work * more] - best["none", 0]) / (work * more) * amount
        ours = best["pmend", amount] - best["pmend", 0]
        print(f"{'':14} work {amount:6}: {best['pmend', amount] / best['none', amount]:5.2f}x --tool=none (wanted: {wanted}x)   "
              f"the work alone {ours / max(none, 0.001):.2f}x [{none:.3f} s, {ours:.3f} s]", flush=True)


def main():
    os.chdir(TOP)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for name, work, wanted, more in PROGRAMS:
            measure(name, max(1, int(work * SCALE)), wanted, more, folder)
    return 0


sys.exit(main())
