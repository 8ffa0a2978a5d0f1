#!/usr/bin/env python3
"""Runs all tests and counts them; the last line is `N passed, N failed[, N skipped]`. Arguments: groups to run (default: all), or --groups to list them.
Two groups run at a time, the long ones first, because most use little more than one core. What a group prints comes when it is done, unless it is the only one.
What this machine's architecture does not have (tests/missing-ARCH.txt) and what an emulated machine leaves out (tests/emulated.txt) counts as skipped.
A test program reports lines `ok …`, `not ok …`, `FAIL …`, `SKIP …`; one that dies without a failure line counts as failed."""
import concurrent.futures
import glob
import io
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from missing import ARCH, missing, why_not  # noqa: E402

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
LONG_S = 15  # a test that takes longer is worth a look
LONG_GROUPS = ("explore", "crash", "mutants", "fix", "cli")
WORKERS = 2


def commands():
    """Yields (group, command); a command of None: there is none, and should be."""
    yield "includes", [sys.executable, "tests/includes.py"]
    yield "format", [sys.executable, "tests/format.py"]
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
    if ARCH == "amd64":  # the same code on all architectures
        yield "runtime", ["build/tests/runtime/maps_tsan"]
    yield "corpus", [sys.executable, "tests/corpus/run.py"]
    yield "crash", [sys.executable, "tests/crash/run.py"]
    yield "ways", [sys.executable, "tests/ways/run.py"]
    yield "stores", [sys.executable, "tests/stores/run.py"]
    yield "shard", [sys.executable, "tests/shard/run.py"]
    yield "races", [sys.executable, "tests/races/run.py"]
    yield "threads", [sys.executable, "tests/threads/run.py"]
    yield "explore", [sys.executable, "tests/explore/run.py"]
    yield "mutants", [sys.executable, "tests/mutants/run.py"]
    yield "places", [sys.executable, "tests/places/run.py"]
    yield "fix", [sys.executable, "tests/fix/run.py"]
    yield "html", [sys.executable, "tests/html/run.py"]
    yield "faults", [sys.executable, "tests/faults/run.py"]


def run(group, command, out):
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
        out.write(line)
        now = time.monotonic()
        if now - last > LONG_S:
            print(f"# {now - last:.0f} s for the line above", file=out)
        last = now
        out.flush()
    status = p.wait()
    if status != 0 and failed == 0:
        print(f"FAIL {group}: {' '.join(command)} ended with status {status}", file=out)
        failed = 1
    elif passed + failed + skipped == 0:
        print(f"FAIL {group}: {' '.join(command)} ran no test", file=out)
        failed = 1
    return passed, failed, skipped


def run_group(group, out):
    """Counts of all test programs of a group."""
    total = [0, 0, 0]
    for _, command in (c for c in commands() if c[0] == group):
        if not command:
            print(f"FAIL {group}: no test is built", file=out)
            total[1] += 1
            continue
        if group.startswith("unit") and (reason := why_not(group, os.path.basename(command[0]))):
            print(f"SKIP {group}/{os.path.basename(command[0])}: {reason}", file=out)
            total[2] += 1
            continue
        start = time.time()
        print(f"== {group}: {' '.join(os.path.relpath(c) if os.path.isabs(c) else c for c in command[:2])}", file=out, flush=True)
        total = [a + b for a, b in zip(total, run(group, command, out))]
        print(f"== {time.time() - start:.0f} s", file=out, flush=True)
    return total


def run_quietly(group):
    out = io.StringIO()
    return run_group(group, out), out.getvalue()


def run_groups(groups):
    """Counts of them all."""
    total = [0, 0, 0]
    if len(groups) == 1:
        return run_group(groups[0], sys.stdout)
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        try:
            for done in concurrent.futures.as_completed([pool.submit(run_quietly, g) for g in groups]):
                counts, text = done.result()
                total = [a + b for a, b in zip(total, counts)]
                print(text, end="", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise
    return total


def skip(wanted):
    """Says what of the wanted groups this machine does not have; gives those that it lacks whole, and the number of lines."""
    groups = dict.fromkeys(group for group, _ in commands())
    lines = [(name, reason) for name, reason in missing().items()
             if name in groups or name.startswith(("unit/", "unit-asan/")) and "*" not in name and not os.path.exists(f"build/tests/{name}")]
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
    groups = [g for g in dict.fromkeys(group for group, _ in commands()) if (not wanted or g in wanted) and g not in skipped]
    groups.sort(key=lambda g: LONG_GROUPS.index(g) if g in LONG_GROUPS else len(LONG_GROUPS))
    total = run_groups(groups)
    total[2] += count
    ending = f", {total[2]} skipped" if total[2] else ""
    print(f"{total[0]} passed, {total[1]} failed{ending}")
    return 1 if total[1] else 0


sys.exit(main())
