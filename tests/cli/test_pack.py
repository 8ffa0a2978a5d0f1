"""Bundles: a trace and its recovery, packed here and explored where nothing of it is."""
import contextlib
import hashlib
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import tempfile

from cli import ARCH, PMEND, contains, equal, fails, folder, need_pool, pmend, write

CONF = "#!/bin/sh\ncat conf \"$(pwd)/conf\" >&2 || exit 9\nexec ./log \"$1\"\n"
HEADER = struct.Struct("<8sIIQQQ32s")


# ---- a tree that goes away ----

def c_compile(tree):
    """The program is built in the tree itself, so that its sources go, too."""
    subprocess.run(["gcc", "-g", "-O1", "-DFORGET_FLUSH", "-I.", "-o", "log", "append_log.c"], cwd=tree, check=True)


@contextlib.contextmanager
def world():
    """A folder with tree/, where a program with a bug was recorded as log.pmt, an empty node/ and tmp/ without blanks in their names."""
    need_pool()
    with tempfile.TemporaryDirectory(prefix="pmend-cli-") as d:
        tree = os.path.join(d, "tree")
        for name in ("tree", "node", "tmp"):
            os.mkdir(os.path.join(d, name))
        for name in ("examples/append_log.c", "examples/flush.h", "include/pmend.h"):
            shutil.copy(name, tree)
        c_compile(tree)
        write(os.path.join(tree, "conf"), "yes\n")
        os.chmod(write(os.path.join(tree, "recover.sh"), CONF), 0o755)
        run_in(d, "tree", "record", "-q", "-o", "log.pmt", "--", "./log", "pool", "hello", "world", status=0)
        yield d
        equal(os.listdir(os.path.join(d, "tmp")), [], "what is left in TMPDIR")


def run_in(d, place, *args, status=None, **env):
    result = pmend(*args, cwd=os.path.join(d, place), env={"TMPDIR": os.path.join(d, "tmp"), **env})
    if status is not None:
        equal(result[0], status, f"the status of {args} ({result[2].strip()})")
    return result


def pack(d, *options, status=0, **env):
    return run_in(d, "tree", "pack", "-q", "-o", "../x.pmb", "--seed", "1", *options, "log.pmt", status=status, **env)


@contextlib.contextmanager
def gone(d):
    """Meanwhile, the tree is not there."""
    os.rename(os.path.join(d, "tree"), os.path.join(d, "elsewhere"))
    try:
        yield
    finally:
        os.rename(os.path.join(d, "elsewhere"), os.path.join(d, "tree"))


def same(report):
    """Without what differs between two runs, and without the name of the trace."""
    for key in ("shared_runs", "faults", "diagnosis_runs", "lazy_runs", "whole_runs"):  # who finds a bug first runs recovery once more
        report["coverage"].pop(key, None)
    text = json.dumps(report, indent=1, sort_keys=True)
    return text.replace("../x.pmb", "log.pmt")


def check_equal(d, *options, bugs):
    """The bundle's report is that of the trace."""
    out = run_in(d, "tree", "crash", "--seed", "1", *options, "--format", "json", "log.pmt", status=1 if bugs else 0)[1]
    text = run_in(d, "tree", "crash", "--seed", "1", *options, "log.pmt", status=1 if bugs else 0)[1]
    report = json.loads(out)
    equal(len(report["bugs"]), bugs, "the number of bugs")
    pack(d, *options)
    with gone(d):
        status, packed, err = run_in(d, "node", "crash", "--format", "json", "../x.pmb")
        err = "".join(line for line in err.splitlines(True) if not line.startswith("pmend: found "))  # if it takes long
        equal((status, err), (1 if bugs else 0, ""), "the status and errors of the bundle's run")
        equal(same(json.loads(packed)), same(report), "the bundle's report")
        equal(run_in(d, "node", "crash", "../x.pmb")[1].replace("../x.pmb", "log.pmt"), text, "the bundle's report as text")
        equal(os.listdir(os.path.join(d, "node")), [])
    return report


def test_report_is_equal():
    with world() as d:
        report = check_equal(d, "--dump", "./log {}", bugs=1)
        contains(json.dumps(report), "append_log.c")
        contains(json.dumps(report), "strncpy(log->entry")  # the line itself: the source is packed


def test_races_and_relative_pool():
    with world() as d:
        check_equal(d, "--races", "--recover", "./log pool", bugs=1)


def test_scripts():
    """A script, what it executes, and what it names from its folder and from the root."""
    with world() as d:
        check_equal(d, "--dump", "./recover.sh {}", bugs=1)
        tree = os.path.join(d, "tree")
        check_equal(d, "--dump", f"{tree}/log {tree}/pool", bugs=1)


def test_shell():
    with world() as d:
        conf = os.path.join(d, "tree", "conf")
        check_equal(d, "--check", f"sh -c 'test ! -e $0 || {{ cat conf {conf} && ./log $0 | {{ ! grep -q \"^1: $\"; }}; }}' {{}}", bugs=1)


def test_folder_is_listed():
    """Also what recovery does not open is there, then, and a PM file that the folder does not hold any more."""
    with world() as d:
        os.mkdir(os.path.join(d, "tree", "parts"))
        for name in ("a", "b"):
            write(os.path.join(d, "tree", "parts", name), name)
        check_equal(d, "--dump", "sh -c 'ls parts && ./log $0' {}", bugs=1)
        os.remove(os.path.join(d, "tree", "pool"))
        check_equal(d, "--recover", "sh -c 'ls $(pwd) parts/* | grep -q ^pool && ./log $0 || test ! -e pool' {}", bugs=0)


def test_missing_program_is_not_taken_from_here():
    """What recovery does where the bundle is run must come out of it: without the file, it fails as it would without the bundle's."""
    with world() as d:
        pack(d, "--recover", "./recover.sh {}")
        with gone(d):
            run_in(d, "node", "crash", "../x.pmb", status=0)
            status, _, err = run_in(d, "node", "crash", "--recover", "./other.sh {}", "../x.pmb")
            equal(status, 3)
            contains(err, "./other.sh")


def test_standard_input():
    with world() as d:
        write(os.path.join(d, "tree", "said"), "7\n")
        options = ("--recover", "sh -c 'read n && test $n = 7 && exec ./log $0' {}", "--stdin", "said")
        check_equal(d, *options, bugs=0)


def test_own_options():
    """They count more than the bundle's; paths among them are those of the user's folder."""
    with world() as d:
        pack(d, "--dump", "./log {}")
        with gone(d):
            run_in(d, "node", "crash", "-j", "1", "--max-runs", "1000", "-o", "report.json", "../x.pmb", status=1)
            with open(os.path.join(d, "node", "report.json"), encoding="utf-8") as f:
                options = json.load(f)["crash_options"]
            equal(options, ["--dump", "./log {}", "--jobs", "1", "--max-runs", "1000", "--seed", "1"])
            run_in(d, "node", "crash", "--baseline", "report.json", "../x.pmb", status=0)


def test_replay():
    with world() as d:
        pack(d, "--dump", "./log {}")
        with gone(d):
            out = run_in(d, "node", "crash", "../x.pmb", status=1)[1]
            command = re.search(r"replay: pmend (crash .*) --replay (\S+) \.\./x\.pmb", out)
            status, out, _ = run_in(d, "node", "crash", "--replay", command.group(2), "--keep", "kept", "../x.pmb")
            equal(status, 1)
            contains(out, "after:\n0: hello")
            equal(os.listdir(os.path.join(d, "node", "kept")), ["pool"])


def test_show():
    with world() as d:
        pack(d, "--dump", "./log {}")
        out = run_in(d, "node", "show", "../x.pmb", status=0)[1]
        contains(out, f"for {ARCH}\n")
        contains(out, "options: --dump './log {}' --seed 1\n")
        out = run_in(d, "node", "show", "-v", "../x.pmb", status=0)[1]
        contains(out, f"  {d[1:]}/tree/log.pmt  ")
        contains(out, "library libc.so.6: ")
        assert "tree/pool" not in out, out
        fails(run_in(d, "node", "show", "--summary", "../x.pmb"), 2, "is a bundle")


def test_followed_files():
    """Files of --files come out of the trace, and what else recovery reads from the bundle. The real folder is not packed, also where a command names it."""
    script = 'printf one > "$0/new" && sync "$0/new" && mv "$0/new" "$0/file"; sync; echo done; printf two > "$0/new" && mv "$0/new" "$0/file"; echo done'
    with world() as d:
        tree = os.path.join(d, "tree")
        for name in ("data", "more"):
            os.mkdir(os.path.join(tree, name))
        write(os.path.join(tree, "data", "file"), "none")
        write(os.path.join(tree, "data", "unused"), "secret\n")
        write(os.path.join(tree, "more", "there"), "")
        os.chmod(write(os.path.join(tree, "check.sh"), "#!/bin/sh\ncat conf >&2 && test -e $2/there && grep -qxE 'none|one|two' $1/file\n"), 0o755)
        run_in(d, "tree", "record", "-q", "-o", "log.pmt", "--files", "data", "--files", "more", "--", "sh", "-c", script, "data", status=0)
        check_equal(d, "--check", "./check.sh {dir} {dir2} data/file", bugs=1)
        contained = run_in(d, "node", "show", "-v", "../x.pmb", status=0)[1]
        contains(contained, "tree/conf")
        for name in ("data/file", "data/unused", "more/there"):
            equal(f"tree/{name}" in contained, False, name)


def test_what_cannot_be_packed():
    with world() as d:
        tree = os.path.join(d, "tree")
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(os.path.join(tree, "sock"))
            shutil.copy("/bin/cat", os.path.join(tree, "owned"))
            os.chmod(os.path.join(tree, "owned"), 0o4755)
            err = pack(d, "--recover", "sh -c 'test -e sock -a -e owned; exec 3</dev/ptmx; exec ./log $0' {}")[2]
        contains(err, f"not packed: {tree}/sock is a socket")
        contains(err, f"not packed: {tree}/owned is setuid")
        contains(err, "not packed: /dev/ptmx is a device")
        equal(len(err.splitlines()), 3)
        contains(run_in(d, "node", "show", "../x.pmb", status=0)[1], f"not packed: {tree}/sock is a socket")


def test_recovery_that_hangs():
    """It is waited for once, not at each state; that something may be missing is said."""
    with world() as d:
        err = pack(d, "--recover", "sleep 1000", "--timeout", "1")[2]
        contains(err, "not packed: recovery failed during packing although nothing is lost (")
        equal(len(err.splitlines()), 1)


def test_wrong_usage():
    with world() as d:
        fails(run_in(d, "tree", "pack"), 2, "exactly one trace")
        fails(run_in(d, "tree", "pack", "log"), 2, "exactly one trace")
        fails(run_in(d, "tree", "pack", "-o", "x.tar", "log.pmt"), 2, "ends with .pmb")
        fails(run_in(d, "tree", "pack", "--pm", "x", "log.pmt"), 2, "--pm")
        fails(run_in(d, "tree", "pack", "--recover", "./none {}", "log.pmt"), 3, "./none")
        fails(run_in(d, "tree", "pack", "-o", "none/x.pmb", "log.pmt"), 3, "cannot write none/x.pmb")
        fails(run_in(d, "tree", "crash", "none.pmb"), 3, "cannot open none.pmb")
        fails(run_in(d, "tree", "crash", "--fresh", "log.pmb"), 3, "cannot open")
        equal([n for n in os.listdir(os.path.join(d, "tree")) if "pmb" in n], [])


def test_no_half_bundle():
    """A limit on the size of files, which the bundle reaches: there is none then, and nothing else."""
    with world() as d:
        write(os.path.join(d, "tree", "noise"), os.urandom(24 << 20))
        status, _, err = run_limited(d, 16 << 10, "pack", "-q", "-o", "../x.pmb", "--recover", "sh -c 'test -e noise; exec ./log $0' {}", "log.pmt")
        equal(status, 3, f"the status ({err})")
        contains(err, "cannot write ../x.pmb")
        equal(sorted(os.listdir(d)), ["node", "tmp", "tree"])


def run_limited(d, kib, *args):
    command = ["bash", "-c", f'ulimit -f {kib}; exec "$@"', "bash", PMEND, *args]
    p = subprocess.run(command, cwd=os.path.join(d, "tree"), env=dict(os.environ, TMPDIR=os.path.join(d, "tmp")), capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr


def test_scratch_folder_with_a_blank():
    with world() as d:
        blank = os.path.join(d, "a b")
        os.mkdir(blank)
        pack(d, "--recover", "./log {}")
        run_in(d, "node", "crash", "../x.pmb", TMPDIR=blank, status=0)
        pack(d, "--recover", "./recover.sh {}")
        fails(run_in(d, "node", "crash", "../x.pmb", TMPDIR=blank), 3, "recover.sh cannot be run below", "set TMPDIR")
        equal(os.listdir(blank), [])


# ---- bundles that are not right ----

def frame(data):
    """A zstd frame that is not compressed."""
    out = struct.pack("<IBQ", 0xFD2FB528, 0xE0, len(data))
    pieces = [data[i:i + 100000] for i in range(0, len(data), 100000)] or [b""]
    for i, piece in enumerate(pieces):
        out += struct.pack("<I", len(piece) << 3 | (i == len(pieces) - 1))[:3] + piece
    return out


def bundle(entries, contents=(), **top):
    """The bytes of one with these entries; contents are those of files, in order."""
    frames = [frame(c) for c in contents]
    index = {"pmend": "0", "arch": ARCH, "cwd": "w", "trace": "t.pmt", "options": [], "environment": [], "lacks": [], "libraries": [], "entries": entries, **top}
    packed = frame(json.dumps(index).encode())
    at = HEADER.size + sum(map(len, frames))
    header = HEADER.pack(b"PMBUNDLE", 1, 0, at, len(packed), len(json.dumps(index).encode()), hashlib.sha256(packed).digest())
    return header + b"".join(frames) + packed


def file_entry(path, data, **other):
    return {"path": path, "kind": "file", "mode": 0o644, "mtime": 0, "bytes": len(data), "stored": len(frame(data)), "sha256": hashlib.sha256(data).hexdigest(), **other}


def link(path, target):
    return {"path": path, "kind": "link", "target": target}


TRACE = file_entry("t.pmt", b"none")


def refused(d, data, *parts):
    """By crash, with one line; nothing is left, and nothing is outside."""
    write(os.path.join(d, "x.pmb"), data)
    fails(pmend("crash", "--recover", "true", "x.pmb", cwd=d, env={"TMPDIR": os.path.join(d, "tmp")}), 3, *parts)
    equal(sorted(os.listdir(d)), ["tmp", "x.pmb"], "what is there")
    equal(os.listdir(os.path.join(d, "tmp")), [], "what is left in TMPDIR")


def test_unpacking_is_safe():
    with folder() as d:
        os.mkdir(os.path.join(d, "tmp"))
        refused(d, bundle([TRACE], [b"none"]), "t.pmt", "not a pmend trace")  # as it should be, but for the trace
        for path in ("../x", "/x", "a/../x", "a//x", "a/./x", "a/", ".", "..", "", "a\nb", "x" * 300):
            refused(d, bundle([file_entry(path, b""), TRACE], [b"", b"none"]), "a path would leave the folder")
            refused(d, bundle([link("a", path), TRACE], [b"none"]), "its index is invalid")
            refused(d, bundle([TRACE], [b"none"], cwd=path) if path else b"", "its index is invalid" if path else "not a bundle")
            refused(d, bundle([TRACE], [b"none"], libraries=[{"name": "a", "path": path}]), "the name of a library")
        refused(d, bundle([TRACE], [b"none"], libraries=[{"name": "../a", "path": "a"}]), "the name of a library")
        refused(d, bundle([link("a", "b"), file_entry("a/x", b""), TRACE], [b"", b"none"]), "through a file or a link")
        refused(d, bundle([file_entry("a", b""), file_entry("a/x", b""), TRACE], [b"", b"", b"none"]), "through a file or a link")
        refused(d, bundle([TRACE, TRACE], [b"none", b"none"]), "not in order")
        refused(d, bundle([file_entry("a", b"")], [b""]), "it has no trace")
        refused(d, bundle([TRACE], [b"none"], arch="z80"), "was packed on z80")


def test_contents_are_checked():
    with folder() as d:
        os.mkdir(os.path.join(d, "tmp"))
        whole = frame(b"none")
        for other, contents in (({"sha256": "0" * 64}, b"none"), ({"bytes": 3}, b"none"), ({"bytes": 5}, b"none"), ({}, b"nine")):
            refused(d, bundle([{**TRACE, **other}], [contents]), "is damaged: t.pmt in it has changed")
        refused(d, bundle([{**TRACE, "stored": len(whole) - 1}], [b"none"]), "its files are not as long as its index says")
        refused(d, bundle([{**TRACE, "bytes": 1 << 47}], [b"none"]), "set TMPDIR to a folder with more free space")
        refused(d, bundle([{**TRACE, "bytes": 1 << 60}], [b"none"]), "its index is invalid")


def test_damage():
    """Any byte that is another, and any end that is missing, is found."""
    with folder() as d:
        os.mkdir(os.path.join(d, "tmp"))
        good = bundle([file_entry("a", b"x" * 40), TRACE], [b"x" * 40, b"none"])
        for at in list(range(0, len(good), 7)) + [len(good) - 1]:
            if 12 <= at < 16:
                continue  # nothing is there yet
            refused(d, good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1:], "x.pmb")
        for n in (0, 1, 8, HEADER.size - 1, HEADER.size, HEADER.size + 20, len(good) - 1):
            refused(d, good[:n], "x.pmb")
        refused(d, good + b"x", "is damaged")


def test_bundle_says_only_what_it_may():
    """Where a report goes is not for it to say."""
    with folder() as d:
        os.mkdir(os.path.join(d, "tmp"))
        write(os.path.join(d, "x.pmb"), bundle([TRACE], [b"none"], options=["--output", "report"]))
        fails(pmend("crash", "x.pmb", cwd=d, env={"TMPDIR": os.path.join(d, "tmp")}), 2, "unknown option --output")
        equal(sorted(os.listdir(d)), ["tmp", "x.pmb"], "what is there")
