"""Whose line a finding is at, call paths inside a finding, what PMDK does on its own, and pools that are made in one step."""
import functools
import json
import os
import tempfile

from cli import POOL, contains, equal, fails, folder, pmend, write

WHOSE = os.path.abspath("build/tests/cli/whose")
CALLERS = os.path.abspath("build/tests/cli/callers")
WORDS = os.path.abspath("build/tests/corpus/words_O0")


def line_of(source, mark):
    with open(source) as f:
        return next(n for n, line in enumerate(f, 1) if f"/* {mark} */" in line)


def judged(*command, status):
    """The report of a command that ends with this status."""
    got, out, err = pmend(*command[:1], "--format", "json", *command[1:])
    equal(got, status, f"the status ({err.strip()!r})")
    return json.loads(out)


def places(report):
    return sorted({(b["kind"], os.path.basename(b["locations"][0].get("file", "?")), b["locations"][0].get("line")) for b in report["bugs"]})


def test_headers_of_the_library_are_their_callers():
    with folder() as d:
        pool = os.path.join(d, "a pool")
        told = judged("test", "--trace", os.path.join(d, "t.pmt"), "--jobs", "1", "--recover", f"{WHOSE} '{pool}' check", "--", WHOSE, pool, "run", status=1)
        equal(len(told["bugs"]), 1, f"the number of bugs in {places(told)}")
        lines = {p["role"]: (os.path.basename(p["file"]), p["line"]) for p in told["bugs"][0]["locations"]}
        equal(lines["lost"], ("whose.cc", line_of("tests/cli/whose.cc", "LOST")))
        equal(lines["survived"], ("whose.cc", line_of("tests/cli/whose.cc", "SURVIVED")))


def test_a_static_program_has_its_own_lines():
    """A store of memcpy() is at the line that calls it, also where memcpy is in the program itself; the text has no frame around a thread's function."""
    with open("tests/cli/linked.c") as f:
        want = [("missing-flush", "linked.c", n) for n, line in enumerate(f, 1) if "/* BUG */" in line]
    equal(len(want), 4, "the number of marks")
    for name in ("linked", "linked_static", "linked_static_pie"):
        command = ("check", "--only", "durability", "--", os.path.abspath(f"build/tests/cli/{name}"), "{pool}")
        equal(places(judged(*command, status=1)), want, name)
        _, out, _ = pmend(*command)
        contains(out, "store at work (tests/cli/linked.c:")
        for word in ("start_thread", "clone", "_sse", "_avx", "__libc"):
            assert word not in out, (name, word, out)


def test_functions_without_lines_are_told_apart():
    """In a static program, a function without lines may be the C library's or the program's. Each that one line calls has a finding of its own."""
    command = ("check", "--", os.path.abspath("build/tests/cli/partly"), "{pool}")
    report = judged(*command, status=1)
    equal(places(report), [("missing-flush-fence", "partly.c", line_of("tests/cli/partly.c", "BUG"))])
    equal(len({b["id"] for b in report["bugs"]}), 3, "the number of bugs")
    _, out, _ = pmend(*command)
    for name in ("put_first", "put_second", "put_third"):
        contains(out, f"in partly: {name}")


@functools.cache
def recording(program):
    """A trace that several tests check, with what else its folder holds."""
    d = tempfile.TemporaryDirectory(prefix="pmend cli ")
    trace = os.path.join(d.name, "t.pmt")
    equal(pmend("record", "-q", "-o", trace, "--", program, os.path.join(d.name, "a pool"))[0], 0, "the status of record")
    return d, trace


def callers(*options, status):
    return judged("check", *options, recording(CALLERS)[1], status=status)


def test_one_line_is_one_finding():
    with folder() as d:
        told = callers(status=1)
        bug = next(b for b in told["bugs"] if b["locations"][0]["line"] == line_of("tests/cli/callers.c", "STORE") and "callers.c" in b["locations"][0]["file"])
        equal([b["id"] for b in told["bugs"]].count(bug["id"]), 1)
        equal(bug["count"], 4)
        equal([p["locations"][0]["stack"][0]["function"] for p in bug["paths"]], ["insert", "insert", "update", "main"])
        equal(sum(p["count"] for p in bug["paths"]), bug["count"])
        status, out, _ = pmend("show", write(os.path.join(d, "r.json"), json.dumps(told)))
        equal(status, 0)
        contains(out, "  also by update (")
        status, out, _ = pmend("show", "--format", "sarif", os.path.join(d, "r.json"))
        equal([r["properties"]["callPaths"] for r in json.loads(out)["runs"][0]["results"] if r["partialFingerprints"]["pmendBugId/v1"] == bug["id"]], [4])


def test_library_option():
    header, caller = line_of("tests/cli/vendor/pmalloc.c", "HEADER"), line_of("tests/cli/callers.c", "CALLER")
    ids = {}
    for glob in (None, "pmalloc.c", "vendor/*", "*/cli/vendor/*", "/nowhere/*"):
        told = callers(*(["--library", glob] if glob else []), status=1)
        at = {p[1:] for p in places(told)}
        is_named = glob and "nowhere" not in glob
        equal((("callers.c", caller) in at, ("pmalloc.c", header) in at), (bool(is_named), not is_named), f"the place with --library {glob}")
        equal(told.get("library_globs"), [glob] if glob else None)
        ids[bool(is_named)] = {b["id"] for b in told["bugs"]}
    assert ids[True] != ids[False], "ids follow the line that is shown"


def test_what_pmdk_does_on_its_own():
    told = callers(status=1)
    equal([lib["library"] for lib in told["libraries"]], ["libpmemobj"])
    shown = callers("--libraries", status=1)
    inside = [b for b in shown["bugs"] if b.get("library") == "libpmemobj"]
    equal((len(inside), {b["severity"] for b in inside}), (told["libraries"][0]["bugs"], {"performance"}))
    equal(len(shown["bugs"]) - len(inside), len(told["bugs"]))
    trace = recording(os.path.abspath("build/tests/corpus/obj_correct_O0"))[1]
    status, out, _ = pmend("check", trace)
    equal(status, 0)
    contains(out, " findings inside libpmemobj: --libraries shows them.\n")
    for options, want in ((["--libraries"], 0), (["--fail-on", "libraries"], 1), (["--libraries", "--fail-on", "libraries"], 1), (["--fail-on", "performance"], 0)):
        equal(pmend("check", "-q", *options, trace)[0], want, f"the status with {options}")


def test_severity():
    with folder() as d:
        pool = os.path.join(d, "a pool")
        wasteful = ["--platform", "eadr", "--", POOL, pool]  # where flushes achieve nothing
        every = judged("check", *wasteful, status=0)
        equal({b["severity"] for b in every["bugs"]}, {"performance"})
        equal(len(judged("check", "--severity", "performance", *wasteful, status=0)["bugs"]), len(every["bugs"]))
        equal(judged("check", "--severity", "correctness", *wasteful, status=0)["bugs"], [])
        equal(len(judged("check", "--severity", "correctness", "--", WORDS, pool, status=1)["bugs"]), 4)
        contains(pmend("check", "--severity", "correctness", *wasteful)[1], f"(hidden by --severity: {len(every['bugs'])})")
        contains(pmend("check", *wasteful)[1], "\n0 bugs, 1 performance note, on eadr, in ")
        fails(pmend("check", "--severity", "high", *wasteful), 2, "--severity is one of correctness, performance, porting")
        fails(pmend("check", "--severity", "correctness", "--fail-on", "performance", *wasteful), 2, "hides what --fail-on performance counts")


def test_a_pool_is_made_in_one_step():
    """Its recovery opens what is there: a file that is empty kills libpmemobj, which is not the program's bug."""
    opener = os.path.abspath("build/tests/cli/opener")
    with folder() as d:
        pool, trace = os.path.join(d, "a pool"), os.path.join(d, "t.pmt")
        equal(pmend("record", "-q", "-o", trace, "--", opener, "make", pool)[0], 0)
        points = {}
        for option in ([], ["--pool-creation"]):
            told = judged("crash", "--jobs", "1", "--sample", "20", *option, "--recover", f"{opener} open {{}}", trace, status=0)
            points[bool(option)] = told["coverage"]["failure_points"]
            equal((told["bugs"], [lib["library"] for lib in told.get("libraries", [])]), ([], ["libpmemobj"] if option else []))
        assert points[False] < points[True], points
        told = judged("crash", "--jobs", "1", "--sample", "20", "--pool-creation", "--libraries", "--recover", f"{opener} open {{}}", trace, status=0)
        equal([(b["kind"], b["library"]) for b in told["bugs"]], [("recovery-failure", "libpmemobj")])
        contains(told["bugs"][0]["crash"]["outcome"], "SIGBUS")
        contains(told["bugs"][0]["crash"]["replay"], "--pool-creation")


def test_words_say_what_they_are_used_for():
    with folder() as d:
        told = judged("check", "--", WORDS, os.path.join(d, "a pool"), status=1)
        said = {b["locations"][0]["function"]: b["message"].split("; ")[-1] for b in told["bugs"]}
        equal(said["counter"], "the word is only incremented, like a counter")
        equal(said["lock"], "the word is only used as a lock")
        for other in ("tail", "flag"):
            assert "the word" not in said[other], said[other]
