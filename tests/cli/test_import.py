"""pmend import: every form that a pmemcheck log takes."""
import os

from cli import contains, equal, events, fails, folder, imported, pmend, write

FILE = "REGISTER_FILE;/mnt/pmem/a pool;0x4a5b000;0x200000;0x0"


def shape(log):
    """(kind, offset, data, function, line) of the events, without those about the run and the file."""
    with folder() as d:
        found = events(imported(d, log))
    return [(e["kind"], e.get("offset"), e.get("data"), e.get("function"), e.get("line"))
            for e in found if e["kind"] not in ("process", "meta", "file", "map")]


def test_without_stacks():
    equal(shape(f"START|{FILE}|STORE;0x4a5b040;0x4142;0x2|FLUSH;0x4a5b040;0x40|FENCE|STOP\n"),
          [("store", 64, "4241", None, None), ("clwb", 64, None, None, None), ("sfence", None, None, None, None)])


def test_with_stacks():
    log = (f"==42== START|{FILE}|STORE;0x4a5b000;0x1;0x8;0x109201: fill (t.c:20);0x10927A: main (t.c:41)"
           "|STORE;0x4a5b008;0x2;0x8;0x109301: std::vector<int>::at(unsigned long) (in /bin/a b)|STOP\n")
    equal([e[3:] for e in shape(log)], [("fill", 20), ("std::vector<int>::at(unsigned long)", None)])
    with folder() as d:
        stack = events(imported(d, log), "--stacks", "--kind", "store")[0]["stack"]
    equal([(f["function"], f["source"], f["line"], f["pc"]) for f in stack],
          [("fill", "t.c", 20, 0x109201), ("main", "t.c", 41, 0x10927a)])


def test_unknown_frames():
    log = f"START|{FILE}|STORE;0x4a5b000;0x1;0x8;0x1F: ???;0x2F: ??? (in /bin/x);0x3F: f (in ???)|STOP\n"
    with folder() as d:
        stack = events(imported(d, log), "--stacks", "--kind", "store")[0]["stack"]
    equal([(f.get("function"), f.get("object")) for f in stack], [(None, None), (None, "/bin/x"), ("f", None)])


def test_bars_in_names():
    log = ("START|REGISTER_FILE;/tmp/a|b;c;0x1000;0x1000;0x0|STORE;0x1000;0x1;0x1;0x10: operator||(A, B) (x.cc:7)"
           "|STORE;0x1001;0x1;0x1;0x20: operator|(A, B) (x.cc:8);0x30: main (x.cc:9)|FENCE|STOP\n")
    equal([e[3:] for e in shape(log)], [("operator||(A, B)", 7), ("operator|(A, B)", 8), (None, None)])
    with folder() as d:
        equal([e["text"] for e in events(imported(d, log), "--kind", "file")], ["/tmp/a|b;c"])


def test_preamble_and_summary():
    log = ("==42== pmemcheck-1.0, a simple persistent store checker\n==42== Copyright (c) 2014-2020, Intel Corporation\n"
           "==42== Command: ./app with args\n==42== Parent PID: 7\n==42== \n"
           f"==42== START|{FILE}|FENCE\n==42== |STOP\n==42== \n==42== Number of stores not made persistent: 1\n"
           "==42== [0]    at 0x400A73: operator|(A) (a.c:29)\n==42== ERROR SUMMARY: 1 errors\n")
    equal([e[0] for e in shape(log)], ["sfence"])
    with folder() as d:
        found = events(imported(d, log))
    equal(found[0]["kind"], "process")
    equal(found[0]["args"][0], 42)
    contains([e.get("text") for e in found], "command=./app with args")


def test_glued_text():
    log = (f"==42== START|{FILE}|STORE;0x4a5b000;0x1;0x8[0] Mapping base: 0x4a5b000\tsize: 99\n"
           "==42== [1] Mapping base: 0x4a5b000\tsize: 99\n==42== |FENCEWarning: unknown request code\n"
           "==42== Unable to trace store - unsupported | type\n"
           "==42== |STORE;0x4a5b008;0x2;0x8;0x10: f (a.c:3)Number of stores not made persistent: 1\n==42== |STOP\n")
    equal([e[:1] + e[3:] for e in shape(log)][:1], [("store", None, None)])
    equal([e[0] for e in shape(log) if e[0] != "log"], ["store", "sfence", "store"])
    equal(shape(log)[-1][3:], ("f", 3))


def test_time_stamps():
    equal([e[0] for e in shape(f"==00:00:00:01.234 42== START|{FILE}|FENCE\n==00:00:00:02.5 42== |STOP\n")], ["sfence"])


def test_markers():
    log = f"START|{FILE}|pmem_memcpy.BEGIN|libpmem.BEGIN|DEEP_SYNC;0x4a5b000;0x40|libpmem.END|FREORDER|STOP\n"
    with folder() as d:
        equal([e["text"] for e in events(imported(d, log), "--kind", "log")],
              ["pmem_memcpy.BEGIN", "libpmem.BEGIN", "DEEP_SYNC;0x4a5b000;0x40", "libpmem.END", "FREORDER"])


def test_flush_ranges():
    log = (f"START|{FILE}|FLUSH;0x4a5b010;0x40|FLUSH;0x4a5b030;0x20|FLUSH;0x4a5b000;0x100|FLUSH;0x7ff000;0x40"
           "|FLUSH;0x4a5afc0;0x80|STOP\n")
    equal([e[1] for e in shape(log)], [0, 0, 64, 0, 64, 128, 192, 0])


def test_stores_outside_files():
    log = "START|STORE;0x5000ffffc;0x1122334455667788;0x8|STORE;0x5000ffff0;0x1;0x1|STORE;0x9000;0x2;0x1|STOP\n"
    with folder() as d:
        found = events(imported(d, log))
    stores = [(e["file"], e["offset"], e["data"]) for e in found if e["kind"] == "store"]
    equal(stores, [("memory@0x500000000", 0xffffc, "88776655"), ("memory@0x500000000", 0x100000, "44332211"),
                   ("memory@0x500000000", 0xffff0, "01"), ("memory@0x0", 0x9000, "02")])
    equal([e["args"][2] for e in found if e["kind"] == "file"], [2, 2], "the flags of memory files")


def test_file_registered_several_times():
    log = (f"START|REGISTER_FILE;/p;0x488a000;0x1000;0x0|REGISTER_FILE;/p;0x5400000;0xa000000;0x0"
           "|REGISTER_FILE;/p;0x5400000;0xa000000;0x0|STORE;0x488a008;0x1;0x8|STORE;0x5400008;0x1;0x8"
           "|REGISTER_FILE;/q;0x488a000;0x1000;0x800|STORE;0x488a008;0x1;0x8|STOP\n")
    with folder() as d:
        found = events(imported(d, log))
    equal([e["kind"] for e in found if e["kind"] not in ("meta", "process")],
          ["file", "map", "size", "map", "store", "store", "file", "map", "store"])
    equal([(e["file"], e["offset"]) for e in found if e["kind"] == "store"], [("/p", 8), ("/p", 8), ("/q", 0x808)])


def test_truncated():
    for tail in ("|STORE;0x4a5b0", "|FENCE", "|STORE;0x4a5b000;0x1;0x8;0x10: ma"):
        with folder() as d:
            trace = os.path.join(d, "t.pmt")
            status, _, err = pmend("import", "-q", "-o", trace, write(os.path.join(d, "log"), f"START|{FILE}|FENCE" + tail))
            equal(status, 3)
            contains(err, "ends without STOP")
            equal([e["kind"] for e in events(trace)][-1], "sfence")


def refuses(log, *parts):
    with folder() as d:
        trace = write(os.path.join(d, "t.pmt"), "old")
        fails(pmend("import", "-o", trace, write(os.path.join(d, "the log"), log)), 3, "the log", *parts)
        equal(sorted(os.listdir(d)), ["t.pmt", "the log"], "what is left")
        with open(trace, encoding="utf-8") as f:
            equal(f.read(), "old", "the old trace")


def test_garbage():
    refuses("", "no START record")
    refuses("hello world\n" * 1000, "no START record")
    refuses(bytes(range(256)) * 4096, "no START record")
    refuses(b"x" * (5 << 20), "line 1, byte 0")
    refuses(f"START|{FILE}|STORE;zzz;0x1;0x8|STOP\n", "line 1, byte 60", "STORE;zzz")
    refuses(f"START|{FILE}|STORE;0x4a5b000;0x1;0x3|STOP\n", "cannot read this store")
    refuses(f"START|{FILE}|STORE;0x4a5b000;0x1;0x8;junk (x)|STOP\n", "frame")
    refuses(f"START|{FILE}|FLUSH;0x4a5b000|STOP\n", "cannot read this flush")
    refuses("START|REGISTER_FILE;/p;0x0;0xffffffffffffffff;0x1|STOP\n", "large")
    refuses("START|STORE;0xfffffffffffffffc;0x1;0x8|STOP\n", "cannot read this store")


def test_huge_flush():
    equal(len(shape(f"START|{FILE}|FLUSH;0x0;0xffffffffffffffff|STOP\n")), 0x200000 // 64)


def test_several_processes():
    refuses(f"==1== START|{FILE}|FENCE|STOP\n==2== START|{FILE}|FENCE|STOP\n", "another process", "line 2")
    refuses(f"==1== START|{FILE}|FENCE\n==2== |FENCE\n==1== |STOP\n", "another process")
    refuses("START|FENCE|STOP\nSTART|FENCE|STOP\n", "another process")


def test_no_such_log():
    with folder() as d:
        fails(pmend("import", "-o", os.path.join(d, "t"), os.path.join(d, "none")), 3, "none", "No such file")
        fails(pmend("import", "-o", os.path.join(d, "t"), d), 3, "is a folder")
        log = write(os.path.join(d, "log"), "START|STOP\n")
        fails(pmend("import", "-o", os.path.join(d, "no", "t"), log), 3, "No such file")
        fails(pmend("import", "-o", d, log), 3, "regular file")
        equal(os.listdir(d), ["log"], "what is left")


def test_says_what_it_did():
    with folder() as d:
        log = write(os.path.join(d, "log"), f"START|{FILE}|FENCE|STOP\n")
        status, out, err = pmend("import", log, cwd=d)
        equal((status, out), (0, ""))
        contains(err, "1 file: pmend.pmt")
        equal(pmend("import", "--quiet", log, cwd=d), (0, "", ""))
