#!/usr/bin/env python3
"""Runs `pmend crash --races` on the programs of this folder and compares what it finds with what their sources say.

    tests/races/run.py [NAME]...        in the project's folder

A line that ends in `RACE: WORD` is the reading line of a cross-failure race in the runs that are marked with WORD, one with `SEMANTIC: WORD` that of
a semantic bug, one with `UNINITIALISED: WORD` that of memory without content; ATOMICITY, FAILURE and UNFLUSHED are of states that recovery cannot cope with;
UNLOGGED is the store that a transaction does not undo, under which its races are listed. Nothing
else may be found."""
import functools
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")]
sys.dont_write_bytecode = True

from each import choose, run_each  # noqa: E402
import schema  # noqa: E402,F401  (looks at every report that is read)

PMEND = os.environ.get("PMEND", "build/pmend")
PROGRAMS = "build/tests/races"
KINDS = {"RACE": "cross-failure-race", "SEMANTIC": "cross-failure-semantic", "UNINITIALISED": "uninitialised-read", "ATOMICITY": "atomicity",
         "FAILURE": "recovery-failure", "UNFLUSHED": "missing-flush", "UNLOGGED": "tx-missing-add"}
ROLES = {"cross-failure-race": {("read", "store")}, "tx-missing-add": {("store",)},
         "uninitialised-read": {("read", "allocation")},
         "cross-failure-semantic": {("read", "store"), ("read", "store", "commit"), ("read", "store", "commit", "commit-before")}}
TIMEOUT_S = int(os.environ.get("PMEND_TEST_TIMEOUT", "600"))

# name, program, arguments of the recorded run, arguments of recovery, words of the expected marks, more options
CASES = [
    ("mechanisms", "mechanisms", "run", "recover", None, []),
    ("mechanisms, prefix", "mechanisms", "run", "recover", None, ["--strategy", "prefix"]),
    ("mechanisms, broken, prefix", "mechanisms", "run broken", "recover broken", "broken", ["--strategy", "prefix"]),
    *[(f"mechanisms, {n} runs", "mechanisms", "run", "recover", None, ["--max-runs", str(n), "-j", "1"]) for n in (5, 12, 25, 50, 75)],
    ("figure 1, recover()", "figure1", "run", "recover", "recover", []),
    ("figure 1, --strict", "figure1", "run", "recover", "recover strict", ["--strict"]),
    ("figure 1, --commit-var", "figure1", "run", "recover", "declared", ["--commit-var", "figure1.c:%LENGTH%"]),
    ("figure 1, --commit-var by function", "figure1", "run", "recover", None, ["--commit-var", "append"]),
    ("figure 1, recover_alt()", "figure1", "run", "recover_alt", None, []),
    ("figure 2, corrected", "figure2", "run", "recover", None, []),
    ("figure 2, wrong", "figure2", "run wrong", "recover", "wrong", []),
    ("semantic", "semantic", "run", "recover", None, []),
    ("semantic, broken", "semantic", "run broken", "recover broken", "broken", []),
    ("semantic, with failures", "semantic", "run broken", "recover broken verify", "failing", []),
    ("regions", "regions", "run", "recover", "regions", []),
    ("regions, open", "regions", "run open", "recover", "regions", []),
    ("uninitialised", "uninitialised", "run", "recover", None, []),
    ("uninitialised, broken", "uninitialised", "run broken", "recover", "broken", []),
    *[(f"slots, {how}", "slots", "run", f"recover {how}", None, []) for how in ("print", "magic")],
    *[(f"slots, broken, {how}", "slots", "run broken", f"recover {how}", "used", []) for how in ("print", "length", "pointer", "compare")],
    ("slots, broken, magic", "slots", "run broken", "recover magic", "magic", []),
    ("letters", "letters", "run", "recover", None, []),
    ("letters, broken", "letters", "run broken", "recover", "broken", []),
    ("letters, mended", "letters", "run", "recover mend", "mend", []),
    ("letters, beside", "letters", "beside", "look", "look", []),
    ("letters, guarded", "letters", "beside", "guard", None, []),
    ("slots, 12 runs", "slots", "run", "recover print", "budget", ["--max-runs", "12", "-j", "1"]),
    ("slots, broken, silent", "slots", "run broken", "recover silent", None, []),
    ("figure 1, libpmemobj", "obj", "list", "list recover", None, ["--strategy", "prefix"]),
    ("figure 1, libpmemobj, recover()", "obj", "list broken", "list recover", "list", ["--strategy", "prefix"]),
    ("figure 1, libpmemobj, recover_alt()", "obj", "list broken", "list recover_alt", None, ["--strategy", "prefix"]),
    ("figure 2, libpmemobj, corrected", "obj", "array", "array recover", None, ["--strategy", "prefix"]),
    ("figure 2, libpmemobj, wrong", "obj", "array broken", "array recover", "array", ["--strategy", "prefix"]),
    ("bugs 1 and 2, mended", "obj", "map", "map recover", None, ["--strategy", "prefix"]),
    ("bugs 1 and 2", "obj", "map broken", "map recover", "map", ["--strategy", "prefix"]),
    ("bug 3, mended", "obj", "server", "server recover", None, ["--strategy", "prefix"]),
    ("bug 3", "obj", "server broken", "server recover", "server", ["--strategy", "prefix"]),
    ("what libpmemobj stores for itself", "obj", "scan", "scan recover", None, ["--strategy", "prefix"]),
    ("what libpmemobj stores for itself, --no-trust", "obj", "scan", "scan recover", "scan", ["--strategy", "prefix", "--no-trust"]),
    ("atomic stores", "atomic", "run", "recover", None, []),
    ("atomic stores, broken", "atomic", "run broken", "recover", "broken", ["--strategy", "prefix"]),
    *[(f"fresh, {strategy}", "fresh", "run", "recover", None, ["--strategy", strategy]) for strategy in ("lazy", "prefix")],
    *[(f"fresh, broken, {strategy}", "fresh", "run broken", "recover", "broken", ["--strategy", strategy]) for strategy in ("lazy", "prefix")],
    *[(f"shared, {strategy}", "shared", "run", "recover", None, ["--strategy", strategy]) for strategy in ("lazy", "prefix")],
    ("shared, broken", "shared", "run broken", "recover", "broken", []),
    ("bug 4, mended", "creation", "run", "recover", None, []),
    ("bug 4", "creation", "run broken", "recover", "broken", []),
    ("killed before a flush", "killed", "run", "recover", None, []),
    ("killed before a flush, prefix", "killed", "run", "recover", None, ["--strategy", "prefix"]),
    ("killed, broken", "killed", "run broken", "recover", "broken", []),
    ("declared", "declared", "run", "recover", None, []),
    ("declared, bare", "declared", "run bare", "recover", "bare", []),
    ("declared, failing", "declared", "run", "recover verify", None, []),
    ("declared, failing, bare", "declared", "run bare", "recover verify", "failing", []),
    ("declared, split", "declared", "split", "recover_split", "split", []),
    ("declared, failing, split", "declared", "split", "recover_split verify", "splitting", []),
    ("declared, mixed", "declared", "mixed", "recover_mixed", "mixed", []),
    *[(f"noise, {strategy}", "noise", "run", "recover", None, ["--strategy", strategy]) for strategy in ("lazy", "prefix")],
    *[(f"sums, {strategy}", "sums", "run", "recover", None, ["--strategy", strategy]) for strategy in ("lazy", "prefix")],
    *[(f"sums, broken, {strategy}", "sums", "run broken", "recover", "broken", ["--strategy", strategy]) for strategy in ("lazy", "prefix")],
    *[(f"snapshot, {strategy}", "snapshot", "run", "recover", None, ["--strategy", strategy]) for strategy in ("lazy", "prefix")],
    *[(f"snapshot, broken, {strategy}", "snapshot", "run broken", "recover", "broken", ["--strategy", strategy]) for strategy in ("lazy", "prefix")],
    ("trust", "trust", "run", "recover", None, []),
    ("trust, --no-trust", "trust", "run", "recover", "trust", ["--no-trust"]),
]


def marks(program, word):
    """(kind, line) of all bugs that runs with this word must show."""
    with open(f"tests/races/{program}.c") as f:
        return {(KINDS[kind], number) for number, line in enumerate(f, 1)
                for kind, words in re.findall(r"/\* ([A-Z]+): ([a-z_, ]+) \*/", line) if kind in KINDS and set(words.split(", ")) & set((word or "").split())}


def line_of(program, text):
    """Its number."""
    with open(f"tests/races/{program}.c") as f:
        return str(next(number for number, line in enumerate(f, 1) if text in line))


def recorded(program, arguments, folder, known={}):
    """A trace of the program, made once."""
    key = (program, arguments)
    if key not in known:
        known[key] = f"{folder}/{program}-{arguments.replace(' ', '-')}.pmt"
        pool = f"{folder}/{program}-{len(known)}"
        if program == "obj":
            subprocess.run([f"{PROGRAMS}/{program}", pool, "create"], check=True, timeout=TIMEOUT_S)
        subprocess.run([PMEND, "record", "-q", "-o", known[key], "--", f"{PROGRAMS}/{program}", pool, *arguments.split()],
                       check=program != "killed", timeout=TIMEOUT_S, stdout=subprocess.DEVNULL)
    return known[key]


# compared for different numbers of workers
SAME_WITH_JOBS = ("figure 2, wrong", "atomic stores, broken", "slots, broken, print")

# what a report must be besides: by name of a case
BESIDES = {
    "regions": lambda r: r["coverage"]["failure_points"] == 1 or "more failure points than one",
    "regions, open": lambda r: r["coverage"]["failure_points"] == 1 or "another number of failure points than one",
    "slots, 12 runs": lambda r: all(b["severity"] == "warning" and b["reason"] for b in r["bugs"]) or "what was not tried is called a bug",
    "semantic, with failures": lambda r: all("where it is uncommitted by its commit variable" in b["message"] for b in r["bugs"]
                                             if b["kind"] == "atomicity") or "a failing state does not tell what recovery reads",
}


def crash(program, arguments, recovery, options, folder):
    """The report, or what went wrong as text."""
    trace = recorded(program, arguments, folder)
    command = [PMEND, "crash", "--races", "--format", "json", "--recover", f"{PROGRAMS}/{program} {{}} {recovery}", *options, trace]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=TIMEOUT_S)
    if done.returncode not in (0, 1):
        return f"pmend returned {done.returncode}: {done.stderr[-500:]}"
    return json.loads(done.stdout)


def with_jobs(case, options, folder):
    """What is found must not depend on who looks at which failure point."""
    _, program, arguments, recovery, _, _ = case
    reports = [crash(program, arguments, recovery, [*options, "--jobs", n], folder) for n in ("1", "3")]
    if any(isinstance(r, str) for r in reports):
        return str(reports)
    for report in reports:
        for bug in report["bugs"]:
            bug.get("crash", {}).pop("runs", None)  # until it was found: told with one worker only
    return "" if reports[0]["bugs"] == reports[1]["bugs"] else f"--jobs 1 and --jobs 3 differ: {[r['bugs'] for r in reports]}"


def strategy_less(options):
    return [o for before, o in zip([None, *options], options) if "--strategy" not in (before, o)]


def agreement(case, folder):
    """Both strategies that tell races must find the same of them."""
    _, program, arguments, recovery, _, options = case
    found = []
    for strategy in ("lazy", "prefix"):
        report = crash(program, arguments, recovery, [*options, "--strategy", strategy], folder)
        if isinstance(report, str):
            return report
        found.append({(b["kind"], *((l["role"], l.get("line")) for l in b["locations"])) for b in report["bugs"] if b["kind"] in ROLES})
    return "" if found[0] == found[1] else f"only lazy: {sorted(found[0] - found[1])}; only prefix: {sorted(found[1] - found[0])}"


def agreeing(cases):
    """One case for each program and way to run it, but for libpmemobj's, which take too long lazily, slots, and those whose budget ends or whose failure takes a loss that is no prefix."""
    return list({(c[1], c[2], c[3], tuple(strategy_less(c[5]))): ("strategies agree: " + c[0], *c[1:5], strategy_less(c[5])) for c in cases
                 if c[1] not in ("obj", "slots") and c[4] not in ("splitting", "mixed") and "--max-runs" not in c[5] and "%LENGTH%" not in " ".join(c[5])}.values())


def wrong(case, folder):
    if case[0].startswith("strategies agree"):
        return agreement(case, folder)
    _, program, arguments, recovery, word, options = case
    options = [o.replace("%LENGTH%", line_of(program, "length++")) if "%LENGTH%" in o else o for o in options]
    report = crash(program, arguments, recovery, options, folder)
    if isinstance(report, str):
        return report
    expected, found = marks(program, word), set()
    for bug in report["bugs"]:
        where = bug["locations"][0]
        found.add((bug["kind"], where.get("line") if os.path.basename(where.get("file", "")) == program + ".c" else str(where)))
        if bug["kind"] in ROLES and tuple(l["role"] for l in bug["locations"]) not in ROLES[bug["kind"]]:
            return f"{bug['kind']} has the locations {bug['locations']}"
    parts = [f"{text} {sorted(bugs, key=str)}" for text, bugs in (("missed", expected - found), ("unexpected", found - expected)) if bugs]
    if case[0] in SAME_WITH_JOBS:
        parts += filter(None, [with_jobs(case, options, folder)])
    besides = BESIDES.get(case[0], lambda r: True)(report)
    return "; ".join(parts + ([besides] if besides is not True else []))


def judge(case, folder):
    if text := wrong(case, folder):
        raise AssertionError(text)


def main():
    cases = [*CASES, *agreeing(CASES)]
    programs = choose(list(dict.fromkeys(c[1] for c in cases)), sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="pmend races-") as folder:
        return run_each("races", [(c[0], functools.partial(judge, c, folder)) for c in cases if c[1] in programs])


if __name__ == "__main__":
    sys.exit(main())
