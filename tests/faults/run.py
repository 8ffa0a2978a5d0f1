#!/usr/bin/env python3
"""Every malloc, mmap, write and fork of pmend's own processes fails once, in a run of `pmend test` (fault.c). In the project's folder.

    tests/faults/run.py [PROGRAM]...          an even sample of them
    tests/faults/run.py --all [PROGRAM]...    all: an hour; LONG=1 does the same
    tests/faults/run.py --site malloc:1:1a2b,3c4d… PROGRAM   one, as a failure names it

First an undisturbed run lists the calls, by the functions of pmend that lead to each. Then, for each call, a run in which it fails: pmend says what is wrong and
exits with 3 (1 if it found bugs before), or it can do without and everything is as in the undisturbed run. In any case nothing is left behind, and the user's pool is as it was."""
import argparse
import concurrent.futures
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "tests"))
from leftovers import wait_for_ends  # noqa: E402

PMEND = os.path.abspath(os.path.join(TOP, "build", "pmend"))
LIBRARY = os.path.abspath(os.path.join(TOP, "build", "tests", "faults", "fault.so"))
PROGRAMS = {"correct": "log-O2", "buggy": "log-5"}  # the first has nothing to find, so that what goes wrong is all that decides
KINDS = {1: "malloc", 2: "mmap", 3: "write", 4: "fork"}
SAMPLE = {"malloc": 16, "mmap": 8, "write": 8, "fork": 9}
TIMEOUT_S = 300

HEAD, SITE, NSITES = struct.Struct("4I"), struct.Struct("2I7Q"), 16384  # as fault.c has them
CONTENT = b"this is no pool" * 300
TIME_NS = 1_600_000_000_123_456_789


class World:
    """A folder with a pool, a table of calls, and a run of pmend in it."""

    def __init__(self, program, wanted=None):
        self.program = os.path.abspath(os.path.join(TOP, "build", "mutants", PROGRAMS[program]))
        self.folder = tempfile.mkdtemp(prefix="pmend-faults-", dir="/dev/shm")
        self.work, self.tmp, self.table = (os.path.join(self.folder, n) for n in ("work", "tmp", "table"))
        os.mkdir(self.work)
        os.mkdir(self.tmp)
        self.pool = os.path.join(self.work, "pool")
        with open(self.pool, "wb") as f:
            f.write(CONTENT)
        os.utime(self.pool, ns=(TIME_NS, TIME_NS))
        with open(self.table, "wb") as f:
            f.write(HEAD.pack(wanted is not None, 0, 0, 0) + (SITE.pack(*wanted) if wanted else b""))
            f.truncate(HEAD.size + NSITES * SITE.size)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def run(self):
        command = [PMEND, "test", "--fresh", "--jobs", "1", "--seed", "1", "--format", "json", "-o", "report.json",
                   "--recover", f"{self.program} {{}} check", "--", self.program, "pool", "run", "3"]
        env = dict(os.environ, TMPDIR=self.tmp, LD_PRELOAD=LIBRARY, PMEND_FAULT_TABLE=self.table)
        self.p = subprocess.run(command, cwd=self.work, env=env, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=TIMEOUT_S)
        self.left = wait_for_ends(self.tmp, {}, 60)
        with open(self.table, "rb") as f:
            self.bytes = f.read()

    def report(self):
        """What was found; None if there is no report."""
        path = os.path.join(self.work, "report.json")
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as f:
            return json.load(f)

    def has_failed(self):
        return HEAD.unpack_from(self.bytes)[1] == 1

    def sites(self):
        """(kind, number of calls, offsets…) each."""
        n = HEAD.unpack_from(self.bytes)[2]
        for i in range(n):
            yield SITE.unpack_from(self.bytes, HEAD.size + i * SITE.size)


def name_of(site):
    return f"{KINDS[site[0]]}:{site[1]}:{','.join(f'{f:x}' for f in site[2:] if f)}"


def site_of(name):
    kind, nth, frames = name.split(":")
    frames = [int(f, 16) for f in frames.split(",")]
    return (next(k for k, v in KINDS.items() if v == kind), int(nth), *frames, *[0] * (7 - len(frames)))


def functions_of(site):
    """The names of the functions, for a person."""
    out = subprocess.run(["addr2line", "-fe", PMEND, *[hex(f - 1) for f in site[2:] if f]], capture_output=True, text=True).stdout.splitlines()
    return " < ".join(out[::2])


def comparable(world):
    """The report without what differs from run to run, and with one name for the folder."""
    report = world.report()
    report = report and json.loads(json.dumps(report).replace(world.work, "WORK"))
    return report and {k: v for k, v in report.items() if k not in ("coverage",)} | {"complete": report["coverage"]["complete"]}


def messages(world):
    return {line for line in world.p.stderr.splitlines() if line.startswith("pmend: ")}


def is_said(world, good):
    """Something is wrong, and pmend says so: by a message, and by its exit status unless bugs decide that."""
    return (world.p.returncode == 3 or (world.p.returncode == 1 and world.report()["bugs"])) and bool(messages(world) - messages(good))


def problem(world, good):
    """What is wrong after a run with a call that failed; None if nothing is."""
    if world.left:
        return f"processes are left: {world.left}"
    if os.listdir(world.tmp):
        return f"files are left: {os.listdir(world.tmp)}"
    with open(world.pool, "rb") as f:
        if f.read() != CONTENT or os.stat(world.pool).st_mtime_ns != TIME_NS:
            return "the pool is not as it was"
    if more := set(os.listdir(world.work)) - set(os.listdir(good.work)):
        return f"files are left: {more}"
    if is_said(world, good):
        return None
    if world.p.returncode != good.p.returncode:
        return f"exit status {world.p.returncode}: {world.p.stderr.strip()[-300:]!r}"
    if comparable(world) != comparable(good):
        return f"the report is another one, and nobody said so: {world.p.stderr.strip()[-300:]!r}"
    return None


def every(sites):
    """The first and the last call from each place."""
    return [(kind, nth, *frames) for kind, ncalls, *frames in sites for nth in sorted({1, ncalls})]


def sample(sites):
    """As many of each kind as SAMPLE says, evenly."""
    sites, chosen = every(sites), []
    for kind, name in KINDS.items():
        of_kind = [s for s in sites if s[0] == kind]
        n = min(SAMPLE[name], len(of_kind))
        chosen += [of_kind[i * len(of_kind) // n] for i in range(n)]
    return chosen


def try_one(program, site, good):
    with World(program, site) as world:
        world.run()
        if not world.has_failed():
            return site, "never", None
        return site, problem(world, good), world.p.returncode


def try_all(program, choose):
    """Prints what failed; gives whether anything did."""
    counts, failed, ended = dict.fromkeys(KINDS.values(), 0), 0, 0
    with World(program) as good, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        good.run()
        sites = list(good.sites())
        if good.p.returncode != (program == "buggy") or good.report() is None or problem(good, good):
            print(f"FAIL {program} undisturbed: {good.p.returncode} {good.p.stderr} {problem(good, good)}")
            return True
        for site, what, status in pool.map(lambda s: try_one(program, s, good), choose(sites)):
            if what == "never":  # another run of recovery may not need it
                print(f"# {name_of(site)} was not reached")
                continue
            counts[KINDS[site[0]]] += 1
            ended += status == 3
            if what:
                failed += 1
                print(f"FAIL {program} {name_of(site)}: {what}; {functions_of(site)}", flush=True)
    if not failed:
        print(f"ok {program}: of {len(sites)} calls, {', '.join(f'{n} {name}' for name, n in counts.items())} failed; {ended} ended pmend with status 3")
    return failed > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true", default=bool(os.environ.get("LONG")))
    parser.add_argument("--site", help="KIND:NTH:OFFSETS, as a failure names it")
    parser.add_argument("program", nargs="*", help="default: all")
    args = parser.parse_args()
    choose = (lambda _: [site_of(args.site)]) if args.site else every if args.all else sample
    failed = [try_all(program, choose) for program in args.program or PROGRAMS]
    return 1 if any(failed) else 0


sys.exit(main())
