#!/usr/bin/env python3
"""Ways to store to persistent memory, each right and wrong (stores.c): every wrong one is found, lazily as eagerly, and no right one is accused. What the recorder does not see makes
the trace incomplete, which is said, and nobody is blamed.

    tests/stores/run.py [NAME]...      all tests, or those named; in the project's folder

With LONG=1 each way is also recorded by itself, and in a pool in memory."""
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, "tests")
from each import Skip, choose, run_each  # noqa: E402
from missing import ARCH  # noqa: E402

PMEND = os.path.abspath("build/pmend")
PROGRAM = os.path.abspath("build/tests/stores/stores")
RECOVER = f"{PROGRAM} check {{}}"
LONG = bool(os.environ.get("LONG"))
folder = None


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def run(*command, status=0, **more):
    p = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=300, **more)
    expect(p.returncode == status, f"status {p.returncode}, not {status}: {' '.join(command)}: {p.stderr[-800:]}")
    return p.stdout, p.stderr


def ways():
    return run(PROGRAM, "list")[0].split()


def record(mode, pool, *names):
    """A new pool; gives the ways that this machine does not have."""
    if os.path.exists(os.path.join(folder, pool)):
        os.unlink(os.path.join(folder, pool))
    _, err = run(PMEND, "record", "-q", "-o", "t.pmt", "--", PROGRAM, mode, pool, *names)
    expect("incomplete" not in err, f"{mode} {names}: {err}")
    return {line.split()[1] for line in err.splitlines() if line.startswith("cannot: ")}


def crash(*options, status):
    run(PMEND, "crash", "-q", "--format", "json", "-o", "r.json", "--recover", RECOVER, *options, "t.pmt", status=status)
    with open(os.path.join(folder, "r.json")) as f:
        return json.load(f)


def found(report):
    """The functions of lost stores, and of who called them."""
    names = set()
    for b in report["bugs"]:
        for place in b["locations"]:
            if place["role"] == "lost":
                names |= {f.get("function", "") for f in [place, *place.get("stack", [])]}
    return {n.removesuffix("_store") for n in names}


def judge(pool, strategies, names=()):
    asked = list(names) or ways()
    for strategy in strategies:
        record("ok", pool, *names)
        report = crash("--strategy", strategy, status=0)
        expect(report["bugs"] == [] and report["coverage"]["complete"], f"{strategy}: {report['bugs'][:1]} {report['coverage']}")
        cannot = record("bug", pool, *names)
        report = crash("--strategy", strategy, status=1)
        missing = [w for w in asked if w not in found(report) and w not in cannot]
        expect(not missing and report["coverage"]["complete"], f"{strategy}: not found: {missing}; {report['coverage']}")
    return f"{len(asked) - len(cannot)} ways; not here: {', '.join(sorted(cannot))}"


def is_ordered(way):
    """arm64 may keep any of these bytes without the others: more states than --sample allows runs."""
    return ARCH == "amd64" or way not in ("bytewise", "copied")


def test_lazy():
    return judge("pool", ["lazy"], [w for w in ways() if is_ordered(w)])


def test_replay():
    """Of a line with more contents than are listed, a replay has the one that failed, not another one of that number."""
    record("bug", "pool", "printed")
    bug = crash("--platform", "arm64", status=1)["bugs"][0]
    expect(not bug["crash"].get("varies"), bug["crash"])
    out, _ = run(*[PMEND if word == "pmend" else word for word in shlex.split(bug["crash"]["replay"])], status=1)
    expect(bug["crash"]["outcome"] in out, out)


def is_short(way):
    """Few lines, so all states can be tried."""
    return way not in ("bytewise", "copied", "filled", "by_direct_aio_write", "by_stat", "by_getcwd", "by_userfault")


def test_eager():
    names = [w for w in ways() if w.startswith("by_") and is_short(w)]
    return judge("pool", ["eager"], names if LONG else names[::6])


def test_alone():
    """Each way by itself."""
    if not LONG:
        raise Skip("only with LONG=1")
    for way in ways():
        judge("pool", ["lazy", "eager"] if is_short(way) else ["lazy"], [way])


def test_in_memory():
    """A pool in a file system that is memory."""
    if not LONG:
        raise Skip("only with LONG=1")
    if not os.access("/dev/shm", os.W_OK):
        raise Skip("there is no /dev/shm")
    with tempfile.TemporaryDirectory(prefix="pmend-stores-", dir="/dev/shm") as d:
        return judge(os.path.join(d, "pool"), ["lazy"])


def missing():
    """What check says the trace lacks; "": nothing."""
    out, _ = run(PMEND, "check", "--format", "json", "t.pmt")
    return json.loads(out)["coverage"].get("why_incomplete", "")


def explore_unseen(coverage_has):
    """Neither complete, nor anybody's fault."""
    p = subprocess.run([PMEND, "crash", "--format", "json", "-o", "r.json", "--recover", RECOVER, "t.pmt"], cwd=folder, capture_output=True, text=True, timeout=300)
    expect("Fix it first" not in p.stderr, p.stderr)
    if p.returncode == 3:
        expect("need not be the fault" in p.stderr and coverage_has in p.stderr, p.stderr)
        return
    expect(p.returncode == 0, f"{p.returncode}: {p.stderr}")
    with open(os.path.join(folder, "r.json")) as f:
        coverage = json.load(f)["coverage"]
    expect(not coverage["complete"] and coverage_has in coverage["why_incomplete"], coverage)


def test_unseen():
    """What the kernel does behind the recorder's back is found by comparing the file with the trace."""
    cannot = []
    for way in run(PROGRAM, "unseen-list")[0].split():
        if way == "somebody_else":
            continue
        if os.path.exists(os.path.join(folder, "pool")):
            os.unlink(os.path.join(folder, "pool"))
        _, err = run(PMEND, "record", "-q", "-o", "t.pmt", "--", PROGRAM, "unseen", way, "pool")
        if f"cannot: {way}" in err:
            cannot.append(way)
            continue
        why = "asynchronous I/O is not seen" if way == "ring_read" else f"something changed {folder}/pool unseen: "
        explore_unseen(why)
        told = missing()
        expect(why in told and (way == "ring_read" or "at offset 0x" in told), f"{way}: {told}")
        run(PMEND, "check", "-q", "--fail-on", "incomplete", "t.pmt", status=1)
    return f"not here: {', '.join(cannot)}" if cannot else None


def test_undecided():
    """A failure that depends on what was not seen is no bug: nobody knows."""
    if os.path.exists(os.path.join(folder, "pool")):
        os.unlink(os.path.join(folder, "pool"))
    _, err = run(PMEND, "record", "-q", "-o", "t.pmt", "--", PROGRAM, "withdrawn", "unasked_aio", "pool")
    if "cannot" in err:
        raise Skip("the file system does not have O_DIRECT")
    report = crash(status=0)
    expect([b["severity"] for b in report["bugs"]] == ["warning"] and report["bugs"][0]["undecided_by"] == f"{folder}/pool" and not report["coverage"]["complete"], report)
    crash("--fail-on", "warning", status=1)


def record_with(change, *, keep_open=False, unlinks=False, looks=True):
    """While the program waits, somebody who is not recorded changes its pool. What the trace lacks."""
    pool = os.path.join(folder, "pool")
    if os.path.exists(pool):
        os.unlink(pool)
    p = subprocess.Popen([PMEND, "record", "-q", "-o", "t.pmt", "--", PROGRAM, "unseen", "somebody_else", "pool"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    offset = int(p.stdout.readline())
    f = os.open(pool, os.O_RDWR)
    change(f, offset)
    if not keep_open:
        os.close(f)
    if unlinks:
        os.unlink(pool)
    _, err = p.communicate("\n", timeout=300)
    if keep_open:
        os.close(f)
    expect(p.returncode == 0, f"{p.returncode}: {err}")
    return missing() if looks else None


def trace_bytes():
    with open(os.path.join(folder, "t.pmt"), "rb") as f:
        return f.read()


def hello(f, offset):
    """Five bytes that are in no trace."""
    os.pwrite(f, b"hello", offset + 300)


def hello_recorded():
    """A trace that lacks them, as record left it."""
    record_with(hello, looks=False)
    return trace_bytes()


def test_sums():
    """What the pool held is in the trace: it may change before the analysis. The first analysis notes what it finds."""
    pool = os.path.join(folder, "pool")
    first = hello_recorded()
    os.rename(pool, pool + ".away")
    expect("some of the 4096 bytes at offset 0x" in missing(), "the pool is gone, and its sums say nothing")
    noted = trace_bytes()
    expect("some of the 4096 bytes at offset 0x" in missing() and trace_bytes() == noted, "the second analysis changes the trace")
    expect(len(noted) == len(first), "the trace is longer or shorter, so parts of a check do not recognise it")
    os.rename(pool + ".away", pool)
    for change, said in ((lambda b: b, "5 bytes at offset 0x"), (lambda b: b[:-4090], ""), (lambda b: b[:-4096] + bytes(4096), "")):
        with open(os.path.join(folder, "t.pmt"), "wb") as f:
            f.write(change(first))
        out, _ = run(PMEND, "check", "--format", "json", "t.pmt")
        c = json.loads(out)["coverage"]
        expect(said in c.get("why_incomplete", "") if said else "which is damaged" in c.get("note", ""), c)
    record("ok", "pool", "plain")
    before = trace_bytes()
    os.unlink(pool)
    expect(missing() == "", "a pool that was removed after the recording is called incomplete")
    expect(len(trace_bytes()) == len(before), "the trace is longer")


def test_not_writable():
    """A trace that lacks something and cannot be written: that is said, and nothing is judged. Another one is judged as ever."""
    if os.geteuid() == 0:
        raise Skip("root writes everything")
    hello_recorded()
    os.chmod(os.path.join(folder, "t.pmt"), 0o444)
    _, err = run(PMEND, "check", "t.pmt", status=3)
    expect("copy the trace" in err, err)
    os.unlink(os.path.join(folder, "t.pmt"))
    record("ok", "pool", "plain")
    os.chmod(os.path.join(folder, "t.pmt"), 0o444)
    expect(missing() == "" and missing() == "", "incomplete")
    os.unlink(os.path.join(folder, "t.pmt"))


def test_somebody_else():
    """A process that is not recorded changes the pool, or could have: bytes, its size, or nothing."""
    def nothing(f, offset):
        del f, offset

    err = record_with(hello)
    expect("5 bytes at offset 0x" in err and "not recorded, had" not in err, err)
    explore_unseen("5 bytes at offset 0x")
    expect("some of the 4096 bytes at offset 0x" in record_with(hello, unlinks=True), "a file that was removed is not compared")
    expect(" were recorded" in record_with(lambda f, _: os.ftruncate(f, 10_000_000)), "the size is not compared")
    err = record_with(nothing, keep_open=True)
    expect("which was not recorded, had" in err and "open for writing" in err and "bytes at" not in err, err)
    explore_unseen("open for writing")
    expect(record_with(nothing) == "", "a program that nobody disturbed is called incomplete")


def test_late():
    """A file that is made by calls and mapped later is there from when it was synced: nobody is accused who synced it before it counted, and who did not is found."""
    def explore(when, pmend=PMEND, **more):
        for name in ("late", "late.second"):
            if os.path.exists(os.path.join(folder, name)):
                os.unlink(os.path.join(folder, name))
        run(PMEND, "record", "-q", "-o", "t.pmt", "--", PROGRAM, "late", when, "late")
        for option in ([], ["--jobs", "1"], ["--strategy", "eager"]):
            out, _ = run(pmend, "crash", "--format", "json", "--recover", f"{PROGRAM} late-check {{}}", *option, "t.pmt", **more)
            report = json.loads(out)
            expect(report["coverage"]["complete"], report["coverage"])
            yield report
        run(PMEND, "index", "t.pmt")
        out, _ = run(pmend, "crash", "--format", "json", "--recover", f"{PROGRAM} late-check {{}}", "t.pmt", **more)
        os.unlink(os.path.join(folder, "t.pmt.pmx"))
        yield json.loads(out)

    for report in explore("before"):
        expect(report["bugs"] == [], report["bugs"])
    for report in explore("after", status=1):
        expect("exit status 7" in report["bugs"][0]["crash"]["outcome"], report["bugs"])


def test_direct():
    """What a pool holds that is opened with O_DIRECT is in the trace."""
    run(PROGRAM, "ok", "direct", "plain")
    p = subprocess.run([PROGRAM, "direct", "direct"], cwd=folder, timeout=300)
    if p.returncode == 77:
        raise Skip("the file system does not have O_DIRECT")
    os.unlink(os.path.join(folder, "direct"))
    run(PROGRAM, "ok", "direct", "plain")
    run(PMEND, "record", "-q", "-o", "t.pmt", "--", PROGRAM, "direct", "direct")
    out, _ = run(PMEND, "crash", "--format", "json", "--recover", f"{PROGRAM} direct-check {{}}", "t.pmt")
    report = json.loads(out)
    expect(report["bugs"] == [] and report["coverage"]["complete"], report)


def test_blamed_checker():
    """Whoever is blamed is quoted, whether it printed to standard output, to standard error, or nothing."""
    record("ok", "pool", "plain")
    for script, said in (("echo to output; exit 5", ": to output. The checker"), ("echo ignored; echo to error >&2; exit 5", ": to error. The checker"),
                         ("exit 5", "(it printed nothing). The checker"), ("seq 1000; exit 5", " 999 1000. The checker")):
        _, err = run(PMEND, "crash", "--recover", f"sh -c 'cat $0 >/dev/null 2>&1; {script}' {{}}", "t.pmt", status=3)
        expect(said in err, err)


def main(words):
    global folder
    tests = {name[5:]: f for name, f in globals().items() if name.startswith("test_")}
    folder = os.path.realpath(tempfile.mkdtemp(prefix="pmend-stores-"))
    try:
        return run_each("stores", [(n, tests[n]) for n in choose(list(tests), words)])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
