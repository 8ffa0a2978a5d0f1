"""pmend show: both formats, filters, totals, damage, pipes."""
import json
import os
import select
import subprocess

from cli import PMEND, contains, equal, events, fails, folder, imported, pmend, write

LOG = ("==42== START|REGISTER_FILE;/mnt/pmem/a pool;0x4a5b000;0x2000;0x0|op.BEGIN"
       "|STORE;0x4a5b040;0x2a;0x8;0x109201: update (/src/app.c:41);0x10927A: main (/src/app.c:77)"
       "|FLUSH;0x4a5b040;0x40|FENCE|STOP\n")


def test_text():
    with folder() as d:
        status, out, err = pmend("show", "--range", "6-", imported(d, LOG))
    equal((status, err), (0, ""))
    lines = out.splitlines()
    equal([line.split()[2] for line in lines], ["log", "meta", "meta", "store", "clwb", "sfence"])
    equal(lines[0].split(), ["6", "T1", "log", '"op.BEGIN"'])
    contains(lines[3], "  a pool+0x40  8  0x2a  update (app.c:41)")
    contains(lines[4], "  a pool+0x40  64")
    equal([line for line in lines if line != line.rstrip()], [], "lines that end in spaces")


def test_text_stacks():
    with folder() as d:
        out = pmend("show", "--stacks", "--kind", "store", imported(d, LOG))[1]
    equal([line.strip() for line in out.splitlines()[1:]], ["at update (app.c:41)", "by main (app.c:77)"])


def test_json():
    with folder() as d:
        e = events(imported(d, LOG), "--kind=store")
    equal(e, [{"seq": 9, "process": 0, "thread": 1, "kind": "store", "file": "/mnt/pmem/a pool", "offset": 64, "size": 8,
               "data": "2a00000000000000", "function": "update", "source": "/src/app.c", "line": 41}])


def test_json_escapes():
    log = b"START|REGISTER_FILE;/p/\"q\\\xff\xc3\xa4\t;0x1000;0x1000;0x0|m\xff|\xe2\x82\xac|STOP\n"
    with folder() as d:
        found = events(imported(d, log))
    equal([e["file"] for e in found if e["kind"] == "map"], ["/p/\"q\\\ufffd\u00e4\t"])
    equal([(e.get("text"), e.get("blob")) for e in found if e["kind"] == "log"], [(None, "6dff"), ("\u20ac", None)])


def test_text_is_safe():
    with folder() as d:
        out = pmend("show", imported(d, b"START|REGISTER_FILE;/p\x1b[2J;0x1000;0x1000;0x0|\x1b[31m|STOP\n"))[1]
    equal([c for c in out if ord(c) < 32 and c != "\n"], [], "control characters")


def test_range():
    with folder() as d:
        trace = imported(d, LOG)
        for text, want in (("2-4", [2, 3, 4]), ("10-", [10, 11]), ("-2", [1, 2]), ("5", [5]), ("50-60", [])):
            equal([e["seq"] for e in events(trace, "--range", text)], want, f"--range {text}")
        fails(pmend("show", "--range", "-", trace), 2, "--range")


def test_filters():
    with folder() as d:
        trace = imported(d, LOG)
        equal([e["kind"] for e in events(trace, "--kind", "store,clwb", "--kind", "sfence")], ["store", "clwb", "sfence"])
        equal(events(trace, "--thread", "2"), [])
        equal(events(trace, "--process", "1"), [])
        equal(len(events(trace, "--process", "0", "--thread", "1")), len(events(trace)))


def test_summary():
    with folder() as d:
        trace = imported(d, LOG)
        text = pmend("show", "--summary", trace)[1]
        total = json.loads(pmend("show", "--summary", "--format", "json", trace)[1])
    for part in ("11 events, 8 bytes stored", "platform: x86-adr", "/mnt/pmem/a pool: 8192 bytes",
                 "process 0 thread 1: 11 events"):
        contains(text, part)
    equal(total["events"], 11)
    equal(total["bytes_stored"], 8)
    equal(total["kinds"], {"process": 1, "meta": 4, "file": 1, "map": 1, "log": 1, "store": 1, "clwb": 1, "sfence": 1})
    equal(total["files"][0]["size"], 8192)
    equal(total["meta"]["imported"], "pmemcheck")


def test_same_names():
    log = ("START|REGISTER_FILE;/a/pool;0x1000;0x1000;0x0|REGISTER_FILE;/b/pool;0x2000;0x1000;0x0"
           "|STORE;0x1000;0x1;0x1|STORE;0x2000;0x1;0x1|STOP\n")
    with folder() as d:
        out = pmend("show", "--kind", "store", imported(d, log))[1]
    equal([line.split()[3] for line in out.splitlines()], ["pool+0x0", "/b/pool+0x0"])


def test_output_file():
    with folder() as d:
        trace, target = imported(d, LOG), os.path.join(d, "out put")
        equal(pmend("show", "-o", target, trace), (0, "", ""))
        with open(target, encoding="utf-8") as f:
            equal(f.read(), pmend("show", trace)[1])
        fails(pmend("show", "-o", trace, trace), 3, "the input itself")
        fails(pmend("show", "-o", os.path.join(d, "no", "x"), trace), 3, "No such file")
        fails(pmend("show", "-o", "/dev/full", trace), 3, "cannot write /dev/full")


def test_pipe_closed_early():
    log = "START|" + "|".join(f"STORE;{0x10000 + 8 * i:#x};0x1;0x8" for i in range(50000)) + "|STOP\n"
    with folder() as d:
        trace = imported(d, log)
        for restore in (True, False):  # with SIGPIPE as the shell leaves it, and ignored
            with subprocess.Popen([PMEND, "show", trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  restore_signals=restore) as p:
                p.stdout.readline()
                p.stdout.close()
                equal((p.wait(60), p.stderr.read()), (0, b""))


def test_truncated():
    with folder() as d:
        trace = imported(d, LOG)
        with open(trace, "rb") as f:
            data = f.read()
        cut = write(os.path.join(d, "cut.pmt"), data[:16384 + 48 + 100])
        status, out, err = pmend("show", cut)
        equal(status, 3)
        contains(err, "cut.pmt: ")
        equal(len(err.splitlines()), 1)
        whole = pmend("show", trace)[1]
        assert whole.startswith(out), "what precedes the damage is not a prefix of the whole"


def test_flipped_bit():
    with folder() as d:
        trace = imported(d, LOG)
        with open(trace, "rb") as f:
            data = bytearray(f.read())
        data[16384 + 48 + 60] ^= 1
        status, _, err = pmend("show", write(os.path.join(d, "flip.pmt"), bytes(data)))
        equal(status, 3)
        contains(err, "flip.pmt: ")


def test_report():
    with folder() as d:
        trace, report = imported(d, LOG), os.path.join(d, "a report")
        equal(pmend("check", "--platform", "all", "--format", "json", "-o", report, trace)[0], 3, "the status: not analysed for msync, and no correctness bug")
        for name in ("text", "json", "sarif", "html", "junit"):
            want = pmend("check", "--platform", "all", "--format", name, trace)[1]
            equal(pmend("show", "--format", name, report), (0, want, ""), name)
        equal(pmend("show", report)[1], pmend("check", "--platform", "all", trace)[1])
        out = os.path.join(d, "out")
        equal(pmend("show", "-o", out, "--format=json", report), (0, "", ""))
        with open(out, encoding="utf-8") as f, open(report, encoding="utf-8") as g:
            equal(f.read(), g.read())
        fails(pmend("show", "--stacks", report), 2, "is a report")
        fails(pmend("show", "--format", "yaml", report), 2, "text, json, sarif, html, junit")
        fails(pmend("show", "-o", report, report), 3, "the input itself")


def test_page():
    """A trace as a page: which part, and what is wrong with the options."""
    with folder() as d:
        trace, report, diff = imported(d, LOG), os.path.join(d, "r.json"), os.path.join(d, "f.diff")
        whole = pmend("show", "--format", "html", trace)
        equal((whole[0], whole[2]), (0, ""))
        contains(whole[1], "<svg")
        contains(whole[1], "from event 1<")
        contains(pmend("show", "--format", "html", "--range", "6-8", trace)[1], "events 6 to 8<")
        out = os.path.join(d, "out.html")
        equal(pmend("show", "--format", "html", "-o", out, trace), (0, "", ""))
        with open(out, encoding="utf-8") as f:
            equal(f.read(), whole[1], "the page")
        fails(pmend("show", "--format", "html", "--op", "nothing", trace), 3, "no operation 'nothing'")
        fails(pmend("show", "--format", "html", "--at", "nowhere.c:1", trace), 3, "nowhere.c:1")
        fails(pmend("show", "--format", "html", "--at", "nowhere.c", trace), 3, "file and a line")
        fails(pmend("show", "--op", "put", trace), 2, "--format html")
        fails(pmend("show", "--patch", diff, trace), 2, "needs a report")
        fails(pmend("show", "--format", "html", "-o", trace, trace), 3, "the input itself")
        pmend("check", "--format", "json", "-o", report, trace)
        fails(pmend("show", "--patch", diff, report), 2, "--format html")
        fails(pmend("show", "--format", "html", "--patch", diff, report), 3, "f.diff")
        fails(pmend("show", "--format", "html", "--patch", write(diff, "hello\n"), report), 3, "not a unified diff")
        fails(pmend("show", "--format", "html", "--op", "put", report), 2, "is a report")
        write(diff, "--- a/x.c\n+++ b/x.c\n@@ -1,1 +1,2 @@\n a\n+b <i>\n")
        contains(pmend("show", "--format", "html", "--patch", diff, report)[1], "+b &lt;i&gt;")


def test_prints_at_once():
    """The first line comes before the last event is read: what is wrong there is not known yet, and cannot be while nobody reads what is printed."""
    log = "START|" + "|".join(f"STORE;{0x10000 + 8 * i:#x};0x1;0x8" for i in range(150000)) + "|STOP\n"
    with folder() as d:
        trace = imported(d, log)
        with open(trace, "r+b") as f:
            f.seek(-100, os.SEEK_END)
            f.write(b"\xff" * 8)
        with subprocess.Popen([PMEND, "show", trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
            contains(p.stdout.readline(), b" T1 ")
            assert not select.select([p.stderr], [], [], 0)[0], p.stderr.readline()
            rest = p.stdout.read()
            contains(p.stderr.read(), b"checksum is wrong")
        assert rest.count(b"\n") > 100000, rest.count(b"\n")


def test_not_a_trace():
    with folder() as d:
        fails(pmend("show", write(os.path.join(d, "r.json"), "{}")), 3, "not a report of pmend", "pmend check")
        fails(pmend("show", write(os.path.join(d, "s.json"), "{")), 3, "not JSON")
        fails(pmend("show", write(os.path.join(d, "x"), "hello" * 1000)), 3, "neither a trace", "pmend record", "nor a JSON report")
        fails(pmend("show", write(os.path.join(d, "empty"), "")), 3, "empty")
        fails(pmend("show", os.path.join(d, "none.pmt")), 3, "No such file")
        fails(pmend("show", d), 3)
