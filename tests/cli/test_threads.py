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
    for how, n in (("early", 1), ("lock", 0), ("again", 0), ("post", 0), ("join", 0), ("read", 0)):
        status, out, _ = pmend("check", "--threads", "--format", "json", "--", PAIR, "{pool}", how)
        report = json.loads(out)
        equal((status, report["bugs"]), (0, []), f"the findings of {how}")
        equal(report["coverage"].get("note", "").count(f"{n} pair of a store and another thread's load did not meet"), n, f"what is counted of {how}")


def test_crash_shows_it():
    """The crash state with the reader's work and without what it read confirms the pair: one finding, with the three places, the missing fence, and a replay that fails. If recovery
    copes with all states, the pair is a warning."""
    with folder() as d:
        status, out, _ = pmend("test", "--threads", "--format", "json", "--trace", "t.pmt", "--recover", f"{PAIR} {{}} verify",
                               "--", PAIR, "{pool}", "meet", cwd=d)
        bug, = json.loads(out)["bugs"]
        equal((status, bug["kind"], bug["severity"]), (1, "unpersisted-read", "correctness"), "what is found")
        lines = {place["role"]: place["line"] for place in bug["locations"]}
        equal(sorted(lines), ["load", "persisted", "store", "unlock"], "its places")
        shown, = bug["consequences"]
        proof = {place["role"]: place["line"] for place in shown["locations"]}
        equal((shown["kind"], proof["lost"], proof["survived"]), ("ordering", lines["store"], lines["persisted"]), "the two stores")
        replay = bug["crash"]["replay"]
        equal(pmend(*shlex.split(replay)[1:], cwd=d)[0], 1, f"the status of {replay}")
        status, out, _ = pmend("crash", "--format", "json", "--recover", f"{PAIR} {{}} verify", "t.pmt", cwd=d)
        equal((status, [b["id"] for b in json.loads(out)["bugs"]]), (1, [bug["id"]]), "what pmend crash finds in the same trace")
        for command in ("test", "crash"):
            status, out, _ = pmend(command, "--format", "json", "--recover", "/usr/bin/head -c 200 {}", "t.pmt", cwd=d)
            bug, = json.loads(out)["bugs"]
            equal((status, bug["kind"], bug["severity"], "crash" in bug), (0, "unpersisted-read", "warning", False), f"what pmend {command} finds if recovery copes")
            assert bug["reason"].startswith("recovery was run on all crash states"), bug
        # not all states were run: nobody knows
        out = pmend("crash", "--format", "json", "--strategy", "prefix", "--recover", "/usr/bin/head -c 200 {}", "t.pmt", cwd=d)[1]
        equal([b["severity"] for b in json.loads(out)["bugs"]], ["correctness"], "the pair if not all states were run")


def test_usage():
    for words, text in ((["--lock-call", "f"], "need --threads"), (["--threads", "--unlock-call", "f", "x.pmt"], "not to a trace")):
        status, _, err = pmend("check", *words, *([] if words[-1].endswith(".pmt") else ["--", "true"]))
        equal((status, text in err), (2, True), f"{words}: {err}")
