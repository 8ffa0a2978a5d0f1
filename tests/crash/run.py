#!/usr/bin/env python3
"""Tests of `pmend crash` on the programs of this folder, and of its insides (test_lazy, test_litmus). In the project's folder.

    tests/crash/run.py [NAME]...      all tests, or those whose names begin so

A program marks the lines of a bug, `/* BUG: CASE: KIND ROLE */`: the report must have exactly one such bug for this case, with these roles at these lines, and
a case without marks has none. A recording takes seconds, so a program is recorded once, and its trace explored several times.
Prints `ok NAME` or `FAIL NAME: …`."""
import contextlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "tests"))
from each import Skip, choose, run_each  # noqa: E402
from leftovers import own_processes, wait_for_ends  # noqa: E402
from missing import ARCH  # noqa: E402
import schema  # noqa: E402,F401  (looks at every report that is read)
from ports import port_reserve  # noqa: E402

os.chdir(TOP)
PMEND = os.path.abspath(os.environ.get("PMEND", "build/pmend"))
RUNTIME = os.path.abspath("build/libexec/pmend/libpmend_rt.so")
PROGRAMS = os.path.abspath("build/tests/crash")
SOURCES = os.path.abspath("tests/crash")
TIMEOUT_S = 900  # an emulated machine is slow
MARK = re.compile(r"/\* BUG: ([a-z]+): (?:([a-z-]+) )?(lost|survived|crash|acknowledged|store|flush|write|name|rename|unlink|fsync) \*/")
LAZY_PROGRAMS = "100"

folder = None  # of this run; everything is made in it
scratch = None  # TMPDIR of this run: what pmend makes for itself
traces = {}  # name: path


# ---- running ----

def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def equal(got, want, what):
    expect(got == want, f"{what}: {got!r}, not {want!r}")


def program(name, *words):
    return shlex.join([os.path.join(PROGRAMS, name), *words])


def run(*command, status=0, cwd=None, stdin=None, memory_mb=None):
    """Runs a command, which must end with this status (None: any); gives what it printed, and its errors.
    memory_mb: of address space, for each process."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, resource.getrlimit(resource.RLIMIT_AS)[1]))

    p = subprocess.run(command, capture_output=True, text=True, errors="replace", input=stdin, timeout=TIMEOUT_S, cwd=cwd or folder,
                       preexec_fn=limit if memory_mb else None)
    if status is not None and p.returncode != status:
        raise AssertionError(f"{shlex.join(command)[:300]} ended with {p.returncode}, not {status}: {(p.stderr or p.stdout).strip()[-300:]}")
    return p.stdout, p.stderr


@contextlib.contextmanager
def environment(**values):
    """With these variables, of which None are left as they are."""
    before = dict(os.environ)
    os.environ.update({name: value for name, value in values.items() if value})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def crash(trace, *options, status):
    """The report of exploring a trace."""
    out, _ = run(PMEND, "crash", "--format", "json", *options, traces[trace], status=status)
    report = json.loads(out)
    equal(bool(report["bugs"]), status == 1, f"bugs with exit status {status}")
    return report


def record(name, *words, options=()):
    """Records build/tests/crash/NAME once."""
    traces[name] = os.path.join(folder, name + ".pmt")
    run(PMEND, "record", "-q", "-o", traces[name], *options, "--", os.path.join(PROGRAMS, name), *words)


def fails(status, part, *args):
    """One clear line, which holds the part."""
    _, err = run(PMEND, "crash", *args, status=status)
    lines = err.splitlines()
    expect(len(lines) == 1 and lines[0].startswith("pmend: "), f"not one line: {err!r}")
    expect(part in lines[0], f"{part!r} is not in {lines[0]!r}")


# ---- what is expected ----

def marks(name, case):
    """(kind, {(role, line)}) that the source names for a case."""
    kinds, places = set(), set()
    with open(os.path.join(SOURCES, name + ".c")) as f:
        for number, line in enumerate(f, 1):
            for where, kind, role in MARK.findall(line):
                if where == case:
                    kinds |= {kind} - {""}
                    places.add((role, number))
    return (kinds.pop() if kinds else None), places


def places(name, bug):
    """{(role, line)} of a bug, by the innermost frame that is in the program's own source."""
    found = set()
    for where in bug["locations"]:
        if where["role"] in ("flush", "fence"):  # of a lost store: for pmend fix
            continue
        frames = [where, *where["stack"]]
        own = [f for f in frames if os.path.basename(f.get("file", "")) == name + ".c"]
        found.add((where["role"], own[0]["line"] if own else None))
    return found


def is_marked(report, name, case, count=None):
    """The report has the one bug that the source marks for the case, and no other."""
    kind, wanted = marks(name, case)
    expect(wanted, f"nothing is marked for {case}")
    got = [(b["kind"], sorted(places(name, b)), b["count"]) for b in report["bugs"]]
    equal(len(got), 1, f"the number of bugs ({got})")
    bug = report["bugs"][0]
    if kind:
        equal(bug["kind"], kind, "the kind")
    expect(wanted <= places(name, bug), f"{sorted(wanted)} are not all in {sorted(places(name, bug))}")
    if kind:
        equal(places(name, bug), wanted, "the places")
    if count:
        equal(bug["count"], count, "the count")
    for key in ("failure_point", "lost", "outcome", "replay"):
        expect(key in bug["crash"], f"no crash.{key}")
    equal(len(bug["crash"]["lost"]), len([1 for where in bug["locations"] if where["role"] == "lost"]), "the number of lost stores")
    return bug


def summary(report):
    """What must not depend on the way of exploring."""
    return sorted((b["id"], b["kind"], tuple(sorted((w["role"], w.get("line")) for w in b["locations"]))) for b in report["bugs"])


# ---- what must not be there afterwards ----

def wait_until(condition, what, seconds=TIMEOUT_S):
    """For what another process does in its own time. The limit only bounds how long a failure takes."""
    end = time.monotonic() + seconds
    while not condition():
        expect(time.monotonic() < end, f"{what} after {seconds} s")
        time.sleep(0.02)


@contextlib.contextmanager
def leaves_nothing(pool="pool"):
    """Nothing is left of recovery, and the user's own pool is as it was."""
    pool = os.path.join(folder, pool)
    before, made, names = own_processes(scratch), set(os.listdir(scratch)), sorted(os.listdir(folder))
    with open(pool, "rb") as f:
        content, stat = f.read(), os.stat(pool)
    yield
    left = wait_for_ends(scratch, before, TIMEOUT_S)
    expect(not left, f"left: {left}")
    equal(set(os.listdir(scratch)) - made, set(), "the files left")
    with open(pool, "rb") as f:
        expect(f.read() == content, "the pool changed")
    equal((os.stat(pool).st_mtime_ns, os.stat(pool).st_ino), (stat.st_mtime_ns, stat.st_ino), "the pool's time and number")
    equal(sorted(os.listdir(folder)), names, "the files in the pool's folder")


# ---- the insides ----

def test_lazy():
    out = subprocess.run([f"{PROGRAMS}/test_lazy", RUNTIME, f"{PROGRAMS}/reader"], capture_output=True, text=True, timeout=TIMEOUT_S,
                         env=dict(os.environ, PMEND_PROGRAMS=LAZY_PROGRAMS)).stdout
    expect(out.startswith("ok "), out)


def test_litmus():
    out, _ = run(f"{PROGRAMS}/test_litmus", RUNTIME, cwd=TOP, status=None)
    expect(out.startswith("ok "), out)


# ---- bugs of all kinds; the recording is made by `pmend test` ----

def test_reported_with_check():
    """One report has what the judge and what the crashes say; the trace is kept."""
    traces["cases"] = os.path.join(folder, "cases.pmt")
    out, _ = run(PMEND, "test", "--format", "json", "-o", "report.json", "--trace", "cases.pmt", "--recover", program("cases", "ordering", "{}"), "--",
                 f"{PROGRAMS}/cases", "run", "pool", status=1)
    equal(out, "one\ntwo\n", "the program's own output")
    with open(os.path.join(folder, "report.json")) as f:
        report = json.load(f)
    explored = [b for b in report["bugs"] if "crash" in b]
    judged = {(b["kind"], *places("cases", b)) for b in report["bugs"] if "crash" not in b}
    lost = [number for role, number in marks("cases", "flush")[1] if role == "lost"]
    expect(("missing-flush", ("store", lost[0])) in judged, f"the judge finds {judged}")
    is_marked({"bugs": explored}, "cases", "ordering", count=5)
    expect(report["coverage"]["complete"] and report["coverage"]["failure_points"] > 10, report["coverage"])


def test_ordering():
    """The same two stores in five rounds are one bug."""
    with leaves_nothing():
        bug = is_marked(crash("cases", "--recover", program("cases", "ordering", "{}"), status=1), "cases", "ordering", count=5)
    expect("SIGABRT" in bug["crash"]["outcome"], bug["crash"]["outcome"])
    equal(bug["crash"]["output"], "the flag is set, the data is not there", "what recovery said")
    expect("check_ordering" in [f.get("function") for f in bug["crash"]["stack"]], f"the stack of the abort: {bug['crash']['stack']}")


def test_missing_flush():
    """Seen at many failure points, with a thousand other lines that are never flushed either."""
    report = crash("cases", "--recover", program("cases", "flush", "{}"), status=1)
    is_marked(report, "cases", "flush")
    expect(report["coverage"]["diagnosis_runs"] <= 11, report["coverage"])


def test_atomicity():
    is_marked(crash("cases", "--recover", program("cases", "atomicity", "{}"), status=1), "cases", "atomicity")


def test_needed_survivor():
    """The store that survived is one without which recovery does not fail, not just the last one; and where it was durable already, the bug is the same one."""
    record("between", "run", "between pool")
    for options in ([], ["--strategy", "prefix"], ["--jobs", "2"]):
        is_marked(crash("between", "--recover", program("between", "check", "{}"), *options, status=1), "between", "between")


def test_first_operation():
    """It is in progress at the first failure point: the state before it says whether the checker is sound, not that one."""
    with open(os.path.join(folder, "old"), "wb") as f:
        f.truncate(os.path.getsize(os.path.join(folder, "pool")))
    traces["halves"] = os.path.join(folder, "halves.pmt")
    run(PMEND, "record", "-q", "-o", traces["halves"], "--", f"{PROGRAMS}/cases", "halves", "old")
    is_marked(crash("halves", "--recover", program("cases", "atomicity", "{}"), status=1), "cases", "atomicity")
    fails(3, "initial", "--recover", "/bin/sh -c 'cmp -s -n 4096 \"$0\" /dev/zero && exit 1' {}", traces["halves"])


def test_creation():
    """Recovery takes no pool that is there but empty."""
    bug = is_marked(crash("cases", "--recover", program("cases", "creation", "{}"), status=1), "cases", "creation", count=1)
    equal(bug["crash"]["lost"], [], "lost")


def test_without_pool():
    """Recovery that wants a pool is no reason not to explore; one that takes none in the end is."""
    command = program("cases", "commit", '"$0"').replace("'", "")
    report = crash("cases", "--recover", f"/bin/sh -c 'test -e \"$0\" || exit 2; exec {command}' {{}}", status=0)
    expect("Recovery needs a pool" in report["coverage"]["note"] and report["coverage"]["runs"] > 0, report["coverage"])
    fails(3, "final", "--recover", "/bin/sh -c 'test -e \"$0\" && exit 2' {}", traces["cases"])


# ---- cost ----

def test_commit_variable():
    """However many lines are dirty."""
    coverage = crash("cases", "--recover", program("cases", "commit", "{}"), status=0)["coverage"]
    expect(coverage["lazy_runs"] >= coverage["runs"] and "whole_runs" not in coverage, coverage)
    expect(coverage["complete"] and int(coverage["states_all"]) > 2**900, coverage)
    expect(coverage["runs"] <= 3 * coverage["failure_points"], coverage)
    equal(coverage["states"], coverage["states_all"], "states that the runs stand for")


def test_shared_line():
    """Seven other stores to the commit word's line cost nothing: two runs at one failure point, one at each other."""
    coverage = crash("cases", "--recover", program("cases", "shared", "{}"), status=0)["coverage"]
    equal(coverage["runs"], coverage["failure_points"] + 1, "runs")


def explore_beside(operations, *options):
    """What it takes to explore so many stores to two words of a page of which recovery reads everything."""
    pool, traces["beside"] = (os.path.join(folder, f"beside-{operations}{end}") for end in ("", ".pmt"))
    run(PMEND, "record", "-q", "-o", traces["beside"], "--", os.path.join(PROGRAMS, "beside"), pool, "run", str(operations))
    return [crash("beside", "--recover", program("beside", "{}", "recover"), "--jobs", "1", *o, status=0)["coverage"] for o in options]


def test_beside():
    """Reading what lies beside something undecided is right however it is loaded, and costs a fault only at the first failure points; the same loads notice
    what is undecided. So a failure point costs the same after many operations as after few."""
    (few, few_lazy), (many, lazy) = (explore_beside(n, ["--strategy", "prefix", "--races"], []) for n in (8, 24))
    equal(many["diagnosis_runs"], few["diagnosis_runs"], "runs to judge")
    equal(many["failure_points"] - few["failure_points"], 16, "more failure points")
    expect(many["faults"] - few["faults"] <= 2, f"{few} and {many}: faults, where the one word that may be lost was replaced at once")
    expect(few_lazy["complete"] and lazy["complete"], f"{few_lazy} and {lazy}: something failed, and then did not, in a server without detours")
    equal(lazy["runs"] - few_lazy["runs"], 32, "more runs")
    expect(lazy["faults"] - few_lazy["faults"] <= 2 * 32, f"{few_lazy} and {lazy}: faults")
    equal(lazy["runs"] - lazy["failure_points"], 25, "second runs, with the old value of the word that was stored, and once before the page is valid")


# What the C library takes the processor for: this decides which of its functions read strings. The last but one is what there is, the last what pmend takes.
PROCESSORS = {"amd64": ("glibc.cpu.hwcaps=-AVX2,-AVX512VL,-AVX512BW,-ERMS", "glibc.cpu.hwcaps=-AVX512VL,-AVX512BW", "glibc.cpu.hwcaps=-XOP", None),
              "arm64": ("glibc.cpu.name=a64fx", None)}[ARCH]


def explore_library(name, operations):
    """Explores a correct program lazily, with each kind of the C library's functions: nothing is found, and nothing given up. The
    first run, of tens of thousands of faults, may take longer than pmend's own limit on a busy machine."""
    pool, traces[name] = (os.path.join(folder, f"{name}{operations}{end}") for end in (" pool", ".pmt"))
    run(PMEND, "record", "-q", "-o", traces[name], "--", os.path.join(PROGRAMS, name), pool, "run", str(operations))
    for processor in PROCESSORS:
        with environment(GLIBC_TUNABLES=processor):
            coverage = crash(name, "--recover", program(name, "{}", "recover"), "--jobs", "1", "--timeout", "60", status=0)["coverage"]
        expect(coverage["complete"] and "note" not in coverage, f"{processor}: {coverage}")
        expect(coverage["runs"] >= 2 * operations, f"{processor}: {coverage}")
    return coverage


def test_chains():
    """A hash map whose recovery compares and copies with the C library."""
    explore_library("chains", 60)


def test_library():
    """Every function that reads memory or strings, on pages that stay closed. Their loads have detours after the first runs: later ones have few faults."""
    few, many = (explore_library("library", operations) for operations in (3, 6))
    expect(2 * (many["faults"] - few["faults"]) / (many["runs"] - few["runs"]) < few["faults"] / few["runs"], f"faults: {few} and {many}")


def test_own_functions():
    """A program that brings its own memcpy, malloc and write, which are for nobody else."""
    explore_library("own", 12)


def without_runs(report):
    """What does not depend on who made the runs."""
    coverage = {k: v for k, v in report["coverage"].items() if k not in ("runs", "shared_runs", "diagnosis_runs", "faults", "lazy_runs")}
    bugs = [dict(b, crash={k: v for k, v in b["crash"].items() if k != "runs"}) for b in report["bugs"]]
    return bugs, coverage


def test_windows():
    """Windows change nothing but the number of runs: the same findings, with ids, counts and replays, the same states, the same depth."""
    options = ["--recover", program("cases", "ordering", "{}"), "--seed", "1"]
    alone = crash("cases", *options, "--jobs", "1", "--window", "1", status=1)
    expect("shared_runs" not in alone["coverage"], alone["coverage"])
    for window, jobs in ((2, 1), (16, 1), (16, 2), (1000000, 1)):
        shared = crash("cases", *options, "--jobs", str(jobs), "--window", str(window), status=1)
        equal(without_runs(shared), without_runs(alone), f"windows of {window}, with {jobs} jobs")
        expect(shared["coverage"]["runs"] < alone["coverage"]["runs"], f"{shared['coverage']}, alone {alone['coverage']}")
        equal(shared["coverage"]["runs"] + shared["coverage"]["shared_runs"], alone["coverage"]["runs"], "runs, with those that are shared")
    prefix = [crash("cases", *options, "--strategy", "prefix", "--window", window, status=0) for window in ("1", "16")]
    equal(*(without_runs(r) for r in prefix), "prefix with windows")
    expect(prefix[1]["coverage"]["runs"] < prefix[0]["coverage"]["runs"], prefix[1]["coverage"])
    text, _ = run(PMEND, "crash", *options, "--window", "16", traces["cases"], status=1)
    expect("One recovery run stands for " in text, text)
    for words in (["--races"], ["--strategy", "eager", "--max-runs", "20"], ["--failures", "2"]):
        expect("shared_runs" not in crash("cases", *options, *words, "--window", "16", status=1)["coverage"], f"{words}: one failure point at a time")


def test_eager_and_jobs():
    """Neither the strategy nor the number of workers changes what is found."""
    # Failure points with a thousand dirty lines are the last; an eager exploration cannot get through them.
    options = ["--recover", program("cases", "ordering", "{}")]
    lazy = crash("cases", *options, "--jobs", "1", status=1)
    eager = crash("cases", *options, "--strategy", "eager", "--max-runs", "40", status=1)
    equal(summary(crash("cases", *options, "--jobs", "2", status=1)), summary(lazy), "bugs of two workers")
    equal(summary(eager), summary(lazy), "bugs of the eager exploration")
    expect(eager["coverage"]["runs"] <= 42 and not eager["coverage"]["complete"], eager["coverage"])
    equal(crash("cases", *options, "--strategy", "prefix", status=0)["coverage"]["runs"], lazy["coverage"]["failure_points"], "runs of prefix")
    coverage = crash("cases", *options, "--strategy", "prefix", status=0)["coverage"]
    expect(not coverage["complete"] and "--strategy prefix tries only states in which nothing is lost" in coverage["why_incomplete"], coverage)
    run(PMEND, "crash", "-q", *options, "--strategy", "prefix", "--fail-on", "incomplete", traces["cases"], status=1)
    if ARCH == "amd64":  # on arm64's eadr, plain stores become visible in any order
        expect(crash("cases", *options, "--strategy", "prefix", "--platform", "eadr", status=0)["coverage"]["complete"], "on eadr, there are no other states")


def explore_table(mutant, *options, status):
    """Representative testing of the table of bench/: the report, and the groups."""
    table, pool, trace = os.path.abspath("build/bench/table-any"), os.path.join(folder, f"table{mutant}"), os.path.join(folder, f"table{mutant}.pmt")
    os.environ["PMEND_MUTANT"] = str(mutant)
    try:
        run(PMEND, "record", "-q", "-o", trace, "--", table, pool, "run", "5", "289")  # insert, replace, insert, delete, insert
        out, err = run(PMEND, "crash", "--format", "json", "--recover", f"'{table}' {{}} check", *options, trace, status=status)
    finally:
        del os.environ["PMEND_MUTANT"]
    return json.loads(out), err


def callers(report):
    """{function} that is shown for the lost stores, or calls it."""
    return {f.get("function") for b in report["bugs"] for where in b["crash"]["lost"] for f in [where, *where["stack"]]} & {"insert", "replace"}


def test_representative():
    """replace() is tested on behalf of insert(), too; as it fails, so is insert(), which has the same bug. Of a correct table, nothing is reported."""
    report, groups = explore_table(103, "--strategy", "representative", "--explain-groups", status=1)
    account = report["coverage"]["representative"]
    equal(callers(report), {"insert", "replace"}, "where the bug is")
    expect(account["followed_up"] >= 1, f"nothing was followed up: {account}")
    expect(account["groups_tested"] == account["groups"] < account["behaviours"], f"the account: {account}")
    expect("stands for" in groups and "table.c:" in groups, f"the groups: {groups[:300]}")
    explore_table(0, "--strategy", "representative", status=0)


def test_representative_of_none():
    """Where no behaviour stands for another one, nothing is said of others."""
    coverage = explore_case("named", "rename", "--strategy", "representative")[1]["coverage"]
    equal(coverage["representative"]["behaviours"], coverage["representative"]["behaviours_tested"], "behaviours")
    expect("at some failure points only" in coverage["why_incomplete"], f"the reason: {coverage['why_incomplete']}")


def test_representative_does_not_pay():
    """The report says so where there are more groups than failure points, and only there."""
    for times, pays in (("1", False), ("20", True)):
        traces["kinds"] = os.path.join(folder, f"kinds-{times}.pmt")
        run(PMEND, "record", "-q", "-o", traces["kinds"], "--", os.path.join(PROGRAMS, "kinds"), "run", f"kinds {times} pool", times)
        coverage = crash("kinds", "--recover", program("kinds", "check", "{}"), "--strategy", "representative", "--sample", "8", status=0)["coverage"]
        equal("Groups do not pay here" in coverage["note"], not pays, f"the note with {times} rounds: {coverage['note']}")


def test_budgets():
    """One state of 128 fails. A sample is the same for the same seed; what is left out is told."""
    options = ["--recover", program("cases", "loose", "{}")]
    is_wrong = crash("cases", *options, "--sample", "0", status=1)
    equal([len(b["crash"]["lost"]) for b in is_wrong["bugs"]], [1], "places of lost stores")
    # with one worker: how many faults there are depends on which worker gets which failure point
    some = [run(PMEND, "crash", *options, "--jobs", "1", "--sample", "12", "--seed", "7", "--format", "json", traces["cases"], status=None)[0] for _ in range(2)]
    equal(some[0], some[1], "the same sample again")
    coverage = json.loads(some[0])["coverage"]
    expect(not coverage["complete"] and "--sample" in coverage["why_incomplete"] and "--seed 7" in coverage["note"], coverage)
    coverage = crash("cases", *options, "--max-runs", "5", status=0)["coverage"]
    expect(not coverage["complete"] and coverage["runs"] <= 7 and "budget" in coverage["why_incomplete"], coverage)


def has_marked(report, name, case):
    """One of the bugs is the one that the source marks."""
    _, wanted = marks(name, case)
    return any(wanted <= places(name, b) for b in report["bugs"])


def adds_up(coverage):
    """Each failure point is told of once."""
    depth = dict(coverage["depth"])
    total = depth.pop("failure_points")
    equal(sum(depth.values()), total, f"failure points, by how deep they were explored ({coverage['depth']})")
    equal(coverage["failure_points"], total - depth.get("not_reached", 0), "failure points that had their first runs")
    return coverage["depth"]


def explore_breadth(name, *options, check="check", runs=None, status=1):
    """With one worker and so many runs, or all."""
    if name not in traces:
        record(name, "run", name + " pool")
    return crash(name, "--recover", program(name, check, "{}"), "--seed", "7", "-j", "1", *(["--max-runs", str(runs)] if runs else []), *options, status=status)


def test_breadth():
    """A bug that every operation has does not use up the runs: the other one is found by a fraction of them. Without a budget, all states are run, and nothing is run twice."""
    whole = explore_breadth("breadth", "--repeats")
    expect(whole["coverage"]["complete"] and has_marked(whole, "breadth", "parts") and has_marked(whole, "breadth", "total"), whole["coverage"])
    equal(whole["coverage"]["states"], whole["coverage"]["states_all"], "states")
    depth = adds_up(whole["coverage"])
    equal(depth, {"failure_points": 15, "whole": 15}, "how deep")
    some = explore_breadth("breadth", "--repeats", runs=whole["coverage"]["runs"] // 10)
    expect(has_marked(some, "breadth", "parts") and has_marked(some, "breadth", "total"), f"bugs with a tenth of the runs: {summary(some)}")
    depth = adds_up(some["coverage"])
    expect(some["coverage"]["failure_points"] == 15 and depth["whole"] < 15 and not some["coverage"]["complete"], some["coverage"])


def test_breadth_first_runs():
    """Where the budget is used up by first runs, the report says how far they came, in words, too."""
    some = explore_breadth("breadth", runs=20)
    depth = adds_up(some["coverage"])
    expect(depth["first_runs"] > 0 and depth["not_reached"] > 0 and "deeper" not in depth, depth)
    out, err = run(PMEND, "crash", "--recover", program("breadth", "check", "{}"), "-j", "1", "--max-runs", "20", traces["breadth"], status=None)
    expect(f"{depth['first_runs']} had only their first runs, {depth['not_reached']} were not reached" in out and "have states that were not run" in err, f"{out[-600:]} {err}")


def test_breadth_known_last():
    """States that can only repeat what is known wait until all others are done: of these, one in many shows a bug."""
    whole = explore_breadth("breadth", "--repeats", check="deep")
    some = explore_breadth("breadth", "--repeats", check="deep", runs=whole["coverage"]["runs"] // 5)
    for report in (whole, some):
        expect({b["crash"]["outcome"] for b in report["bugs"]} == {"exit status 1", "exit status 2"}, f"{report['coverage']}: {summary(report)}")


def test_breadth_repeats():
    """States that can only repeat a known bug get as many runs as the others, unless all are asked for: then the report says that some were left out."""
    some, whole = explore_breadth("breadth"), explore_breadth("breadth", "--repeats")
    expect(has_marked(some, "breadth", "parts") and has_marked(some, "breadth", "total"), f"bugs: {summary(some)}")
    expect(not some["coverage"]["complete"] and "can only repeat a bug that is known; fix that bug first, or run them with --repeats" in some["coverage"]["why_incomplete"], some["coverage"])
    expect(some["coverage"]["runs"] < whole["coverage"]["runs"] and whole["coverage"]["complete"], f"{some['coverage']} {whole['coverage']}")
    adds_up(some["coverage"])


def test_seldom():
    """One operation of hundreds has another bug than all others, at the same lines: it is a finding of its own."""
    report = explore_breadth("seldom")
    equal(sorted(b["kind"] for b in report["bugs"]), ["missing-flush", "ordering"], "kinds")
    # Each of 299 failure points is explained for itself. Only the first one of a bug is repeated.
    expect(report["coverage"]["diagnosis_runs"] < 250, report["coverage"])
    expect(explore_breadth("seldom", "--window", "16")["coverage"]["diagnosis_runs"] < 80, "runs that failure points share")


def test_file_that_is_not_read():
    """Two pools: the report names the one that recovery does not read."""
    traces["pools apart"] = os.path.join(folder, "pools apart.pmt")
    run(PMEND, "record", "-q", "-o", traces["pools apart"], "--", "sh", "-c", '"$0" run "$1" && "$0" run "$2"', f"{PROGRAMS}/oneline", "first pool", "second pool")
    for one, other in (("{}", "second pool"), ("{2}", "first pool")):
        note = crash("pools apart", "--recover", f"sh -c '\"$0\" check \"$1\"' {shlex.quote(PROGRAMS + '/oneline')} {one} {{}}", status=1)["coverage"]["note"]
        expect("Recovery does not read " in note and f"{other}, so it says nothing" in note, note)


def test_gone_folder():
    """The program removed the pool's folder at its end. Recovery works in it as if it were there, and nothing is left of what it did."""
    gone = os.path.join(folder, "gone folder")
    record("gone", "run", gone)
    coverage = crash("gone", "--recover", program("gone", "check", gone), status=0)["coverage"]
    expect(coverage["complete"] and coverage["runs"] > 5, coverage)
    expect(not os.path.exists(gone), "the folder is there again")


def explore_chained(nwords):
    record("chained", "run", f"chained pool {nwords}", str(nwords))
    return crash("chained", "--recover", program("chained", "check", "{}", str(nwords)), "--sample", "0", "-j", "1", status=1)


def test_trials_are_whole():
    """A finding has the same cause if no state is left in which it shows. If the runs of trials do not suffice for all states, it is counted, and may have the same cause."""
    few, many = explore_chained(20), explore_chained(200)
    equal([(b["kind"], len(b.get("consequences", []))) for b in few["bugs"]], [("ordering", 1)], "all states were tried")
    expect(few["coverage"]["diagnosis_runs"] > 60, few["coverage"])
    equal([(b["kind"], b.get("may_share_cause")) for b in many["bugs"]], [("ordering", None), ("ordering", many["bugs"][0]["id"])], "not all states were tried")
    expect(many["coverage"]["diagnosis_runs"] < many["coverage"]["runs"], many["coverage"])


def test_fresh_writes_to_the_kernel():
    """/proc/self/comm has another name in each run. --fresh does not set it aside, so the program runs once."""
    out, _ = run(PMEND, "test", "--fresh", "--format", "json", "--trace", "comm.pmt", "--recover", program("oneline", "check", "{}"), "--",
                 "/bin/sh", "-c", 'echo x > /proc/self/comm && exec "$0" run "comm pool"', f"{PROGRAMS}/oneline", status=1)
    expect(json.loads(out)["coverage"]["runs"] > 0, out)


def test_two_stores_of_a_line():
    """Two stores in one line of source are one finding. It says that recovery dies in another function for the second one."""
    record("oneline", "run", "oneline pool")
    text, _ = run(PMEND, "crash", "--recover", program("oneline", "check", "{}"), traces["oneline"], status=1)
    expect("recovery dies in no_value" in text and "by no_key" in text and "1 bug, " in text, text)


def test_quorum():
    """240 stores must survive for recovery to fail. An explanation ends after 100 runs, and says so; the line is right, whoever explores."""
    first = explore_breadth("quorum", "--sample", "4")
    expect(has_marked(first, "quorum", "all"), summary(first))
    expect(first["coverage"]["diagnosis_runs"] <= 110 and "too many lines matter to find the smallest loss" in first["coverage"]["note"], first["coverage"])
    for options in (["--window", "16"], ["-j", "3"]):
        equal(without_runs(explore_breadth("quorum", "--sample", "4", *options)), without_runs(first), f"{options}")


def test_creation():
    """Where recovery fails alike at many failure points in a row, most of them wait for the others, also for those that come right after them. Nothing of them is left out."""
    whole = explore_breadth("creation")
    expect(has_marked(whole, "creation", "limit") and has_marked(whole, "creation", "value"), summary(whole))
    adds_up(whole["coverage"])
    some = explore_breadth("creation", runs=40)
    expect(has_marked(some, "creation", "value") and not has_marked(some, "creation", "limit"), summary(some))
    expect("were left for last, because recovery fails in the same way near them although nothing is lost" in some["coverage"]["why_incomplete"], some["coverage"])
    adds_up(some["coverage"])
    for options in (["--window", "16"], ["-j", "3"], ["--strategy", "prefix"]):
        other = explore_breadth("creation", *options)
        wanted = [b["id"] for b in whole["bugs"] if b["crash"]["failure_point"] == 3 or "prefix" not in options]
        equal([b["id"] for b in other["bugs"]], wanted, f"bugs with {options}")
        equal(other["coverage"]["depth"], whole["coverage"]["depth"], f"depth with {options}")


def test_locked():
    """After one hang was confirmed, runs get a short limit first. What that ends is no finding, and not covered: it waits for all others, and then gets the usual limit."""
    whole = explore_breadth("locked", "-j", "4")
    expect(whole["coverage"]["complete"] and whole["coverage"]["states"] == whole["coverage"]["states_all"], whole["coverage"])
    expect(len(whole["bugs"]) == 2 and has_marked(whole, "locked", "note") and has_marked(whole, "locked", "lock"), summary(whole))
    for _ in range(3):  # on a machine that is busy enough, there is no short limit, because runs that end take long
        some = explore_breadth("locked", runs=8)
        if has_marked(some, "locked", "note"):
            break
    expect(has_marked(some, "locked", "note") and any("did not end" in b["crash"]["outcome"] for b in some["bugs"]), summary(some))
    expect(re.search(r"\d+ sets of crash states are undecided: recovery hangs elsewhere", some["coverage"]["why_incomplete"]), some["coverage"])
    adds_up(some["coverage"])


def test_found_is_told():
    """Findings are told while the exploration runs, once each, by whichever worker; not with --quiet."""
    def told(*options):
        _, err = run(PMEND, "crash", "--recover", program("breadth", "check", "{}"), *options, traces["breadth"], status=1)
        return [line for line in err.splitlines() if line.startswith("pmend: found ")]

    report = explore_breadth("breadth", "-j", "2")
    lines = told("--progress", "-j", "2")
    for case in ("parts", "total"):
        kind, _ = marks("breadth", case)
        place = f"breadth.c:{min(line for role, line in marks('breadth', case)[1] if role == 'lost')}: {kind} "
        equal(len([line for line in lines if place in line]), 1, f"lines with {place!r} in {lines}")
    expect(len(lines) >= len(report["bugs"]) and all(re.search(r"\(after a crash at failure point \d+: exit status [12]\)$", line) for line in lines), lines)
    equal(told("--progress", "--quiet"), [], "lines with --quiet")


def created(how, *options, status=1):
    name = "created " + how
    if name not in traces:
        traces[name] = os.path.join(folder, f"created-{how}.pmt")
        run(PMEND, "record", "-q", "-o", traces[name], "--", os.path.join(PROGRAMS, "created"), how, f"created {how} pool")
    return crash(name, "--recover", program("created", "check", "{}"), *options, status=status)


def test_created():
    """Recovery that refuses a pool until its magic number is durable is one finding, which says so. What a crash loses there or later is another one."""
    end = marked_line("created", "initialised")
    for how in ("well", "early", "entry"):
        bugs = created(how)["bugs"]
        windows = [b for b in bugs if "window" in b["crash"]]
        equal([(b["kind"], b["locations"][0]["role"], b["locations"][0]["line"]) for b in windows], [("recovery-failure", "initialised", end)], how)
        first, last = windows[0]["crash"]["window"]["first"], windows[0]["crash"]["window"]["last"]
        expect(first < last and windows[0]["crash"]["failure_point"] == first and len(windows[0]["consequences"]) >= 2, windows[0])
        others = [(b["kind"], sorted(places("created", b))) for b in bugs if b not in windows]
        equal(others, [] if how == "well" else [(lambda kind, where: (kind, sorted(where)))(*marks("created", how))], how)
    for point, said in ((last, "exit status 2"), (last + 1, "recovered")):
        out, _ = run(PMEND, "crash", "--recover", program("created", "check", "{}"), "--replay", str(point), traces["created entry"], status=None)
        expect(said in out, f"failure point {point}: {out}")


def test_created_baseline():
    """A baseline from before, with all findings that are one now, covers it; one that lacks any does not."""
    report = created("well")
    old = report["bugs"][0]["consequences"]
    for known, status in ((old, 0), (old[1:], 1)):
        path = os.path.join(folder, "old.json")
        with open(path, "w") as f:
            json.dump(dict(report, bugs=known), f)
        created("well", "--baseline", path, status=status)


def test_breadth_jobs():
    """Who explores a failure point, and in which round, does not matter where there is no budget."""
    for name, options in (("breadth", []), ("breadth", ["--races"]), ("groups", ["--strategy", "representative"]), ("groups", ["--strategy", "eager"])):
        reports = [explore_breadth(name, *options, "-j", jobs) for jobs in ("1", "2", "5")]
        for r in reports[1:]:
            equal(summary(r), summary(reports[0]), "bugs")
            equal([(b["count"], b["crash"]["failure_point"], b["crash"]["replay"]) for b in r["bugs"] if "crash" in b],
                  [(b["count"], b["crash"]["failure_point"], b["crash"]["replay"]) for b in reports[0]["bugs"] if "crash" in b], "what is told of them")
            equal([r["coverage"][k] for k in ("runs", "states", "failure_points")], [reports[0]["coverage"][k] for k in ("runs", "states", "failure_points")], "runs")


def test_breadth_groups():
    """Every group of update behaviours has its first runs before any has more."""
    whole = explore_breadth("groups", "--strategy", "representative", "--repeats")
    account = whole["coverage"]["representative"]
    equal((account["groups_begun"], account["groups_tested"]), (account["groups"], account["groups"]), "groups without a budget")
    some = explore_breadth("groups", "--strategy", "representative", "--repeats", runs=whole["coverage"]["runs"] // 10)
    expect(has_marked(some, "groups", "total"), f"bugs with a tenth of the runs: {summary(some)}")
    account = some["coverage"]["representative"]
    expect(account["groups_begun"] == account["groups"] > account["groups_tested"], account)
    adds_up(some["coverage"])


def test_breadth_eager():
    """The same for whole images."""
    some = explore_breadth("breadth", "--strategy", "eager", runs=200)
    expect(some["coverage"]["failure_points"] == 15, some["coverage"])
    adds_up(some["coverage"])


def explore_undecided(lines, hints, *options, memory_mb=None, status=0, reader="undecided"):
    """The coverage of one worker."""
    pool = f"{folder}/undecided-{lines}-{hints}"
    if not os.path.exists(pool):
        record("undecided", pool, "run", str(lines), str(hints))
    out, _ = run(PMEND, "crash", "--format", "json", "--jobs", "1", "--recover", program(reader, "{}", "check"), *options, traces["undecided"],
                 memory_mb=memory_mb, status=status)
    return json.loads(out)["coverage"]


def test_undecided():
    """Thousands of lines that are never flushed cost no memory while recovery does not read them, however many sets of states wait."""
    coverage = explore_undecided(20000, 256, "--sample", "250", "--seed", "7", memory_mb=400)
    equal((coverage["failure_points"], coverage["runs"]), (3, 252), "failure points and runs")
    expect(not coverage["complete"] and "--sample" in coverage["why_incomplete"], coverage)
    explore_undecided(20000, 256, "--strategy", "representative", "--sample", "250", "--seed", "7", memory_mb=400)
    explore_undecided(20000, 256, "--races", "--sample", "250", "--seed", "7", memory_mb=400, status=1)  # hints are read, durable or not


def test_fallback_is_told():
    """Where recovery cannot run lazily, 256 whole images are tried at a failure point. That is all of them with 8 lines; with 9 it is a sample, and the analysis is incomplete."""
    coverage = explore_undecided(0, 7, "--sample", "0", reader="undecided_static")
    expect(coverage["complete"] and coverage["states"] == coverage["states_all"], coverage)
    equal(coverage["whole_runs"], 2 ** 8, "all images of eight lines")
    coverage = explore_undecided(0, 8, "--sample", "0", reader="undecided_static")
    equal(coverage["whole_runs"], 256, "images of nine lines")
    expect(not coverage["complete"] and "1 of " in coverage["why_incomplete"] and "--sample" in coverage["why_incomplete"], coverage)
    expect(int(coverage["states"]) < int(coverage["states_all"]), coverage)
    explore_undecided(0, 8, "--sample", "0", "--fail-on", "incomplete", reader="undecided_static", status=1)
    expect(not explore_undecided(0, 8, reader="undecided_static")["complete"], "250 runs, where --sample is not said")
    coverage = explore_undecided(0, 8, "--sample", "600", reader="undecided_static")
    expect(coverage["complete"] and coverage["whole_runs"] == 2 ** 9, coverage)
    expect(explore_undecided(0, 8, "--sample", "0")["complete"], "lazily, all states of nine lines are explored")


def test_undecided_states():
    """All states are counted, also those of lines that nobody reads."""
    coverage = explore_undecided(1000, 5, memory_mb=400)
    expect(coverage["complete"], coverage)
    equal(coverage["runs"], 2 + 1 + 2 ** 5, "runs: one, one without the commit, and all of the hints with it")
    equal(coverage["states"], str(2 + 2 ** 1006), "states")


def test_eadr():
    """Caches that power failures do not lose: amd64 keeps the order there, arm64 that of barriers only; neither keeps atomicity."""
    early = ["--platform", "eadr", "--max-runs", "40"]  # before the thousand lines
    ordering = crash("cases", "--recover", program("cases", "ordering", "{}"), *early, status=1 if ARCH == "arm64" else 0)
    if ARCH == "arm64":
        is_marked(ordering, "cases", "ordering")
    crash("cases", "--recover", program("cases", "flush", "{}"), *early, status=0)
    is_marked(crash("cases", "--recover", program("cases", "atomicity", "{}"), *early, status=1), "cases", "atomicity")


# ---- arm64: an amd64 recording, with the states that arm64 allows ----

def explore_ported(*options, status=0, platform="arm64"):
    """Recovery is `ported NAME POOL`, or what else is given."""
    if "ported" not in traces:
        traces["ported"] = os.path.join(folder, "ported.pmt")
        run(PMEND, "record", "-q", "-o", traces["ported"], "--", f"{PROGRAMS}/ported", "run", "ported pool")
    words = ["--recover", program("ported", options[0], "{}"), *options[1:]] if not options[0].startswith("-") else options
    out, _ = run(PMEND, "crash", "--format", "json", "--platform", platform, *words, traces["ported"], status=status)
    return json.loads(out)


def ported_bug(case, *options, **how):
    """The one that the source marks for the case: porting, which does not count for the exit status."""
    report = explore_ported(case, *options, **how)
    bug = is_marked(report, "ported", "dump" if case.startswith("-") else case)
    equal((bug["kind"], bug["severity"]), ("porting", "porting"), "kind and severity")
    expect("safe only if" in bug["message"] and "release" in bug["message"] and "barrier" in bug["message"], bug["message"])
    return report, bug


def test_ported_flag():
    """A flag and its data in one line: right on amd64, not on arm64, whatever the strategy; with a fence between, right on both."""
    for options in ([], ["--jobs", "1"], ["--strategy", "eager", "--max-runs", "200", "--jobs", "1"], ["--strategy", "representative"], ["--races"]):
        report, _ = ported_bug("flag", *options)
        expect(report["coverage"]["complete"] or "--strategy" in options, report["coverage"])
        equal(explore_ported("fenced", *options)["bugs"], [], f"bugs with a fence and {options}")
    ported_bug("flag", platform="arm64-poc")
    equal(explore_ported("flag", "--fail-on", "porting", status=1)["bugs"][0]["kind"], "porting", "the kind with --fail-on")
    for platform in ("x86-adr", "eadr"):
        equal(explore_ported("flag", platform=platform)["bugs"], [], f"bugs on {platform}")


def test_ported_is_the_same_bug_on_amd64():
    """What fails on amd64, too, is no matter of porting, though arm64 can show it with less lost."""
    for platform in ("x86-adr", "arm64"):
        is_marked(explore_ported("sequence", status=1, platform=platform), "ported", "sequence")


def test_ported_two():
    """Of two stores that may be lost, neither loss is a part of the other."""
    bugs = explore_ported("two")["bugs"]
    equal([b["kind"] for b in bugs], ["porting", "porting"], "kinds")
    equal(len({frozenset(places("ported", b)) for b in bugs}), 2, "different places")


def test_ported_many():
    """Lines with up to 2^57 contents are explored exactly, by what recovery reads of them."""
    report, _ = ported_bug("words")
    expect(report["coverage"]["complete"], report["coverage"])
    report, bug = ported_bug("loose")
    expect(report["coverage"]["complete"], report["coverage"])
    equal(bug["count"], 15, "states of the four bytes that are wrong")
    out, _ = run(PMEND, *shlex.split(bug["crash"]["replay"])[1:], status=1)
    expect("exit status 1" in out, out)
    changed = bug["crash"]["replay"].replace("=x01", "=xff")
    expect(changed != bug["crash"]["replay"], changed)
    _, err = run(PMEND, *shlex.split(changed)[1:], status=3)
    expect("is not a state of this trace" in err, err)
    out, _ = run(PMEND, "crash", "--platform", "arm64", "--show-choices", "--recover", program("ported", "loose", "{}"), "--replay", "7", traces["ported"])
    equal(len(re.findall(r"^    [* ] [0-9a-f]{8}$", out, re.M)), 16, "values of the four bytes")
    coverage = explore_ported("bytes")["coverage"]
    expect(coverage["complete"], coverage)
    coverage = explore_ported("bytes", "--races")["coverage"]
    expect(coverage["complete"], coverage)


def test_ported_races():
    """Without a failing state: the read of the data is what is told."""
    [bug] = explore_ported("flag", "--races", "--strategy", "prefix")["bugs"]
    equal((bug["kind"], bug["severity"], [w["role"] for w in bug["locations"]]), ("porting", "porting", ["read", "store"]), "the race")
    expect("Only on arm64" in bug["message"], bug["message"])
    equal(explore_ported("fenced", "--races", "--strategy", "prefix")["bugs"], [], "bugs with a fence")
    [bug] = [b for b in explore_ported("sequence", "--races", "--strategy", "prefix", status=1)["bugs"]]
    equal(bug["kind"], "cross-failure-race", "what is a race on amd64, too")


def test_ported_dump_and_failures():
    ported_bug("--dump", program("ported", "dump", "{}"))
    ported_bug("again", "--failures", "2")


def test_static():
    """A static program cannot be preloaded: whole images, and the report says so."""
    report = crash("cases", "--recover", program("cases_static", "atomicity", "{}"), "--max-runs", "60", status=1)
    is_marked(report, "cases", "atomicity")
    expect("whole images" in report["coverage"]["note"], report["coverage"])
    expect(report["coverage"]["whole_runs"] > report["coverage"]["lazy_runs"], report["coverage"])  # lazy: where nothing is undecided


def has_keys():
    """Protection keys: a thread may open pages for itself alone."""
    with open("/proc/cpuinfo") as f:
        return "ospke" in f.read().split()


def explore_threads():
    """The coverage of a recovery that reads in a thread, whose bug is found."""
    report = crash("cases", "--recover", program("cases", "threaded", "{}"), "--max-runs", "60", status=1)
    is_marked(report, "cases", "atomicity")
    return report["coverage"]


def test_threads():
    """Without protection keys, a recovery with threads runs on whole images, and the report says so; a thread that is not started makes no difference."""
    with environment(PMEND_RUN_NO_PKEYS="1"):
        coverage = explore_threads()
        equal("whole_runs" in crash("cases", "--recover", program("cases", "atomicity", "{}"), status=1)["coverage"], False, "whole images without threads")
    expect("whole images (threads without protection keys" in coverage["note"] and coverage["whole_runs"] > 0, coverage)
    coverage = explore_threads()
    equal("whole_runs" not in coverage and "note" not in coverage, has_keys(), f"lazy: {coverage}")


# ---- replay ----

def ordering_bug():
    return crash("cases", "--recover", program("cases", "ordering", "{}"), "--max-runs", "60", status=1)["bugs"][0]


def replay(bug, *options, status=1, stdin=None):
    """Runs the report's command with more options."""
    words = shlex.split(bug["crash"]["replay"])
    return run(PMEND, "crash", *options, *words[2:], status=status, stdin=stdin)[0]


def test_replay():
    """The report's command, by a shell; files that are left; and what a crash could have left instead."""
    bug = ordering_bug()
    command = bug["crash"]["replay"]
    path = os.pathsep.join([os.path.dirname(PMEND), os.environ["PATH"]])
    with leaves_nothing():
        p = subprocess.run(command, shell=True, env=dict(os.environ, PATH=path), cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S)
    equal(p.returncode, 1, f"the status of {command} ({p.stderr.strip()})")
    expect("SIGABRT" in p.stdout and "the flag is set" in p.stderr, p.stdout + p.stderr)

    out = replay(bug, "--keep", "kept", "--show-choices")
    died = subprocess.run([f"{PROGRAMS}/cases", "ordering", "kept/pool"], cwd=folder, capture_output=True, timeout=TIMEOUT_S)
    equal(died.returncode, -signal.SIGABRT, "recovery on the file that was left")
    lines = dict((role, number) for role, number in marks("cases", "ordering")[1])
    read = out.index("read at ")  # the flag, which could be lost as well
    expect(f"cases.c:{lines['survived']} " in out[read:] and "check_ordering" in out[read:], out)
    expect(f"cases.c:{lines['lost']} " in out[:read], out)


def test_replay_shows_the_same():
    """What a finding shows is what its replay shows: of the smallest loss, not of the larger one that was met first. If recovery does not always print the same, the finding says so."""
    trace = os.path.join(folder, "shown.pmt")
    run(PMEND, "record", "-q", "-o", trace, "--", f"{PROGRAMS}/shown", "run", "shown pool")
    for how in ("status", "signal", "time"):
        for options in ([], ["--strategy", "eager"], ["--dump", program("shown", "status", "{}")])[:3 if how == "status" else 1]:
            out, _ = run(PMEND, "crash", "--format", "json", "--recover", program("shown", how, "{}"), *options, trace, status=1)
            for bug in json.loads(out)["bugs"]:
                shown = bug["crash"]
                expect(shown.get("varies", False) == (how == "time"), shown)
                again = subprocess.run([PMEND, *shlex.split(shown["replay"])[1:]], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S)
                expect(f": {shown['outcome']}\n" in again.stdout, f"{shown['outcome']}, replayed {again.stdout}")
                expect(how == "time" or shown["output"] == again.stdout.splitlines()[0], f"{shown['output']}, replayed {again.stdout}")
    text, _ = run(PMEND, "crash", "--recover", program("shown", "time", "{}"), trace, status=1)
    expect("A second run on this state ended or printed otherwise" in text, text)


def test_replay_under_gdb():
    out = replay(ordering_bug(), "--gdb", status=0, stdin="run\nbacktrace\nkill\nquit\n")
    expect("check_ordering" in out and "SIGABRT" in out, out)


# ---- recoveries that misbehave ----

def test_hanging():
    with leaves_nothing():
        bug = crash("cases", "--recover", program("nasty", "hang", "{}"), "--timeout", "1", "--max-runs", "40", "-j", "1", status=1)["bugs"][0]
    expect("time limit" in bug["crash"]["outcome"], bug["crash"]["outcome"])


def test_hanging_at_the_end_of_the_time():
    """A run that --max-time leaves no time to confirm is no finding, but is told. A slow machine may not even come to its first one."""
    p = subprocess.run([PMEND, "crash", "--recover", program("nasty", "hang", "{}"), "--timeout", "7", "--max-time", "6", "-j", "1", traces["cases"]], cwd=folder,
                       capture_output=True, text=True)
    is_told = p.returncode == 0 and "one recovery reached its time limit (--timeout) when --max-time ended" in p.stderr and "left no time to repeat it" in p.stdout
    expect(is_told or p.returncode == 3 and "nothing could be explored: --max-time" in p.stderr, f"{p.returncode} {p.stdout} {p.stderr}")


def test_greedy():
    with leaves_nothing():
        bug = crash("cases", "--recover", program("nasty", "memory", "{}"), "--max-memory", "100", "--timeout", "20", "--max-runs", "40", "-j", "1", status=1)["bugs"][0]
    equal(bug["crash"]["outcome"], "exit status 77", "the end of it")


def test_limits():
    """A limit of pmend's that strikes on some states is named, and is no bug of the program's; without it, nothing is wrong."""
    ways = [("reserve", "--max-memory", "100"), ("copy", "--max-file", "2"), ("copy-deaf", "--max-file", "2")]
    for way, option, small in ways + [("reserve-much", "--max-memory", "100"), ("copy-much", "--max-file", "2")]:
        recover = ["--recover", program("nasty", way, "{}")]
        coverage = crash("cases", *recover, option, small, status=0)["coverage"]
        expect(not coverage["complete"] and int(coverage["states"]) < int(coverage["states_all"]), coverage)
        expect(re.search(f"could not be run on [0-9]+ states: pmend's limit of [0-9]+ MiB on .*{option}", coverage["why_incomplete"]), coverage)
        expect("whole images" not in coverage.get("note", ""), coverage)
        for further in (["--strategy", "representative"], ["--max-runs", str(coverage["runs"] - 1), "-j", "1"]):
            reason = crash("cases", *recover, option, small, *further, status=0)["coverage"]["why_incomplete"]
            expect("pmend's limit of" in reason and option in reason, f"{further}: {reason}")
        expect(crash("cases", *recover, option, "100000", status=0)["coverage"]["complete"], f"{way} without {option}")


def test_limits_where_nothing_is_lost():
    """However far recovery is beyond a limit of pmend's, the limit is named and nobody is blamed."""
    ways = [("reserve-much-always", "--max-memory", "pmend's limit of [0-9]+ MiB on its memory"),
            ("touch-always", "--max-memory", "pmend's limit of [0-9]+ MiB on its memory"),
            ("copy-much-always", "--max-file", "pmend's limit of [0-9]+ MiB on the size of a file")]
    for way, option, text in ways:
        with leaves_nothing():
            _, err = run(PMEND, "crash", "--recover", program("nasty", way, "{}"), option, "100", traces["cases"], status=3)
        expect(re.search(f"recovery reached {text}; raise it with {option}", err) and "Fix it first" not in err, err)
    crash("cases", "--recover", program("nasty", "reserve-addresses", "{}"), status=0)


def test_max_time_where_nothing_is_lost():
    """A recovery that does not end has the time that --max-time leaves it, not that of --timeout."""
    with leaves_nothing():
        fails(3, "--max-time ended while recovery ran on the final state, where nothing is lost", "--recover", program("nasty", "hang-always", "{}"),
              "--max-time", "3", "--timeout", "150", traces["cases"])


def test_large_pool():
    """Limits grow with the PM files of the trace, also those that are not there yet. One that strikes where nothing is lost is named."""
    record("large", f"{folder}/large")
    crash("large", "--recover", program("large", "{}"), status=0)
    recover = ["--recover", program("large", "{}", "3600")]
    _, err = run(PMEND, "crash", *recover, "--max-memory", "100", traces["large"], status=3)
    expect("pmend's limit of 3172 MiB on its memory; raise it with --max-memory" in err and "Fix it first" not in err, err)
    crash("large", *recover, "--max-memory", "1000", status=0)


def small_memory(mib, *command, status):
    """Runs a command with so much room for images, and no other."""
    return run("unshare", "-rm", "sh", "-c", f"mount -t tmpfs -o size={mib}m none /dev/shm && export TMPDIR=/dev/shm && exec \"$@\"", "sh", *command, status=status)


def record_places():
    if "places" not in traces:
        record("places", f"{folder}/places", "run")


def test_address_taken():
    """Recovery that finds something else at the pool's address has the pool elsewhere: that addresses in the pool are wrong then is no bug, and the report says so."""
    record_places()
    follow = crash("places", "--recover", program("places", "{}", "follow"), status=0)["coverage"]
    expect(follow["complete"] and "why_incomplete" not in follow, follow)
    beside = crash("places", "--recover", program("places", "{}", "beside"), status=0)["coverage"]
    expect(not beside["complete"] and "recovery mapped a PM file at another address, because something else was at its own" in beside["why_incomplete"], beside)
    fails(3, "recovery failed with a PM file mapped at another address, because something else was at its own", "-q", "--recover", program("places", "{}", "taken"), traces["places"])


def test_same_functions():
    """The C library takes the same functions in a recording as in recovery, on whatever processor; the user's own choice wins. On arm64 it cannot be asked to (util/tunables.c)."""
    record_places()
    if ARCH == "amd64":
        crash("places", "--recover", program("places", "{}", "same"), status=0)
        with environment(GLIBC_TUNABLES="glibc.cpu.hwcaps=-SSSE3"):
            fails(3, "p->functions == functions() does not hold", "-q", "--recover", program("places", "{}", "same"), traces["places"])


def test_no_room():
    """Where there is no room for what recovery writes, it could not be run: no bug, whether the kernel says so by SIGBUS or by ENOSPC."""
    record_places()
    for way in ("fill", "write"):
        recover = ["--recover", program("places", "{}", way)]
        crash("places", *recover, "--jobs", "1", status=0)
        _, err = small_memory(80, PMEND, "crash", "-q", *recover, traces["places"], status=3)
        expect("there is no space left for what recovery writes to PM files (set TMPDIR to a folder with more)" in err, err)


def test_room_for_jobs():
    """As many workers as there is room for; the report says how many that are."""
    record_places()
    out, _ = small_memory(260, PMEND, "crash", "--format", "json", "--jobs", "8", "--recover", program("places", "{}", "fill"), traces["places"], status=0)
    coverage = json.loads(out)["coverage"]
    expect("2 jobs instead of " in coverage["note"] and coverage["complete"], coverage)
    out, _ = small_memory(260, PMEND, "crash", "--format", "json", "--jobs", "8", "--recover", program("places", "{}", "follow"), traces["places"], status=0)
    expect("note" not in json.loads(out)["coverage"], out)


def test_talkative():
    with leaves_nothing():
        bug = crash("cases", "--recover", program("nasty", "print", "{}"), "--timeout", "1", "--max-runs", "40", "-j", "1", status=1)["bugs"][0]
    expect(len(bug["crash"].get("output", "")) < 10000, "output is not bounded")


def test_signal():
    with leaves_nothing():
        bug = crash("cases", "--recover", program("nasty", "segv", "{}"), status=1)["bugs"][0]
    expect("SIGSEGV" in bug["crash"]["outcome"], bug["crash"]["outcome"])
    with open(f"{SOURCES}/nasty.c") as f:
        line = [number for number, text in enumerate(f, 1) if "BUG: die" in text][0]
    equal((bug["crash"]["stack"][0].get("function"), bug["crash"]["stack"][0].get("line")), ("die", line), "where it died")


def test_daemon():
    with leaves_nothing():
        crash("cases", "--recover", program("nasty", "daemon", "{}"), "--max-runs", "6", status=0)


def test_pool_is_the_users():
    """Recovery may do with the pool what it likes."""
    for way in ("unlink", "truncate", "overwrite"):
        with leaves_nothing():
            crash("cases", "--recover", program("nasty", way, "{}"), "--max-runs", "20", status=0)
    with leaves_nothing():
        fails(3, "renamed", "--recover", program("nasty", "rename", "{}"), traces["cases"])


def start_hanging(*options):
    """An exploration whose recovery hangs, while it does."""
    p = subprocess.Popen([PMEND, "crash", *options, "--timeout", "600", "--recover", program("nasty", "hang", "{}"), traces["cases"]], cwd=folder,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: any(words.startswith(f"{PROGRAMS}/nasty") for words in own_processes(scratch).values()), "recovery does not run")
    return p


def test_interrupted():
    """A partial report, without waiting for the time limit of what hangs."""
    with leaves_nothing():
        p = start_hanging("--format", "json")
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=TIMEOUT_S)
        quiet = start_hanging("-q")
        quiet.send_signal(signal.SIGTERM)
        expect("the analysis is incomplete: interrupted after" in quiet.communicate(timeout=TIMEOUT_S)[1], "a quiet one does not say that it was interrupted")
    coverage = json.loads(out)["coverage"]
    expect(p.returncode in (1, 3) and not coverage["complete"] and "interrupted" in coverage["why_incomplete"], f"{p.returncode} {coverage} {err}")


def test_killed():
    with leaves_nothing():
        p = start_hanging()
        p.kill()
        p.communicate(timeout=TIMEOUT_S)


# ---- recovery that dies where nothing is lost ----

def reopen(way, *options, status=1):
    """The one bug of a recovery that dies at every start; None for another status."""
    record("reopen", "run", "reopen pool")
    os.unlink(os.path.join(folder, "reopen pool"))
    out, err = run(PMEND, "crash", "--format", "json", "--recover", program("reopen", way, "{}"), *options, traces["reopen"], status=status)
    return json.loads(out) if status < 2 else err


def marked_line(name, text):
    with open(f"{SOURCES}/{name}.c") as f:
        return [number for number, line in enumerate(f, 1) if text in line][0]


def test_recovery_failure():
    """The program's own recovery dies whenever it is started: one bug, at the line that dies, and nothing is explored. Its command shows it."""
    report = reopen("recover")
    [bug] = report["bugs"]
    [place] = bug["locations"]
    equal((bug["kind"], bug["severity"], place["role"], place["function"], place["line"]),
          ("recovery-failure", "correctness", "died", "follow", marked_line("reopen", "BUG: died")), "the bug")
    expect("SIGSEGV" in bug["crash"]["outcome"] and "nothing is lost" in bug["message"] and bug["crash"]["lost"] == [], bug)
    expect(not report["coverage"]["complete"] and "no crash state was explored" in report["coverage"]["why_incomplete"], report["coverage"])
    out, _ = run(PMEND, *shlex.split(bug["crash"]["replay"])[1:], status=1)
    expect("SIGSEGV" in out, out)
    equal(reopen("recover")["bugs"][0]["id"], bug["id"], "the id")
    [bug] = reopen("abort")["bugs"]
    equal((bug["kind"], bug["locations"][0]["function"]), ("recovery-failure", "main"), "an assertion")
    equal([b["kind"] for b in reopen("always")["bugs"]], ["recovery-failure"], "one that dies before there is a pool, too")
    equal([b["kind"] for b in reopen("recover", "--strategy", "representative")["bugs"]], ["recovery-failure"], "another strategy")
    equal([b["kind"] for b in reopen("recover", "--races", "--failures", "2")["bugs"]], ["recovery-failure"], "with races")
    equal(reopen("careful", status=0)["bugs"], [], "bugs of a good one")


def test_recovery_failure_of_test():
    """pmend test reports it beside what the execution shows."""
    run(PMEND, "test", "--format", "json", "-o", "reopen.json", "--recover", program("reopen", "recover", "{}"), "--", f"{PROGRAMS}/reopen", "run", "reopen pool 2",
        status=1)
    with open(os.path.join(folder, "reopen.json")) as f:
        equal([b["kind"] for b in json.load(f)["bugs"]], ["recovery-failure"], "kinds")


def test_recovery_dies_between_operations():
    """Of the program's own recovery, that is for exploring to find; what the dump prints is not known there. A dump that dies is the checker's failure."""
    report = reopen("middle", "--dump", program("reopen", "careful", "{}"))
    expect(report["bugs"] and all("SIGABRT" in b["crash"]["outcome"] for b in report["bugs"]), report["bugs"])
    expect("between two operations" in reopen("careful", "--dump", program("reopen", "middle", "{}"), status=3), "the checker is not blamed")


def test_no_recovery_failure():
    """The checker's failures, pmend's limits, and what may be anybody's fault are none."""
    blamed = "fails even when nothing is lost. Fix it first; no crash state was explored"
    for way in ("killed", "status", "blind", "absent"):
        expect(blamed in reopen(way, status=3), f"{way}: the checker is not blamed")
    expect("pmend's limit of" in reopen("hungry", "--max-memory", "100", status=3), "the limit is not named")
    equal(reopen("hungry", "--max-memory", "1000", status=0)["bugs"], [], "bugs without the limit")
    for option in ("--check", "--dump"):
        expect(blamed in reopen("careful", option, program("reopen", "recover", "{}"), status=3), f"{option}: the checker is not blamed")
        _, err = run(PMEND, "crash", option, program("reopen", "recover", "{}"), traces["reopen"], status=3)
        expect(blamed in err, f"{option} alone: {err}")


# ---- the program goes on ----

def record_goes_on(way):
    """In a pool that was not there before; ops has a key in each line."""
    pool = os.path.join(folder, "goes pool")
    if os.path.exists(pool):
        os.unlink(pool)
    with open(os.path.join(folder, "ops"), "w") as f:
        f.write("1\n2\n3\n4\n")
    record("goes_on", way, "goes pool", "ops")
    os.unlink(pool)


def go_on(way, then, *options, status):
    return crash("goes_on", "--recover", program("goes_on", "recover", "{}"), "--then", then, "--check", program("goes_on", "full", "{}"), *options, status=status)


def test_then():
    """Recovery alone finds nothing. The program that goes on after it, from the operation that was interrupted, loses a key; the right one loses none, however it goes on."""
    for way, case in (("good", None), ("bad", "goes"), ("annotated", "annotated")):
        record_goes_on(way)
        equal(crash("goes_on", "--recover", program("goes_on", "recover", "{}"), status=0)["bugs"], [], f"{way}: bugs without --then")
        thens = [program("goes_on", way, "{}", "ops", "{op}"), program("goes_on", way, "{}", "{rest:ops}"), "recorded"]
        for then in thens:
            for options in ([], ["--jobs", "1"], ["--strategy", "eager"], ["--strategy", "representative"]) if then == thens[0] else ([],):
                report = go_on(way, then, *options, status=1 if case else 0)
                if not case:
                    expect(report["coverage"]["complete"] or "representative" in options, report["coverage"])
                    continue
                bug = is_marked(report, "goes_on", case)
                expect("count(p, key) > 0 does not hold" in bug["crash"]["output"], bug["crash"])
            if case:
                out, err = run(PMEND, *shlex.split(bug["crash"]["replay"])[1:], status=1)
                expect("exit status 1" in out and "does not hold" in err, f"{out} {err}")
                expect(f"--then" in bug["crash"]["replay"], bug["crash"]["replay"])


def test_then_and_failures():
    """With a crash during recovery, the operation is that of the first crash; what goes on is not recorded. Races are those of recovery alone."""
    record_goes_on("good")
    then = program("goes_on", "good", "{}", "ops", "{op}")
    coverage = go_on("good", then, "--races", status=0)["coverage"]
    expect(coverage["complete"] and "whole_runs" not in coverage, coverage)
    coverage = go_on("good", then, "--failures", "2", status=0)["coverage"]
    expect("from 0 first crashes" in coverage["note"], coverage)
    mend = ["--recover", program("goes_on", "mend", "{}"), "--check", program("goes_on", "full", "{}"), "--failures", "2"]
    coverage = crash("goes_on", *mend, "--then", then, status=0)["coverage"]
    expect(re.search("from [1-9][0-9]* first crash(?:es)?, [1-9][0-9]* runs", coverage["note"]), coverage)
    record_goes_on("bad")
    lost = [n for _, n in marks("goes_on", "goes")[1]][0]
    bugs = crash("goes_on", *mend, "--then", program("goes_on", "bad", "{}", "ops", "{op}"), status=1)["bugs"]
    expect(any(("lost", lost) in places("goes_on", b) for b in bugs), bugs)


def test_then_and_dump():
    """What the dump prints after going on is compared, and nothing of the good program is found."""
    record_goes_on("good")
    recover = ["--recover", program("goes_on", "recover", "{}"), "--dump", program("goes_on", "dump", "{}")]
    crash("goes_on", *recover, "--then", program("goes_on", "good", "{}", "ops", "{op}"), status=0)
    record_goes_on("bad")
    bug = crash("goes_on", *recover, "--then", program("goes_on", "bad", "{}", "ops", "{op}"), status=1)["bugs"][0]
    expect("matches neither the state before nor after" in bug["crash"]["outcome"], bug["crash"])


def test_then_of_test():
    """pmend test takes it, and pmend fix finds it in the report."""
    run(PMEND, "test", "--format", "json", "-o", "then.json", "--recover", program("goes_on", "recover", "{}"), "--then", program("goes_on", "bad", "{}", "ops", "{op}"),
        "--check", program("goes_on", "full", "{}"), "--", f"{PROGRAMS}/goes_on", "bad", "goes pool 2", "ops", status=1)
    with open(os.path.join(folder, "then.json")) as f:
        report = json.load(f)
    expect("--then" in report["crash_options"] and any("crash" in b for b in report["bugs"]), report)


def test_then_fails():
    """Where nothing is lost, it is the checker; where a crash lost something, it is named as what failed. Without operations, {op} means nothing."""
    record_goes_on("good")
    recover = ["--recover", program("goes_on", "recover", "{}")]
    fails(3, "The checker (/bin/false) fails even when nothing is lost", *recover, "--then", "/bin/false", traces["goes_on"])
    fails(3, "{rest:there-is-none}", *recover, "--then", program("goes_on", "good", "{}", "{rest:there-is-none}"), traces["goes_on"])
    with open(os.path.join(folder, "ops"), "a") as f:
        f.write("5\n")
    fails(3, "is a file with one line for each of its 4 operations", *recover, "--then", "recorded", traces["goes_on"])
    then = program("nasty", "segv", "{}")
    bug = crash("cases", "--recover", program("cases", "commit", "{}"), "--then", then, status=1)["bugs"][0]
    equal((bug["crash"]["command"], bug["crash"]["stack"][0].get("function")), (then, "die"), "what failed, and where")
    record("twice", "run", "silent pool")
    fails(3, "has no annotated operations and printed nothing", "--recover", program("twice", "careful", "{}"), "--then", "/bin/echo {op}", traces["twice"])


# ---- recovery that ends well, and prints something odd ----

def odd(way, *how, options=(), status=0):
    traces["odd"] = os.path.join(folder, f"odd-{way}.pmt")
    if not os.path.exists(traces["odd"]):
        run(PMEND, "record", "-q", "-o", traces["odd"], "--", os.path.join(PROGRAMS, "odd"), way, f"odd {way}")
    out, _ = run(PMEND, "crash", "--format", "json", "--recover", program("odd", "sum", "{}", *how), *options, traces["odd"], status=status)
    return json.loads(out)


def test_recovery_output():
    """A sum that counts an entry without its value, which no moment of the program has: one warning, which fails the run only if asked for. The right order has none."""
    for options in ([], ["--jobs", "1"], ["--strategy", "eager"], ["--check", program("odd", "sum", "{}", "silent")], ["--then", "/bin/true"]):
        report = odd("swapped", options=options)
        bug = is_marked(report, "odd", "odd")
        equal((bug["kind"], bug["severity"]), ("recovery-output", "warning"), "kind and severity")
        expect("recovered, but printed" in bug["crash"]["outcome"] and bug["crash"]["output"].startswith("sum "), bug["crash"])
        equal(odd("ordered", options=options)["bugs"], [], f"bugs of the right order with {options}")
    odd("swapped", options=["--fail-on", "warning"], status=1)
    run(PMEND, *shlex.split(bug["crash"]["replay"])[1:], status=0)
    out, _ = run(PMEND, "crash", "--recover", program("odd", "sum", "{}"), traces["odd"].replace("ordered", "swapped"), status=0)
    expect("0 bugs, 1 warning" in out, out)


def test_no_recovery_output():
    """What recovery prints by chance, what it says when it notices, what threads do that need not wait for each other, and where a dump or races judge."""
    for how in ("pid", "notices", "silent"):
        equal(odd("swapped", how)["bugs"], [], f"bugs with {how}")
    for options in ([], ["--strategy", "eager"]):
        equal(odd("threads", options=options)["bugs"], [], "bugs of threads")
    for options in (["--dump", program("odd", "sum", "{}")], ["--strategy", "representative"], ["--strategy", "prefix"], ["--max-runs", "6"]):
        expect(all(b["kind"] != "recovery-output" for b in odd("swapped", options=options)["bugs"]), f"bugs with {options}")
    expect(all(b["kind"] == "cross-failure-race" for b in odd("swapped", options=["--races"], status=1)["bugs"]), "races")


# ---- rank ----

def ranks_wanted(mark):
    """What the source says that recovery does with the stores of a line."""
    with open(f"{SOURCES}/ranks.c") as f:
        return {number: found[1] for number, line in enumerate(f, 1) if (found := re.search(rf"/\* {mark}: ([a-z-]+) \*/", line))}


def test_ranks():
    """pmend test says what recovery does with what is never written back, and what it does not rely on comes last, a line each. Without recovery, nothing is said."""
    wanted = ranks_wanted("RANK")
    command = ["--", f"{PROGRAMS}/ranks", "run", "ranks pool"]
    recover = ["--recover", program("ranks", "recover", "{}")]
    run(PMEND, "test", "--format", "json", "-o", "ranks.json", *recover, "--fresh", *command, status=1)
    with open(os.path.join(folder, "ranks.json")) as f:
        bugs = [b for b in json.load(f)["bugs"] if b["kind"].startswith("missing")]
    equal({b["locations"][0]["line"]: b["recovery"] for b in bugs}, wanted, "what recovery does")
    ranks = [b["recovery"] == "reads" for b in bugs]
    equal(ranks, sorted(ranks, reverse=True), "those that recovery reads come first")
    expect(all(("recovery reads it" in b["message"]) == (b["recovery"] == "reads") for b in bugs), [b["message"] for b in bugs])
    text, _ = run(PMEND, "show", "ranks.json")
    shown, last = text.split("This recovery did not read these in these runs")
    expect(re.search(r"^\d+ bugs?(, [^.]*)?, and 3 that this recovery did not read in these runs", last, re.M), "the total counts what recovery did not read")
    equal((len(re.findall(r"^ +store at ", shown, re.M)), len(re.findall(r"^\S+ranks.c:\d+: missing", last, re.M)), "store at" in last), (3, 3, False), "what is folded")
    run(PMEND, "test", "--format", "json", "-o", "ranks.json", "--fresh", *command, status=1)
    with open(os.path.join(folder, "ranks.json")) as f:
        expect(all("recovery" not in b for b in json.load(f)["bugs"]), "a rank without recovery")


def test_ranks_of_many():
    """Thousands of stores that are never written back: recovery is asked about all of them."""
    _, err = run(PMEND, "test", "--max-runs", "20", "--format", "json", "-o", "ranks.json", "--recover", program("ranks", "recover", "{}"), "--fresh",
                 "--", f"{PROGRAMS}/ranks", "many", "ranks pool", status=1)
    expect("does not know which unflushed stores" not in err, err)
    with open(os.path.join(folder, "ranks.json")) as f:
        bugs = [b for b in json.load(f)["bugs"] if b["kind"].startswith("missing")]
    found = {b["locations"][0]["line"]: b["recovery"] for b in [*bugs, *(c for b in bugs for c in b.get("consequences", []))]}
    wanted = ranks_wanted("RANK OF MANY")
    equal({line: found[line] for line in wanted}, wanted, "what recovery does")
    ranks = [b["recovery"] == "reads" for b in bugs]
    equal(ranks, sorted(ranks, reverse=True), "those that recovery reads come first")


def midway_titles(text):
    """What each durability bug of midway.c says of recovery, by what the source says of its line."""
    with open(f"{SOURCES}/midway.c") as f:
        wanted = {number: found[1] for number, line in enumerate(f, 1) if (found := re.search(r"/\* MIDWAY: ([a-z-]+) \*/", line))}
    return {wanted[int(number)]: what for number, what in re.findall(r"midway.c:(\d+): missing-flush(?:-fence)?: .*; (recovery .*)", text)}


def test_ranks_after_crashes():
    """What recovery reads only after a crash in the middle is not called unread, also if it survives all crashes; in parts, too. Where reads were not watched, only the run that was is named."""
    unread = "recovery does not access it in its run on the final state"
    nowhere = unread + ", and no other run reads it while it may be lost"
    everywhere = {"reads": "recovery reads it after some crashes", "never-touches": nowhere}
    run(PMEND, "record", "-o", "midway.pmt", "--", f"{PROGRAMS}/midway", "run", "midway pool")
    so_far = nowhere.replace("other run", "other run of this incomplete exploration")
    for how, options, want in (("recover", [], everywhere), ("lenient", [], everywhere), ("lenient", ["--max-runs", "1"], {"reads": so_far, "never-touches": so_far}),
                               ("lenient", ["--strategy", "eager"], {"reads": unread, "never-touches": unread})):
        text, _ = run(PMEND, "test", *options, "--recover", program("midway", how, "{}"), "midway.pmt", status=1)
        equal(midway_titles(text), want, f"{how} {options}")
    for part in ("1", "2"):
        run(PMEND, "test", "--shard", f"{part}/2", "-o", f"midway{part}.json", "--format", "json", "--recover", program("midway", "lenient", "{}"), "midway.pmt", status=None)
    text, _ = run(PMEND, "merge", "--format", "text", "midway1.json", "midway2.json", status=1)
    equal(midway_titles(text), everywhere, "parts")


def cut_lines(how, *options):
    """The lines of cut.c that findings are about, by their severity, with recovery in one of its ways."""
    with open(f"{SOURCES}/cut.c") as f:
        marks = {number: found[1] for number, line in enumerate(f, 1) if (found := re.search(r"/\* BUG: ([a-z]+) \*/", line))}
    run(PMEND, "test", "--format", "json", "-o", "cut.json", *options, "--recover", program("cut", how, "{1}", "{2}"), "cut.pmt", status=None)
    with open(os.path.join(folder, "cut.json")) as f:
        bugs = json.load(f)["bugs"]
    expect(all(("truncates or removes cut index in every run" in b.get("reason", "")) == (b["severity"] == "warning") for b in bugs), bugs)
    return {severity: {marks[place["locations"][0]["line"]] for b in bugs if b["severity"] == severity for place in [b, *b.get("consequences", [])]}
            for severity in ("correctness", "warning")}


def test_files_that_recovery_truncates():
    """What recovery cuts off or removes in every run, before it reads it, need not be durable. If it cuts in some states only, less, or after it has read: bugs as ever."""
    every = {"at", "count", "last"}
    run(PMEND, "record", "-o", "cut.pmt", "--", f"{PROGRAMS}/cut", "run", "cut data", "cut index")
    for how in ("length", "open", "punch", "path", "rest", "remove"):
        equal(cut_lines(how), {"correctness": set(), "warning": every}, how)
    equal(cut_lines("half"), {"correctness": {"at", "count"}, "warning": {"last"}}, "half")
    for how in ("sometimes", "reads", "kept", "grow", "none"):
        equal(cut_lines(how), {"correctness": every, "warning": set()}, how)
    for options in (["--max-runs", "1"], ["--strategy", "eager"]):
        equal(cut_lines("length", *options), {"correctness": every, "warning": set()}, f"{options}: not all was seen")
    for part in ("1", "2"):
        run(PMEND, "test", "--shard", f"{part}/2", "-o", f"cut{part}.json", "--format", "json", "--recover", program("cut", "length", "{1}", "{2}"), "cut.pmt", status=None)
    text, _ = run(PMEND, "merge", "--format", "text", "cut1.json", "cut2.json")
    expect("4 warnings" in text, text)


def test_ranks_of_sectors():
    """The same where a line is longer than a cache line."""
    run(PMEND, "test", "--platform", "msync", "--format", "json", "-o", "ranks.json", "--recover", program("ranks", "recover", "{}"), "--fresh",
        "--", f"{PROGRAMS}/ranks", "run", "ranks pool", status=1)
    with open(os.path.join(folder, "ranks.json")) as f:
        bugs = [b for b in json.load(f)["bugs"] if b["kind"].startswith("missing")]
    equal({b["locations"][0]["line"]: b["recovery"] for b in bugs}, {**ranks_wanted("RANK"), **ranks_wanted("RANK ON MSYNC")}, "what recovery does")
    expect(all(b["message"].startswith("no msync or fsync follows") for b in bugs), [b["message"] for b in bugs])


# ---- wrong usage, wrong checkers ----

def test_checker_is_wrong():
    fails(3, "final", "--recover", "/bin/sh -c 'test ! -s \"$0\"' {}", traces["cases"])
    fails(3, "initial", "--recover", "/bin/false", traces["cases"])


def test_usage_of_groups():
    fails(2, "--strategy representative", "--explain-groups", "--recover", "true", "x.pmt")
    fails(2, "--races needs", "--races", "--strategy", "representative", "--recover", "true", "x.pmt")


def test_options_after_the_trace():
    """A trace takes no arguments, so options may come behind it. What comes behind a program is the program's."""
    recover = ["--recover", program("cases", "ordering", "{}")]
    text, _ = run(PMEND, "crash", *recover, traces["cases"], status=1)
    equal(run(PMEND, "crash", traces["cases"], *recover, status=1)[0], text, "the report")
    fails(2, "unknown option --recovery", traces["cases"], "--recovery", "x")
    fails(2, "not both", traces["cases"], *recover, "--", "true")


def test_usage():
    good = ["--recover", "/bin/true"]
    fails(2, "--strategy", *good, "--strategy", "random", traces["cases"])
    fails(2, "--replay", *good, "--replay", "1", "--", "/bin/true")
    fails(2, "quote", "--recover", "/bin/true 'a", traces["cases"])
    fails(2, "--jobs", *good, "--jobs", "0", traces["cases"])
    fails(2, "--replay", *good, "--keep", "kept", traces["cases"])
    fails(2, "--recover", "--recover-ready", "/bin/true", traces["cases"])
    fails(2, "trace or a program", *good)
    fails(3, "there-is-no-such", "--recover", "/there-is-no-such {}", traces["cases"])
    fails(3, "nowhere.pmt", *good, "nowhere.pmt")
    for state in ("", "foo", "3x", "-1", " 3", "3:", "3,", "3:1", "3:1+40", "3:1+40=", "3:1+40=2x", "3:1+40=2,", "3:1+40=2;1+80=1", "3:1+40=-1", "3:x+40=1", "3:1+4g=1", "3:1+0x40=1", "3:1+40=x",
                  "3:1+40=x" + 127 * "0", "3:1+40=x" + 129 * "0", "3:1+40=1,1+40=2", "99999999999999999999", "3:1+40=99999999999", "3:1+99999999999999999=1"):
        fails(2, f"'{state}' is not a state", *good, "--replay", state, traces["cases"])
    fails(3, "not a state of this trace", *good, "--replay", "3:1+ffff00=x" + 128 * "0", traces["cases"])
    fails(3, "state", *good, "--replay", "3:1+ffff00=9", traces["cases"])
    fails(3, "failure points", *good, "--replay", "99999", traces["cases"])


# ---- dumps ----

def test_dump():
    """An operation that was acknowledged before it was durable. The recording is made by `pmend crash`."""
    traces["acks"] = os.path.join(folder, "acks.pmt")
    out, _ = run(PMEND, "crash", "--format", "json", "-o", "report.json", "--trace", "acks.pmt", "--dump", program("acks", "early", "{}"), "--",
                 f"{PROGRAMS}/acks", "run", "acks pool", status=1)
    expect(out.startswith("early\n"), "the program's output is missing")
    with open(os.path.join(folder, "report.json")) as f:
        bug = is_marked(json.load(f), "acks", "early")
    expect("operation" in bug["crash"]["outcome"], bug["crash"]["outcome"])
    equal(replay(bug).count("interrupted operation"), 1, "the replay says the same")
    expect("before:\n1\nafter:\n2\n" in replay(bug), replay(bug))
    text, _ = run(PMEND, "show", "report.json")
    expect("Operation 2 (assumed: what lies between two outputs of the program) was in flight.\n    before:  1\n    after:   2\n    found:   0\n" in text, text)
    seen = bug["crash"]["comparison"]
    equal(seen["operation"], {"number": 2, "source": "assumed", "in_flight": 1}, "the operation in flight")
    equal([seen[k] for k in ("allowed", "before", "after", "found", "differences")], [2, "1\n", "2\n", "0\n", 1], "what was compared")
    equal(seen["difference"], [{"line": 1, "before": "1", "after": "2", "found": "0"}], "the difference")
    report = crash("acks", "--dump", program("acks", "late", "{}"), status=0)
    expect("note" not in report["coverage"], report["coverage"])


def test_dump_overtaken():
    """What was acknowledged and not durable is found, although the next operation makes it look like what was there before, or is lost together with it."""
    def has_both(mode, way, *cases):
        record("acks", mode, f"{mode} pool")
        report = crash("acks", "--dump", program("acks", way, "{}"), status=1)
        equal(sorted((b["kind"], sorted(places("acks", b))) for b in report["bugs"]), sorted((marks("acks", c)[0], sorted(marks("acks", c)[1])) for c in cases), "the bugs")
        for bug in report["bugs"]:
            expect("interrupted operation" in replay(bug), replay(bug))
    has_both("reused", "linked", "remove", "insert")
    has_both("never", "early", "one", "two")
    record("acks", "both", "both pool")
    crash("acks", "--dump", program("acks", "early", "{}"), status=0)


def test_dump_with_ok_status():
    """A dump that recovers on its own may end with a status that is fine; what it prints is compared all the same."""
    def dump(way):
        return ["--dump", shlex.join(["/bin/sh", "-c", '"$0" "$1" "$2"; exit 7', os.path.join(PROGRAMS, "acks"), way, "{}"])]
    record("acks", "run", "acks pool")
    fails(3, "exit status 7", *dump("late"), traces["acks"])
    crash("acks", *dump("late"), "--ok-status", "7", status=0)
    is_marked(crash("acks", *dump("early"), "--ok-status", "7", status=1), "acks", "early")


def test_dump_without_pool():
    """A dump that needs a pool is no reason not to explore. What it prints for an empty one is not known before, so it may print anything until the first operation has ended."""
    def dump(way, script='"$0" "$1" "$2"'):
        return ["--dump", shlex.join(["/bin/sh", "-c", f'test -e "$2" || {{ echo there is no pool >&2; exit 2; }}; {script}', os.path.join(PROGRAMS, "acks"), way, "{}"])]
    record("acks", "run", "new pool")
    report = crash("acks", *dump("late"), status=0)
    expect("Recovery needs a pool" in report["coverage"]["note"] and report["coverage"]["runs"] > 0, report["coverage"])
    expect("where the pool was being created" in report["coverage"]["why_incomplete"], report["coverage"])
    is_marked(crash("acks", *dump("early"), status=1), "acks", "early")
    # one that fails when there is a pool is wrong, and says why
    fails(3, "exit status 5: it is two", *dump("late", 'n=`"$0" "$1" "$2"`; test $n != 2 || { echo it is two >&2; exit 5; }; echo $n'), traces["acks"])


def test_dump_of_bunched_output():
    """Lines that came in one bunch do not tell operations apart: no comparison, so the analysis is incomplete."""
    dump = ["--dump", program("cases", "none", "{}")]
    coverage = crash("cases", *dump, status=0)["coverage"]
    expect(not coverage["complete"] and "the dump was not compared" in coverage["why_incomplete"], coverage)
    run(PMEND, "crash", "-q", *dump, "--fail-on", "incomplete", traces["cases"], status=1)
    out, err = run(PMEND, "crash", "--format", "json", *dump, "--max-runs", "6", "--strategy", "prefix", traces["cases"])
    expect(err.startswith("pmend: THE DUMP WILL NOT BE COMPARED: the program printed several lines at once"), err)
    coverage = json.loads(out)["coverage"]
    equal([re.sub("( after|:).*", "", reason) for reason in coverage["incomplete_reasons"]],
          ["the budget ended (--max-runs)", "the dump was not compared", "--strategy prefix tries only states in which nothing is lost"], "the reasons")
    equal(coverage["why_incomplete"], "; ".join(coverage["incomplete_reasons"]), "the reasons")
    with open(os.path.join(folder, "report.json"), "w") as f:
        f.write(out)
    equal(json.loads(run(PMEND, "show", "--format", "json", "report.json")[0])["coverage"], coverage, "the coverage when it is shown")


def test_dump_of_threads():
    """Two operations in flight: no false alarm. One that ended alone: found."""
    record("acks", "annotated", "threads pool")
    crash("acks", "--dump", program("acks", "late", "{}"), status=0)
    bug = is_marked(crash("acks", "--dump", program("acks", "early", "{}"), status=1), "acks", "alone")
    expect("operation" not in bug["crash"]["comparison"], bug["crash"]["comparison"])  # the crash comes after the last one
    equal([bug["crash"]["comparison"].get(k) for k in ("allowed", "before", "after", "found")], [1, "4\n", None, "3\n"], "what was compared")
    for way, complete in (("crowd", True), ("throng", False)):
        record("acks", way, f"{way} pool")
        coverage = crash("acks", "--dump", program("acks", "late", "{}"), status=0)["coverage"]
        expect(coverage["complete"] == complete and ("where too many operations were in progress" in coverage.get("why_incomplete", "")) != complete, coverage)


def test_dump_buffered():
    """What was acknowledged after the last sync may be lost, if what is left is what there was at some moment. A sync that makes nothing durable, and an order that was never there, are
    found."""
    for way, dump, found in (("buffered", "pair", []), ("unsynced", "pair", ["missing-flush"]), ("unordered", "lines", ["ordering"])):
        record("acks", way, f"{way} pool")
        bugs = crash("acks", "--buffered", "--dump", program("acks", dump, "{}"), status=1 if found else 0)["bugs"]
        equal(sorted({bug["kind"] for bug in bugs}), found, way)
        for bug in bugs:
            expect(" --buffered " in bug["crash"]["replay"] and "interrupted operation" in replay(bug), bug["crash"]["replay"])
    record("acks", "buffered", "buffered pool")
    expect(crash("acks", "--dump", program("acks", "pair", "{}"), status=1)["bugs"], "without --buffered")
    fails(2, "--buffered needs --dump", "--buffered", "--check", "/bin/true", traces["acks"])


SERVED = os.path.join(PROGRAMS, "served")


def record_served(nthreads, how, *use, options=("--threads",)):
    """Records the server with so many threads, and its clients."""
    for name in ("served.pmt", "served pool.sock"):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))
    run(PMEND, "record", "-q", *options, "--client", shlex.join([SERVED, use[0], "{pool}", *use[1:]]), "--stop", shlex.join([SERVED, "stop", "{pool}"]),
        "-o", "served.pmt", "--", SERVED, "serve", "{pool}", str(nthreads), how)
    traces["served"] = os.path.join(folder, "served.pmt")


def crash_served(how, status=None):
    return crash("served", "--dump", program("served", "dump", "{}", how), status=status)


def served_line(text):
    with open(f"{SOURCES}/served.c", encoding="utf-8") as f:
        return next(n for n, line in enumerate(f, 1) if text in line)


def test_dump_of_server():
    """Requests of several threads that overlap: the right server is silent, whether operations are marked or guessed, and all failure points are compared. An answer before its fence,
    and a get of what is lost, are found; how they are explained depends on how the threads took turns (LONG=1)."""
    for mark in ("", "marked"):
        record_served(2, "rightwaits" + mark, "turns", "together")
        report = crash_served("right", 0)
        expect(report["bugs"] == [] and report["coverage"]["complete"], summary(report))
        if not os.environ.get("LONG"):
            continue
        record_served(2, "earlywaits" + mark, "turns", "after")
        bug, = crash_served("right", 1)["bugs"]
        places = {place["role"]: place["line"] for place in bug["locations"]}
        equal((bug["kind"], places["lost"]), ("ordering", served_line("s->is_used = 1;")), "what is acknowledged early")
        expect("acknowledged" in places and "interrupted operation" in replay(bug), sorted(places))
        record_served(2, "shownwaits" + mark, "turns", "get")
        bug, = crash_served("right", 1)["bugs"]
        places = {place["role"]: place["line"] for place in bug["locations"]}
        equal((bug["kind"], bug["severity"], places["store"]), ("unpersisted-read", "correctness", served_line("s->is_used = 1;")), "what is shown early")
        expect("interrupted operation" in replay(bug), sorted(places))
    if not os.environ.get("LONG"):
        return
    # without loads, nobody knows who has read what
    record_served(2, "shownwaits", "turns", "get", options=())
    crash_served("right", 0)


def test_dump_of_servers():
    """The same with clients that do what they like, 50 times each: the right server is silent, and at least so many failure points are compared; each wrong one is found."""
    if not os.environ.get("LONG"):
        raise Skip("350 recordings of a server; LONG=1 runs it")
    for how, nthreads, nops, least in (("right", 2, 40, 95), ("right", 4, 40, 95), ("right", 16, 15, 50), ("early", 2, 40, 0), ("early", 4, 40, 0), ("shown", 2, 40, 0), ("shown", 4, 40, 0)):
        nfound = nall = nuncompared = 0
        for i in range(50):
            record_served(nthreads, how + ("marked" if i % 2 else ""), "load", str(nthreads), str(nops))
            report = crash_served(how)
            nfound += any(bug["severity"] == "correctness" for bug in report["bugs"])
            uncompared = re.search(r"not compared at (\d+) of", report["coverage"].get("why_incomplete", ""))
            nuncompared += int(uncompared[1]) if uncompared else 0
            nall += report["coverage"]["failure_points"]
        print(f"    {how}, {nthreads} threads: found {nfound} of 50, compared {100 - 100 * nuncompared / nall:.1f} % of {nall} failure points", flush=True)
        equal(nfound, 0 if how == "right" else 50, f"how often {how} is found with {nthreads} threads")
        expect(100 * (nall - nuncompared) >= least * nall, f"{nuncompared} of {nall} are not compared")


def test_dump_of_guessed_operations():
    """What lies between two outputs is no operation if several threads are at work, so nothing is compared there, and the report says so. Threads and processes that run one after the
    other, and operations that are marked, are compared."""
    def explore(way, status=0):
        record("answers", way, "answers pool")
        return crash("answers", "--dump", program("answers", "dump", "{}"), status=status)
    for way in ("turns", "across", "handed"):
        coverage = explore(way)["coverage"]
        expect(not coverage["complete"] and "PMEND_OP_BEGIN" in coverage["why_incomplete"] and "overlap" in coverage["why_incomplete"], coverage)
    for way in ("relay", "one", "children", "marked", "greeted"):
        expect(explore(way)["coverage"]["complete"], f"{way}: all is compared")
    report = explore("early", status=1)
    is_marked(report, "answers", "early")
    expect(report["coverage"]["complete"], "early: all is compared")
    equal([b["kind"] for b in explore("halves", status=1)["bugs"]], ["atomicity"], "halves")


# ---- findings of the execution that recovery excuses ----

def lines_of(report):
    return [(b["kind"], b["severity"], b["locations"][0]["text"].rsplit("/* ", 1)[-1].rstrip(" */;")) for b in report["bugs"]]


def excused(name, way, status):
    out, _ = run(PMEND, "test", "--format", "json", "--recover", program(*way), traces[name], status=status)
    return lines_of(json.loads(out))


def test_rebuilt():
    """A store outside a transaction is none if recovery, in all states, stores to the word before it reads it."""
    run(f"{PROGRAMS}/rebuilt", "rebuilt pool", "create")
    record("rebuilt", "rebuilt pool", "run")
    equal(excused("rebuilt", ("rebuilt", "{}", "again"), 0), [], "what recovery makes again")
    expect(("tx-store-outside", "correctness", "outside") in excused("rebuilt", ("rebuilt", "{}", "believe"), 1), "what recovery reads first")
    run(f"{PROGRAMS}/rebuilt", "left pool", "create")
    record("rebuilt", "left pool", "leave")
    equal(excused("rebuilt", ("rebuilt", "{}", "again"), 0), [("missing-flush", "warning", "last")], "the last store, which no transaction flushes")
    expect(("tx-store-outside", "correctness", "last") in excused("rebuilt", ("rebuilt", "{}", "believe"), 1), "the last store, where recovery reads it")


def test_named_when_whole():
    """A file that is written and synced under another name, and gets its own then, is never empty under it; one that is named before, or has one name, is. What a file held that
    it replaced is not known."""
    def found(how, **before):
        report = explore_case("named", how, **before)[1]
        return [b["kind"] for b in report["bugs"]], report["coverage"].get("why_incomplete")

    equal(found("rename"), ([], None), "whole")
    equal(found("rename", before="direct"), ([], "a file was replaced by rename; what the old one held is not known"), "another file is replaced")
    for how in ("calls", "mapped"):
        equal(found(how, before="direct"), ([], None), how)
    expect(found("gone", before="direct")[0] != [], "the pool is gone for a moment")
    for how in ("osync", "rwf", "syncfs", "child", "rely", "tmpfile", "linked"):
        equal(found(how), ([], None), how)
    equal(found("folder", inside=True), ([], None), "a folder that is whole gets the name")
    equal(found("soon", inside=True)[0], ["recovery-failure"], "a folder that is not")
    unseen = explore_case("named", "unseen", "--pm", "named unseen")[1]
    equal(([b["kind"] for b in unseen["bugs"]], "a mapping that is not recorded" in unseen["coverage"].get("why_incomplete", "")), ([], True), "unseen")
    for how in ("early", "direct", "again", "cut", "bak", "some", "child_early", "tmpfile_early", "tmpfile_again", "linked_early", "linked_again"):
        equal(found(how), (["recovery-failure"], None), how)


def test_marked():
    """Clearing the mark of a durable link is no bug if recovery ends the same with the mark and without it. Nobody knows without recovery; and it is one if recovery looks at the mark."""
    if ARCH != "amd64":
        return  # the trace does not show that the instruction is atomic
    record("marked", "run", "marked pool")
    equal(excused("marked", ("marked", "list", "{}"), 0), [], "nobody looks at the mark")
    equal(excused("marked", ("marked", "tell", "{}"), 1), [("missing-flush-fence", "correctness", "the mark")], "somebody does")
    out, _ = run(PMEND, "check", "--format", "json", traces["marked"])
    equal(lines_of(json.loads(out)), [("missing-flush-fence", "warning", "the mark")], "without recovery")
    run(PMEND, "check", "-q", "--fail-on", "warning", traces["marked"], status=1)
    crash("marked", "--races", "--recover", program("marked", "list", "{}"), status=0)
    crash("marked", "--races", "--recover", program("marked", "tell", "{}"), status=1)
    record("marked", "forgets", "marked pool 2")
    equal(excused("marked", ("marked", "list", "{}"), 1), [("missing-flush-fence", "correctness", "the mark")], "the link is not durable")
    crash("marked", "--races", "--recover", program("marked", "list", "{}"), status=1)


def test_marked_by_a_plain_store():
    """The same where a release store clears the mark. Without recovery, it looks like any other store."""
    record("marked", "plain", "plain pool")
    equal(excused("marked", ("marked", "list", "{}"), 0), [], "nobody looks at the mark")
    equal(excused("marked", ("marked", "tell", "{}"), 1), [("missing-flush-fence", "correctness", "the plain mark")], "somebody does")
    out, _ = run(PMEND, "check", "--format", "json", traces["marked"], status=1)
    equal(lines_of(json.loads(out)), [("missing-flush-fence", "correctness", "the plain mark")], "without recovery")


# ---- memory that is handed out again ----

def handed(way, how, *options, status):
    """What is found: (kind, first line); and all of it."""
    for name in ("handed pool", "handed.pmt"):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))
    out, _ = run(PMEND, "test", "--format", "json", "--trace", "handed.pmt", *options, "--recover", program("handed", way, how, "{}", "check"), "--",
                 f"{PROGRAMS}/handed", way, how, "handed pool", status=status)
    report = json.loads(out)
    return [line[::2] for line in lines_of(report) if line[1] == "correctness"], report


def test_old_bytes():
    """A zero that is not stored, or is durable too late, hides as long as a zero was there before. With --old-bytes it does not; who makes an object durable first is silent."""
    lost, relied = ("ordering", "too late"), ("uninitialised-read", "handed out")
    tries = [("raw", "zeroed", []), ("raw", "late", [lost]), ("raw", "relied", [relied]), ("obj", "zeroed", []), ("obj", "late", [lost])]
    if os.environ.get("LONG"):
        tries += [("raw", "twice", [relied]), ("obj", "relied", [relied])]
    for way, how, found in tries:
        if way == "raw" and found:
            equal(handed(way, how, status=0)[0], [], f"{way} {how} without the option")
        got, report = handed(way, how, "--old-bytes", status=1 if found else 0)
        equal(got, found, f"{way} {how}")
        expect("--old-bytes: " in report["coverage"]["note"], f"the report tells: {report['coverage']}")
        if not found:
            expect(report["coverage"]["complete"], f"{way} {how}: {report['coverage']}")
            continue
        bug = next(b for b in report["bugs"] if b["severity"] == "correctness")
        equal(bug["locations"][0]["role"], "allocation" if found == [relied] else "lost", "role")
        out, _ = run(PMEND, *shlex.split(bug["crash"]["replay"])[1:], status=1)
        expect("exit status 1" in out, f"the replay: {out}")
    fails(2, "--old-bytes applies only to recording", "--old-bytes", "handed.pmt")
    _, err = run(PMEND, "test", "--old-bytes", "handed.pmt", status=2)
    expect("--old-bytes applies only to recording" in err, err)


# A namespace in which /dev/dax0.0 is a character device that can be mapped: /dev/zero. The rest of /dev is still there.
WITH_DEVICE = """mkdir dev && mount --rbind /dev dev && mount -t tmpfs none /dev && ln -s "$PWD"/dev/* /dev/ 2>/dev/null
rm -f /dev/dax0.0 && touch /dev/dax0.0 && mount --bind dev/zero /dev/dax0.0 && exec "$@\""""


def with_device(*command, status):
    p = subprocess.run(["unshare", "-rm", "sh", "-c", WITH_DEVICE, "sh", *command], capture_output=True, text=True, timeout=TIMEOUT_S, cwd=tempfile.mkdtemp(dir=folder))
    equal(p.returncode, status, f"{command}: {p.stderr}")
    return json.loads(p.stdout)


def test_old_bytes_of_a_device():
    """A device is filled wholly; a program that initialises all it uses is silent, one that relies on zeros is not. (A real device cannot be had here.)"""
    if subprocess.run(["unshare", "-rm", "sh", "-c", WITH_DEVICE, "sh", "test", "-c", "/dev/dax0.0"], capture_output=True, cwd=tempfile.mkdtemp(dir=folder)).returncode != 0:
        raise Skip("no namespace for a device that is none")
    for how, options, kinds in (("whole", ["--old-bytes"], []), ("part", ["--old-bytes"], ["uninitialised-read"]), ("part", [], [])):
        report = with_device(PMEND, "test", "--format", "json", *options, "--recover", program("device", "{}", "check"), "--", f"{PROGRAMS}/device", "/dev/dax0.0", "run", how,
                             status=1 if kinds else 0)
        equal([b["kind"] for b in report["bugs"] if b["severity"] == "correctness"], kinds, how)
        equal("--old-bytes: 8192 bytes" in report["coverage"].get("note", ""), bool(options), f"{how}: {report['coverage']}")


def test_old_bytes_of_nothing():
    """A correct program that is handed nothing again: the report says so."""
    run(PMEND, "record", "-q", "--old-bytes", "-o", "of_nothing.pmt", "--", f"{PROGRAMS}/cases", "run", "of nothing")
    out, _ = run(PMEND, "check", "--format", "json", "of_nothing.pmt", status=None)
    expect("--old-bytes filled nothing" in json.loads(out)["coverage"]["note"], out)


# ---- a server ----

def test_server():
    reserved, port = port_reserve()
    with reserved:
        serve(str(port))


def serve(port):
    record("store", "run", "store pool", port)
    options = ["--recover", program("store", "serve", "{}", port), "--recover-ready", program("store", "ping", port)]
    with leaves_nothing("store pool"):
        is_marked(crash("store", *options, "--check", program("store", "verify", port, "hasty"), status=1), "store", "hasty", count=2)
        crash("store", *options, "--check", program("store", "verify", port, "careful"), status=0)
        # a dump asks the server, so it lives as long
        is_marked(crash("store", *options, "--dump", program("store", "list", port, "hasty"), status=1), "store", "hasty", count=2)
        crash("store", *options, "--dump", program("store", "list", port, "careful"), status=0)
        refuse = ["--recover", program("store", "refuse", "{}", port), *options[2:], "--check", program("store", "verify", port, "careful")]
        refused = crash("store", *refuse, status=1)
        expect(all("exit status 7" in b["crash"]["outcome"] for b in refused["bugs"]) and "Recovery needs a pool" in refused["coverage"]["note"], refused["coverage"])
        crash("store", *refuse, "--ok-status", "7", status=0)
        fails(3, "the server did not become ready within the time limit (--timeout)", "--recover", options[1], "--recover-ready", "/bin/false", "--timeout", "1", traces["store"])
        fails(3, "did not become ready", "--recover", "/bin/true {}", *options[2:], "--ok-status", "7", traces["store"])


# ---- pools ----

def test_pools():
    """Two of them, with spaces in their names; one grows; its pointers hold only at the recorded address."""
    record("pools", "run", "a pool", "b pool")
    with leaves_nothing("a pool"), leaves_nothing("b pool"):
        for case in ("list", "grown"):
            expect(crash("pools", "--recover", program("pools", case, "{}", "{2}"), status=0)["coverage"]["complete"], case)
        bug = is_marked(crash("pools", "--recover", program("pools", "pair", "{}", "{2}"), status=1), "pools", "pair")
    replay(bug, "--keep", "kept pools")
    equal(sorted(os.listdir(os.path.join(folder, "kept pools"))), ["a pool", "b pool"], "the files that were kept")
    run(f"{PROGRAMS}/pools", "pair", "kept pools/a pool", "kept pools/b pool", status=1)


def test_msync():
    record("synced", "run", "synced pool", options=["--platform", "msync"])
    is_marked(crash("synced", "--recover", program("synced", "hasty", "{}"), status=1), "synced", "hasty")
    text, _ = run(PMEND, "crash", "--recover", program("synced", "hasty", "{}"), traces["synced"], status=1)
    expect("Make the earlier store durable (msync with MS_SYNC, or fsync)" in text and "flush" not in text, text)
    crash("synced", "--recover", program("synced", "careful", "{}"), status=0)


def test_write_in_a_sector():
    """pwrite is not torn inside a sector."""
    record("metas", "run", "metas pool", options=["--platform", "msync"])
    for what in "inside", "many":
        crash("metas", "--recover", program("metas", what, "{}"), status=0)
    crash("metas", "--recover", program("metas", "inside", "{}"), "--failure-points", "store", status=0)
    is_marked(crash("metas", "--recover", program("metas", "across", "{}"), status=1), "metas", "across")


def test_written_beside():
    """A file that the program writes beside its pool, and does not map, is named. Standard output is none, wherever it goes."""
    record("wal", "wal pool", options=["--platform", "msync"])
    note = crash("wal", "--recover", program("wal", "{}", "check"), status=0)["coverage"]["note"]
    expect("The program also writes wal pool.log, which it does not map" in note, note)
    with open(os.path.join(folder, "said"), "w") as said:
        subprocess.run([PMEND, "record", "-q", "-o", "said.pmt", "--", f"{PROGRAMS}/wal", "said pool"], cwd=folder, stdout=said, check=True)
    text, _ = run(PMEND, "show", "--kind", "meta", "said.pmt")
    equal(text.count("beside="), 1, "the number of files beside")


def journal(way, *, begin=None):
    """The report of a way of journal.c; begin: what the journal holds before the recording."""
    pool = os.path.join(folder, f"journal {way}")
    if begin is not None:
        with open(pool + ".journal", "wb") as f:
            f.write(begin)
    traces["journal"] = os.path.join(folder, f"journal {way}.pmt")
    run(PMEND, "record", "-q", "-o", traces["journal"], "--", f"{PROGRAMS}/journal", f"./journal {way}", way)
    out, _ = run(PMEND, "crash", "--format", "json", "--recover", program("journal", "{}", way, "check"), traces["journal"], status=None)
    return json.loads(out)


def is_undecided(report, way, fails, copes, untried=None):
    """Its only finding depends on the journal, and says as of when recovery fails."""
    equal([(b["severity"], os.path.basename(b.get("undecided_by", ""))) for b in report["bugs"]], [("warning", f"journal {way}.journal")], "what is undecided")
    reason = report["bugs"][0]["reason"]
    expect(f"fails with that file {fails}" in reason, reason)
    expect(f", and copes with it {copes}" in reason if copes else "copes" not in reason, reason)
    expect(f"not tried: {untried}" in reason if untried else "not tried" not in reason, reason)
    expect(not report["coverage"]["complete"] and f"journal {way}.journal decides" in report["coverage"]["why_incomplete"], report["coverage"])


def test_used_beside():
    """If no state fails, but recovery reads a file beside the pool, or asks for it, not all was explored. A file that it opens for writing only does not matter."""
    for way, is_complete in (("seen", False), ("asked", False), ("unseen", True)):
        report = journal(way)
        equal((report["bugs"], report["coverage"]["complete"]), ([], is_complete), way)
        equal(f"journal {way}.journal, which the program writes" in report["coverage"].get("why_incomplete", ""), not is_complete, way)


def test_journal_beside():
    """A failure that depends on a file beside the pool is a warning, and the report is not complete. One that does not is a bug."""
    is_undecided(journal("redo"), "redo", "absent or as before the recording or as at the end", "as at the crash")
    run(PMEND, "crash", "-q", "--fail-on", "warning", "--recover", program("journal", "{}", "redo", "check"), traces["journal"], status=1)
    text, _ = run(PMEND, "crash", "--recover", program("journal", "{}", "redo", "check"), traces["journal"])
    expect("Not decided: it depends on a file that crash states do not follow" in text, text)
    is_undecided(journal("swap"), "swap", "absent or as before the recording or as at the end", "as at the crash")
    is_undecided(journal("large"), "large", "absent or as before the recording", None, untried="as at the crash or as at the end")
    is_undecided(journal("late", begin=struct.pack("<QQ", 7, 2**64 - 8)), "late", "absent or as at the end", "as before the recording or as at the crash")
    os.unlink(os.path.join(folder, "journal late.journal"))
    for way in "late", "noted", "deaf": # what passes was only run with the journal as it is now, if recovery reads it
        report = journal(way)
        is_marked(report, "journal", way)
        equal((report["coverage"]["complete"], "undecided_by" in report["bugs"][0]), (way != "late", False), way)


def test_kept_beside():
    """If recovery fails where nothing is lost, because a file beside the pool is no longer as it was then, it is not blamed, and all is explored."""
    for way in "kept", "torn":
        report = journal(way)
        undecided = [b for b in report["bugs"] if "undecided_by" in b]
        expect(undecided and not report["coverage"]["complete"], report)
        equal({b["severity"] for b in undecided}, {"warning"}, way)
        report["bugs"] = [b for b in report["bugs"] if b not in undecided]
        if way == "torn":
            is_marked(report, "journal", way)
        else:
            equal(report["bugs"], [], "bugs")


def test_private_beside():
    """What recovery does to files beside the pool, no other run sees, and the user's files stay as they are."""
    def user_s():
        def text(name):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                return f.read()
        return {name: text(name) for name in os.listdir(folder) if name.startswith("private pool") and name != "private pool"}

    record("private", f"{folder}/private pool", "run")
    before = user_s()
    equal(before, {"private pool-wal": "precious", "private pool-keep": "kept"}, "before")
    for options in (["--jobs", "1"], ["--jobs", "4"], ["--strategy", "eager"]):
        report = crash("private", "--recover", program("private", "{}", "check"), *options, status=0)
        expect(report["coverage"]["runs"] > 5, report["coverage"])
        equal(user_s(), before, options)


# ---- crashes during recovery ----

def test_two_failures():
    """Recovery that forgets before it does: only a second crash shows it."""
    record("twice", "run", "twice pool")
    hasty, careful, guarded = (["--recover", program("twice", way, "{}")] for way in ("hasty", "careful", "guarded"))
    crash("twice", *hasty, status=0)
    report = crash("twice", *hasty, "--failures", "2", status=1)
    is_marked(report, "twice", "hasty")
    expect("Crashes during recovery" in report["coverage"]["note"], report["coverage"])
    replay(report["bugs"][0])
    expect("timeline" not in report["bugs"][0], "the events of another trace")
    expect(report["bugs"][0]["crash"]["choices"] and not [c for c in report["bugs"][0]["crash"]["choices"] if "file" in c], "scratch files are named")
    crash("twice", *careful, "--failures", "2", status=0)
    crash("twice", *guarded, "--failures", "2", status=0)


# ---- no false assurance ----

def test_cannot_be_watched():
    """Where neither dispatch nor its replacement works, whole images are left, and the report says so; or one clear line says what is."""
    with environment(PMEND_RUN_NO_DISPATCH="all"):
        report = crash("cases", "--recover", program("cases", "atomicity", "{}"), "--max-runs", "60", status=1)
        is_marked(report, "cases", "atomicity")
        expect("system calls of the program cannot be caught" in report["coverage"]["note"], report["coverage"])
        fails(3, "name the pool by {} in the command, and it runs on whole images. pmend record and pmend check still work", "-q", "--recover", program("cases", "atomicity", "pool"),
              traces["cases"])


def test_without_dispatch():
    """The same bugs where the kernel has no syscall user dispatch, by programs, shells and threads. What they record, they record anew, in a folder of its own."""
    global folder
    outer, outer_traces, folder = folder, dict(traces), tempfile.mkdtemp(prefix="again ", dir=folder)
    try:
        with environment(PMEND_RUN_NO_DISPATCH="1"):
            for again in (test_reported_with_check, test_ordering, test_missing_flush, test_atomicity, test_first_operation, test_creation, test_commit_variable, test_library, test_signal, test_daemon,
                          test_dump_of_threads, test_server, test_pools, test_two_failures):
                again()
    finally:
        folder = outer
        traces.update(outer_traces)


def record_assure(*, fresh_name="assure pool"):
    """The recording of a correct table, in a pool that was not there before."""
    if os.path.exists(os.path.join(folder, fresh_name)):
        os.unlink(os.path.join(folder, fresh_name))
    record("assure", "run", fresh_name)


def test_recovery_opens_nothing():
    """Recovery that never opens the pool says nothing about it, whoever starts it; one of several commands is enough."""
    record_assure()
    recover = program("assure", "recover", "{}")
    for name in ("assure", "assure_static"):
        crash("assure", "--recover", program(name, "recover", "{}"), status=0)
        fails(3, "recovery opened no file of the trace, although its command line names the pool", "--recover", program(name, "idle", "{}"), traces["assure"])
    fails(3, "recovery opened no file of the trace; put {} where the pool's path belongs", "--recover", program("assure", "idle", "pool"), traces["assure"])
    for way in ("look", "path", "remove"):
        fails(3, "recovery opened no file of the trace, although", "--recover", program("assure", way, "{}"), traces["assure"])
    note = "Recovery read nothing that a crash could have lost"
    expect(note in crash("assure", "--recover", program("assure", "touch", "{}"), status=0)["coverage"]["note"], "no note of a recovery that reads nothing")
    expect(note not in crash("assure", "--recover", recover, status=0)["coverage"].get("note", ""), "a note though recovery reads")
    fails(3, "in sh -c 'SCRIPT' {}, the script sees it as $0", "--recover", "sh -c 'exit 0' {}", traces["assure"])
    fails(3, "put {} where", "--recover", program("assure", "recover", "another pool"), traces["assure"])
    fails(3, "put {} where", "--recover", program("assure", "idle"), "--check", program("assure", "idle"), traces["assure"])
    fails(3, "put {} where", "--recover", "sh -c true", traces["assure"])
    crash("assure", "--recover", program("assure", "idle"), "--check", recover, status=0)
    crash("assure", "--recover", program("assure", "idle"), "--dump", recover, status=0)


def test_clean_failure_is_one_line():
    """Whatever recovery prints."""
    record_assure()
    fails(3, "exit status 5: one two. The checker (sh -c", "--recover", "sh -c 'echo one >&2; echo two >&2; exit 5' {}", traces["assure"])


def test_nothing_explored():
    """A budget that ends before the first failure point is done is an error, which names the budget."""
    record_assure()
    trace, recover = traces["assure"], ["--recover", program("assure", "recover", "{}")]
    fails(3, "--max-time 0 ended before the first of ", *recover, "--max-time", "0", trace)
    fails(3, "--max-time 0 ended", *recover, "--dump", program("assure", "recover", "{}"), "--max-time", "0", trace)
    out, err = run(PMEND, "test", *recover, "--max-time", "0", "--", f"{PROGRAMS}/assure", "run", "another assure pool", status=3)
    is_cut = "(--max-time), and was ended" in err  # on a slow machine, the program takes more than its one second
    expect(is_cut or "nothing could be explored: --max-time 0" in err and "The analysis is incomplete: no crash was explored: nothing could be explored" in out, f"{out} {err}")


def test_little_explored():
    """Said on standard error with -q, too; --fail-on incomplete makes it a failure."""
    record_assure()
    command = [PMEND, "crash", "-q", "--recover", program("assure", "recover", "{}"), "-j", "1"]
    few = [*command, "--max-runs", "6"]
    out, err = run(*few, traces["assure"], status=0)
    expect(out == "" and re.fullmatch(r"pmend: NOT ALL WAS EXPLORED: --max-runs 6 ended after \d+ of \d+ failure points; .*\n", err), f"{out!r} {err!r}")
    run(*few, "--fail-on", "incomplete", traces["assure"], status=1)
    run(*few, "--fail-on", "performance", traces["assure"], status=0)
    run(*few, "--fail-on", "all", traces["assure"], status=2)
    equal(run(*command, "--fail-on", "incomplete", traces["assure"], status=0), ("", ""), "what is said when all was explored")


def test_nothing_new():
    """The pool held the data already: that is no exploration, also where the program stores the same once more. --fresh helps."""
    record_assure()
    recover = ["--recover", program("assure", "recover", "{}")]
    for way in ("run", "same"):
        out, err = run(PMEND, "crash", *recover, "--", f"{PROGRAMS}/assure", way, "assure pool", status=3)
        expect("nothing could be explored: the program stored nothing new to persistent memory" in err and "--fresh" in err and "No bugs" not in out, f"{out} {err}")
        expect("assure pool held data before the run; --fresh starts without it" in err, err)
    run(PMEND, "record", "-q", "-o", "same.pmt", "--", f"{PROGRAMS}/assure", "run", "assure pool", status=0)
    fails(3, "stored nothing new", *recover, "same.pmt")
    out, err = run(PMEND, "crash", *recover, "--fresh", "--", f"{PROGRAMS}/assure", "run", "assure pool", status=0)
    expect("No bugs found" in out and err == "", f"{out} {err}")


def test_failure_is_no_budget():
    """A bug is found, then the exploration breaks off: the report says why, and does not speak of a budget."""
    record_assure()
    out, _ = run(PMEND, "crash", "--format", "json", "-j", "1", "--recover", program("assure", "killer", "{}"), traces["assure"], status=1)
    coverage = json.loads(out)["coverage"]
    expect(not coverage["complete"] and coverage["why_incomplete"].startswith("pmend failed after ") and "SIGKILL" in coverage["why_incomplete"] and
           "budget" not in coverage["why_incomplete"], coverage)


def test_time_is_kept():
    """Nothing but one run begins after the time is over. A run takes 100 ms at least, so their number tells, however slow the machine is."""
    record("assure", "loosen", "loose pool")
    recover = ["--recover", program("assure", "frail", "{}")]
    most = 3 * 10 * 1.1 + 2  # and one that runs, and one that confirms; to minimise the failure takes more than twice as many
    out, err = run(PMEND, "crash", "--format", "json", *recover, "--max-time", "3", "-j", "1", traces["assure"], status=None)
    if not out:  # a very slow machine
        expect("nothing could be explored: --max-time" in err, err)
        return
    coverage = json.loads(out)["coverage"]
    expect(coverage["runs"] + coverage["diagnosis_runs"] <= most, f"{coverage}: more than {most} runs")


def test_time_is_kept_in_recovery():
    """--failures 2: recordings of recovery do not begin either."""
    record("twice", "run", "late pool")
    coverage = crash("twice", "--recover", program("twice", "careful", "{}"), "--failures", "2", status=0)["coverage"]
    expect(coverage["complete"] and "from 0 first crashes" not in coverage["note"], coverage)
    coverage = crash("twice", "--recover", program("twice", "slow", "{}"), "--failures", "2", "--max-time", "5", "-j", "1", status=0)["coverage"]
    is_first_cut = "the budget ended" in coverage["why_incomplete"]  # on a slow machine: before the first crashes were all tried
    expect(not coverage["complete"] and "from 0 first crashes" in coverage["note"] and (is_first_cut or "left out" in coverage["note"]), coverage)


# ---- one cause, one finding ----

def caused(report):
    """(kind, line) of all that is listed under something else."""
    return sorted((c["kind"], c["locations"][0].get("line")) for b in report["bugs"] for c in b.get("consequences", []))


def explore_case(name, case, *options, before=None, command="crash", inside=False):
    """Records and explores a case of a program on a pool of its own; before: a case that makes the pool; inside: its folder has that name."""
    pool, out = os.path.join(folder, f"{name} {case}", *["pool"] * inside), os.path.join(folder, "case.json")
    if before:
        run(os.path.join(PROGRAMS, name), pool, before)
    words = [PMEND, command, "--format", "json", "-o", out, "--seed", "1", *options, "--recover", f"{program(name)} {{}} {case} recover",
             "--trace", os.path.join(folder, "case.pmt"), "--", os.path.join(PROGRAMS, name), pool, case]
    status = subprocess.run(words, capture_output=True, timeout=TIMEOUT_S, cwd=folder).returncode
    os.unlink(pool)
    with open(out) as f:
        return status, json.load(f)


def made(name, fill, sync, use, who, *more, recover="{}", command="crash"):
    """Makes and uses a pool, and explores that. {platform: (kinds, why it is incomplete)}"""
    where = tempfile.mkdtemp(dir=folder)
    pool, trace = os.path.join(where, "f", "pool"), os.path.join(where, "made.pmt")
    os.mkdir(os.path.join(where, "f.new" if name in ("above", "both") else "f"))
    run(PMEND, "record", "-q", "-o", trace, "--", os.path.join(PROGRAMS, "making"), pool, name, fill, sync, use, who, *more)
    found = {}
    for platform in ("x86-adr" if ARCH == "amd64" else "arm64", "msync"):
        out, _ = run(PMEND, command, "--format", "json", "--seed", "1", "--platform", platform, "--recover",
                     program("making", pool if recover is None else recover, "check", *["both"] * (name == "both")), trace, status=None)
        report = json.loads(out)
        found[platform] = [b["kind"] for b in report["bugs"] if "crash" in b], report["coverage"].get("why_incomplete"), report
    shutil.rmtree(where)
    return found


# (NAME, FILL), and how the bytes become durable; a flush is enough where there is a cache to flush.
WAYS_TO_MAKE = [(("rename", "write"), ("fsync", "osync", "all")), (("rename", "map"), ("msync", "flush", "fsync")), (("link", "write"), ("osync", "fsync")), (("link", "map"), ("fsync", "msync")),
                (("tmpfile", "write"), ("fsync", "all")), (("above", "write"), ("all", "fsync")), (("above", "map"), ("fsync", "flush")), (("both", "map"), ("msync",))]
WHO_MAKES = ("self", "run", "mover", "child", "before")


def test_making():
    """A pool that is complete when it gets its name, by whatever way and in whatever process, is no bug; one that is not is. Recovery refuses a pool that is missing or not complete."""
    n = 0
    for at, ((name, fill), syncs) in enumerate(WAYS_TO_MAKE):
        for k, who in enumerate(WHO_MAKES if os.environ.get("LONG") else [WHO_MAKES[(at + i) % len(WHO_MAKES)] for i in range(2)]):
            for sync in (*syncs, "none") if os.environ.get("LONG") else (syncs[k % len(syncs)], *["none"] * (k == 0)):
                for use in ("same", "again")[k % 2:]:
                    found = made(name, fill, sync, use, who, *["folder"] * ((at + k) % 2))
                    for platform, (kinds, why, report) in found.items():
                        is_right = sync != "none" and not (sync == "flush" and platform == "msync")
                        equal((bool(kinds), why is None or not is_right), (not is_right, True), f"{name} {fill} {sync} {use} {who} on {platform}: {kinds}, {why}")
                        expect("Recovery needs a pool" in report["coverage"].get("note", ""), report["coverage"])
                    n += len(found)
    return f"{n} explored"


def test_making_in_place():
    """A pool that is made under its own name is there before it is complete. The finding says what is there, and where the program made it."""
    for fill, who in (("write", "self"), ("map", "run")):
        for platform, (kinds, why, _) in made("place", fill, "fsync", "same", who).items():
            expect("recovery-failure" in kinds, f"{fill} on {platform}: {kinds}")
    report = made("place", "write", "fsync", "same", "self")["msync"][2]
    bug = report["bugs"][0]
    expect(bug["message"].endswith(": pool exists and is empty (0 bytes)"), bug["message"])
    with open(os.path.join(SOURCES, "making.c")) as f:
        opened = next(number for number, line in enumerate(f, 1) if "flags | O_CREAT | O_TRUNC" in line)
    equal(places("making", bug), {("created", opened)}, "where")
    expect("rename it" in bug["advice"] and "exit with 0" in bug["advice"] and "instead of {pool}" in bug["advice"], bug["advice"])
    expect("crashes at 1 failure point before there was one under its name were not explored" in report["coverage"]["note"] and "must cope" in report["coverage"]["note"], report["coverage"])


def test_making_without_placeholder():
    """Recovery may name the pool itself."""
    equal([kinds for kinds, *_ in made("rename", "map", "fsync", "same", "self", recover=None).values()], [[], []], "bugs")


def test_making_and_removing():
    """A test that removes its pool at the end: recovery refuses that as it refuses the beginning, which is no bug."""
    where = tempfile.mkdtemp(dir=folder)
    pool, trace = os.path.join(where, "pool"), os.path.join(where, "made.pmt")
    run(PMEND, "record", "-q", "-o", trace, "--", "sh", "-c", '"$0" "$@" && rm "$1"', os.path.join(PROGRAMS, "making"), pool, "rename", "map", "fsync", "same", "self")
    run(PMEND, "crash", "-q", "--recover", program("making", "{}", "check"), trace, status=0)


def test_making_of_many():
    """A sector with very many contents: states are named by their bytes."""
    kinds, why, report = made("rename", "many", "none", "same", "self")["msync"]
    expect(kinds and report["coverage"]["runs"] > 10 and "is not a state" not in (why or ""), report["coverage"])


# ---- bugs that share a line ----

HIDDEN_WAYS = ("exit", "codes", "die", "backwards")


def hidden_pairs(case):
    """(line of the value, line of the flag) of each bug of a case, by their numbers in the source."""
    with open(os.path.join(SOURCES, "hidden.c")) as f:
        text = f.read()
    begin = text.index(f"static void {case}_run(")
    body, first = text[begin:text.index("\n}\n", begin)].split("\n"), text[:begin].count("\n") + 1
    value = {m[1]: first + i for i, line in enumerate(body) for m in [re.search(rf"value\[(\d)\] = 1; /\* BUG: {case}: lost \*/", line)] if m}
    flag = {m[1]: first + i for i, line in enumerate(body) for m in [re.search(r"PUBLISH\(p, (\d)\)", line)] if m}
    return sorted((value[i], flag[i]) for i in value)


def explore_hidden(case, how, *options):
    """The report, which has exactly the bugs of the case, listed under another one or not."""
    if "hidden" not in traces:
        record("hidden", "hidden pool")
    pairs = hidden_pairs(case)
    report = crash("hidden", *options, "--dump" if how == "dump" else "--recover", program("hidden", "{}", case, how), status=1 if pairs else 0)
    all_of = [c for b in report["bugs"] for c in [b, *b.get("consequences", [])]]
    got = [tuple(next(x["line"] for x in b["locations"] if x["role"] == role) for role in ("lost", "survived")) for b in all_of]
    equal(sorted(got), pairs, f"what is lost and what survives ({case}, {how}, {options})")
    return report, all_of


def death(bug):
    """The function of the program in which recovery died."""
    return next(frame["function"] for frame in bug["crash"]["stack"] if frame.get("file", "").endswith("hidden.c"))


def test_hidden():
    """Two and three ordering bugs in one line, whatever recovery looks at first, and however it fails."""
    explore_hidden("together", "exit")
    explore_hidden("crossed", "backwards")
    explore_hidden("crossed", "backwards", "--platform", "arm64")  # stores of a line are in no order there
    explore_hidden("apart", "exit", "--jobs", "2")
    explore_hidden("apart", "dump")
    explore_hidden("three", "backwards")
    explore_hidden("half", "exit")
    explore_hidden("together", "exit", "--strategy", "eager", "--jobs", "1")
    explore_hidden("together", "exit", "--strategy", "eager", "--jobs", "1", "--platform", "arm64")
    for how in ("exit", "dump"):
        explore_hidden("right", how)


def test_hidden_outcomes():
    """Each is shown with its own exit status, or with the function in which recovery dies."""
    _, bugs = explore_hidden("together", "codes")
    equal(sorted(b["crash"]["outcome"] for b in bugs), ["exit status 11", "exit status 12"], "the outcomes")
    _, bugs = explore_hidden("three", "die")
    equal(sorted(map(death, bugs)), ["first_is_missing", "second_is_missing", "third_is_missing"], "where recovery dies")


def test_hidden_ways():
    """One bug that shows by two deaths, and by two statuses: both are told. Where there is one, nothing is."""
    _, bugs = explore_hidden("ways", "die")
    equal(bugs[0]["crash"]["endings"], "signal 6, SIGABRT (Aborted), in first_is_missing(); signal 6, SIGABRT (Aborted), in third_is_missing()", "how recovery ends")
    _, bugs = explore_hidden("half", "die")
    expect("endings" not in bugs[0]["crash"], bugs[0]["crash"])


def test_hidden_all():
    """All cases, all ways to fail, by several strategies."""
    if not os.environ.get("LONG"):
        return
    for case in ("together", "crossed", "apart", "three", "half", "right"):
        for how in HIDDEN_WAYS:
            for options in ([], ["--strategy", "eager"], ["--jobs", "1"], ["--races"]):
                explore_hidden(case, how, *options)


def test_one_window():
    """Recovery refuses five neighbouring states in which nothing is lost: the store that opens the window and the one that closes it."""
    for command in ("crash", "test"):
        status, report = explore_case("causes", "window", command=command)
        equal(status, 1, "the status")
        bug = is_marked(report, "causes", "window")
        expect("between these two stores" in bug["message"], bug["message"])
        equal([kind for kind, _ in caused(report)], ["atomicity"] * 4, "what is listed under it")
        expect(all("consequences" not in c and len(c["id"]) == 16 for c in bug["consequences"]), "consequences of consequences, or no ids")


def test_one_pair():
    """The same two stores, under several kinds."""
    for command in ("crash", "test"):
        for case, kind in (("pair", "ordering"), ("never", "missing-flush")):
            _, report = explore_case("causes", case, command=command)
            is_marked(report, "causes", case)
            equal([kind for kind, _ in caused(report)], [kind], f"what is listed under it ({case})")


def test_torn():
    """A crash state with a part of a store says so, and whether alignment is to blame."""
    for case, torn in (("unaligned", "unaligned"), ("vector", "long"), ("aligned", None)):
        _, report = explore_case("torn", case)
        bug, = report["bugs"]
        equal(bug["crash"].get("torn"), torn, case)


def test_progress_of_diagnosis():
    """What comes after the exploration is told, too."""
    with tempfile.TemporaryDirectory(dir=scratch) as cwd:
        _, err = run(PMEND, "crash", "--progress", "--recover", program("causes", "{}", "pair", "recover"), "--", os.path.join(PROGRAMS, "causes"), "{pool}", "pair",
                     status=1, cwd=cwd)
    expect("pmend: finding out which findings have one cause: 0 recovery runs\n" in err, err)


def test_one_fence():
    _, report = explore_case("causes", "fence")
    is_marked(report, "causes", "fence")
    equal(len(caused(report)), 2, "the number of other stores that are late")


def test_two_fences():
    """Two are missing: nothing is hidden by the other."""
    _, report = explore_case("causes", "fences")
    equal(len(report["bugs"]), 2, f"the number of bugs ({summary(report)})")
    for bug, case in zip(report["bugs"], ("fences", "more")):
        equal(places("causes", bug), marks("causes", case)[1], "the places")


def test_two_flushes():
    """Three words of one line are one flush; another line is another."""
    _, report = explore_case("causes", "flush", command="test")
    equal(sorted(bug["locations"][0]["line"] for bug in report["bugs"]), [min(marks("causes", case)[1])[1] for case in ("flush", "other")], "the lines")
    equal(len(caused(report)), 2, "the number of other words of the line")


def short_flush(case, command, *kinds):
    """The findings of a case are those that its source marks; what the first has under it."""
    pool, out = os.path.join(folder, f"shorts {case}"), os.path.join(folder, "case.json")
    if command == "check":
        run(PMEND, "check", "--severity", "correctness", "--format", "json", "-o", out, "--", os.path.join(PROGRAMS, "shorts"), pool, case, status=1 if kinds else 0)
        os.unlink(pool)
        with open(out) as f:
            report = json.load(f)
    else:
        report = explore_case("shorts", case, "--severity", "correctness", command=command)[1]
    equal(sorted((bug["kind"], bug["locations"][0]["line"]) for bug in report["bugs"]), sorted(zip(kinds, sorted(line for _, line in marks("shorts", case)[1]))), f"the bugs of {case}")
    return [kind for kind, _ in caused(report)]


def test_short_flushes():
    """A helper that flushes less than it is given, or a call with the wrong length, is one finding, which explains the others."""
    for command in ("check", "crash", "test"):
        equal(short_flush("stuck", command, "short-flush"), ["missing-flush"] * 4, f"what the helper leaves out ({command})")
    equal(short_flush("pointer", "crash", "short-flush"), ["missing-flush"], "what the call leaves out, as recovery shows it")
    equal(short_flush("steps", "check", "short-flush"), ["missing-flush"], "what the helper leaves out")
    equal(short_flush("pointer", "check", "short-flush"), ["missing-flush"], "what the call leaves out")
    equal(short_flush("fields", "check", "short-flush"), ["missing-flush"] * 3, "what the call leaves out")
    equal(short_flush("half", "check", "short-flush"), ["missing-flush"], "what the call leaves out, however it was reached")
    equal(short_flush("whole", "check", "short-flush"), ["missing-flush"] * 2, "what the helper leaves out of what two calls give it")
    equal(short_flush("late", "test", "missing-flush"), ["ordering"], "what a longer flush would not mend, because it comes too late")
    equal(short_flush("begin", "check", "short-flush"), ["missing-flush"] * 2, "what the helper leaves out of what two calls give it")
    equal(short_flush("object", "check", "short-flush"), ["missing-flush"], "what the helper leaves out of a struct")
    equal(short_flush("early", "check", "short-flush"), ["missing-flush"] * 2, "what a helper that ends too early leaves out, of an object and of a copy")
    equal(short_flush("down", "check", "short-flush"), ["missing-flush"], "what a helper whose end is rounded down leaves out of what one call gives it")
    equal(short_flush("less", "check", "short-flush"), ["missing-flush"], "what the call leaves out, and not the helper")
    equal(short_flush("more", "check", "short-flush", "missing-flush"), ["missing-flush"] * 4, "what the helper leaves out, and what it was not given")
    equal(short_flush("others", "check", "short-flush", "missing-flush", "missing-flush", "missing-flush"), ["missing-flush"], "what the helper leaves out, and nothing that is left elsewhere, too")


def short_sync(case, *kinds):
    pool, out = os.path.join(folder, f"syncs {case}"), os.path.join(folder, "case.json")
    run(PMEND, "check", "--platform", "msync", "--severity", "correctness", "--format", "json", "-o", out, "--", os.path.join(PROGRAMS, "short_syncs"), pool, case, status=1 if kinds else 0)
    os.unlink(pool)
    with open(out) as f:
        report = json.load(f)
    equal([(bug["kind"], bug["locations"][0]["line"]) for bug in report["bugs"]], list(zip(kinds, [line for _, line in marks("short_syncs", case)[1]])), f"the bugs of {case}")
    return [kind for kind, _ in caused(report)]


def test_short_syncs():
    """The same by msync, whose unit is a page."""
    for case, n in (("down", 2), ("first", 2), ("stuck", 2), ("call", 1), ("pointer", 1)):
        equal(short_sync(case, "short-flush"), ["missing-flush-fence"] * n, f"what is left out ({case})")
    for case in ("right", "pages", "header", "fsync"):
        short_sync(case)
    equal(short_sync("forgotten", "missing-flush-fence"), [], "what is listed under a page that was forgotten")


def test_no_short_flushes_of_crash():
    equal(short_flush("two", "crash", "missing-flush", "missing-flush"), [], "what is listed under others, as recovery shows it")


def test_no_short_flushes():
    """Flushes that are meant to cover no more explain nothing, and accuse nobody."""
    for case in ("right", "header", "tail"):
        short_flush(case, "check")
    for case in ("two", "words"):
        equal(short_flush(case, "check", "missing-flush", "missing-flush"), [], "what is listed under others")
    for case in ("cells", "changed", "value"):
        equal(short_flush(case, "check", "missing-flush"), [], "what is listed under others")


def test_two_arrays():
    """Two functions, each with lines of its own, are two findings, though one line is of both. If all lines are of both, one call serves them."""
    for command in ("crash", "test"):
        for case, number in (("arrays", 2), ("words", 1)):
            _, report = explore_case("causes", case, command=command)
            found = [bug["locations"][0]["line"] for bug in report["bugs"] if bug["severity"] == "correctness"]
            expect(set(found) <= {line for _, line in marks("causes", case)[1]}, f"the lines {found} ({case}, {command})")
            equal(len(set(found)), number, f"the number of lines that are named ({case}, {command})")
            equal(len(found), number, f"the number of findings ({case}, {command})")
            expect(not any("may_share_cause" in bug for bug in report["bugs"]), f"not decided ({case}, {command})")


def checked(name, case, before=None):
    """The correctness findings of `pmend check`: [(kind, line)]."""
    pool = os.path.join(folder, f"{name} {case} checked")
    if before:
        run(os.path.join(PROGRAMS, name), pool, before)
    p = subprocess.run([PMEND, "check", "--severity", "correctness", "--format", "json", "--", os.path.join(PROGRAMS, name), pool, case], capture_output=True, timeout=TIMEOUT_S, cwd=folder)
    return sorted((bug["kind"], bug["locations"][0]["line"]) for bug in json.loads(p.stdout)["bugs"])


def test_causes_of_check():
    """The oracles look at the trace in which the causes are mended: what they still say is no consequence."""
    arrays = {line for _, line in marks("causes", "arrays")[1]}
    equal({line for _, line in checked("causes", "arrays")}, arrays, "two arrays")
    equal(len(checked("causes", "words")), 1, "the number of findings of one line")
    for case in ("functions", "fields"):
        equal(checked("unlogged", case, "create"), sorted(("tx-missing-add", line) for _, line in marks("unlogged", case)[1]), f"of {case}")


def unlogged(case, command, *options):
    status, report = explore_case("unlogged", case, "--sample", "16", *options, before="create", command=command)
    equal(status, 1 if marks("unlogged", case)[1] else 0, "the status")
    equal({(bug["kind"], bug["locations"][0]["line"]) for bug in report["bugs"]}, {("tx-missing-add", line) for _, line in marks("unlogged", case)[1]}, "the bugs")
    return report


def test_unlogged_store():
    """A store without TX_ADD is the finding, whoever looks; what follows from it is listed under it."""
    for command, options in (("test", ()), ("crash", ()), ("crash", ("--races",))):
        report = unlogged("balance", command, *options)
        expect({"missing-flush", "ordering", "atomicity"} <= {kind for kind, _ in caused(report)}, f"{caused(report)} are listed")
        expect(len(caused(report)) >= 6 and "replay" in report["bugs"][0]["crash"], "few consequences, or no crash")
        unlogged("count", command, *options)


def test_added_after_the_store():
    """The log has the new value, and recovery brings it back. What fails because of that is listed under the store, and its message says that the range is added too late."""
    status, report = explore_case("unlogged", "after", "--sample", "16", before="create", command="test")
    first, *others = report["bugs"]
    line, = {line for _, line in marks("unlogged", "after")[1]}
    equal((status, first["kind"], first["locations"][0]["line"]), (1, "tx-missing-add", line), "the first finding")
    expect("before this memory is added to it" in first["message"] and first.get("crash"), first)
    expect(not others and len(first["consequences"]) > 5, summary(report))


def test_unlogged_stores():
    """Two of them in one transaction are two findings; a transaction that adds all has none."""
    for command in ("test", "crash") if os.environ.get("LONG") else ("crash",):
        unlogged("both", command)
        unlogged("right", command)


def test_unlogged_ranges_of_a_line():
    """Two ranges of a line that are never logged are one finding; two of which some transaction lacks the one alone, and some the other, are two."""
    for command in ("test", "crash") if os.environ.get("LONG") else ("test",):
        expect("tx-missing-add" in {kind for kind, _ in caused(unlogged("line", command))}, "the other range is not listed")
        unlogged("apart", command)


def test_unlogged_functions():
    """Two functions of one transaction each lack their own TX_ADD, to one line: adding one leaves the other."""
    for command in ("test", "crash"):
        unlogged("functions", command)


def test_transaction_that_does_not_end():
    """What follows from it is gone if it ends with its operation, and is listed. What fails then, too, is another bug."""
    for case, want in (("tell", 1), ("open", 2)):
        status, report = explore_case("unlogged", case, "--sample", "16", before="create", command="test")
        first = [b for b in report["bugs"] if b["kind"] == "tx-not-ended"]
        equal((status, len(first), len(report["bugs"])), (1, 1, want), f"{case}: the status, transactions and bugs")
        equal([b["kind"] for b in report["bugs"] if "may_share_cause" in b], [], "what was not tried")
        proven = [c for c in first[0].get("consequences", []) if "replay" in c.get("crash", {})]
        equal([c["kind"] for c in proven], ["atomicity"] * (2 - want), f"{case}: what recovery shows and is listed")


def listed(report):
    return [(b["kind"], b["locations"][0]["line"], sorted((c["kind"], c["locations"][0]["line"]) for c in b.get("consequences", []))) for b in report["bugs"]]


def test_causes_of_all_platforms():
    """What one platform alone lists under a cause is listed there; msync finds more."""
    pool, words = os.path.join(folder, "causes of all"), ["--severity", "correctness", "--only", "durability", "--format", "json", "--"]
    reports = []
    for options in (["check"], ["check", "--platform", "all"], ["test", "--platform", "all"]):
        p = subprocess.run([PMEND, *options, *words, os.path.join(PROGRAMS, "causes"), pool, "flush"], capture_output=True, timeout=TIMEOUT_S, cwd=folder)
        equal(p.returncode, 1, f"the status ({p.stderr})")
        reports.append(json.loads(p.stdout))
    equal(sorted(len(more) for _, _, more in listed(reports[0])), [0, 2], "the numbers of consequences")
    for report in reports[1:]:
        report["bugs"] = [b for b in report["bugs"] if reports[0]["platform"] in b["platforms"]]
        equal(listed(report), listed(reports[0]), "of all platforms")
        expect(all(c["platforms"] == b["platforms"] for b in report["bugs"] for c in b.get("consequences", [])), "other platforms")


def test_causes_of_inputs():
    """An exploration lists what a run shows as `test` does, and goes on with it when it is started again."""
    for case, options in (("flush", ["--severity", "correctness"]), ("window", [])):
        pool, out = os.path.join(folder, f"causes of {case}"), os.path.join(folder, f"inputs of {case}")
        recover = ["--recover", f"{program('causes')} {{}} {case} recover"]
        target = ["--", os.path.join(PROGRAMS, "causes"), pool, case]
        want = explore_case("causes", case, *options, command="test")[1]
        for _ in range(2):
            p = subprocess.run([PMEND, "explore", "--sym-stdin", "1", "--max-runs", "1", "--out", out, "--format", "json", *options, *recover, *target],
                               stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, cwd=folder)
            report = json.loads(p.stdout)
            equal(p.returncode, 1, f"the status ({p.stderr})")
            equal(listed(report), listed(want), f"what is listed ({case})")
            expect(all("command" in c["input"] for b in report["bugs"] for c in [b, *b.get("consequences", [])]), "no input")


def test_lost_before_the_transaction():
    """A store that is late, before a transaction that does not log all it stores: the one hides nothing of the other."""
    _, report = explore_case("unlogged", "late", "--sample", "16", before="create", command="test")
    lines = dict(marks("unlogged", "late")[1])
    equal(sorted((bug["kind"], bug["locations"][0]["line"]) for bug in report["bugs"]), [("ordering", lines["lost"]), ("tx-missing-add", lines["store"])], "the bugs")


def test_consequences_are_hidden_with_their_cause():
    """And a baseline knows each of them by its id."""
    known = os.path.join(folder, "known.json")
    _, report = explore_case("causes", "window")
    with open(known, "w") as f:
        json.dump(report, f)
    status, rest = explore_case("causes", "window", "--baseline", known)
    equal((status, rest["bugs"]), (0, []), "with the baseline")
    one = report["bugs"][0]["consequences"][0]
    with open(known, "w") as f:
        json.dump(dict(report, bugs=[dict(report["bugs"][0], id="1", consequences=[dict(one, id=report["bugs"][0]["id"])])]), f)
    status, rest = explore_case("causes", "window", "--baseline", known)
    equal((status, rest["bugs"]), (0, []), "with the id of what was a consequence then")


# ---- files that are written ----

# names are in order there, and on XFS what is appended comes before its size
RIGHT_ON_ALL = {"created", "ordered", "moved", "swept", "hanging"}
RIGHT_ON = {"files": set(), "ext4": RIGHT_ON_ALL, "xfs": {*RIGHT_ON_ALL, "valid"}}


def filed(case, *options, name="filed"):
    """The report of a case of filed.c, or of filed_stores.c, which a shell starts, with a folder that was made before."""
    data, trace = os.path.join(folder, "data of " + case), os.path.join(folder, case + ".pmt")
    os.makedirs(data, exist_ok=True)
    run(os.path.join(PROGRAMS, name), data, case, "make")
    run(PMEND, "record", "-q", "-o", trace, "--files", data, "--", "sh", "-c", '"$0" "$@"; exit $?', os.path.join(PROGRAMS, name), data, case)
    return filed_again(case, *options, name=name, status=1 if marked_places(case, name) else 0)


def filed_again(case, *options, status, name="filed"):
    """The same recording."""
    how = "--check" if case in ("config", "ordered") else "--dump"  # they acknowledge nothing
    out = os.path.join(folder, case + ".json")
    run(PMEND, "crash", "--format", "json", "-o", out, how, f"{program(name)} {{dir}} {case} print", *options, os.path.join(folder, case + ".pmt"), status=status)
    with open(out) as f:
        return json.load(f)


def marked_places(case, name="filed"):
    """{(kind, role, line)} that the source marks."""
    with open(os.path.join(SOURCES, name + ".c")) as f:
        return {(kind, role, number) for number, line in enumerate(f, 1) for where, kind, role in MARK.findall(line) if where == case}


def files_right_and_wrong(name, ncases):
    """What is marked is found on the profiles on which it is wrong, and nothing else; all is explored."""
    with open(os.path.join(SOURCES, name + ".c")) as f:
        cases = re.findall(r'^\t{ "(\w+)",', f.read(), re.M)
    equal(len(cases), ncases, "the number of cases")
    for case in cases:
        more = ["--failures", "2"] if case in ("journal", "again") else ["--then", f"{program(name)} {{dir}} {case} then"] if case in ("log", "uncut") else []
        report = filed(case, *more, name=name)
        got = {(b["kind"], role, line) for b in report["bugs"] for role, line in places(name, b)}
        equal(got, marked_places(case, name), f"what is found of {case}")
        equal(report["coverage"]["complete"], True, f"whether all of {case} was explored")
        equal([b["profiles"] for b in report["bugs"]], [[p for p, right in RIGHT_ON.items() if case not in right]] * len(report["bugs"]), f"the profiles of {case}")
        for profile in ["ext4", *["xfs"] * (case in ("config", "valid"))]:
            is_wrong = bool(got) and case not in RIGHT_ON[profile]
            other = filed_again(case, *more, "--platform", profile, name=name, status=1 if is_wrong else 0)
            equal([b["id"] for b in other["bugs"]], [b["id"] for b in report["bugs"]] if is_wrong else [], f"what is found of {case} on {profile}")
            equal((other["files_profile"], other["coverage"]["complete"]), (profile, True), f"{case} on {profile}")
            expect(other["coverage"]["runs"] <= report["coverage"]["runs"], f"{case}: more runs on {profile}")


def test_files_right_and_wrong():
    """Logs, files that are replaced, a journal, a mapped file or memory with a log, recovery that a crash interrupts."""
    files_right_and_wrong("filed", 23)


def test_files_of_stores():
    """A double write, a manifest, segments, shadow pages, O_DIRECT, a file that is mapped and written, processes, threads, a tree of folders."""
    files_right_and_wrong("filed_stores", 19)


def test_files_replayed():
    """The report's command shows the failure again; --keep leaves the folder to look at, and no other folder is touched."""
    bug = filed("undo")["bugs"][0]
    words = shlex.split(bug["crash"]["replay"])
    equal(words[:2], ["pmend", "crash"], "the command")
    kept = os.path.join(folder, "kept data")
    out, _ = run(PMEND, *words[1:], "--keep", kept, status=1)
    expect(bug["crash"]["outcome"] in out and kept in out, out)
    equal(sorted(os.listdir(kept)), ["data", "journal"], "the files that were kept")
    run(*program("filed").split(), kept, "undo", "print", status=1)
    fails(3, "name one that is not there", *words[2:], "--keep", kept)
    out, _ = run(PMEND, *words[1:], "--show-choices", status=1)
    line = {role: line for _, role, line in marked_places("undo")}["lost"]
    expect(re.search(rf"lost in this state: the size of \S*.*/journal, \S*filed.c:{line} ", out), out)
    state = words.index("--replay") + 1
    for other, status, message in (("77", 3, "this trace has only"), ("2:s99=0", 3, "no such state"), ("2:1+280=1,x", 2, "is not a state")):
        fails(status, message, *words[2:state], other, *words[state + 1:])


def test_files_that_were_there():
    """What the program never uses is in crash states, too: files, further names, what a renamed folder holds. A link with an absolute target leads into the crash state, not to the user's file;
    and recovery may put another folder in the folder's place."""
    data = os.path.join(folder, "data that was there")
    os.makedirs(os.path.join(data, "D1", "in"))
    os.makedirs(os.path.join(data, "other"))
    for name in ("base", "a", "other/schema", "D1/in/f"):
        with open(os.path.join(data, name), "w") as f:
            f.write(name + "\n")
    os.link(os.path.join(data, "a"), os.path.join(data, "b"))
    os.symlink(os.path.join(data, "base"), os.path.join(data, "link"))
    trace = os.path.join(folder, "there.pmt")
    run(PMEND, "record", "-q", "-o", trace, "--files", data, "--", "sh", "-c", 'mv "$0/D1" "$0/D2"; exit $?', data)
    recover = "cd \"$0\" && cat other/schema base && test a -ef b && test -f D1/in/f -o -f D2/in/f && echo more >>link && test \"$(wc -l <base)\" = 2"
    out, _ = run(PMEND, "crash", "--recover", f"sh -c '{recover}' {{dir}}", trace, status=0)
    expect("No bugs" in out, out)
    with open(os.path.join(data, "base")) as f:
        equal(f.read(), "base\n", "the user's file")
    swap = 'mv "$0" "$0.old" && cp -a "$0.old" "$0" && test ! -e "$0/other.old" && mv "$0/other" "$0/other.old"'
    out, _ = run(PMEND, "crash", "--recover", f"sh -c '{swap}' {{dir}}", trace, status=0)
    expect("No bugs" in out, out)


def test_files_in_several_folders():
    """Data in one folder and its log in another, beside each other, or one in the other: {dir} and {dir2} lead to them, in crashes during recovery and in replays, too. A scratch folder comes first."""
    made = os.path.join(folder, "several")
    for case in ("right", "late"):
        data, log = os.path.join(made, case, "data"), os.path.join(made, case, "the log")
        inner = os.path.join(data, "inner")
        os.makedirs(inner)
        os.makedirs(log)
        for each in (log, inner):
            run(os.path.join(PROGRAMS, "folders"), data, each, case, "make")
        want = marked_places(case, "folders")
        for second in (log, inner):
            run(PMEND, "crash", "--format", "json", "-o", os.path.join(made, "report"), "--trace", os.path.join(made, "t.pmt"), "--failures", "2", "--files", data, "--files", second, "--dump",
                         f"{program('folders')} {{dir}} {{dir2}} {case} print", "--", os.path.join(PROGRAMS, "folders"), data, second, case, status=1 if want else 0)
            with open(os.path.join(made, "report")) as f:
                report = json.load(f)
            equal({(b["kind"], role, line) for b in report["bugs"] for role, line in places("folders", b)}, want, f"what is found of {case} with {second}")
            equal(report["coverage"]["complete"], True, "whether all was explored")
            expect(re.search(r"Crashes during recovery: from [1-9]", report["coverage"]["note"]), report["coverage"]["note"])
            if not want:
                continue
            words, kept = shlex.split(report["bugs"][0]["crash"]["replay"]), os.path.join(made, "kept in " + os.path.basename(second))
            out, _ = run(PMEND, *words[1:], "--keep", kept, status=1)
            there = os.path.join("dir", "inner") if second == inner else "dir2"
            expect(f"{there} is {second}" in out, out)
            run(*program("folders").split(), os.path.join(kept, "dir"), os.path.join(kept, there), case, "print", status=1)
    script = f"{program('folders')} $0 \"$1\" right make && {program('folders')} $0 \"$1\" right"
    out, _ = run(PMEND, "crash", "--files", log, "--recover", "sh -c 'test -f \"$1\"/log && test ! -f \"$0\"/log' {dir} {dir2}", "--", "sh", "-c", script, "{dir}", log, status=0)
    expect("No bugs" in out, out)
    fails(3, "{dir3}: folders are followed, but not so many", "--recover", "true {dir3}", os.path.join(made, "t.pmt"))


def main():
    global folder, scratch
    tests = {n[len("test_"):]: f for n, f in globals().items() if n.startswith("test_")}
    words = sys.argv[1:]
    names = choose(list(tests), words and ["reported_with_check", *words])  # it records for the others
    folder = tempfile.mkdtemp(prefix="crash tests ")
    scratch = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="pmend-tests-", dir="/dev/shm")
    status = run_each("crash", [(n, tests[n]) for n in names])
    shutil.rmtree(folder)
    shutil.rmtree(scratch)
    return status


sys.exit(main())
