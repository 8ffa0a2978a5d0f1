#!/usr/bin/env python3
"""Recovery reads a word of PM that a crash may have lost, in each of the ways of this folder's program. In the project's folder.

    tests/ways/run.py [NAME]...      all ways, or those whose names begin so

The program is recorded twice: once it publishes the word too early, once in the right order. For each way, lazy exploration must find the bug of the first and
be silent about the second, or fall back to whole images and say so. What pmend cannot follow at all it must refuse. Each test is a way. Without a name and without
LONG=1, only those of QUICK. With LONG=1, each is also explored eagerly, and without protection keys. A way that this machine does not have is
skipped: the program says so when it is run without pmend."""
import json
import os
import shlex
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "tests"))
from each import Skip, choose, run_each  # noqa: E402
import schema  # noqa: E402,F401  (looks at every report that is read)

os.chdir(TOP)
PMEND = os.path.abspath(os.environ.get("PMEND", "build/pmend"))
WAYS = os.path.abspath("build/tests/ways/ways")
TIMEOUT_S = 900  # an emulated machine is slow
CANNOT = 77
NO_KEYS = {"PMEND_RUN_NO_PKEYS": "1"}
LONG = bool(os.environ.get("LONG"))
QUICK = ("load.across_pages", "load.fetch_add", "file.preadv2", "file.map_files", "file.mem_relative", "file.chroot", "file.sendfile", "buffer.sendmmsg",
         "buffer.futex_waitv", "buffer.uring_write", "string.argument", "string.variable", "string.open", "map.private_copied", "map.mremap_twice",
         "map.mremap_dontunmap_old", "map.mremap_replaced", "map.populate", "process.thread_on_pool", "process.handler_on_pool", "process.shell",
         "insn.gather", "insn.movs", "insn.ldp", "insn.ldaxr")


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def record(folder):
    """Traces of both programs."""
    made = {}
    for what in "early", "right":
        made[what] = os.path.join(folder, what + ".pmt")
        subprocess.run([PMEND, "record", "-q", "-o", made[what], "--", WAYS, what, os.path.join(folder, what + " pool")], check=True, timeout=TIMEOUT_S)
    return made


def crash(trace, name, *options, env=None):
    """(exit status, report or message)"""
    command = shlex.join([WAYS, "read", name]) + " {}"
    p = subprocess.run([PMEND, "crash", "--format", "json", "--jobs", "1", "--recover", command, *options, trace], capture_output=True, text=True,
                       timeout=TIMEOUT_S, env=dict(os.environ, **(env or {})))
    return p.returncode, json.loads(p.stdout) if p.stdout else p.stderr.strip()


def finds(got, what):
    status, report = got
    expect(status == 1 and len(report["bugs"]) == 1, f"{what}: status {status}, {report if isinstance(report, str) else report['coverage']}")
    expect(report["coverage"]["complete"], f"{what}: {report['coverage']}")


def is_silent(got, what):
    status, report = got
    expect(status == 0, f"{what}: status {status}, {report if isinstance(report, str) else report['bugs'][:1]}")
    expect(report["coverage"]["complete"], f"{what}: {report['coverage']}")


def is_refused(got):
    expect(got[0] == 3 and "recovery cannot be run on crash states" in got[1], got)


def is_possible(folder, name):
    """Does this machine have it, without pmend?"""
    pool = os.path.join(folder, "native pool")
    if os.path.exists(pool):
        os.unlink(pool)
    subprocess.run([WAYS, "right", pool], check=True)
    status = subprocess.run([WAYS, "read", name, pool], capture_output=True, timeout=TIMEOUT_S).returncode
    for end in ".link", ".new":
        if os.path.exists(pool + end):
            os.unlink(pool + end)
    expect(status in (0, CANNOT), f"without pmend it ends with {status}")
    return status == 0


def test_way(folder, traces, name, refused):
    if not is_possible(folder, name):
        raise Skip("this machine does not have it")
    lazy = crash(traces["early"], name)
    if refused:
        is_refused(lazy)
        if LONG:
            is_refused(crash(traces["early"], name, "--strategy", "eager"))
        return None
    finds(lazy, "lazy")
    is_silent(crash(traces["right"], name), "right")
    if LONG:
        finds(crash(traces["early"], name, "--strategy", "eager"), "eager")
        finds(crash(traces["early"], name, env=NO_KEYS), "without keys")
        is_silent(crash(traces["right"], name, env=NO_KEYS), "right, without keys")
    return "whole images" if "run as whole images" in lazy[1]["coverage"].get("note", "") else None


def main():
    listed = [line.split() for line in subprocess.run([WAYS, "list"], capture_output=True, text=True, check=True).stdout.splitlines()]
    # tmpfs allows more than other file systems, and crash images lie there
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="pmend ways ", dir=where) as folder:
        traces = record(folder)
        tests = {words[0]: lambda words=words: test_way(folder, traces, words[0], len(words) > 1) for words in listed}
        names = [n for n in choose(list(tests), sys.argv[1:]) if LONG or n in QUICK or sys.argv[1:]]
        return run_each("ways", [(n, tests[n]) for n in names])


sys.exit(main())
