#!/usr/bin/env python3
"""Runs all tests and counts them; the last line is `N passed, N failed[, N skipped]`. Arguments: groups to run (default: all), or --groups to list them.
What this machine's architecture does not have (tests/missing-ARCH.txt) and what an emulated machine leaves out (tests/emulated.txt) counts as skipped.
A test program reports lines `ok …`, `not ok …`, `FAIL …`, `SKIP …`; one that dies without a failure line counts as failed."""
import glob
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from missing import missing  # noqa: E402

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
LONG_S = 15  # a test that takes longer is worth a look


def commands():
    """Yields (group, command); a command of None: there is none, and should be."""
    yield "includes", [sys.executable, "tests/includes.py"]
    for kind in ("unit", "unit-asan"):
        found = [t for t in sorted(glob.glob(f"build/tests/{kind}/*")) if os.access(t, os.X_OK) and "." not in os.path.basename(t)]
        for t in found:
            yield kind, [t]
        if not found:
            yield kind, None
    yield "fuzz", [sys.executable, "tests/fuzz/run.py", "--check"]
    yield "a64", [sys.executable, "tests/a64/run.py"]
    yield "cli", [sys.executable, "tests/cli/run.py"]
    yield "recorder", [sys.executable, "tests/recorder/run.py"]
    yield "runtime", ["build/tests/runtime/runtime"]
    yield "corpus", [sys.executable, "tests/corpus/run.py"]
    yield "crash", [sys.executable, "tests/crash/run.py"]
    yield "races", [sys.executable, "tests/races/run.py"]
    yield "explore", [sys.executable, "tests/explore/run.py"]
    yield "mutants", [sys.executable, "tests/mutants/run.py"]
    yield "fix", [sys.executable, "tests/fix/run.py"]


def run(group, command):
    """Counts (passed, failed, skipped) of one test program, echoing what it prints."""
    env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", ASAN_OPTIONS="detect_leaks=1")
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, text=True, errors="replace",
                         stdin=subprocess.DEVNULL)
    passed = failed = skipped = 0
    last = time.monotonic()
    for line in p.stdout:
        if re.match(r"ok .*# SKIP|SKIP ", line):
            skipped += 1
        elif line.startswith("ok "):
            passed += 1
        elif line.startswith(("not ok ", "FAIL ")):
            failed += 1
        elif re.match(r"\d+ passed, \d+ failed", line):
            continue
        sys.stdout.write(line)
        now = time.monotonic()
        if now - last > LONG_S:
            print(f"# {now - last:.0f} s for the line above")
        last = now
        sys.stdout.flush()
    status = p.wait()
    if status != 0 and failed == 0:
        print(f"FAIL {group}: {' '.join(command)} ended with status {status}")
        failed = 1
    elif passed + failed + skipped == 0:
        print(f"FAIL {group}: {' '.join(command)} ran no test")
        failed = 1
    return passed, failed, skipped


def skip(wanted):
    """Says what of the wanted groups this machine does not have; gives those that it lacks whole, and the number of lines."""
    groups = dict.fromkeys(group for group, _ in commands())
    lines = [(name, reason) for name, reason in missing().items()
             if name in groups or name.startswith(("unit/", "unit-asan/")) and not os.path.exists(f"build/tests/{name}")]
    lines = [(name, reason) for name, reason in lines if not wanted or name.split("/")[0] in wanted]
    for name, reason in lines:
        print(f"SKIP {name}: {reason}")
    return {name for name, _ in lines}, len(lines)


def main():
    os.chdir(TOP)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):  # a shell's background job ignores them, and so would the programs under test
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    wanted = sys.argv[1:]
    if wanted == ["--groups"]:
        print("\n".join(dict.fromkeys(group for group, _ in commands())))
        return 0
    skipped, count = skip(wanted)
    total = [0, 0, count]
    for group, command in commands():
        if wanted and group not in wanted or group in skipped:
            continue
        if not command:
            print(f"FAIL {group}: no test is built")
            total[1] += 1
            continue
        start = time.time()
        print(f"== {group}: {' '.join(os.path.relpath(c) if os.path.isabs(c) else c for c in command[:2])}", flush=True)
        counts = run(group, command)
        total = [a + b for a, b in zip(total, counts)]
        print(f"== {time.time() - start:.0f} s", flush=True)
    ending = f", {total[2]} skipped" if total[2] else ""
    print(f"{total[0]} passed, {total[1]} failed{ending}")
    return 1 if total[1] else 0


sys.exit(main())
