"""pmend check: exit statuses, formats, filters. What it finds is for tests/corpus."""
import json
import os

from cli import contains, equal, fails, folder, need_pool, pmend, run, write

MISSING = "build/tests/corpus/missing_flush_O0"
CORRECT = "build/tests/cli/pool"


def check(d, *options, program=MISSING):
    return pmend("check", *options, "--", program, os.path.join(d, "a pool"))


def test_statuses_and_formats():
    with folder() as d:
        trace, report = os.path.join(d, "t.pmt"), os.path.join(d, "r.json")
        equal(pmend("record", "-q", "-o", trace, "--", MISSING, os.path.join(d, "a pool"))[0], 0)
        equal(pmend("check", "--format", "json", "-o", report, trace)[0], 1, "the status when bugs are found")
        with open(report, encoding="utf-8") as f:
            told = json.load(f)
        equal(told["platform"], "x86-adr")
        equal(told["command"], [MISSING, os.path.join(d, "a pool")])
        assert told["bugs"] and told["coverage"]["complete"], told
        status, out, _ = pmend("check", "--format", "sarif", trace)
        equal((status, json.loads(out)["version"]), (1, "2.1.0"))
        contains(pmend("check", "--format", "html", trace)[1], "<html")
        equal(pmend("check", "--baseline", report, trace)[0], 0, "the status when nothing is new")
        status, out, _ = pmend("check", "-q", "--gen-suppressions", trace)
        blocks = out[out.index("{"):]
        equal(pmend("check", "--suppress", write(os.path.join(d, "s"), blocks), trace)[0], 0)
        equal(pmend("check", "--only", "asserts", trace)[0], 0, "the status with an oracle that finds nothing")
        fails(pmend("check", "--platform", "msync", trace), 3, "recorded for x86-adr", "--platform msync")
        equal(pmend("check", "--platform", "eadr", "-q", trace)[0], 1, "the status on eadr, where flushes achieve nothing")


def test_leaves_nothing_behind():
    need_pool()
    with folder() as d:
        status, _, err = run(*pmend_command(d), env={"TMPDIR": d})
        equal((status, err, sorted(os.listdir(d))), (1, "", ["a pool"]))


def pmend_command(d):
    return [os.path.abspath("build/pmend"), "check", "-q", "--", MISSING, os.path.join(d, "a pool")]


def test_wrong_usage():
    equal(pmend("check")[0], 2)
    equal(pmend("check", "--format", "xml", "x.pmt")[0], 2)
    equal(pmend("check", "--platform", "arm", "x.pmt")[0], 2)
    fails(pmend("check", "--platform", "eadr", "none.pmt"), 3, "No such file")
    with folder() as d:
        fails(pmend("check", "--suppress", write(os.path.join(d, "s"), "{\nnonsense"), "--platform", "eadr", "x.pmt"), 3, "/s:2")


def test_damaged_trace():
    with folder() as d:
        trace = os.path.join(d, "t.pmt")
        equal(pmend("record", "-q", "-o", trace, "--", CORRECT, os.path.join(d, "a pool"))[0], 0)
        with open(trace, "rb") as f:
            data = f.read()
        status, out, _ = pmend("check", "--platform", "x86-adr", write(os.path.join(d, "cut.pmt"), data[:16384 + 48 + 150]))
        assert status in (1, 3), status
        contains(out, "incomplete")
