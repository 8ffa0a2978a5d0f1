"""--format junit: valid by our own schema, what fails and what passes, and what exit status 3 becomes. `pmend show --fail-on`."""
import json
import os
import shutil
import xml.etree.ElementTree as ET

from cli import ARCH, Skip, contains, equal, fails, folder, imported, need_pool, pmend, run, write

SCHEMA = os.path.abspath("tests/cli/junit.xsd")
START = "==42== START|REGISTER_FILE;/mnt/pmem/a pool;0x4a5b000;0x2000;0x0"
STORE = "|STORE;0x4a5b040;0x2a;0x8;0x109201: update (/src/app.c:41);0x10927A: main (/src/app.c:77)"
FLUSH, FENCE = "|FLUSH;0x4a5b040;0x40", "|FENCE"
CLEAN, BUGGY, WASTEFUL = START + STORE + FLUSH + FENCE + "|STOP\n", START + STORE + "|STOP\n", START + STORE + FLUSH + FENCE + FENCE + "|STOP\n"


def parse(text, is_valid=True):
    """The suites of a report, which xmllint finds valid."""
    if not shutil.which("xmllint"):
        raise Skip("xmllint is not installed (libxml2-utils)")
    status, _, err = run("xmllint", "--noout", "--schema", SCHEMA, "-", stdin=text.encode())
    equal(status == 0, is_valid, err)
    return ET.fromstring(text).findall("testsuite")


def junit(*args, **kw):
    """Status, and the one suite."""
    status, out, _ = pmend(*args, **kw)
    suites = parse(out)
    equal(len(suites), 1)
    return status, suites[0]


def outcomes(suite):
    """What each testcase comes to; the numbers of the suite are theirs."""
    found = {c.get("name"): c[0].tag if len(c) else "passed" for c in suite.findall("testcase")}
    equal([int(suite.get(k)) for k in ("tests", "failures", "errors")],
          [len(found), list(found.values()).count("failure"), list(found.values()).count("error")])
    return found


def report_of(d, log, *options):
    """A JSON report; the status with which it was made."""
    path = os.path.join(d, "r.json")
    status = pmend("check", "--format", "json", "-o", path, *options, imported(d, log))[0]
    with open(path, encoding="utf-8") as f:
        return path, status, json.load(f)


def test_schema_can_fail():
    with folder() as d:
        good = pmend("check", "--format", "junit", imported(d, CLEAN))[1]
    parse(good)
    for old, new in (("<testcase ", "<case "), (' time="0"', ' time="0.2"'), ('id="0"', 'id="a"'), ("<system-err></system-err>", "")):
        contains(good, old)
        parse(good.replace(old, new), is_valid=False)


def test_clean_run_is_not_empty():
    with folder() as d:
        status, suite = junit("check", "--format", "junit", imported(d, CLEAN))
    equal((status, outcomes(suite)), (0, {"check": "passed"}))
    contains(suite.find("system-out").text, "No bugs found")


def test_what_fails_is_what_sets_the_status():
    with folder() as d:
        trace = imported(d, BUGGY)
        bug, = json.loads(pmend("check", "--format", "json", trace)[1])["bugs"]
        name = f"{bug['kind']} in update ({bug['id']})"
        status, suite = junit("check", "--format", "junit", trace)
        equal((status, outcomes(suite)), (1, {"check": "passed", name: "failure"}))
        failure = suite.find(".//failure")
        equal((failure.get("type"), failure.get("message")), (bug["kind"], bug["message"]))
        equal(failure.text.splitlines()[0], f"/src/app.c:41: {bug['kind']}: {bug['message']}", "the first line says the place")
        contains(failure.text, "by main (/src/app.c:77)")

        trace = imported(d, WASTEFUL, "wasteful.pmt")
        bug, = json.loads(pmend("check", "--format", "json", trace)[1])["bugs"]
        name = f"{bug['kind']} ({bug['id']})"  # a log does not say where fences are
        status, suite = junit("check", "--format", "junit", trace)
        equal((status, outcomes(suite)), (0, {"check": "passed", name: "passed"}))
        contains(suite.find("system-out").text, f"??: {bug['kind']}: ")
        status, suite = junit("check", "--format", "junit", "--fail-on", "performance", trace)
        equal((status, outcomes(suite)), (1, {"check": "passed", name: "failure"}))
        assert bug["kind"] not in suite.find("system-out").text, suite.find("system-out").text
        equal(junit("check", "--format", "junit", "--fail-on", "correctness", trace)[0], 0, "the status with what always counts")


def test_file_name():
    """The extension .xml is enough, and two runs write the same."""
    with folder() as d:
        trace, out = imported(d, BUGGY), os.path.join(d, "pmend.xml")
        equal(pmend("check", "-o", out, trace)[0], 1)
        with open(out, encoding="utf-8") as f:
            equal(f.read(), pmend("check", "--format", "junit", trace)[1])


def test_characters():
    """What XML forbids, in any notation, is replaced; the rest is itself."""
    hostile = "a \u0001 \x0b \ufffe \uffff <&\"'>]]> \u00fc \U0001f600 \r\n\t-- \x7f"
    with folder() as d:
        path, _, report = report_of(d, BUGGY)
        bug = report["bugs"][0]
        bug["message"], bug["kind"], bug["locations"][0]["function"] = hostile, "my-kind " + hostile, hostile
        report["command"] = ["/usr/bin/app " + hostile, hostile]
        write(path, json.dumps(report))
        status, suite = junit("show", "--format", "junit", path)
        equal(status, 0)
        want = hostile
        for c in "\u0001\x0b\ufffe\uffff":
            want = want.replace(c, "\ufffd")
        equal(suite.find(".//failure").get("message"), want)
        contains(suite.get("name"), "\ufffd <&\"'>]]> \u00fc \U0001f600 ")
        contains(suite.find(".//failure").text, "<&\"'>]]> \u00fc \U0001f600 ")


def test_failures_are_errors():
    """Exit status 3 is an error, also where there is no report in any other form."""
    with folder() as d:
        status, suite = junit("check", "--format", "junit", os.path.join(d, "missing.pmt"))
        equal((status, outcomes(suite)), (3, {"analysis": "error"}))
        contains(suite.find(".//error").get("message"), "missing.pmt")
        out = os.path.join(d, "out.xml")
        status, _, err = pmend("crash", "-o", out, "--recover", os.path.join(d, "missing"), imported(d, CLEAN))
        equal(status, 3)
        with open(out, encoding="utf-8") as f:
            equal(outcomes(parse(f.read())[0]), {"analysis": "error"})
        assert pmend("check", "--format", "junit", "--only", "nothing-like-this", imported(d, CLEAN))[:2] == (2, "")


def test_program_that_fails():
    need_pool()
    with folder() as d:
        for script, name in (("exit 7", "program"), ("exit 0", "analysis")):
            app = write(os.path.join(d, "app"), f"#!/bin/sh\n{os.path.abspath('build/tests/cli/pool')} $1 >/dev/null || exit 9\n{script}\n" if name == "program" else "#!/bin/sh\n")
            os.chmod(app, 0o755)
            status, suite = junit("check", "--format", "junit", "--", app, os.path.join(d, "a pool"), cwd=d)
            equal((status, suite.get("name")), (3, "app"))
            equal([n for n, o in outcomes(suite).items() if o == "error"], [name])
            report = os.path.join(d, "r.json")
            equal(pmend("check", "--format", "json", "-o", report, "--", app, os.path.join(d, "a pool"), cwd=d)[0], 3)
            if name == "program":
                equal(pmend("show", "--fail-on", "correctness", report)[0], 3, "the status of the saved report")
                equal(pmend("show", "--format", "junit", report)[1], pmend("check", "--format", "junit", "--", app, os.path.join(d, "a pool"), cwd=d)[1])


def test_show_exits_as_the_analysis():
    with folder() as d:
        for log, want in ((CLEAN, {}), (BUGGY, {"correctness": 1, "performance": 1, "incomplete": 1}), (WASTEFUL, {"performance": 1})):
            for word in ("correctness", "performance", "porting", "warning", "libraries", "incomplete"):
                path, status, _ = report_of(d, log, "--fail-on", word)
                if log != BUGGY:
                    equal(status, want.get(word, 0), f"the status of the analysis with {word}")
                equal(pmend("show", "--fail-on", word, path)[0], status, f"the status of the report with {word}")
                equal(pmend("show", path)[0], 0, "the status without --fail-on")
        path, _, report = report_of(d, WASTEFUL)
        equal(pmend("show", "--fail-on", "porting", "--fail-on", "performance", path)[0], 1, "several words")
        write(path, json.dumps(dict(report, coverage=dict(report["coverage"], complete=False, why_incomplete="it was late"))))
        equal([pmend("show", "--fail-on", w, path)[0] for w in ("correctness", "incomplete")], [0, 1], "an incomplete report")
        status, suite = junit("show", "--format", "junit", "--fail-on", "incomplete", path)
        equal((status, outcomes(suite)["complete"]), (1, "failure"))
        write(path, json.dumps(dict(report, libraries=[{"library": "libpmemobj", "bugs": 2}])))
        equal([pmend("show", "--fail-on", w, path)[0] for w in ("correctness", "libraries")], [0, 1], "findings inside a library")
        equal(outcomes(junit("show", "--format", "junit", "--fail-on", "libraries", path)[1])["findings inside libpmemobj"], "failure")
        for what, status in (("program", 3), ("analysis", 3)):
            write(path, json.dumps(dict(report, failure={"what": what, "text": "It failed"})))
            equal(pmend("show", "--fail-on", "correctness", path)[0], status)
            equal(pmend("show", "--fail-on", "performance", path)[0], 1, "a finding counts more")
        fails(pmend("show", "--fail-on", "everything", path), 2, "--fail-on is one of correctness, performance")
        fails(pmend("show", "--fail-on", "correctness", imported(d, CLEAN)), 2, "--fail-on needs a report")
