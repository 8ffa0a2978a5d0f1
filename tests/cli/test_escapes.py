"""Texts of files that may be of strangers: nothing in them reaches a terminal as more than text."""
import json
import os
import shlex

from cli import POOL, contains, equal, folder, imported, need_pool, pmend, write

EVIL = "\x1b[2J\x1b]0;x\a\u009b31m\u202e"


def harmless(*args, status=None, cwd=None):
    """Nothing but text and ends of lines in what pmend prints. Gives all of it."""
    got, out, err = pmend(*args, cwd=cwd)
    evil = {c for c in out + err if c not in "\n\t" and (ord(c) < 32 or 0x7f <= ord(c) < 0xa0 or ord(c) == 0x202e)}
    equal(evil, set(), f"what {args} prints ({out + err!r})")
    if status is not None:
        equal(got, status, f"the status of {args} ({err})")
    return out + err


def test_traces():
    """The path of a pool, and the command that was recorded."""
    with folder() as d:
        trace = imported(d, f"START|REGISTER_FILE;/p{EVIL};0x1000;0x1000;0x0|STORE;0x1000;0x1;0x8|STOP\n".encode())
        for options in ([], ["--summary"]):
            contains(harmless("show", *options, trace, status=0), "\\x1b[2J")
        harmless("check", trace)
        harmless("crash", "--recover", "/bin/true {}", trace)
        need_pool()
        harmless("record", "-q", "-o", "t.pmt", "--", POOL, f"pool {EVIL}", cwd=d, status=0)
        contains(harmless("show", "--summary", "t.pmt", cwd=d, status=0), "\\x1b[2J")


def test_bundles():
    """Options, and names of files: where they are shown, and in messages."""
    need_pool()
    with folder() as d:
        harmless("record", "-q", "-o", "t.pmt", "--", POOL, "a pool", cwd=d, status=0)
        recover = f"/bin/sh -c {shlex.quote(f'echo {EVIL} >&2; exit 7')} {shlex.quote(EVIL)} {{}}"
        harmless("pack", "-o", "x.pmb", "--recover", recover, "t.pmt", cwd=d, status=0)
        for options in ([], ["-v"]):
            contains(harmless("show", *options, "x.pmb", cwd=d, status=0), "\\x1b[2J")
        contains(harmless("crash", "x.pmb", cwd=d), "\\x1b[2J")
        contains(harmless("crash", "--recover", f"{shlex.quote(f'/there is no such {EVIL}')} {{}}", "t.pmt", cwd=d, status=3), "\\x1b[2J")


def test_reports_and_parts():
    """A report, a part, and what fix says of them."""
    bug = {"id": "1", "kind": f"missing-flush{EVIL}", "severity": "correctness", "message": f"lost {EVIL}", "count": 1, "locations": [
        {"role": "store", "function": f"f{EVIL}", "file": f"/x{EVIL}.c", "line": 3, "object": f"/o{EVIL}", "stack": []}]}
    warning = dict(bug, id="2", severity="warning", reason=f"so {EVIL}", undecided_by=f"/file{EVIL}", may_share_cause="1")
    part = {"index": 1, "of": 1, "failure_points": 1, "done": 1, "fingerprint": "1", "trace": f"t{EVIL}.pmt", "data": EVIL, "command": "crash"}
    report = {"pmend": "0.1", "platform": f"x{EVIL}", "command": ["a", EVIL], "bugs": [bug, warning], "libraries": [{"library": f"lib{EVIL}", "bugs": 2}],
              "coverage": {"events": 1, "complete": False, "why_incomplete": EVIL, "incomplete_reasons": [EVIL], "note": EVIL}}
    with folder() as d:
        write(os.path.join(d, "r.json"), json.dumps(report))
        write(os.path.join(d, "p.json"), json.dumps({**report, "bugs": [], "shard": part, "crash_options": ["--recover", EVIL]}))
        contains(harmless("show", "r.json", cwd=d, status=0), "Only a warning: so \\x1b[2J")
        harmless("show", "p.json", cwd=d)
        harmless("merge", "p.json", cwd=d)
        harmless("fix", "-p", ".", "r.json", cwd=d)
        write(os.path.join(d, "compile_commands.json"), "[]")
        contains(harmless("fix", "-p", ".", "r.json", cwd=d), "\\x1b[2J")
        harmless("check", "--baseline", f"no {EVIL}.json", "--", "/bin/true", cwd=d)
