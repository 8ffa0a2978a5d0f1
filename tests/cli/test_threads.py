"""--threads: what it needs, and what a trace that was recorded with it shows."""
import json
import os

from cli import equal, folder, pmend

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
        status, out, _ = pmend("check", "--threads", "--format", "json", "--", os.path.abspath("build/tests/cli/candidates"), "{pool}", how)
        report = json.loads(out)
        equal((status, report["bugs"]), (0, []), f"the findings of {how}")
        equal(report["coverage"].get("note", "").count(f"{n} pair of a store and another thread's load did not meet"), n, f"what is counted of {how}")


def test_usage():
    for words, text in ((["--lock-call", "f"], "need --threads"), (["--threads", "--unlock-call", "f", "x.pmt"], "not to a trace")):
        status, _, err = pmend("check", *words, *([] if words[-1].endswith(".pmt") else ["--", "true"]))
        equal((status, text in err), (2, True), f"{words}: {err}")
