"""The project file, .pmend: what it may say, where it is looked for, whom it is trusted from, and tests that it names."""
import json
import os
import shutil
import stat

from cli import Skip, contains, equal, fails, folder, imported, need_pool, pmend, run, write
from test_junit import BUGGY, CLEAN, WASTEFUL, outcomes, parse

BUILD = os.path.abspath("build")
GOOD, BAD = f"{BUILD}/examples/append_log", f"{BUILD}/examples/append_log_buggy"


def project(d, text, mode=0o644):
    """Its path; the search ends in d, whatever is above."""
    os.makedirs(os.path.join(d, ".git"), exist_ok=True)
    path = os.path.join(d, ".pmend")
    if os.path.lexists(path):
        os.unlink(path)
    write(path, text)
    os.chmod(path, mode)
    return path


def check(d, *options, cwd=None, env=None):
    """`pmend check` of a trace without a bug; a file that is used may change what it prints."""
    return pmend("check", *options, os.path.join(d, "clean.pmt"), cwd=cwd or d, env=env)


def with_trace():
    d = folder()
    imported(d.name, CLEAN, "clean.pmt")
    imported(d.name, WASTEFUL, "wasteful.pmt")
    return d


def test_options_of_a_command():
    """Those of the file count, those of the command line count more, --no-project ignores all; the report says what was in force."""
    with with_trace() as d:
        path = project(d, "# a comment\n[check]\n  fail-on = performance  \n\n[crash]\nmax-time = 5\n")
        status, out, err = pmend("check", "--format", "json", "wasteful.pmt", cwd=d)
        equal((status, err), (1, f"pmend: options of [check] in {path}\n"))
        equal(json.loads(out)["project"], {"file": path, "options": ["--fail-on", "performance", "--format", "json"]})
        status, out, err = pmend("check", "--no-project", "--format", "json", "wasteful.pmt", cwd=d)
        equal((status, err, "project" in json.loads(out)), (0, "", False))
        project(d, "[check]\nseverity = correctness\nformat = text\nlibrary = a/*\nlibrary = b/*\nlibraries = no\n")
        out = pmend("check", "--severity=warning", "--format", "json", "--library", "c", "wasteful.pmt", cwd=d)[1]
        report = json.loads(out)
        equal(len(report["bugs"]), 1, "the bugs with the command line's severity")
        equal(report["project"]["options"], ["--library", "a/*", "--library", "b/*", "--severity", "warning", "--format", "json", "--library", "c"])
        equal(pmend("check", "wasteful.pmt", cwd=d)[1].count("hidden by --severity: 1"), 1)
        project(d, "[check]\npm = /mnt/*\nfresh = yes\n")
        equal(check(d)[0], 0, "what is about recording does not concern a trace")
        project(d, "[crash]\nmax-time = 5\n")
        equal(check(d)[2], "", "nothing is said of a file that says nothing of the command")


def test_paths_of_the_file():
    """They are meant from its folder."""
    with with_trace() as d:
        equal(pmend("check", "--format", "json", "-o", "known.json", "wasteful.pmt", cwd=d)[0], 0)
        project(d, "[check]\nbaseline = known.json\nfail-on = performance\n")
        os.mkdir(os.path.join(d, "sub"))
        equal(pmend("check", "../wasteful.pmt", cwd=os.path.join(d, "sub"))[0], 0)


MISTAKES = (
    (".pmend:2", "[check]\nonyl = durability\n", "'pmend check' has no option 'onyl', did you mean 'only'?"),
    (".pmend:1", "[chekc]\n", "no section [chekc]"),
    (".pmend:1", "[merge]\n", "no section [merge]"),
    (".pmend:1", "[check\n", "a section looks like"),
    (".pmend:1", "[check one]\n", "only tests have a name"),
    (".pmend:1", "[test a/b]\n", "the name of a test"),
    (".pmend:1", "only = x\n", "no section stands before"),
    (".pmend:3", "[check]\n# x\nonly durability\n", "KEY = VALUE"),
    (".pmend:2", "[check]\n= x\n", "a key is missing"),
    (".pmend:2", "[check]\nonly =  \n", "has no value"),
    (".pmend:3", "[check]\n\n[check]\n", "the same section is in line 1"),
    (".pmend:3", "[check]\nbaseline = a\nbaseline = b\n", "stands in line 2, too"),
    (".pmend:2", "[check]\nlibraries = true\n", "is yes or no, not 'true'"),
    (".pmend:2", "[crash]\nmax-time = soon\n", "needs a number, not 'soon'"),
    (".pmend:2", "[crash]\nreplay = 1\n", "only be given on the command line"),
    (".pmend:2", "[crash]\nno-project = yes\n", "only be given on the command line"),
    (".pmend:1", "[test a]\nrecover = x\n", "test a has no command"),
    (".pmend:2", "[test a]\ncommand = x 'y\n", "a quote is not closed"),
    (".pmend:3", "[test a]\ncommand = x\nformat = json\n", "belongs into [test]"),
    (".pmend:2", "[test]\ncommand = x\n", "has no option 'command'"),
    (".pmend:2", "[check]\nplatform = vax\n", "--platform"),
    (".pmend:3", "[check]\nlibraries = yes\nformat = yaml\n", "--format is one of"),
    (".pmend", "[check]\n\0\n", "NUL"),
)


def test_mistakes():
    """Whatever section it is in, a mistake ends with 2, and says file and line."""
    with with_trace() as d:
        for place, text, message in MISTAKES:
            project(d, text)
            status, out, err = check(d)
            lines = [line for line in err.splitlines() if not line.startswith("pmend: options of ")]
            fails((status, out, "\n".join(lines)), 2, f"pmend: {d}/{place}: ", message)


def test_nobody_else():
    """Replays, parts, merges and bundles do what they were told, whatever a file says now. Commands without options of their own do not look."""
    with with_trace() as d:
        project(d, "[nonsense]\n")
        fails(check(d), 2, "no section")
        equal(check(d, "--shard", "1/1", "-o", "part.json")[0], 0)
        equal(pmend("merge", "part.json", cwd=d)[0], 0)
        equal(pmend("show", "clean.pmt", cwd=d)[0], 0)
        fails(pmend("crash", "--replay", "1", "--recover", "/bin/true", "missing.pmt", cwd=d), 3, "missing.pmt")
        fails(pmend("crash", "missing.pmb", cwd=d), 3, "missing.pmb")
        fails(pmend("fix", "-p", ".", "--verify", "make", "missing.json", cwd=d), 3, "missing.json")
        equal(pmend("help", "check", cwd=d)[0], 0)
        equal(pmend("check", "-h", cwd=d)[0], 0)


def test_search():
    """Up to a folder with .git or $HOME, which are searched, too; not out of the owner's folders."""
    used = "[check]\nfail-on = performance\n"
    with with_trace() as d:
        deep = os.path.join(d, "a", "b")
        os.makedirs(deep)
        path = write(os.path.join(d, ".pmend"), used)
        os.chmod(path, 0o644)

        def status(home="/nowhere"):
            return pmend("check", os.path.join(d, "wasteful.pmt"), cwd=deep, env={"HOME": home})[0]
        equal(status(), 1, "the status with a file above")
        equal(status(home=d), 1, "$HOME itself is searched")
        equal(status(home=os.path.join(d, "a")), 0, "above $HOME, nothing is")
        write(os.path.join(d, "a", ".git"), "gitdir: elsewhere\n")
        equal(status(), 0, "above .git, nothing is searched")
        write(os.path.join(d, "a", ".pmend"), "[check]\nseverity = correctness\n")
        os.chmod(os.path.join(d, "a", ".pmend"), 0o644)
        equal(status(), 0, "the nearest file counts")
        os.unlink(os.path.join(d, "a", ".git"))
        os.unlink(os.path.join(d, "a", ".pmend"))
        equal(status(), 1)
        if os.geteuid() == 0:
            os.chown(os.path.join(d, "a"), 12345, -1)
            equal(status(), 0, "above a folder of somebody else, nothing is searched")


def test_mount():
    """Above a mount, nothing is searched, also if the same file system is mounted there once more."""
    with with_trace() as d:
        os.makedirs(os.path.join(d, "m"))
        os.chmod(write(os.path.join(d, ".pmend"), "[check]\nfail-on = performance\n"), 0o644)
        script = 'mount --bind "$0" "$0" && cd "$0" && exec "$1" check ../wasteful.pmt'
        args = ("sh", "-c", script, os.path.join(d, "m"), os.path.join(BUILD, "pmend"))
        status, out, err = run("unshare", *([] if os.geteuid() == 0 else ["-r"]), "-m", *args, env={"HOME": "/nowhere"})
        if "unshare" in err or "mount" in err:
            raise Skip(f"no mounts here: {err.strip()[:60]}")
        equal((status, err), (0, ""))
        equal(pmend("check", "../wasteful.pmt", cwd=os.path.join(d, "m"), env={"HOME": "/nowhere"})[0], 1, "without the mount")


def test_trust():
    with with_trace() as d:
        for mode in (0o664, 0o646, 0o666):
            path = project(d, "[check]\nonly = durability\n", mode)
            fails(check(d), 2, path, "others may write it")
            equal(check(d, "--no-project")[0], 0)
        project(d, "[check]\nonly = durability\n")
        equal(check(d)[0], 0)
        os.chmod(d, 0o777)
        fails(check(d), 2, "others may replace it")
        os.chmod(d, 0o700)
        os.unlink(path)
        os.mkdir(path)
        fails(check(d), 2, "it is not a file")
        os.rmdir(path)
        os.mkfifo(path, 0o600)
        fails(check(d), 2, "it is not a file")
        os.unlink(path)
        if os.geteuid() == 0:
            project(d, "[check]\nonly = durability\n")
            os.chown(path, 12345, -1)
            fails(check(d), 2, "it belongs to another user")


def test_values_stay_whole():
    """A command is what stands behind the first =, whatever is in it, and however long it is."""
    need_pool()
    words = ["sh", "-c", 'printf "%s\n" "$@" >words ; ' + f'"{GOOD}" "$1" a', "x", "{pool}", "a;b", "# no comment", "a=b", "key : value", "it's", "\\", "q\"q", "x" * 4000, " blanks  inside ", "ü"]
    line = """sh -c 'printf "%%s\\n" "$@" >words ; "%s" "$1" a' x {pool} a;b "# no comment" a=b 'key : value' "it's" '\\' q\\"q %s ' blanks  inside ' ü""" % (GOOD, "x" * 4000)
    with folder() as d:
        project(d, f"[test]\n[test long]\ncommand = {line}\n")
        status, out, err = pmend("test", cwd=d)
        equal(status, 0, err)
        with open(os.path.join(d, "words"), encoding="utf-8") as f:
            got = f.read().splitlines()
        equal(got[1:], words[5:])
        contains(got[0], "/pool")
        project(d, f"[test]\r\n[test long]\r\ncommand = {GOOD} {{pool}} a\r\nrecover = sh -c '{GOOD} \"$0\" ; exit $?' {{}}\r\n")
        status, out, err = pmend("test", "--format", "json", "-o", "r.json", cwd=d)
        equal(status, 0, err)
        with open(os.path.join(d, "r.json"), encoding="utf-8") as f:
            report = json.load(f)
        equal(report["crash_options"][:2], ["--recover", f"sh -c '{GOOD} \"$0\" ; exit $?' {{}}"])
        equal(report["project"]["test"], "long")
        equal("tests" in report, False, "a single test has a plain report")


def test_init():
    with folder() as d:
        fails(pmend("test", cwd=d, env={"HOME": d}), 2, "pmend init")
        old = os.umask(0)
        try:
            status, out, err = pmend("init", cwd=d)
        finally:
            os.umask(old)
        equal((status, err), (0, ""))
        contains(out, "wrote .pmend")
        equal(stat.S_IMODE(os.stat(os.path.join(d, ".pmend")).st_mode), 0o644)
        fails(pmend("init", cwd=d), 3, ".pmend is there already")
        fails(pmend("init", "x", cwd=d), 2, "takes no arguments")
        status, _, err = pmend("test", cwd=d)
        equal(status, 3)
        contains(err, "cannot run ./app")
        need_pool()
        shutil.copy(GOOD, os.path.join(d, "app"))
        with open(os.path.join(d, ".pmend"), encoding="utf-8") as f:
            text = f.read()
        contains(text, "\ncommand = ./app {pool}\n")
        write(os.path.join(d, ".pmend"), text.replace("\ncommand = ./app {pool}\n", "\ncommand = ./app {pool} hello\n"))
        equal(pmend("test", "first", cwd=d)[0], 0, "what init wrote can be run")


THREE = f"""[test]
jobs = 1
seed = 1
[test good]
command = {GOOD} {{pool}} hello
recover = {GOOD} {{}}
[test bad]
command = {BAD} {{pool}} hello
recover = {BAD} {{}}
[test dead]
command = ./nothing {{pool}}
"""


def bugs_of(report, test=None):
    return [{k: v for k, v in b.items() if k != "test"} for b in report["bugs"] if b.get("test") == test]


def read(d, name):
    with open(os.path.join(d, name), encoding="utf-8") as f:
        return json.load(f)


def test_several_tests():
    """One report; the worst status; one that fails does not stop the others; each test as if it had run alone."""
    need_pool()
    with folder() as d:
        project(d, THREE.replace("[test bad]", "[test dead]\ncommand = ./nothing {pool}\n[test bad]", 1).rsplit("[test dead]", 1)[0])
        status, out, err = pmend("test", "--format", "json", "-o", "all.json", cwd=d)
        equal(status, 3, err)
        equal([l for l in err.splitlines() if l.startswith("pmend: test ")],
              [f"pmend: test {name} ({i} of 3) of {d}/.pmend" for i, name in enumerate(("good", "dead", "bad"), 1)])
        contains(err, "cannot run ./nothing")
        report = read(d, "all.json")
        equal([t["project"]["test"] for t in report["tests"]], ["good", "dead", "bad"])
        equal([t.get("failure", {}).get("what") for t in report["tests"]], [None, "analysis", None])
        equal((report["coverage"]["events"], report["coverage"]["complete"]), (sum(t["coverage"]["events"] for t in report["tests"] if "coverage" in t), False))
        for name, want in (("good", 0), ("bad", 1)):
            equal(pmend("test", "--format", "json", "-o", f"{name}.json", name, cwd=d)[0], want)
            alone, of = read(d, f"{name}.json"), next(t for t in report["tests"] if t["project"]["test"] == name)
            equal([b["id"] for b in bugs_of(report, name)], [b["id"] for b in alone["bugs"]])
            equal([b["locations"] for b in bugs_of(report, name)], [b["locations"] for b in alone["bugs"]])
            equal(of["coverage"]["states"], alone["coverage"]["states"])
        equal(len(report["bugs"]), len(read(d, "bad.json")["bugs"]))

        text = pmend("show", "all.json", cwd=d)[1]
        for part in ("== test good ==\nNo bugs found, ", "== test dead ==\nIt failed: cannot run ./nothing", "== test bad ==\n", "\nbad: 1 bug.\n"):
            contains(text, part)
        suites = parse(pmend("show", "--format", "junit", "all.json", cwd=d)[1])
        equal([s.get("name") for s in suites], ["good", "dead", "bad"])
        equal([list(outcomes(s).values()).count("failure") for s in suites], [0, 0, 1])
        equal([list(outcomes(s).values()).count("error") for s in suites], [0, 1, 0])
        sarif = json.loads(pmend("show", "--format", "sarif", "all.json", cwd=d)[1])
        equal([r["automationDetails"]["id"] for r in sarif["runs"]], ["pmend/good/", "pmend/dead/", "pmend/bad/"])
        page = pmend("show", "--format", "html", "all.json", cwd=d)[1]
        contains(page, "good (0), dead (0), failed, bad (1)")
        contains(page, "in test bad ")
        equal(pmend("show", "--format", "json", "all.json", cwd=d)[1], open(os.path.join(d, "all.json"), encoding="utf-8").read(), "the report, read and written again")
        equal(pmend("show", "--fail-on", "correctness", "all.json", cwd=d)[0], 3, "the worst status of the saved report")
        fails(pmend("fix", "-p", ".", "all.json", cwd=d), 3, "several tests", "pmend test --format json")

        equal(pmend("test", "-q", "--baseline", "all.json", "good", "bad", cwd=d)[:2], (0, "0: hello\n" * 2), "nothing is new")
        equal(pmend("test", "-q", "--baseline", "good.json", "bad", "good", cwd=d)[0], 1, "the bug is new")


def test_names():
    need_pool()
    with folder() as d:
        project(d, THREE)
        fails(pmend("test", "baad", cwd=d), 2, ".pmend has no test 'baad', did you mean 'bad'?")
        fails(pmend("test", "good", "baad", cwd=d), 2, "no test 'baad'")
        fails(pmend("test", "--trace", "x.pmt", cwd=d), 2, "--trace is for one test")
        # a program and a trace are still what they are, with the options of [test]
        status, out, err = pmend("test", "--format", "json", "-o", "r.json", "--", GOOD, "{pool}", "x", cwd=d)
        equal((status, err), (0, f"pmend: options of [test] in {d}/.pmend\n"))
        equal(read(d, "r.json")["project"]["options"][:4], ["--jobs", "1", "--seed", "1"])
        equal(pmend("test", "--no-project", GOOD, "{pool}", "x", cwd=d)[0], 0)
        equal(pmend("test", GOOD, "{pool}", "x", cwd=d)[0], 0)
        project(d, "[check]\nonly = durability\n")
        fails(pmend("test", cwd=d), 2, "has no test")
        fails(pmend("test", "--no-project", cwd=d), 2, "pmend init")


def test_a_test_above():
    """A test runs in the project's folder, also from a folder below; what the command line names is meant from there."""
    need_pool()
    with folder() as d:
        sub = os.path.join(d, "sub")
        os.mkdir(sub)
        shutil.copy(GOOD, os.path.join(d, "app"))
        project(d, "[test one]\ncommand = ./app {pool} hello\nrecover = ./app {}\n[test two]\ncommand = ./app {pool} hello\n")
        for names in (["one"], []):
            equal(pmend("test", "--format", "json", "-o", "r.json", *names, cwd=sub)[0], 0)
            equal(bool(read(sub, "r.json")["bugs"]), False)
            os.unlink(os.path.join(sub, "r.json"))


def test_wrong_option_of_one_test():
    """Found when its turn comes: the others run all the same; the status is the worst."""
    need_pool()
    with folder() as d:
        project(d, f"[test a]\ncommand = {GOOD} {{pool}} x\nplatform = vax\n[test b]\ncommand = {GOOD} {{pool}} x\n")
        status, out, err = pmend("test", "-o", "r.xml", cwd=d)
        equal(status, 2)
        contains(err, f"{d}/.pmend:3: --platform")
        with open(os.path.join(d, "r.xml"), encoding="utf-8") as f:
            equal([outcomes(s) for s in parse(f.read())], [{"analysis": "error"}, {"check": "passed"}])
