"""--threads: what it needs, and what a trace that was recorded with it shows."""
import json
import os
import shlex

from cli import equal, folder, pmend

PAIR = os.path.abspath("build/tests/cli/candidates")
PROGRAM = os.path.abspath("build/tests/corpus/unpersisted_O0")


def kinds(report):
    return {bug["kind"] for bug in json.loads(report)["bugs"]}


def test_traces():
    with folder() as d:
        for name, options in (("with.pmt", ["--threads"]), ("without.pmt", [])):
            equal(pmend("record", "-q", *options, "-o", name, "--", PROGRAM, "{pool}", cwd=d)[0], 0, f"the status of {name}")
        for command in ("check", "test", "crash"):
            status, out, err = pmend(command, "--threads", *(["--recover", "true"] if command == "crash" else []), "without.pmt", cwd=d)
            equal((status, out), (2, ""), f"pmend {command} --threads on a trace that lacks loads and locks")
            assert "without.pmt was recorded without --threads: record again with --threads" in err, err
        for options in (["--threads"], []):
            status, out, _ = pmend("check", *options, "--format", "json", "with.pmt", cwd=d)
            equal((status, "unpersisted-read" in kinds(out)), (1, True), f"with {options}")
        equal("unpersisted-read" in kinds(pmend("check", "--format", "json", "without.pmt", cwd=d)[1]), False, "without loads")


def test_candidates():
    """A pair that did not meet is counted, unless something keeps it apart in all interleavings; none is a finding."""
    for how, n in (("early", 1), ("lock", 0), ("post", 0), ("join", 0), ("read", 0)):
        status, out, _ = pmend("check", "--threads", "--format", "json", "--", PAIR, "{pool}", how)
        report = json.loads(out)
        equal((status, report["bugs"]), (0, []), f"the findings of {how}")
        equal(report["coverage"].get("note", "").count(f"{n} pair of a store and another thread's load did not meet"), n, f"what is counted of {how}")


def test_crash_shows_it():
    """The crash state with the reader's work and without what it read: the same two stores, and a replay that fails."""
    with folder() as d:
        status, out, _ = pmend("test", "--threads", "--format", "json", "--trace", "t.pmt", "--recover", f"{PAIR} {{}} verify",
                               "--", PAIR, "{pool}", "meet", cwd=d)
        bugs = {bug["kind"]: bug for bug in json.loads(out)["bugs"]}
        equal((status, sorted(bugs)), (1, ["ordering", "unpersisted-read"]), "what is found")
        lines = {kind: {place["role"]: place["line"] for place in bug["locations"]} for kind, bug in bugs.items()}
        equal([lines["ordering"][role] for role in ("lost", "survived")], [lines["unpersisted-read"][role] for role in ("store", "persisted")], "the two stores")
        replay = bugs["ordering"]["crash"]["replay"]
        equal(pmend(*shlex.split(replay)[1:], cwd=d)[0], 1, f"the status of {replay}")


def test_usage():
    for words, text in ((["--lock-call", "f"], "need --threads"), (["--threads", "--unlock-call", "f", "x.pmt"], "not to a trace")):
        status, _, err = pmend("check", *words, *([] if words[-1].endswith(".pmt") else ["--", "true"]))
        equal((status, text in err), (2, True), f"{words}: {err}")
