#!/usr/bin/env python3
"""The share of recovery runs that were lazy, by test group, from the JSON reports that the tests ask for. In the project's folder.

    tests/lazy_share.py GROUP...      crash, races or mutants; GROUP:NAME,NAME: only these tests of it

A run on a whole image counts where a lazy one was wanted and did not count: strategies that are not lazy have neither. What the tests print goes to stderr."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
# Stands in for pmend: keeps its report, passes signals on, and ends as it does.
KEEP = """#!/usr/bin/env python3
import os, shutil, signal, subprocess, sys, tempfile
real = [os.environ["PMEND_REAL"], *sys.argv[1:]]
if "json" not in sys.argv:
    os.execv(real[0], real)
report = tempfile.NamedTemporaryFile(dir=os.environ["PMEND_REPORTS"], delete=False)
p = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *real], stdout=report)
for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(s, lambda number, frame: p.send_signal(number))
status = p.wait()
with open(report.name, "rb") as f:
    shutil.copyfileobj(f, sys.stdout.buffer)
sys.stdout.flush()
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
sys.exit(status)
"""
WHY = re.compile(r"sets of states were run as whole images \((.*?)\)(?:\. |$)")


def reports(folder):
    for name in os.listdir(folder):
        with open(os.path.join(folder, name)) as f:
            try:
                yield json.load(f)
            except ValueError:  # pmend was killed, or refused
                continue


def count(group, names):
    """(reports, lazy runs, runs on whole images, {why: of the latter})"""
    n = lazy = whole = 0
    why = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="lazy-share-") as folder:
        keep, kept = os.path.join(folder, "pmend"), os.path.join(folder, "reports")
        os.mkdir(kept)
        with open(keep, "w") as f:
            f.write(KEEP)
        os.chmod(keep, 0o755)
        env = dict(os.environ, PMEND=keep, PMEND_REAL=os.path.abspath("build/pmend"), PMEND_REPORTS=kept)
        subprocess.run([sys.executable, f"tests/{group}/run.py", *names], env=env, stdout=sys.stderr, check=False)
        for report in reports(kept):
            coverage = report.get("coverage", {})
            runs = coverage.get("whole_runs", 0)
            n += 1
            lazy += coverage.get("lazy_runs", 0)
            whole += runs
            for reason in WHY.findall(coverage.get("note", "")) if runs else []:
                why[reason] += runs
    return n, lazy, whole, why


def main():
    os.chdir(TOP)
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for argument in sys.argv[1:]:
        group, _, names = argument.partition(":")
        n, lazy, whole, why = count(group, [name for name in names.split(",") if name])
        share = f"{100 * lazy / (lazy + whole):.1f} % of {lazy + whole} runs lazy" if lazy + whole else "no lazy runs"
        print(f"{argument}: {share}, in {n} reports")
        for reason, runs in why.most_common():
            print(f"    {runs} on whole images: {reason}")


main()
