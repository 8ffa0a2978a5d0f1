"""pmend check: exit statuses, formats, filters. What it finds is for tests/corpus."""
import json
import os

from cli import ARCH, PMEND, contains, equal, fails, folder, need_pool, pmend, run, write

OWN = ["eadr", "msync", "arm64", "arm64-poc"] if ARCH == "arm64" else ["x86-adr", "eadr", "msync"]  # platforms of this machine
FLUSHING = [p for p in OWN if p not in ("eadr", "msync")]  # those of them where flushes matter; the first is the default
MISSING = "build/tests/corpus/missing_flush_O0"
CORRECT = "build/tests/cli/pool"
HAS_LIBPMEM = {"LD_PRELOAD": "libpmem.so.1"}  # which flushes or calls msync, whatever the program does


def check(d, *options, program=MISSING):
    return pmend("check", *options, "--", program, os.path.join(d, "a pool"))


def test_statuses_and_formats():
    with folder() as d:
        trace, report = os.path.join(d, "t.pmt"), os.path.join(d, "r.json")
        equal(pmend("record", "-q", "-o", trace, "--", MISSING, os.path.join(d, "a pool"), env=HAS_LIBPMEM)[0], 0)
        equal(pmend("check", "--format", "json", "-o", report, trace)[0], 1, "the status when bugs are found")
        with open(report, encoding="utf-8") as f:
            told = json.load(f)
        equal(told["platform"], FLUSHING[0])
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
        fails(pmend("check", "--platform", "msync", trace), 3, f"recorded for {FLUSHING[0]}", "--platform msync")
        all_platforms_of_a_trace(trace)
        only_performance(d, trace)


def test_text_is_short_and_says_what_is_not_covered():
    """Frames of the C library are shown with -v only. Where no correctness bug is found, the text names what check does not look for; -q does not."""
    with folder() as d:
        trace = os.path.join(d, "t.pmt")
        equal(pmend("record", "-q", "-o", trace, "--", MISSING, os.path.join(d, "a pool"))[0], 0)
        short, whole, quiet = (pmend("check", *options, trace)[1] for options in ([], ["-v"], ["-q"]))
        equal(("start_thread" in short, "start_thread" in whole, "by work_thread" in short), (False, True, True), "frames of the C library")
        contains(short, ", in libc: memset\n")
        equal("pmend crash" in short + whole + quiet, False, "what is not covered, beside a correctness bug")
        equal(len(quiet.splitlines()), len(json.loads(pmend("check", "--format", "json", trace)[1])["bugs"]), "the lines of -q")
        said = "Ordering and atomicity bugs were not looked for: 'pmend crash' finds them"
        contains(pmend("check", "--only", "asserts", trace)[1], said)
        contains(json.loads(pmend("check", "--format", "json", trace)[1])["coverage"]["not_covered"], said)
        equal(pmend("check", "-q", "--only", "asserts", trace)[1:], ("", ""), "what -q prints of nothing")


def only_performance(d, trace):
    """On eadr, flushes achieve nothing: that is shown, but no reason to fail unless --fail-on asks for it."""
    command = ["check", "--platform", "eadr", "--format", "json"]
    status, out, _ = pmend(*command, trace)
    equal((status, {b["severity"] for b in json.loads(out)["bugs"]}), (0, {"performance"}))
    equal(pmend(*command, "--fail-on", "performance", trace)[0], 1)
    equal(pmend(*command, "--fail-on", "porting", trace)[0], 0)
    program = ["--platform", "eadr", "-q", "--", CORRECT, os.path.join(d, "another pool")]
    equal(pmend("test", *program)[0], 0)
    equal(pmend("test", "--fail-on", "performance", *program)[0], 1)


def all_platforms_of_a_trace(trace):
    """What one trace can tell about all platforms, and what it cannot."""
    status, out, _ = pmend("check", "--platform", "all", "--format", "json", trace)
    told = json.loads(out)
    equal((status, told["platform"], told["platforms"]), (1, "all", [p for p in OWN if p != "msync"]))
    equal({tuple(b["platforms"]) for b in told["bugs"] if b["kind"] == "missing-flush"}, {tuple(FLUSHING)})
    equal({tuple(b["platforms"]) for b in told["bugs"] if b["kind"] == "flush-clean"}, {("eadr",)})
    equal(told["coverage"]["complete"], False)
    contains(told["coverage"]["why_incomplete"], "not analysed for msync: libpmem flushed when")
    contains(told["coverage"]["why_incomplete"], "'pmend record --platform msync'")
    text = pmend("check", "--platform", "all", trace)[1]
    contains(text, f"  loses data on {', '.join(FLUSHING)}; safe on eadr\n")
    contains(text, f"  costs time on eadr; not on {', '.join(FLUSHING)}, so a program for all of them must keep it\n")
    result = json.loads(pmend("check", "--platform", "all", "--format", "sarif", trace)[1])["runs"][0]["results"][0]
    equal(result["properties"]["platforms"], FLUSHING)
    contains(result["message"]["text"], "safe on eadr")


def test_all_platforms_of_a_program():
    need_pool()
    before = bytes(range(256)) * 32
    with folder() as d:
        pool = write(os.path.join(d, "a pool"), before)
        os.chmod(pool, 0o640)
        status, out, err = pmend("check", "--platform", "all", "--format", "json", "--", CORRECT, pool, env=HAS_LIBPMEM)
        told = json.loads(out)
        equal((status, told["platforms"], told["coverage"]["complete"]), (1, OWN, True))
        equal(err, f"pmend: running the program once more, for msync\npmend: {pool} held data before the run; --fresh starts without it\n")
        equal([(b["kind"], b["platforms"]) for b in told["bugs"]], [("missing-flush", ["msync"]), ("flush-clean", ["eadr", "msync"])])
        with open(pool, "rb") as f:
            equal(f.read() == before[:64] + b"\x2a" + bytes(7) + before[72:], True, "the pool is as after one run")
        equal((os.listdir(d), os.stat(pool).st_mode & 0o777), (["a pool"], 0o640))


def test_all_platforms_refuses():
    """A pool that cannot be put back exactly is not touched."""
    need_pool()
    with folder() as d:
        pool = write(os.path.join(d, "a pool"), bytes(8192))
        os.link(pool, os.path.join(d, "other name"))
        status, out, err = pmend("check", "--platform", "all", "--", CORRECT, pool, env=HAS_LIBPMEM)
        equal((status, err), (3, ""))
        contains(out, "not analysed for msync: the program cannot be run again from the same state: ")
        contains(out, "has several names")
        equal((sorted(os.listdir(d)), os.stat(pool).st_nlink), (["a pool", "other name"], 2))


def test_ids_stay_when_lines_move():
    """The same program with ten lines more above, whose source cannot be read."""
    need_pool()
    with folder() as d:
        ids = []
        for name in ("ids", "ids_moved"):
            told = json.loads(pmend("check", "--format", "json", "--", f"build/tests/cli/{name}", os.path.join(d, "pool"))[1])
            ids.append(sorted((b["kind"], b["id"]) for b in told["bugs"]))
            lines = sorted(b["locations"][0]["line"] for b in told["bugs"])
            assert all(b["locations"][0]["function_line"] for b in told["bugs"]), told
            ids[-1].append([n - (10 if name == "ids_moved" else 0) for n in lines])
        assert len(ids[0]) > 3, ids
        equal(ids[1], ids[0])


def test_leaves_nothing_behind():
    need_pool()
    with folder() as d:
        status, _, err = run(*pmend_command(d), env={"TMPDIR": d})
        equal((status, err, sorted(os.listdir(d))), (1, "", ["a pool"]))


def pmend_command(d):
    return [os.path.abspath("build/pmend"), "check", "-q", "--", MISSING, os.path.join(d, "a pool")]


def test_report_is_whole_or_not_at_all():
    """The file may not grow: an error, the old report stays, and nothing lies beside it."""
    need_pool()
    with folder() as d:
        trace, report, small = (os.path.join(d, name) for name in ("t.pmt", "r.json", "small.json"))
        equal(pmend("record", "-q", "-o", trace, "--", MISSING, os.path.join(d, "a pool"))[0], 0)
        write(report, "the old one")
        before = sorted(os.listdir(d))
        for form in ("json", "html", "text", "sarif"):
            for path in (report, small):
                limited = run("sh", "-c", 'ulimit -f 1; exec "$0" "$@"', PMEND, "check", "--format", form, "-o", path, trace)
                fails(limited, 3, f"cannot write {path}: File too large")
                equal(sorted(os.listdir(d)), before)
                with open(report, encoding="utf-8") as f:
                    equal(f.read(), "the old one")
        fails(pmend("check", "-o", os.path.join(d, "no", "r"), "--", MISSING, os.path.join(d, "new pool")), 3, "No such file")
        equal(sorted(os.listdir(d)), before, "nothing is recorded if the report cannot be written")
        fails(pmend("check", "-o", "/dev/full", trace), 3, "cannot write /dev/full: No space left")
        os.chmod(report, 0o640)
        os.symlink("r.json", small)
        equal(pmend("check", "--format", "json", "-o", small, trace)[0], 1)
        equal((os.path.islink(small), os.stat(report).st_mode & 0o777), (True, 0o640), "a link stays one, permissions stay")
        with open(report, encoding="utf-8") as f:
            assert json.load(f)["bugs"]


def test_nothing_stored():
    """A program that stores nothing shows nothing: that is no complete analysis."""
    need_pool()
    with folder() as d:
        pool = write(os.path.join(d, "a pool"), bytes(8192))
        command = ["--", "build/tests/cli/maps", "-n", pool]
        status, out, _ = pmend("check", "--format", "json", *command)
        coverage = json.loads(out)["coverage"]
        equal((status, coverage["complete"], coverage["why_incomplete"]), (0, False, "the program stored nothing to persistent memory"))
        equal(pmend("check", "-q", "--fail-on", "incomplete", *command)[0], 1)


def test_without_crashes():
    """`pmend test` without a recovery says that no crash was explored."""
    need_pool()
    with folder() as d:
        said = "Crashes were not explored, so ordering and atomicity bugs were not looked for: that needs --recover, --check or --dump"
        for before in ("", "second "):
            contains(pmend("test", "--", CORRECT, os.path.join(d, before + "pool"))[1], said)
        recovered = pmend("test", "--recover", "build/tests/cli/maps -n {}", "--", CORRECT, os.path.join(d, "third pool"))
        equal((recovered[0], said in recovered[1]), (0, False))


def test_wrong_usage():
    for command in ("check", "crash"):
        fails(pmend(command, "--pm", "*", "x.pmt"), 2, "--pm applies only to recording a program")
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
        status, out, _ = pmend("check", write(os.path.join(d, "cut.pmt"), data[:16384 + 48 + 150]))
        assert status in (1, 3), status
        contains(out, "incomplete")


def test_broken_traces():
    """The cause comes first; --platform is no advice where nothing can be read."""
    need_pool()
    with folder() as d:
        trace = os.path.join(d, "t.pmt")
        equal(pmend("record", "-q", "-o", trace, "--", CORRECT, os.path.join(d, "a pool"))[0], 0)
        with open(trace, "rb") as f:
            data = f.read()
        broken = [(b"", "empty file, not a trace; record again"), (data[:100], "truncated: 100 bytes"),
                  (data[:12] + b"\0\0\0\0" + data[16:], "the header is damaged"), (data[:16384 + 60], "the file is truncated")]
        for content, cause in broken:
            path = write(os.path.join(d, "broken.pmt"), content)
            for command in (["check"], ["check", "--platform", "all"], ["crash", "--recover", "/bin/true {}"]):
                result = pmend(*command, path)
                fails(result, 3, "record again")
                assert result[2].startswith(f"pmend: {path}: {cause}"), result[2]
                assert "--platform" not in result[2], result[2]


def test_what_the_recorder_could_not_see():
    """A program that was started and not recorded may have changed the pool: no complete analysis, by check and by crash."""
    with folder() as d:
        trace = os.path.join(d, "t.pmt")
        equal(pmend("record", "-q", "--no-follow", "-o", trace, "--", "build/tests/recorder/fork", d, "exec-unseen")[0], 0)
        for command in (["check"], ["crash", "--recover", "cmp -s {} {}"]):
            coverage = json.loads(pmend(*command, "--format", "json", trace)[1])["coverage"]
            equal((coverage["complete"], coverage["why_incomplete"]), (False, "the executed program is not recorded"))


def test_several_traces():
    """One report: a bug that several traces show is one, with its id, and counts add up. Traces of different platforms need a word about it."""
    with folder() as d:
        for name, platform in (("a.pmt", FLUSHING[0]), ("b.pmt", FLUSHING[0]), ("c.pmt", "eadr")):
            equal(pmend("record", "-q", "--platform", platform, "-o", name, "--", os.path.abspath(MISSING), f"pool of {name}", cwd=d)[0], 0)
        one, two = (json.loads(pmend("check", "--format", "json", *names, cwd=d)[1]) for names in (["a.pmt"], ["a.pmt", "b.pmt"]))
        equal([b["id"] for b in two["bugs"]], [b["id"] for b in one["bugs"]], "the list of ids")
        equal([b["count"] for b in two["bugs"]], [2 * b["count"] for b in one["bugs"]], "the list of counts")
        equal((two["coverage"]["events"], two["coverage"]["complete"]), (2 * one["coverage"]["events"], True), "the coverage")
        equal(two["command"], [], "the command, which is another one in each trace")
        equal(pmend("check", "-q", "a.pmt", "b.pmt", cwd=d)[0], 1, "the status")
        fails(pmend("check", "a.pmt", "c.pmt", cwd=d), 3, f"a.pmt was recorded for {FLUSHING[0]} and c.pmt for eadr; choose one platform with --platform")
        equal(pmend("check", "--platform", FLUSHING[0], "a.pmt", "c.pmt", cwd=d)[0], 1, "the status on one platform")
        fails(pmend("check", "a.pmt", "none.pmt", cwd=d), 3, "cannot open none.pmt")


def test_test_of_a_trace():
    """`pmend test` takes a trace, too: the report is that of the recording."""
    with folder() as d:
        program = os.path.abspath(MISSING)
        equal(pmend("record", "-q", "-o", "a.pmt", "--", program, "pool", cwd=d)[0], 0)
        status, told, _ = pmend("test", "--format", "json", "a.pmt", cwd=d)
        os.remove(os.path.join(d, "pool"))
        recorded = pmend("test", "--format", "json", "--", program, "pool", cwd=d)
        equal((status, [(b["id"], b["count"]) for b in json.loads(told)["bugs"]]), (recorded[0], [(b["id"], b["count"]) for b in json.loads(recorded[1])["bugs"]]), "status and bugs")
        for option in (["--fresh"], ["--pm", "*"], ["--trace", "b.pmt"]):
            fails(pmend("test", *option, "a.pmt", cwd=d), 2, f"{option[0]} applies only to recording a program")


def test_sources_from_elsewhere():
    """A source is found where it was compiled, from whatever folder pmend runs in."""
    with folder() as d:
        told = json.loads(pmend("check", "--format", "json", "--", os.path.abspath(MISSING), "pool", cwd=d)[1])
        contains(told["bugs"][0]["locations"][0].get("text", ""), "/* BUG: missing-flush */")


def test_format_of_the_file():
    """-o report.json is JSON, -o report.html a page; --format wins."""
    with folder() as d:
        for name, options, start in (("r.json", [], '{'), ("r.html", [], "<!DOCTYPE html>"), ("r.sarif", [], '{'), ("r.txt", [], "tests/corpus/"), ("t.json", ["--format", "text"], "tests/corpus/")):
            path = os.path.join(d, name)
            equal(check(d, *options, "-o", path)[0], 1)
            with open(path, encoding="utf-8") as f:
                equal(f.read(len(start)).lower(), start.lower(), name)
        equal(pmend("show", "-o", os.path.join(d, "again.html"), os.path.join(d, "r.json"))[0], 0)
        with open(os.path.join(d, "again.html"), encoding="utf-8") as f:
            contains(f.read(100).lower(), "<!doctype html>")
