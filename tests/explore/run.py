#!/usr/bin/env python3
"""Runs `pmend explore` on the cases of programs.c and compares what it finds with the lines marked there; and the tracer's check of every value.

    tests/explore/run.py [NAME]...      in the project's folder; without a name: all

With LONG=1 searches begin further away from the bug and take more inputs, and more operands are tried."""
import functools
import json
import os
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True
from each import choose, run_each  # noqa: E402
import schema  # noqa: E402,F401  (looks at every report that is read)
from ports import port_reserve  # noqa: E402
import parsers  # noqa: E402
import sharing  # noqa: E402

PMEND = os.path.abspath(os.environ.get("PMEND", "build/pmend"))
PROGRAMS = os.path.join(os.path.dirname(PMEND), "tests/explore")
OPS = os.path.join(PROGRAMS, "ops")
LIBEXEC = os.path.join(os.path.dirname(PMEND), "libexec/pmend")
PMP_BRANCH, PMP_BAD, PMP_END = 3, 10, 11
LONG = bool(os.environ.get("LONG"))
OPS_PARTS = 10 if LONG else 2  # of 100 turns each
HANG_S = 30 if LONG or os.environ.get("PMEND_EMULATED") == "1" else 15  # two runs of the case crashes take so long; any other takes a fraction of a second

# Well-formed inputs to begin with, for what would take long to find from zeros.
SEEDS = {"text": b"GET abc\nGET de fg\n      ", "number": b"20000000;", "settings": b"log=0;n=00;v=0;",
         "order": b"#100000:20x15.", "configuration": b"[log]\nlevel = 1\n[storage]\nlevel=2\nlevel=100\n                    "}
if LONG:  # one more word to find, and one more round of the jump table
    SEEDS["configuration"] = b"[log]\nlevel = 1\n[log]\nlevel=2\nlevel=100\n                        "
else:
    SEEDS["opcodes"] = bytes([1, 1, 1, 1, 0, 0, 0, 0])
OBJ = ("obj", "transaction")
FRESH = ("order", "configuration", "frame")  # of fresh.c

# A text with holes, for the case with a template.
TEMPLATE = '# a packet\n"PM" ? ?   # type, flags\n00 ? ?6\n'

# name, case, how the input comes in, runs it may take
CASES = [
    ("listing 7", "listing7", "@@", 2),
    ("magic", "magic", "@@", 16),
    ("magic in an argument", "magic", "arg", 20),
    ("magic in a file of that name", "magic", "file", 16),
    ("magic in memory that the program names", "magic", "memory", 16),
    ("magic with the source at hand", "magic", "source", 8),
    ("magic by two at a time", "magic", "jobs", 20),
    ("magic on standard input", "magic", "stdin", 16),
    ("magic on a socket", "magic", "socket", 16),
    ("magic in the environment", "magic", "env", 16),
    ("checksum", "checksum", "@@", 8),
    ("sum16", "sum16", "@@", 12),
    ("lengths", "lengths", "@@", 60),
    ("states", "states", "@@", 60),
    ("text on standard input", "text", "stdin", 120),
    ("text on a socket", "text", "socket", 120),
    ("number", "number", "@@", 120),
    ("opcodes", "opcodes", "@@", 120),
    ("packets", "packets", "@@", 60),
    ("packets by a template", "packets", "template", 60),
    ("settings in the environment", "settings", "env", 120),
    ("order", "order", "@@", 40),
    ("configuration", "configuration", "@@", 120),
    ("frame", "frame", "@@", 30),
    ("libpmemobj", "obj", "@@", 12),
    ("a transaction", "transaction", "@@", 30),
    ("correct", "correct", "@@", 60 if LONG else 12),
    ("crashes", "crashes", "@@", 6),
]


def source_of(case):
    return f"tests/explore/{'small' if case == 'small' else 'obj' if case in OBJ else 'fresh' if case in FRESH else 'programs'}.c"


def function_lines(text, name):
    """First and last line of a function."""
    lines = text.splitlines()
    first = next(i for i, l in enumerate(lines) if re.match(rf"static void {name}\(", l))
    last = next(i for i in range(first, len(lines)) if lines[i] == "}")
    return first + 1, last + 1


def marks(case):
    with open(source_of(case), encoding="utf-8") as f:
        text = f.read()
    inner = {"text": ["command"], "settings": ["setting"], "configuration": ["option"]}.get(case, [])
    ranges = [function_lines(text, name) for name in [case, *inner]]
    return {(kind, n) for n, line in enumerate(text.splitlines(), 1) for kind in re.findall(r"/\* BUG: ([\w-]+) \*/", line)
            if any(a <= n <= b for a, b in ranges)}


def input_options(folder, case, how, port):
    """Options, what the program is given to find its input, and more environment."""
    if how == "stdin":
        return ["--sym-stdin", "24"], [], {}
    if how == "socket":
        return ["--sym-socket", f"{port}:24"], [str(port)], {}
    if how == "arg":
        return ["--sym-arg", "4:8"], ["-", "xxxxxxx"], {}
    if how == "env":
        return ["--sym-env", "SETTINGS:15"], ["SETTINGS"], {"SETTINGS": SEEDS.get(case, b"xxxxxxxx").decode()}
    if how == "file":
        return ["--sym-file", f"{folder}/own name:16"], [f"{folder}/own name"], {}
    if how == "template":
        with open(f"{folder}/template", "w", encoding="utf-8") as f:
            f.write(TEMPLATE)
        return ["--template", f"{folder}/template"], ["@@"], {}
    if how == "memory":
        return ["--sym-memory", "8"], ["memory"], {}
    if how == "jobs":
        return ["--jobs", "2"], ["@@"], {}
    if how == "source":
        database = [{"directory": os.getcwd(), "file": "tests/explore/programs.c",
                     "command": "cc -std=gnu11 -D_GNU_SOURCE -Iinclude -I. -c tests/explore/programs.c"}]
        with open(f"{folder}/compile_commands.json", "w", encoding="utf-8") as f:
            json.dump(database, f)
        return ["-p", folder], ["@@"], {}
    return [], ["@@"], {}


def explore(folder, case, how, runs, more=()):
    pool, out, report = (os.path.join(folder, n) for n in ("a pool", "out", "report.json"))
    reserved, port = port_reserve()
    options, place, env = input_options(folder, case, how, port)
    options += ["--max-runs", str(runs), "--out", out, "--format", "json", "-o", report, "--timeout", str(HANG_S) if case == "crashes" else "600", "--solver-timeout", "100", *more]
    if case in OBJ:
        target = [f"{PROGRAMS}/obj", pool, *place, *([case] if case != "obj" else [])]
    else:
        target = [f"{PROGRAMS}/{'fresh' if case in FRESH else 'programs'}", case, pool, *place]
    if case in SEEDS and how != "env":
        seed = os.path.join(folder, "seed")
        with open(seed, "wb") as f:
            f.write(SEEDS[case])
        options += ["--seed", seed]
    p = subprocess.run([PMEND, "explore", *options, "--", *target], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
                       env=dict(os.environ, **env))
    reserved.close()
    assert p.returncode in (0, 1, 3) and os.path.exists(report), f"status {p.returncode}: {p.stderr.strip()[-500:]}"
    assert not os.path.exists(pool), "the pool did not exist before, and does now"
    with open(report, encoding="utf-8") as f:
        return json.load(f), out


def bug_line(bug):
    return bug["locations"][0].get("line") if bug["locations"] else None


def bugs_found(report):
    """(kind, line) of all that is wrong, also of what is listed under its cause."""
    return {(one["kind"], bug_line(one)) for b in report["bugs"] if b["severity"] == "correctness" for one in [b, *b.get("consequences", [])]}


def progress_of(report, out):
    """Which input found what, checked against the bugs and against the folder: {number of the file: (new PM code, new findings)}."""
    rows, bugs = report["coverage"]["progress"], [one for b in report["bugs"] for one in [b, *b.get("consequences", [])]]
    numbers = [r["input"] for r in rows]
    assert numbers == sorted(set(numbers)) and 1 <= numbers[0] and numbers[-1] <= report["coverage"]["inputs"], f"{numbers} of {report['coverage']['inputs']}"
    files = {r["file"]: r for r in rows}
    first = [b["input"]["first"] for b in bugs]
    for b in report["bugs"]:  # what is listed under another one has no timeline
        told = b.get("timeline")
        assert told or not b["locations"], f"{b['kind']} has no timeline"
        assert not told or (os.path.isfile(told["input"]) and any(e.get("role") for e in told["events"])), f"{b['kind']}: the timeline is {str(told)[:300]}"
    for name in set(first):
        assert files[name].get("new_bugs", 0) >= first.count(name), f"{name} showed {first.count(name)} findings first; {files[name]}"
    with open(f"{out}/state", encoding="utf-8") as f:
        runs = re.findall(r"((?:^pm .*\n)*)^run ", f.read(), re.M)
    for i, lines in enumerate(runs):
        row = files.get(f"{out}/corpus/{i:06}", {"input": i + 1})
        assert (row["input"], row.get("new_pm", 0)) == (i + 1, lines.count("\n")), f"run {i} has {lines.count(chr(10))} new instructions; {row}"
    return {r["input"]: (r.get("new_pm", 0), r.get("new_bugs", 0)) for r in rows}


def check_progress():
    """Which input found what: the same of an exploration that stopped and went on as of one that did not."""
    found = []
    for parts in ([5], [1, 1, 3]):
        folder = tempfile.mkdtemp(prefix="pmend-explore-")
        try:
            for n in parts:
                report, out = explore(folder, "magic", "@@", n)
            found.append(progress_of(report, out))
        finally:
            shutil.rmtree(folder)
    assert found[0] == found[1], f"at once: {found[0]}, in parts: {found[1]}"
    assert len(found[0]) > 1 and any(bugs for _, bugs in found[0].values()), found[0]


def check_case(case, how, runs):
    folder = tempfile.mkdtemp(prefix="pmend-explore-")
    try:
        expected = marks(case)
        report, out = explore(folder, case, how, runs, ["--first"] if expected else [])
        bugs = [b for b in report["bugs"] if b["severity"] == "correctness"]
        found = bugs_found(report)
        if case == "crashes":
            expected = {("program-crash", None), ("program-hang", None)}
        assert found == expected, f"expected {sorted(expected, key=str)}, found {sorted(found, key=str)} on {report['coverage'].get('inputs')} inputs"
        if case == "transaction":
            assert [b["kind"] for b in bugs] == ["tx-missing-add"], f"one cause is {[b['kind'] for b in bugs]}"
        for b in bugs:
            with open(b["input"]["file"], "rb") as f:
                assert f.read(1), "the input that shows a bug is kept"
            assert re.match("pmend check -- |cat |tail |[A-Z_]+=", b["input"]["command"]), b["input"]["command"]
        progress_of(report, out)
        return report["coverage"].get("inputs")
    finally:
        shutil.rmtree(folder)


def records(path):
    """(kind, fields, bytes) of a path file: include/pmpath.h."""
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == b"PMPATH\r\n", "not a path file"
    at = 16
    while at + 48 <= len(data):
        fields = struct.unpack_from("<BBBBIIIIIQQQ", data, at)
        n = fields[8]
        yield fields[0], fields, data[at + 48:at + 48 + n]
        at += 48 + (n + 7 & ~7)


def check_ops(turns, seed=1):
    """Every value that the tracer has an expression for is compared with the machine's."""
    rng = random.Random(seed)
    folder = tempfile.mkdtemp(prefix="pmend-explore-")
    try:
        operands, path = os.path.join(folder, "operands"), os.path.join(folder, "run.pmp")
        with open(operands, "wb") as f:
            for turn in range(turns):
                f.write(bytes(rng.choice([0, 1, 127, 128, 255, 48, rng.randrange(256)]) if turn % 4 else rng.randrange(256) for _ in range(32)))
        p = subprocess.run(["valgrind", "-q", "--sigill-diagnostics=no", "--sim-hints=fallback-llsc", "--tool=pmend-trace", "--check=yes", f"--path-file={path}",
                            f"--sym-file=0:{32 * turns}:{operands}", OPS, operands], capture_output=True, text=True,
                           env=dict(os.environ, VALGRIND_LIB=LIBEXEC))
        assert p.returncode == 0, f"status {p.returncode}: {p.stderr.strip()[-500:]}"
        kinds = {}
        bad = []
        for kind, fields, text in records(path):
            kinds[kind] = kinds.get(kind, 0) + 1
            if kind == PMP_BAD:
                bad.append(f"{text.decode()} at {fields[9]:#x}: {fields[10]:#x}, not {fields[11]:#x}")
        assert PMP_END in kinds, "the path file has no end"
        assert kinds.get(PMP_BRANCH, 0) > 20 * turns, f"only {kinds.get(PMP_BRANCH, 0)} branches depend on the input"
        assert not bad, f"{len(bad)} wrong values, such as {bad[0]}"
    finally:
        shutil.rmtree(folder)


def check_usage():
    """What does not go together is said, and nothing is touched."""
    folder = tempfile.mkdtemp(prefix="pmend-explore-")
    try:
        own = os.path.join(folder, "own")
        with open(own, "w", encoding="utf-8") as f:
            f.write("mine")
        with open(f"{folder}/bad", "w", encoding="utf-8") as f:
            f.write('"PM" zz\n')
        for options, target, words in [
                (["--jobs", "2", "--sym-file", f"{own}:4"], [own], "cannot be combined with --sym-file"),
                (["--jobs", "2", "--sym-socket", "17171"], ["17171"], "cannot be combined with --sym-socket"),
                (["--jobs", "0"], ["@@"], "--jobs needs a number"),
                (["--sym-arg", "9"], ["x"], "--sym-arg needs a number from 1 to 3"),
                (["--strategy", "best"], ["@@"], "one of pm, coverage"),
                (["--template", f"{folder}/bad"], ["@@"], "bad:1: a template holds"),
                ([], ["x"], "no input is symbolic")]:
            p = subprocess.run([PMEND, "explore", *options, "--out", f"{folder}/out", "--", f"{PROGRAMS}/programs", "magic", f"{folder}/pool", *target],
                               capture_output=True, text=True, stdin=subprocess.DEVNULL)
            assert p.returncode in (2, 3) and words in p.stderr, f"{options}: status {p.returncode}: {p.stderr.strip()}"
            with open(own, encoding="utf-8") as f:
                assert f.read() == "mine", f"{options}: the user's file"
            assert sorted(os.listdir(folder)) == ["bad", "own"], f"{options}: {os.listdir(folder)}"
    finally:
        shutil.rmtree(folder)


def check_interrupted():
    """Ctrl-C in the middle of a run leaves nothing behind, and the next start goes on."""
    folder = tempfile.mkdtemp(prefix="pmend-explore-")
    try:
        scratch = os.path.join(folder, "tmp")
        os.mkdir(scratch)
        command = [PMEND, "explore", "--out", f"{folder}/out", "--jobs", "2", "--", f"{PROGRAMS}/programs", "magic", f"{folder}/pool", "@@"]
        p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=dict(os.environ, TMPDIR=scratch))
        while p.poll() is None and not os.path.exists(f"{folder}/out/corpus/000000"):
            time.sleep(0.02)
        p.send_signal(signal.SIGINT)
        stderr = p.communicate()[1]
        assert p.returncode in (1, 3), f"status {p.returncode}: {stderr}"
        assert os.listdir(scratch) == [] and not [n for n in os.listdir(folder) if n.startswith("pool")], f"{os.listdir(scratch)}, {os.listdir(folder)}"
        left = [c for c in processes() if folder in c]
        assert not left, f"still running: {left}"
        before = len(os.listdir(f"{folder}/out/corpus"))
        subprocess.run([*command[:2], "--max-runs", "1", *command[2:4], *command[6:]], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        assert len(os.listdir(f"{folder}/out/corpus")) == before + 1, "the next start did not go on"
    finally:
        shutil.rmtree(folder)


def check_other_sockets():
    """Of all that a program hears, only what comes to the port named is the input; a connection that hangs hinders nothing, and nothing is left behind."""
    folder = tempfile.mkdtemp(prefix="pmend-explore-")
    try:
        scratch, pool, report = (os.path.join(folder, n) for n in ("tmp", "pool", "report.json"))
        os.mkdir(scratch)
        reserved, port = port_reserve()
        p = subprocess.run([PMEND, "explore", "--max-runs", "1", "--sym-socket", f"{port}:4", "--out", f"{folder}/out", "--format", "json", "-o", report, "--timeout", "300",
                            "--", f"{PROGRAMS}/talks", pool, str(port)], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=dict(os.environ, TMPDIR=scratch))
        reserved.close()
        assert p.returncode == 3 and os.path.exists(report), f"status {p.returncode}: {p.stderr.strip()[-500:]}"
        with open(report, encoding="utf-8") as f:
            found = json.load(f)
        assert not found["bugs"], found["bugs"]
        assert found["coverage"]["note"].startswith("1 conditions on the input"), found["coverage"]["note"]
        left = [c for c in processes() if pool in c]
        assert not left, f"still running: {left}"
        assert os.listdir(scratch) == [] and not os.path.exists(pool), f"{os.listdir(scratch)}, {os.listdir(folder)}"
    finally:
        shutil.rmtree(folder)


def processes():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as f:
                yield f.read().replace("\0", " ")
        except OSError:
            pass


def check_tries():
    """Random bytes do not get to any of the bugs."""
    p = subprocess.run([os.path.join(PROGRAMS, "tries")], capture_output=True, text=True)
    assert p.returncode == 0, p.stderr.strip()


def check_floods():
    """Output beyond pmend's limit is no bug of the program's, but the exploration is not complete."""
    folder = tempfile.mkdtemp(prefix="pmend-explore-")
    try:
        for name in "few", "many":
            with open(f"{folder}/{name}", "w", encoding="ascii") as f:
                f.write(name.ljust(4))
        report, _ = explore(folder, "floods", "@@", 2, ["--seed", f"{folder}/few", "--seed", f"{folder}/many"])
        assert not report["bugs"], report["bugs"]
        coverage = report["coverage"]
        assert not coverage["complete"] and "printed more than 64 MiB" in coverage["why_incomplete"], coverage
    finally:
        shutil.rmtree(folder)


def explore_threads(folder, text, variant, runs, schedules, *more):
    """An exploration of threads.c that begins with this text; status, report."""
    with open(f"{folder}/{text}", "w", encoding="ascii") as f:
        f.write(text)
    report = f"{folder}/{text}.json"
    p = subprocess.run([PMEND, "explore", "--threads", "--schedules", str(schedules), "--max-runs", str(runs), "--out", f"{folder}/out-{text}-{variant}", "--seed", f"{folder}/{text}",
                        "--format", "json", "-o", report, "--solver-timeout", "100", *more, "--", f"{PROGRAMS}/threads", "@@", f"{folder}/pool", variant],
                       capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    assert p.returncode in (0, 1, 3) and not p.stderr, f"status {p.returncode}: {p.stderr.strip()[-500:]}"
    with open(report, encoding="utf-8") as f:
        return p.returncode, json.load(f)


def ids_of(words):
    """The findings of a check of threads.c: {kind: id}."""
    p = subprocess.run([PMEND, *words], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    return {b["kind"]: b["id"] for b in json.loads(p.stdout)["bugs"]}


def check_schedules():
    """An input that does something new is recorded under several orders of its threads; another one is not. What only some order shows names the input and the order."""
    folder = tempfile.mkdtemp(prefix="pmend-explore-")
    try:
        status, report = explore_threads(folder, "noto", "broken", 8, 3, "--first")
        with open("tests/explore/threads.c", encoding="utf-8") as f:
            line = next(n for n, text in enumerate(f, 1) if "/* BUG: unpersisted-read */" in text)
        assert (status, bugs_found(report)) == (1, {("unpersisted-read", line)}), bugs_found(report)
        coverage, bug = report["coverage"], report["bugs"][0]
        assert coverage["inputs"] > 1 and coverage["schedules"]["recorded"] == coverage["inputs"] - 1 + 3, coverage
        seen = bug["schedules_seen"]
        assert seen and 1 not in seen and seen[-1] <= 3, seen
        assert bug["schedule_trace"].endswith(f"/traces/{coverage['inputs'] - 1:06}-schedule-{seen[0]}.pmt"), bug["schedule_trace"]
        assert ids_of(["check", "--format", "json", bug["schedule_trace"]]) == {bug["kind"]: bug["id"]}, "the finding in the trace that is kept"
        words = shlex.split(bug["input"]["command"])
        assert words[:5] == ["pmend", "check", "--threads", "--schedules", "3"], words
        assert ids_of([*words[1:5], "--format", "json", *words[5:]]) == {bug["kind"]: bug["id"]}, "the finding when it is recorded again"
        status, report = explore_threads(folder, "note", "correct", 1, 3)
        assert (status, report["bugs"]) == (3, []), (status, report["bugs"])  # 3: branches wait
        assert report["coverage"]["schedules"]["recorded"] == 3, report["coverage"]
    finally:
        shutil.rmtree(folder)


def check_schedule_kills():
    """An order in which the program dies is a bug of the program; the first order ends well."""
    folder = tempfile.mkdtemp(prefix="pmend-explore-")
    try:
        status, report = explore_threads(folder, "note", "dies", 1, 8)
        assert (status, [b["kind"] for b in report["bugs"]]) == (1, ["program-crash"]), report["bugs"]
        seen = report["bugs"][0]["schedules_seen"]
        assert seen and 1 not in seen, seen
    finally:
        shutil.rmtree(folder)


def check_parser(name, variant=""):
    """The bug of a parser is found in 60 inputs; of one without a bug, nothing is reported in 12, with LONG=1 in 30."""
    folder = tempfile.mkdtemp(prefix="pmend-explore-")
    try:
        report = parsers.parser_explore(PMEND, folder, name, (30 if LONG else 12) if variant else 60, [] if variant else ["--first"], variant, not LONG)
        expected = set() if variant else parsers.parser_marks(parsers.PARSERS[name][0])
        found = parsers.parser_bugs(report)
        assert found == expected, f"expected {sorted(expected)}, found {sorted(found, key=str)} on {report['coverage'].get('inputs')} inputs"
        return report["coverage"].get("inputs")
    finally:
        shutil.rmtree(folder)


def timed(test):
    """A test that counts its inputs also says how long they took."""
    start = time.time()
    runs = test()
    return f"{runs} inputs, {time.time() - start:.0f} s" if runs else ""


def main():
    tests = [*[(f"ops, part {n}", lambda s=n: check_ops(100, s)) for n in range(1, OPS_PARTS + 1)], ("tries", check_tries), ("usage", check_usage),
             ("floods", check_floods), ("progress", check_progress), ("other sockets", check_other_sockets), ("interrupted", check_interrupted),
             ("schedules", check_schedules), ("schedule kills", check_schedule_kills)]
    tests += [(name, lambda c=case, h=how, r=runs: check_case(c, h, r)) for name, case, how, runs in CASES]
    tests += [(f"parser {n}", lambda n=n: check_parser(n)) for n in parsers.PARSERS if n not in parsers.NOT_FOUND]
    tests += [(f"parser {n}, correct", lambda n=n: check_parser(n, "-correct")) for n in parsers.CORRECT]
    tests += [(name, lambda c=check: c(PMEND, marks)) for name, check in sharing.CHECKS.items()]
    found = dict(tests)
    return run_each("explore", [(n, functools.partial(timed, found[n])) for n in choose(list(found), sys.argv[1:])], "explore: ")


if __name__ == "__main__":
    sys.exit(main())
