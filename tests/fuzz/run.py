#!/usr/bin/env python3
"""Fuzzes what pmend reads: run.py [--seconds N] [TARGET...], where build/tests/fuzz --targets lists them. With --seconds, each target has so long; without,
they take turns until you interrupt it. What was found interesting stays in build/fuzz/TARGET, what crashed in build/fuzz/crashes.
--check is for `make check`: a few seconds each, the same way each time, and nothing is kept. Seeds are in tests/fuzz/seeds/TARGET: also inputs that crashed once."""
import argparse
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.normpath(os.path.join(HERE, "..", "..", "build"))
FUZZ = os.path.join(BUILD, "tests", "fuzz")
CHECK_S = 4
TURN_S = 60  # of a target, if there is no end
COMMON = ["-timeout=10", "-rss_limit_mb=2048", "-verbosity=0", "-print_final_stats=1"]


def targets():
    """libFuzzer's flags, by name."""
    out = subprocess.run([FUZZ, "--targets"], capture_output=True, text=True, check=True).stdout
    return {line.split()[0]: line.split()[1:] for line in out.splitlines()}


def session(name, flags, folders, crashes, seconds, scratch):
    """One run of libFuzzer; gives the exit status, the inputs that it tried, and what it said."""
    dictionary = os.path.join(HERE, f"{name}.dict")
    command = [FUZZ, f"--target={name}", *COMMON, *flags, f"-max_total_time={max(1, int(seconds))}", f"-artifact_prefix={crashes}/{name}-"]
    if os.path.exists(dictionary):
        command.append(f"-dict={dictionary}")
    env = dict(os.environ, TMPDIR=scratch, ASAN_OPTIONS="detect_leaks=1")
    p = subprocess.run(command + folders, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    tried = [int(line.split()[-1]) for line in p.stderr.splitlines() if line.startswith("stat::number_of_executed_units")]
    return p.returncode, sum(tried), p.stderr


def fuzz(name, flags, corpus, crashes, seconds, more=()):
    """Sessions until the time is over, since some targets end theirs after a number of runs; true if nothing crashed."""
    seeds, end, tried = os.path.join(HERE, "seeds", name), time.monotonic() + seconds, 0
    os.makedirs(corpus, exist_ok=True)
    os.makedirs(crashes, exist_ok=True)
    while True:
        with tempfile.TemporaryDirectory(prefix="pmend-fuzz-") as scratch:
            status, n, said = session(name, [*flags, *more], [corpus, *([seeds] if os.path.isdir(seeds) else [])], crashes, end - time.monotonic(), scratch)
        tried += n
        if status != 0:
            sys.stdout.write(said)
            print(f"FAIL {name}: libFuzzer ended with status {status}; the input is in {crashes}", flush=True)
            return False
        if time.monotonic() > end - 1:
            print(f"ok {name}: nothing crashed on {tried} inputs", flush=True)
            return True


def check(table):
    ok = True
    for name, flags in table.items():
        with tempfile.TemporaryDirectory(prefix="pmend-fuzz-") as corpus:
            ok &= fuzz(name, flags, corpus, os.path.join(BUILD, "fuzz", "crashes"), CHECK_S, ["-seed=1"])
    return ok


def main():
    parser = argparse.ArgumentParser(description="Fuzzes what pmend reads.")
    parser.add_argument("--check", action="store_true", help="a few seconds for each target")
    parser.add_argument("--seconds", type=int, help="for each target (default: turns until interrupted)")
    parser.add_argument("target", nargs="*", help="default: all")
    args = parser.parse_args()
    table = targets()
    for name in args.target:
        if name not in table:
            parser.error(f"no target is called {name}; there are: {' '.join(table)}")
    table = {name: flags for name, flags in table.items() if not args.target or name in args.target}
    if args.check:
        return 0 if check(table) else 1
    ok = True
    try:
        while ok:
            for name, flags in table.items():
                ok &= fuzz(name, flags, os.path.join(BUILD, "fuzz", name), os.path.join(BUILD, "fuzz", "crashes"), args.seconds or TURN_S)
            if args.seconds:
                break
    except KeyboardInterrupt:
        print()
    return 0 if ok else 1


sys.exit(main())
