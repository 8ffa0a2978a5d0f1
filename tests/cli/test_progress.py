"""What is said while something takes long. Nothing here waits for a time: programs under test wait for what pmend says, or pmend is asked to say it from the beginning."""
import os
import re
import subprocess
import threading

from cli import PMEND, Skip, contains, equal, folder, need_pool, pmend, write
from terminal import run_on_terminal

LOG = os.path.abspath("build/examples/append_log")
WAIT_S = 120


def waiting_program(d, more=""):
    """A program that works on PM, then waits until the file `go` is there."""
    path = write(os.path.join(d, "app"), f'#!/bin/sh\n{LOG} "$1" hello\n{more}\nwhile ! [ -e "{d}/go" ]; do sleep 0.1; done\n')
    os.chmod(path, 0o755)
    return path


def run_until(d, args, pattern):
    """Runs pmend; when its standard error matches, the waiting program may end. Gives the status and all of standard error."""
    p = subprocess.Popen([PMEND, *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=d)

    def give_up():  # what the program started has our pipe, too
        write(os.path.join(d, "go"), "")
        p.kill()

    timer = threading.Timer(WAIT_S, give_up)
    timer.start()
    seen = b""
    while chunk := os.read(p.stderr.fileno(), 65536):
        seen += chunk
        if re.search(pattern, seen):
            write(os.path.join(d, "go"), "")
    timer.cancel()
    p.stderr.close()
    return p.wait(), seen.decode(errors="replace")


def test_record():
    """--progress: events and megabytes, while the program runs."""
    need_pool()
    with folder() as d:
        status, err = run_until(d, ["record", "--progress", "--", waiting_program(d), "{pool}"], rb"recording: \d+ events, \d+\.\d MB\n")
        equal(status, 0, err)
        contains(err, "pmend: recording: ")


def test_silent_without_terminal():
    need_pool()
    with folder() as d:
        write(os.path.join(d, "go"), "")
        for args in (["check", "--", waiting_program(d), "{pool}"], ["crash", "--dump", f"{LOG} {{}}", "--", LOG, "{pool}", "x"]):
            status, _, err = pmend(*args, cwd=d)
            equal((status, err), (0, ""))


def test_crash():
    need_pool()
    with folder() as d:
        status, _, err = pmend("crash", "--progress", "--dump", f"{LOG} {{}}", "--", LOG, "{pool}", "x", cwd=d)
        equal(status, 0, err)
        contains(err, "pmend: failure points ")


def test_explore():
    """From its start: before the first input is done."""
    need_pool()
    with folder() as d:
        status, err = run_until(d, ["explore", "--progress", "--max-runs", "1", "--", waiting_program(d), "{pool}", "@@"], rb"pmend: 0 runs, ")
        assert status in (0, 3), (status, err)
        contains(err, "pmend: exploring: reading the program and the inputs\n")
        assert err.index("pmend: 0 runs, ") < err.index("pmend: 1 runs, "), err


def test_terminal():
    """On a terminal one line is written over, and it is gone at the end."""
    need_pool()
    with folder() as d:
        program = waiting_program(d)

        def let_it_end(seen):
            if b"recording: " in seen:
                write(os.path.join(d, "go"), "")

        status, text = run_on_terminal([PMEND, "record", "-o", "t.pmt", "--", program, "{pool}"], cwd=d, on_output=let_it_end)
        equal(status, 0, text)
        contains(text, "\r\33[Krecording: ")
        assert "recording: " not in text.rsplit("\r\33[K", 1)[1], text
        status, text = run_on_terminal([PMEND, "record", "-q", "-o", "t.pmt", "--", program, "{pool}"], cwd=d)
        assert "recording: " not in text, text


def test_background():
    """A program that still runs when the recorded one has ended is named, with its arguments."""
    need_pool()
    with folder() as d:
        later = write(os.path.join(d, "later"), f'#!/bin/sh\n: >"{d}/started"\nwhile ! [ -e "{d}/go" ]; do sleep 0.1; done\n')
        os.chmod(later, 0o755)
        program = write(os.path.join(d, "app"), f'#!/bin/sh\n{LOG} "$1" hello\n"{later}" one two &\nwhile ! [ -e "{d}/started" ]; do sleep 0.1; done\n')
        os.chmod(program, 0o755)
        for options, rest in (((), rb"it is recorded until it ends"), (("--no-follow",), rb"it is not recorded \(--no-follow\)")):
            for name in ("go", "started"):
                if os.path.exists(os.path.join(d, name)):
                    os.unlink(os.path.join(d, name))
            status, err = run_until(d, ["record", *options, "--", program, "{pool}"], rb"later one two \(process \d+\) still runs in the background; " + rest)
            write(os.path.join(d, "go"), "")
            assert re.search(r"the program ended, but .*later one two \(process \d+\) still runs in the background; " + rest.decode(), err), err


def test_fix_steps():
    """fix says each step as it begins."""
    need_pool()
    if not os.access("build/libexec/pmend/libpmend_source.so", os.R_OK):
        raise Skip("libpmend_source.so is not built")
    with folder() as d:
        report = os.path.join(d, "r.json")
        equal(pmend("check", "--format", "json", "-o", report, "--", LOG + "_buggy", "{pool}", "x", cwd=d)[0], 1)
        top = os.path.abspath(".")
        write(os.path.join(d, "compile_commands.json"),
              '[{"directory": "%s", "file": "examples/append_log.c", "command": "gcc -Iinclude -DFORGET_FLUSH -c examples/append_log.c"}]' % top)
        status, _, err = pmend("fix", "--progress", "-p", d, "-o", os.path.join(d, "p.diff"), report, cwd=top)
        assert status in (0, 1), err
        contains(err, "pmend: reading the report and the sources\n")
        contains(err, "pmend: bugs planned 0/")
