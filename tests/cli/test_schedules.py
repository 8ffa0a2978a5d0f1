"""--schedules: the program is recorded under several orders of its threads, and what only some orders show is found."""
import json
import os
import re
import shlex

from cli import Skip, LONG, contains, equal, fails, folder, pmend

PROGRAM = os.path.abspath("build/tests/cli/schedules")
SOURCE = os.path.abspath("tests/cli/schedules.c")
FILES_PROGRAM = os.path.abspath("build/tests/cli/schedules_files")
FILES = os.path.abspath("tests/cli/schedules_files")


def marked(style):
    with open(SOURCE, encoding="utf-8") as f:
        return next(n for n, line in enumerate(f, 1) if f"/* BUG: {style} */" in line)


def schedules(command, n, style, variant, *options, **kw):
    """Gives the status and the JSON report."""
    status, out, err = pmend(command, "--threads", "--schedules", n, "--format", "json", *options, "--", PROGRAM, "{pool}", style, variant, **kw)
    return status, json.loads(out) if out else err


def reads(report):
    return [bug for bug in report["bugs"] if bug["kind"] == "unpersisted-read"]


def what_happened(trace, cwd):
    """The lines of a trace, without what belongs to this recording alone: pids, paths, addresses."""
    status, out, err = pmend("show", trace, cwd=cwd)
    equal(status, 0, err)
    lines = [line for line in out.splitlines() if not re.match(r"\s*\d+\s+\S+\s+(process|meta|file) ", line)]
    assert len(lines) > 20, out
    return [re.sub(r"^\s*\d+|at=0x[0-9a-f]+", "", line) for line in lines]


def look(style, n, mark=None):
    """The broken one is found, but not in the first schedule, where each thread runs until it waits; the correct one is silent."""
    with folder() as d:
        status, report = schedules("check", n, style, "broken", cwd=d)
        found = reads(report)
        equal((status, [bug["locations"][0]["line"] for bug in found]), (1, [marked(mark or style)]), f"what is found in {style}")
        seen = found[0]["schedules_seen"]
        assert seen and 1 not in seen and seen == sorted(set(seen)) and seen[-1] <= n, seen
        equal(found[0]["schedule_trace"], f"pmend-out/check-schedule-{seen[0]}.pmt", "the trace that is kept")
        # the kept trace is one as any other, and shows the same bug
        status, out, _ = pmend("check", "--threads", "--format", "json", found[0]["schedule_trace"], cwd=d)
        equal((status, [bug["id"] for bug in reads(json.loads(out))]), (1, [found[0]["id"]]), "the finding in that trace")
        status, report = schedules("check", n, style, "correct", cwd=d)
        equal((status, reads(report)), (0, []), f"what is found in the correct {style}")


def test_lock():
    look("lock", 3)


def test_publish():
    look("publish", 3)


def test_queue():
    look("queue", 3)


def test_cache():
    look("cache", 3)


def test_seqlock():
    """The reader tries again as long as the writer is held where the version is odd."""
    look("seqlock", 3)


def test_proof():
    """A crash state proves it: what another thread relies on is lost. The replay reads the trace of the schedule that showed it."""
    with folder() as d:
        status, report = schedules("test", 20 if LONG else 6, "lock", "broken", "--recover", f"{PROGRAM} {{}} lock verify", cwd=d)
        bugs = {bug["kind"]: bug for bug in report["bugs"]}
        equal((status, sorted(bugs)), (1, ["ordering", "unpersisted-read"]), "what is found")
        lines = {kind: {place["role"]: place["line"] for place in bug["locations"]} for kind, bug in bugs.items()}
        equal([lines["ordering"][role] for role in ("lost", "survived")], [lines["unpersisted-read"][role] for role in ("store", "persisted")], "the two stores")
        crash = bugs["ordering"]
        contains(crash["crash"]["replay"], crash["schedule_trace"])
        equal(pmend(*shlex.split(crash["crash"]["replay"])[1:], cwd=d)[0], 1, "the status of the replay")
        equal(pmend("pack", "-q", "-o", "x.pmb", "--recover", f"{PROGRAM} {{}} lock verify", crash["schedule_trace"], cwd=d)[0], 0, "packing the trace")
        equal(pmend("index", crash["schedule_trace"], cwd=d)[0], 0, "the status of pmend index")


def test_correct_is_silent():
    """Changes of threads between any two instructions do no harm to a program, and a correct one has no bugs."""
    status, report = schedules("crash", 20 if LONG else 7, "lock", "correct", "--recover", f"{PROGRAM} {{}} lock verify")
    equal((status, report["bugs"]), (0, []), "what is found")
    assert report["coverage"]["schedules"]["different"] > 3, report["coverage"]


def test_reproducible():
    """The same seed gives the same orders; another seed others. (25 recordings, whose orders a very busy machine may end early: LONG=1.)"""
    if not os.environ.get("LONG"):
        raise Skip("25 recordings; LONG=1 runs it")
    with folder() as d:
        for name, seed in (("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 2)):
            status, report = schedules("check", 5, "queue", "broken", "--trace", name, "--schedule-seed", seed, cwd=d)
            equal((status, report["coverage"]["schedules"].get("departed")), (1, None), "no order departed from its seed")
        for n in range(1, 6):
            orders = [what_happened(f"{name}/schedule-{n}.pmt", d) for name in "abcde"]
            for name, order in zip("bcd", orders[1:4]):
                equal(order, orders[0], f"schedule {n} of {name}")
        orders = [what_happened(f"{name}/schedule-4.pmt", d) for name in "ae"]
        assert orders[0] != orders[1], "the seed does not matter"


def test_spinning_ends():
    status, report = schedules("check", 3, "spin", "correct")
    equal((status, report["bugs"]), (0, []), "what is found")
    equal(report["coverage"]["schedules"]["recorded"], 3, "the number of schedules")


def test_departure():
    """Time decided: a wait was over when another thread wanted to end it. The report says that the same seed may give another order."""
    status, report = schedules("check", 1, "missed", "correct")
    equal((status, report["coverage"]["schedules"].get("departed")), (0, 1), "the schedules that departed from the seed")
    contains(report["coverage"]["note"], "a wait ended because its time was over")


def test_timed():
    """Waits whose time runs out end when the other threads have done a certain amount of work, so the order is the same each time."""
    with folder() as d:
        for name in "ab":
            status, report = schedules("check", 1, "timed", "correct", "--trace", name, cwd=d)
            equal((status, report["coverage"]["schedules"].get("departed")), (0, None), "no order departed from its seed")
        orders = [what_happened(f"{name}/schedule-1.pmt", d) for name in "ab"]
        equal(orders[1], orders[0], "what happened")


def test_forks():
    """The threads of a child have an order of their own."""
    look("forks", 3, "lock")


def test_given_up():
    """Threads that only wait for another process go on without an order, and the report says so."""
    status, report = schedules("check", 1, "child", "correct")
    equal((status, report["coverage"]["schedules"].get("given_up")), (0, 1), "the schedules that were given up")
    contains(report["coverage"]["note"], "Processes ran beside each other, and only the order of threads within each was chosen")


def test_files():
    """A folder that is followed holds, before each schedule, what it held at first, and at the end what the last one left. Another order of its calls is found."""
    with open(FILES + ".c", encoding="utf-8") as f:
        line = next(n for n, text in enumerate(f, 1) if "/* BUG: rename-before-fsync */" in text)
    with folder() as d:
        data = os.path.join(d, "in", "data")
        os.makedirs(os.path.dirname(data))
        with open(data, "w", encoding="ascii") as f:
            f.write("old")
        os.chmod(data, 0o640)
        n = 16
        status, out, err = pmend("check", "--threads", "--schedules", n, "--files", "in", "--format", "json", "--", FILES_PROGRAM, "in", "broken", cwd=d)
        equal(status, 1, err)
        report = json.loads(out)
        bugs = [bug for bug in report["bugs"] if bug["kind"] == "rename-before-fsync"]
        equal([bug["locations"][0]["line"] for bug in bugs], [line], "what is found")
        seen = bugs[0]["schedules_seen"]
        assert seen and 1 not in seen and seen[-1] <= n, seen
        equal(report["coverage"]["schedules"]["recorded"], n, err)  # a program that does not see the old content ends with 3
        equal((sorted(os.listdir(d)), os.listdir(f"{d}/in")), (["in", "pmend-out"], ["data"]), err)
        with open(data, encoding="ascii") as f:
            equal(f.read(), "new", "what the last schedule left")
        # what cannot be copied exactly is left alone
        os.link(data, f"{d}/in/second")
        fails(pmend("check", "--threads", "--schedules", 2, "--files", "in", "--", FILES_PROGRAM, "in", "broken", cwd=d), 3, "has several names")
        equal((sorted(os.listdir(d)), sorted(os.listdir(f"{d}/in"))), (["in", "pmend-out"], ["data", "second"]), "what is left")


def test_scratch_folder():
    status, out, err = pmend("check", "--threads", "--schedules", 8, "--format", "json", "--", FILES_PROGRAM, "{dir}", "correct")
    equal((status, json.loads(out)["bugs"]), (0, []), err)
    assert json.loads(out)["coverage"]["schedules"]["different"] > 3, out


def test_text():
    with folder() as d:
        status, out, _ = pmend("check", "--threads", "--schedules", "2", "--", PROGRAM, "{pool}", "lock", "broken", cwd=d)
        equal(status, 1)
        contains(out, "  in schedule 2; trace: pmend-out/check-schedule-2.pmt")
        contains(out, "2 schedules were recorded with seed 1, 2 of them different.")


def test_usage():
    with folder() as d:
        equal(pmend("record", "-q", "--threads", "-o", "t.pmt", "--", PROGRAM, "{pool}", "lock", "correct", cwd=d)[0], 0)
        for command, more in (("check", []), ("crash", ["--recover", "true"]), ("test", [])):
            fails(pmend(command, "--threads", "--schedules", "3", *more, "t.pmt", cwd=d), 2, "--schedules applies only to recording a program, not to a trace")
            fails(pmend(command, "--schedules", "3", *more, "--", "true", cwd=d), 2, "--schedules needs --threads")
            fails(pmend(command, "--threads", "--schedules", "0", *more, "--", "true", cwd=d), 2, "--schedules is from 1 to 10000, not 0")
        fails(pmend("check", "--threads", "--schedule-seed", "3", "--", "true", cwd=d), 2, "--schedule-seed needs --schedules")
        fails(pmend("check", "--threads", "--trace", "x", "--", "true", cwd=d), 2, "--trace needs --schedules")
        fails(pmend("check", "--threads", "--schedules", "3", "--platform", "all", "--", "true", cwd=d), 2, "one platform at a time")
        fails(pmend("check", "--threads", "--schedules", "3", "--trace", "t.pmt", "--", "true", cwd=d), 2, "t.pmt is none")
