"""Programs that fail, and runs that are broken off: what was done until then is judged, and nothing is left behind."""
import json
import os
import signal
import subprocess

from cli import PMEND, contains, equal, folder, need_pool, pmend

DIES = os.path.abspath("build/tests/cli/dies")
RECOVER = "/bin/sh -c 'test ! -e \"$0\" || head -c 1 \"$0\" >/dev/null' {}"


def run_in(d, command, *how, options=()):
    """Gives status, output and errors of a command on the program. Its folder, and that for scratch, is d."""
    need_pool()
    os.makedirs(os.path.join(d, "tmp"), exist_ok=True)
    result = pmend(command, *options, "--", DIES, "pool", *how, cwd=d, env={"TMPDIR": os.path.join(d, "tmp")})
    equal(os.listdir(os.path.join(d, "tmp")), [], "what is left in TMPDIR")
    return result


def test_failed_program_is_judged():
    """Its bugs are reported, with status 1; without any, the status is 3, because the program failed."""
    for command, options in (("check", []), ("crash", ["--recover", RECOVER]), ("test", []), ("test", ["--recover", RECOVER])):
        for end, said in (("7", "ended with exit status 7"), ("segv", "killed by SIGSEGV (Segmentation fault)"), ("kill", "killed by SIGKILL (Killed)")):
            with folder() as d:
                kept = "pmend-check.pmt" if command == "check" else "pmend-crash.pmt"
                status, out, err = run_in(d, command, end, options=options)
                equal(status, 3, f"the status of {command} without bugs ({err})")
                contains(out, "No bugs found")
                contains(err, said)
                contains(err, f"kept as {kept}\n")
                equal(sorted(os.listdir(d)), [kept, "pool", "tmp"])
                equal(pmend("show", kept, cwd=d)[0], 0, "the status of show with the trace that is kept")
                if command != "crash":
                    status, out, err = run_in(d, command, "bug", end, options=options)
                    equal(status, 1, f"the status of {command} with a bug ({err})")
                    contains(out, "missing-flush")
                    contains(err, said)


def test_failed_program_on_all_platforms():
    with folder() as d:
        status, out, err = run_in(d, "check", "bug", "7", options=["--platform", "all", "--format", "json"])
        equal(status, 1, f"the status ({err})")
        contains(json.loads(out)["coverage"]["why_incomplete"], "not judged on msync: the program failed, so it was not run again")


def test_check_stays_if_crashes_cannot_be_explored():
    with folder() as d:
        status, out, err = run_in(d, "test", "bug", "0", options=["--recover", "/bin/false {}"])
        equal(status, 1, f"the status ({err})")
        contains(out, "missing-flush")
        contains(out, "crashes were not explored: recovery fails")
        equal(run_in(d, "test", "good", "0", options=["--recover", "/bin/false {}"])[0], 3)


def test_trace_that_was_asked_for():
    with folder() as d:
        status, _, err = run_in(d, "crash", "7", options=["--recover", RECOVER, "--trace", "mine.pmt"])
        equal(status, 3)
        contains(err, "mine.pmt")
        equal(sorted(os.listdir(d)), ["mine.pmt", "pool", "tmp"])


def broken_off(command, options, number):
    """Sends pmend a signal when the program runs; nothing may be left in TMPDIR. Gives what there is then, and what was said."""
    need_pool()
    with folder() as d:
        tmp = os.path.join(d, "tmp")
        os.mkdir(tmp)
        with subprocess.Popen([PMEND, command, *options, "--", DIES, "pool", "good", "said", "wait"], cwd=d, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=dict(os.environ, TMPDIR=tmp)) as p:
            equal(p.stdout.readline(), "done\n")
            os.kill(p.pid, number)
            out, err = p.communicate(timeout=60)
        wait_until(lambda: os.listdir(tmp) == [], f"{command} leaves {os.listdir(tmp)} after signal {number}")
        return p.returncode, out, err, sorted(os.listdir(d))


def wait_until(is_true, what):
    """A process that cleans up has ended when its pipe does; this only bounds how long that may take."""
    for _ in range(200):
        if is_true():
            return
        subprocess.run(["sleep", "0.05"], check=True)
    raise AssertionError(what)


def test_broken_off_leaves_nothing():
    for command, options in (("check", []), ("test", []), ("crash", ["--recover", RECOVER])):
        broken_off(command, options, signal.SIGKILL)
        status, out, err, left = broken_off(command, options, signal.SIGINT)  # ends the program, which is judged then
        equal((status, "No bugs found" in out), (3, True), f"status and report ({err})")
        status, out, err, left = broken_off(command, options, signal.SIGTERM)  # ends pmend
        equal((status, out), (3, ""), f"status and report ({err})")
        contains(err, "told to end; the trace is kept as")
        equal([n for n in left if n.endswith(".pmt")], ["pmend-check.pmt" if command == "check" else "pmend-crash.pmt"])


def test_dying_leaves_nothing():
    """pmend itself gives up: recovery cannot be run, or the report cannot be written."""
    with folder() as d:
        equal(run_in(d, "crash", "0", options=["--recover", "/there-is-no-such {}"])[0], 3)
        equal(run_in(d, "crash", "0", options=["--recover", "/bin/false {}"])[0], 3)
        equal(run_in(d, "check", "bug", "0", options=["-o", "/dev/full"])[0], 3)
        equal(run_in(d, "test", "bug", "0", options=["-o", "/dev/full"])[0], 3)
