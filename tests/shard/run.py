#!/usr/bin/env python3
"""Parts (`--shard I/N` of `pmend crash`, `test` and `check`) come to the report of one process when `pmend merge` puts them together. In the project's folder.

    tests/shard/run.py [NAME]...      all tests, or those whose names begin so

Compared are all findings with their places, witnesses and counts, what was found of the recording's end, and the coverage, but for numbers of runs and faults, which depend on who ran
where. Prints `ok NAME` or `FAIL NAME: …`."""
import base64
import functools
import hashlib
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "tests"))
from each import choose, run_each  # noqa: E402
import schema  # noqa: E402,F401  (looks at every report that is read)

os.chdir(TOP)
PMEND = os.path.abspath(os.environ.get("PMEND", "build/pmend"))
CRASH, RACES, MUTANTS = (os.path.abspath(f"build/{name}") for name in ("tests/crash", "tests/races", "mutants"))
TIMEOUT_S = 900  # an emulated machine is slow
COUNTED = ("runs", "shared_runs", "diagnosis_runs", "faults", "lazy_runs", "whole_runs")  # by whoever ran; the rest is the same

folder = None
traces = {}


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def run(*command, status=(0,)):
    """Runs a command in the folder; gives its status and its errors."""
    p = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, cwd=folder, stdin=subprocess.DEVNULL)
    expect(p.returncode in status, f"{shlex.join(command)[:300]} ended with {p.returncode}, not {status}: {(p.stderr or p.stdout).strip()[-300:]}")
    return p.returncode, p.stderr


def record(name, program, *words):
    """Records once; gives the trace."""
    if name not in traces:
        traces[name] = os.path.join(folder, name + ".pmt")
        run(PMEND, "record", "-q", "-o", traces[name], "--", program, *words)
    return traces[name]


def comparable(value):
    if isinstance(value, dict):
        return {k: comparable(v) for k, v in value.items() if k not in COUNTED}
    return [comparable(v) for v in value] if isinstance(value, list) else value


def load(name):
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return json.load(f)


def make_index(trace, options):
    """With a checkpoint wherever there can be one, kept out of sight."""
    where = [words for name in ("--failure-points", "--platform") if name in options for words in (name, options[options.index(name) + 1])]
    _, told = run(PMEND, "index", "--events", "1", "--percent", "1000000", *where, trace)
    os.rename(os.path.join(folder, trace + ".pmx"), os.path.join(folder, "index"))
    return told


def show_index(trace, is_there):
    """Parts that have the index and parts that have none belong together."""
    places = [os.path.join(folder, "index"), os.path.join(folder, trace + ".pmx")]
    if os.path.exists(places[not is_there]):
        os.rename(*(places if is_there else reversed(places)))


def explore_part(trace, options, index, of, *more, command="crash"):
    run(PMEND, command, "--seed", "1", *options, "--shard", f"{index}/{of}", *(more or ("-o", f"part-{index}.json")), trace, status=(0, 1))


def merge(of):
    status, _ = run(PMEND, "merge", *(f"part-{i}.json" for i in range(of, 0, -1)), "-o", "merged.json", status=(0, 1))
    return status, comparable(load("merged.json"))


def same(trace, *options, parts=(2, 7), command="crash", has_index=True):
    """One process, and so many parts. Gives the report of the one."""
    status, _ = run(PMEND, command, "--seed", "1", *options, "-o", "one.json", trace, status=(0, 1))
    one = load("one.json")
    if trace.endswith(".pmt") and has_index:
        make_index(trace, options)
    for of in parts:
        for i in range(1, of + 1):
            show_index(trace, i % 2 == 1)
            explore_part(trace, options, i, of, command=command)
            part = load(f"part-{i}.json")
            expect((part["shard"]["index"], part["shard"]["of"], part["coverage"]["complete"]) == (i, of, False), f"part {i}: {part['shard']}")
            expect("not_covered" not in part["coverage"], f"part {i} of {of}: {part['coverage']}")
        for is_there in (True, False):  # to merge
            show_index(trace, is_there)
            expect_whole(of, status)
    return one


def expect_whole(of, status):
    """The parts come to one.json, and to the same exit status."""
    wanted = comparable(load("one.json"))
    got_status, got = merge(of)
    for key in sorted(wanted.keys() | got.keys()):
        expect(wanted.get(key) == got.get(key), f"{of} parts: {key} is {json.dumps(got.get(key))[:700]}, of one process {json.dumps(wanted.get(key))[:700]}")
    expect(got_status == status, f"{of} parts: merge ended with {got_status}, one process with {status}")


def recover(place, name, *words):
    return "--recover", shlex.join([os.path.join(place, name), *words])


# ---- the same report ----

def test_cases():
    """The crash programs of tests/crash, with findings and without."""
    trace = record("cases", f"{CRASH}/cases", "run", "cases pool")
    expect(same(trace, *recover(CRASH, "cases", "atomicity", "{}"), parts=(1, 2, 7))["bugs"], "no bug")
    expect(not same(trace, *recover(CRASH, "cases", "commit", "{}"))["bugs"], "a bug")


def test_strategies():
    trace = record("breadth", f"{CRASH}/breadth", "run", "breadth pool")
    for strategy in ("lazy", "eager", "prefix"):
        same(trace, "--strategy", strategy, *recover(CRASH, "breadth", "check", "{}"), parts=(7,))


def test_windows():
    """A part has whole windows; parts with other windows are of another exploration."""
    trace = record("breadth", f"{CRASH}/breadth", "run", "breadth pool")
    one = same(trace, "--window", "5", *recover(CRASH, "breadth", "check", "{}"), parts=(2, 7))
    expect(one["coverage"]["shared_runs"] > 0, one["coverage"])
    for i in (1, 2):
        explore_part(trace, ["--window", str(4 + i), *recover(CRASH, "breadth", "check", "{}")], i, 2)
    _, err = run(PMEND, "merge", "part-1.json", "part-2.json", "-o", "merged.json", status=(2, 3))
    expect("part-2.json" in err, err)


def test_hidden():
    """Several bugs in one line: which state belongs to which does not depend on who explored what."""
    trace = record("hidden", f"{CRASH}/hidden", "hidden pool")
    for case, how in (("three", "die"), ("ways", "die")):
        expect(same(trace, *recover(CRASH, "hidden", "{}", case, how), parts=(3,))["bugs"], "no bug")


def test_causes():
    """Which findings have one cause is tried when all of them are known."""
    trace = record("causes", f"{CRASH}/causes", "causes pool", "arrays")
    bugs = same(trace, *recover(CRASH, "causes", "{}", "arrays", "recover"), parts=(3,))["bugs"]
    expect(len(bugs) == 2 and not any("may_share_cause" in b for b in bugs), f"{bugs}")


def test_representative():
    """What its later waves are depends on all of the first: merge runs them."""
    trace = record("groups", f"{CRASH}/groups", "run", "groups pool")
    expect(same(trace, "--strategy", "representative", *recover(CRASH, "groups", "check", "{}"))["bugs"], "no bug")
    program = f"{MUTANTS}/hash-any"  # has a second wave, which is smaller than the first
    trace = record("hash-8", *mutant(program, "2"), "hash pool of representative", "run", "8")
    expect(same(trace, "--strategy", "representative", *recover(MUTANTS, "hash-any", "{}", "check"), parts=(2,))["bugs"], "no bug")


def test_two_failures():
    """Crashes during recovery are explored when it is known which first crashes there are."""
    trace = record("twice", f"{CRASH}/twice", "run", "twice pool")
    expect(same(trace, "--failures", "2", *recover(CRASH, "twice", "hasty", "{}"), parts=(2,))["bugs"], "no bug")


def test_output():
    """What recovery prints is judged when all that it prints where nothing is lost is known."""
    trace = record("odd", f"{CRASH}/odd", "swapped", "odd pool")
    expect(same(trace, *recover(CRASH, "odd", "sum", "{}"))["bugs"], "no bug")


def test_races():
    """Conclusions about races depend on earlier failure points, which another part has."""
    for name, words, how in (("figure1", ["run"], ["recover"]), ("mechanisms", ["run", "broken"], ["recover", "broken"]),
                             ("semantic", ["run", "broken"], ["recover", "broken"]), ("figure2", ["run", "wrong"], ["recover"])):
        trace = record(name, f"{RACES}/{name}", f"{name} pool", *words)
        expect(same(trace, "--races", *recover(RACES, name, "{}", *how))["bugs"], f"{name}: no bug")
    trace = record("mechanisms-right", f"{RACES}/mechanisms", "right pool", "run")
    expect(not same(trace, "--races", *recover(RACES, "mechanisms", "{}", "recover"))["bugs"], "a bug")


def test_mutants():
    """Two of the mutants, with a dump that is compared, and an original. A failure that two findings explain, which lose the same store, counts for the same one whoever meets it."""
    for name, words in (("log", []), ("log", ["1"]), ("hash", ["2"])):
        program = f"{MUTANTS}/{name}-any"
        trace = record("-".join([name, *words]), *mutant(program, *words), f"{name} {' '.join(words)} pool", "run", "20")
        expect(bool(same(trace, "--dump", shlex.join([program, "{}", "dump"]), parts=(7,))["bugs"]) == bool(words), f"{name} {words}: bugs")


def mutant(program, *words):
    return ("env", f"PMEND_MUTANT={words[0]}", program) if words else (program,)


def test_many():
    """More parts than some spans have failure points; the report of 64 is that of one."""
    trace = record("breadth", f"{CRASH}/breadth", "run", "breadth pool")
    same(trace, *recover(CRASH, "breadth", "check", "{}"), parts=(64,))


def test_index():
    """Parts that begin in the middle are tried by every test here. An index that does not belong to the trace is not used; a damaged one is refused."""
    trace = record("breadth", f"{CRASH}/breadth", "run", "breadth pool")
    other = record("cases", f"{CRASH}/cases", "run", "cases pool")
    options = recover(CRASH, "breadth", "check", "{}")
    told = make_index(trace, options)
    expect(" 0 checkpoints" not in told and " checkpoints" in told, told)
    part = [PMEND, "crash", "--seed", "1", "--shard", "2/3", "-o", "part-2.json"]
    os.rename(f"{folder}/index", other + ".pmx")
    _, told = run(*part, *recover(CRASH, "cases", "commit", "{}"), other, status=(0, 1))
    expect("is of another trace; it is not used" in told, told)
    os.rename(other + ".pmx", trace + ".pmx")
    for more, words in ((["--failure-points", "store"], "was made for other failure points; it is not used"), (["--platform", "eadr"], "was made for other options; it is not used"), ([], None)):
        _, told = run(*part, *options, *more, trace, status=(0, 1))
        expect(words in told if words else "index" not in told, f"{more}: {told}")
    with open(trace + ".pmx", "rb") as f:
        whole = f.read()
    refused = 0
    for at, words in ((10, "another version"), (len(whole) - 5, "is damaged"), *((len(whole) * i // 16, None) for i in range(4, 14))):
        with open(trace + ".pmx", "wb") as f:
            f.write(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:])
        status, told = run(*part, *options, trace, status=(0, 1, 3))
        expect(words is None or words in told, f"damaged at {at}: {status}, {told}")
        expect(status != 3 or "is damaged" in told, f"damaged at {at}: {status}, {told}")
        refused += status == 3
    expect(refused > 0, "no damage of a checkpoint was refused")  # a part does not read those of the others
    os.remove(trace + ".pmx")


def test_bundle():
    """The same from a bundle, which has the options, and the index if there is one."""
    trace = record("cases", f"{CRASH}/cases", "run", "cases pool")
    make_index(trace, ())
    show_index(trace, True)
    run(PMEND, "pack", "-q", "-o", "cases.pmb", *recover(CRASH, "cases", "atomicity", "{}"), trace)
    show_index(trace, False)
    expect("cases.pmt.pmx" in subprocess.run([PMEND, "show", "-v", "cases.pmb"], cwd=folder, capture_output=True, text=True).stdout, "no index in the bundle")
    expect(same("cases.pmb", parts=(2,))["bugs"], "no bug")


# ---- files that are followed ----

def filed(case, *more):
    """Records a case of tests/crash/filed.c; gives the trace, and the options with which it is explored."""
    data = os.path.join(folder, f"data of {case}")
    if not os.path.exists(data):
        os.mkdir(data)
        run(f"{CRASH}/filed", data, case, "make")
        traces[case] = os.path.join(folder, case + ".pmt")
        run(PMEND, "record", "-q", "-o", traces[case], "--files", data, "--", f"{CRASH}/filed", data, case)
    return traces[case], ["--dump", shlex.join([f"{CRASH}/filed", "{dir}", case, "print"]), *more]


def test_files():
    """Which bug explains a failing state is decided when all parts are together; and crashes during recovery are explored then."""
    for case, more in (("journal", ["--failures", "2"]), ("undo", []), ("unsummed", []), ("poollog", []), ("early", [])):
        trace, options = filed(case, *more)
        expect(bool(same(trace, *options, parts=(1, 2, 7), has_index=False)["bugs"]) == (case != "journal"), f"bugs of {case}")
    same(trace, *options, parts=(2,), command="test", has_index=False)
    one = same(trace, "--platform", "ext4", *options, parts=(2,), has_index=False)
    expect(one["files_profile"] == "ext4" and all(b["profiles"][:2] == ["files", "ext4"] for b in one["bugs"]), "not on ext4")


def test_files_continued():
    """A part that ends early is continued; what it found is in its own report, too."""
    trace, options = filed("undo")
    status, _ = run(PMEND, "crash", "--seed", "1", *options, "-o", "one.json", trace, status=(1,))
    explore_part(trace, [*options, "--max-runs", "30"], 1, 1, "--continue", "part-1.json")
    first = load("part-1.json")["shard"]
    expect(0 < first["done"] < first["failure_points"], f"{first['done']} of {first['failure_points']} are done")
    _, err = run(PMEND, "merge", "part-1.json", "-o", "merged.json", status=(0, 1, 3))
    expect("part 1 of 1 is not finished" in err, err)
    explore_part(trace, options, 1, 1, "--continue", "part-1.json")
    expect([b["id"] for b in load("part-1.json")["bugs"]] == [b["id"] for b in load("one.json")["bugs"]], "the part's own findings")
    expect_whole(1, status)
    explore_part(trace, options, 1, 1, "--continue", "part-1.json")  # nothing is left
    expect_whole(1, status)


def test_files_bundle():
    trace, options = filed("undo")
    run(PMEND, "pack", "-q", "-o", "undo.pmb", *options, trace)
    expect(same("undo.pmb", parts=(2,))["bugs"], "no bug")


# ---- other commands ----

def test_test():
    """The execution is judged once, by merge, as the parts say; bugs that both the execution and crashes show are one."""
    trace = record("cases", f"{CRASH}/cases", "run", "cases pool")
    recovery = recover(CRASH, "cases", "atomicity", "{}")
    one = same(trace, *recovery, command="test", parts=(1, 3))
    kinds = {b["kind"] for b in one["bugs"]}
    expect(kinds & {"ordering", "atomicity"} and any(k.startswith(("missing-", "redundant-", "flush-")) for k in kinds), f"not both of execution and crashes: {kinds}")
    only = same(trace, "--only", "performance", *recovery, command="test", parts=(2,))
    expect(not any(b["kind"].startswith("missing-") and "crash" not in b for b in only["bugs"]), "--only is forgotten")
    fails("are of different explorations", "merge", "part-1.json", other_part(trace, recovery))


def other_part(trace, recovery):
    explore_part(trace, recovery, 2, 2, "-o", "other.json", command="test")
    return "other.json"


def test_test_continued():
    """A part of `test` goes on as one of `crash` does; a part of `crash` is none of `test`."""
    trace = record("breadth", f"{CRASH}/breadth", "run", "breadth pool")
    options = recover(CRASH, "breadth", "check", "{}")
    status, _ = run(PMEND, "test", "--seed", "1", *options, "-o", "one.json", trace, status=(0, 1))
    for i in (1, 2):
        explore_part(trace, [*options, "--max-runs", "60"], i, 2, "--continue", f"part-{i}.json", command="test")
        explore_part(trace, options, i, 2, "--continue", f"part-{i}.json", command="test")
    expect_whole(2, status)
    fails("part-1.json belongs to another exploration", "crash", "--seed", "1", *options, "--shard", "1/2", "--continue", "part-1.json", trace)


def check_all(traces_, of, *options):
    status, _ = run(PMEND, "check", *options, "-o", "one.json", *traces_, status=(0, 1))
    for i in range(1, of + 1):
        run(PMEND, "check", *options, "--shard", f"{i}/{of}", "-o", f"part-{i}.json", *traces_, status=(0, 1))
        expect(load(f"part-{i}.json")["shard"]["command"] == "check", "the part does not say of what")
    expect_whole(of, status)


def test_check():
    """Whole traces are dealt out: fewer parts than traces, as many, more."""
    several = [record("cases", f"{CRASH}/cases", "run", "cases pool"), record("breadth", f"{CRASH}/breadth", "run", "breadth pool"),
               record("groups", f"{CRASH}/groups", "run", "groups pool"), record("twice", f"{CRASH}/twice", "run", "twice pool")]
    for of in (1, 2, 4, 7):
        check_all(several, of)
    check_all(several, 3, "--only", "performance")
    run(PMEND, "check", "-o", "one.json", several[0], status=(0, 1))
    alone = load("one.json")
    run(PMEND, "check", "--shard", "1/1", "-o", "part-1.json", several[0], status=(0, 1))
    expect(merge(1)[1] == comparable(alone), "one trace in one part is not what it is without parts")


def test_check_continued():
    """A part is kept after each trace. One that was ended goes on; what is not finished is named."""
    several = [record("cases", f"{CRASH}/cases", "run", "cases pool"), record("breadth", f"{CRASH}/breadth", "run", "breadth pool"),
               record("twice", f"{CRASH}/twice", "run", "twice pool")]
    status, _ = run(PMEND, "check", "-o", "one.json", *several, status=(0, 1))
    for i in (1, 2):
        run(PMEND, "check", "--shard", f"{i}/2", "--continue", f"part-{i}.json", *several, status=(0, 1))
    whole = {i: load(f"part-{i}.json") for i in (1, 2)}
    larger = max((1, 2), key=lambda i: whole[i]["shard"]["failure_points"])
    expect(whole[larger]["shard"]["failure_points"] == 2, "not 2 and 1 of 3 traces")
    write(f"part-{larger}.json", without_last(whole[larger]))
    _, err = run(PMEND, "merge", "part-1.json", "part-2.json", "-o", "merged.json", status=(0, 1, 3))
    expect(f"part {larger} of 2 is not finished: 1 of its 2 traces are checked" in err, err)
    expect("1 of 3 traces were not checked" in load("merged.json")["coverage"]["why_incomplete"], load("merged.json")["coverage"])
    run(PMEND, "check", "--shard", f"{larger}/2", "--continue", f"part-{larger}.json", *several, status=(0, 1))
    expect(load(f"part-{larger}.json") == whole[larger], "not the same part")
    expect_whole(2, status)
    fails("is a part of something else", "check", "--only", "performance", "--shard", "1/2", "--continue", "part-1.json", *several)
    fails("is part 2 of 2, not part 1 of 2", "check", "--shard", "1/2", "--continue", "part-2.json", *several)


def number_at(data, at):
    """A number of 7 bits a byte, the lowest first; gives where it ends, too."""
    n = shift = 0
    while True:
        n |= (data[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return n, at


def without_last(part):
    """A part of `check` as it was before its last trace: n, then name, size, is_whole and report of each; texts after their length plus one, which is 0 if there is none."""
    data = part_bytes(part)
    n, at = number_at(data, 0)
    for _ in range(n):
        size, at = number_at(data, at)
        for _ in range(2):
            _, at = number_at(data, at + size - 1 if size else at)
            size = 0
        begin = at
        size, at = number_at(data, at)
        at += size - 1 if size else 0
        if size:
            last = (begin, at)
    return with_bytes({**part, "shard": {**part["shard"], "done": part["shard"]["done"] - 1}}, data[:last[0]] + b"\0" + data[last[1]:])


# ---- going on ----

def test_continue():
    """A part that a budget ends, again and again, comes to what one process comes to."""
    trace = record("breadth", f"{CRASH}/breadth", "run", "breadth pool")
    options = recover(CRASH, "breadth", "check", "{}")
    run(PMEND, "crash", "--seed", "1", *options, "-o", "one.json", trace, status=(0, 1))
    for i in (1, 2):
        runs = 40
        while True:
            explore_part(trace, [*options, "--max-runs", str(runs)], i, 2, "--continue", f"part-{i}.json")
            part = load(f"part-{i}.json")["shard"]
            if part["done"] == part["failure_points"]:
                break
            runs += 40
        explore_part(trace, options, i, 2, "--continue", f"part-{i}.json")  # there is nothing left to do
    expect(merge(2)[1] == comparable(load("one.json")), "not the same report")


def test_continue_representative():
    """The same of the strategy that chooses failure points, and of a part that was damaged."""
    trace = record("groups", f"{CRASH}/groups", "run", "groups pool")
    options = ["--strategy", "representative", *recover(CRASH, "groups", "check", "{}")]
    run(PMEND, "crash", "--seed", "1", *options, "-o", "one.json", trace, status=(0, 1))
    for i in (1, 2):
        explore_part(trace, [*options, "--max-runs", "60"], i, 2, "--continue", f"part-{i}.json")
        explore_part(trace, options, i, 2, "--continue", f"part-{i}.json")
    expect(merge(2)[1] == comparable(load("one.json")), "not the same report")
    part = load("part-1.json")
    for data in ("", part["shard"]["data"][:-8], "A" + part["shard"]["data"][1:]):
        part["shard"]["data"] = data
        write("part-1.json", part)
        fails("part-1.json is damaged", "crash", "--seed", "1", *options, "--shard", "1/2", "--continue", "part-1.json", trace)


def test_unfinished():
    """Parts that are not finished are named; budgets of parts are not those of merging."""
    trace = record("twice", f"{CRASH}/twice", "run", "twice pool")
    options = ["--failures", "2", *recover(CRASH, "twice", "hasty", "{}")]
    run(PMEND, "crash", "--seed", "1", *options, "-o", "one.json", trace, status=(0, 1))
    explore_part(trace, [*options, "--max-runs", "1000"], 1, 2)
    explore_part(trace, options, 2, 2)
    expect(merge(2)[1]["bugs"] == comparable(load("one.json"))["bugs"], "not the same bugs")
    trace = record("breadth", f"{CRASH}/breadth", "run", "breadth pool")
    options = recover(CRASH, "breadth", "check", "{}")
    explore_part(trace, options, 1, 2)
    explore_part(trace, [*options, "--max-runs", "40"], 2, 2)
    _, err = run(PMEND, "merge", "part-1.json", "part-2.json", "-o", "merged.json", status=(0, 1))
    expect("part 2 of 2 is not finished" in err, err)
    expect("not all parts are finished" in load("merged.json")["coverage"]["why_incomplete"], load("merged.json")["coverage"])


def test_found_unfinished():
    """What a part has found where it is not finished is in the merged report, once."""
    trace = record("cases", f"{CRASH}/cases", "run", "cases pool")
    options = recover(CRASH, "cases", "ordering", "{}")
    run(PMEND, "crash", "--seed", "1", *options, "-o", "one.json", trace, status=(1,))
    runs, found = 4, set()
    while not found:
        for i in (1, 2):
            explore_part(trace, [*options, "--max-runs", str(runs)], i, 2)
        found = {b["id"] for i in (1, 2) for b in load(f"part-{i}.json")["bugs"]}
        runs += 1
    run(PMEND, "merge", "part-1.json", "part-2.json", "-o", "merged.json", status=(1,))
    expect(found == {b["id"] for b in load("merged.json")["bugs"]}, (found, load("merged.json")))


def killed_and_whole(trace, options, *after):
    """Two parts, each killed after so many seconds, by turns; then finished and merged."""
    status, _ = run(PMEND, "crash", "--seed", "1", *options, "-o", "one.json", trace, status=(0, 1))
    for i in (1, 2):
        if os.path.exists(f"{folder}/part-{i}.json"):
            os.remove(f"{folder}/part-{i}.json")
        for after_s in after:
            p = subprocess.Popen([PMEND, "crash", "--seed", "1", *options, "--shard", f"{i}/2", "--continue", f"part-{i}.json", trace], cwd=folder,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            try:
                p.wait(after_s)
            except subprocess.TimeoutExpired:
                p.send_signal(signal.SIGKILL)
                p.wait()
        explore_part(trace, options, i, 2, "--continue", f"part-{i}.json")
    expect_whole(2, status)


def test_killed():
    """Killed at whatever moment, a part goes on or begins again; what comes of it is the same."""
    trace = record("cases", f"{CRASH}/cases", "run", "cases pool")
    killed_and_whole(trace, recover(CRASH, "cases", "atomicity", "{}"), 0.05, 0.2, 0.4)
    trace = record("lots", f"{RACES}/lots", "lots pool", "run")
    killed_and_whole(trace, ["--races", *recover(RACES, "lots", "{}", "recover")], 0.1, 0.25, 0.4)


def test_continue_races():
    """With --races, too, a part goes on from what it kept: what it concludes then is what one process concludes."""
    trace = record("lots", f"{RACES}/lots", "lots pool", "run")
    options = ["--races", "--jobs", "1", *recover(RACES, "lots", "{}", "recover")]
    status, _ = run(PMEND, "crash", "--seed", "1", *options, "-o", "one.json", trace, status=(0, 1))
    expect(len(load("one.json")["bugs"]) > 1, "too few bugs")
    for i in (1, 2):
        runs, kept = 100, set()
        while True:
            explore_part(trace, [*options, "--max-runs", str(runs)], i, 2, "--continue", f"part-{i}.json")
            part = load(f"part-{i}.json")["shard"]
            kept.add(part["done"])
            if part["done"] == part["failure_points"]:
                break
            runs += 100
        expect(len(kept - {0}) > 1, f"part {i} was kept after {sorted(kept)} failure points: it began again")
    expect_whole(2, status)


# ---- what is wrong ----

def part_bytes(part):
    return base64.b64decode(part["shard"]["data"])[32:]


def with_bytes(part, data):
    """The part with other data, and the right sum over it."""
    return {**part, "shard": {**part["shard"], "data": base64.b64encode(hashlib.sha256(data).digest() + data).decode()}}


def test_hostile():
    """Numbers that are none of this trace are refused, or change what is told; nothing crashes, although the sum over the data is right."""
    trace = record("figure1", f"{RACES}/figure1", "figure1 pool", "run")
    options = ["--races", *recover(RACES, "figure1", "{}", "recover")]
    explore_part(trace, options, 1, 1)
    part, chance, nrefused = load("part-1.json"), random.Random(1), 0
    data = part_bytes(part)
    for number in (1000, 2**32 - 1, 2**64 - 1):
        for at in chance.sample(range(0, len(data) - 8), 25):
            write("part-1.json", with_bytes(part, data[:at] + number.to_bytes(8, "little") + data[at + 8:]))
            _, err = run(PMEND, "merge", "part-1.json", "-o", "merged.json", status=(0, 1, 3))
            nrefused += "part 1 of 1 is damaged" in err
    expect(nrefused > 15, f"only {nrefused} were refused")

def fails(part, *command):
    _, err = run(PMEND, *command, status=(2, 3))
    expect(err.startswith("pmend: ") and part in err, f"{part!r} is not in {err!r}")


def test_refused():
    """Parts that are missing, doubled or foreign are named."""
    trace = record("cases", f"{CRASH}/cases", "run", "cases pool")
    options = recover(CRASH, "cases", "commit", "{}")
    for i in (1, 2, 3):
        explore_part(trace, options, i, 3)
    explore_part(trace, recover(CRASH, "cases", "atomicity", "{}"), 2, 3, "-o", "foreign.json")
    explore_part(trace, options, 1, 2, "-o", "half.json")
    fails("these are missing: 1, 3", "merge", "part-2.json")
    fails("part 2 of 3 is given twice: part-2.json and copy.json", "merge", "part-1.json", "part-2.json", write("copy.json", load("part-2.json")))
    fails("are of different explorations", "merge", "part-1.json", "foreign.json", "part-3.json")
    fails("half.json is one of 2 parts", "merge", "part-1.json", "half.json")
    fails("one.json is not a part of an exploration", "merge", write("one.json", {"pmend": "0.1.0", "bugs": []}))
    part = load("part-2.json")
    part["shard"]["data"] = part["shard"]["data"][:40]
    fails("part 2 of 3 is damaged", "merge", "part-1.json", write("damaged.json", part), "part-3.json")
    part["shard"]["data"] = "!"
    fails("part 2 of 3 is damaged", "merge", "part-1.json", write("damaged.json", part), "part-3.json")
    fails("is part 2 of 3, not part 1 of 3", "crash", *options, "--shard", "1/3", "--continue", "part-2.json", trace)
    fails("foreign.json belongs to another exploration", "crash", *options, "--shard", "2/3", "--continue", "foreign.json", trace)
    other = record("breadth", f"{CRASH}/breadth", "run", "breadth pool")
    fails("is not the one of the parts", "merge", "--trace", other, "part-1.json", "part-2.json", "part-3.json")


def write(name, value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        json.dump(value, f)
    return name


SCRIPT = """for word in "$@"; do pool=$word; done
exec %s commit "$pool" # %d
"""


def test_scripts():
    """Every file that a recovery command names is the same for all parts, for merge, and to go on: one that is not executable, one that is too large to be read. Not the pool, if it
    is named as such, nor what is no file."""
    trace = record("cases", f"{CRASH}/cases", "run", "cases pool")
    script, data, pool = (os.path.join(folder, name) for name in ("recover.sh", "recover.dat", "cases pool"))
    program = shlex.quote(f"{CRASH}/cases")
    options = ("--recover", shlex.join(["sh", script, "-c", "/dev/null", folder, "no such file", data, pool]))

    def write(number):
        with open(script, "w", encoding="utf-8") as f:
            f.write(SCRIPT % (program, number))

    def large(time_ns):
        with open(data, "w", encoding="utf-8") as f:
            f.truncate((64 << 20) + 1)
        os.utime(data, ns=(time_ns, time_ns))

    write(1)
    large(10**18)
    for i in (1, 2):
        explore_part(trace, options, i, 2)
        with open(pool, "a", encoding="utf-8") as f:
            f.write("more")
    large(10**18)
    merge(2)
    for change, back in ((lambda: write(2), lambda: write(1)), (lambda: large(10**18 + 1), lambda: large(10**18))):
        change()
        fails("a file that a recovery command names, is not the one of the parts", "merge", "part-1.json", "part-2.json")
        fails("belongs to another exploration", "crash", "--seed", "1", *options, "--shard", "1/2", "--continue", "part-1.json", trace)
        explore_part(trace, options, 2, 2, "-o", "other.json")
        fails("are of different explorations", "merge", "part-1.json", "other.json")
        back()
        merge(2)


def test_usage():
    trace = record("cases", f"{CRASH}/cases", "run", "cases pool")
    for shard in ("0/3", "4/3", "1", "a/b", "1/0", "-1/3", "1/3x", "1/99999999999"):
        fails("--shard is I/N", "crash", "--shard", shard, "-o", "p.json", trace)
    fails("--shard writes its part to a file", "crash", "--shard", "1/2", trace)
    for command in ("crash", "test", "check"):
        fails("--shard needs a trace", command, "--shard", "1/2", "-o", "p.json", "--", f"{CRASH}/cases", "run", "pool")
    fails("--shard divides the crashes", "test", "--shard", "1/2", "-o", "p.json", trace)
    fails("--platform all is for one trace", "check", "--platform", "all", trace, trace)
    fails("traces or a program, not both", "check", trace, "program")
    fails("--continue needs --shard", "crash", "--continue", "p.json", trace)
    fails("a part is written as JSON", "crash", "--shard", "1/2", "-o", "p.html", "--format", "html", trace)
    fails("cannot name", "crash", "--shard", "1/2", "-o", "p.json", "--continue", "q.json", trace)
    fails("the parts are needed", "merge")
    fails("cannot open", "merge", "there-is-none.json")


def without_old_reports(test):
    for old in [f for f in os.listdir(folder) if f.endswith(".json")]:
        os.remove(os.path.join(folder, old))
    test()


def main():
    global folder
    tests = {name[5:]: f for name, f in globals().items() if name.startswith("test_")}
    names = choose(list(tests), sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="pmend shard-") as folder:
        return run_each("shard", [(n, functools.partial(without_old_reports, tests[n])) for n in names], "shard: ")


sys.exit(main())
