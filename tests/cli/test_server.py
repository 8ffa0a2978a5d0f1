"""A server with its client: --client, --ready, --stop, in the commands that record. Whatever goes wrong, nothing is left running."""
import json
import os
import resource
import shlex
import signal
import subprocess

from cli import PMEND, contains, equal, events, fails, folder, need_pool, pmend, run, write
from leftovers import wait_for_ends
from ports import port_reserve

SERVER = os.path.abspath("build/tests/cli/server")
SOON = "8"  # seconds; a server is ready long before
RECOVER = "/bin/sh -c 'test ! -e \"$0\" || head -c 1 \"$0\" >/dev/null' {}"


def line_of(mark):
    with open("tests/cli/server.c", encoding="utf-8") as f:
        return next(n for n, line in enumerate(f, 1) if mark in line)


def client(*words):
    return ["--client", shlex.join([SERVER, *words])]


def served(d, command, *how, port, options=(), ready=None, stop=None, use=None, program=True, env={}):
    """Status, output and errors of a command on the server. Nothing may be left of it."""
    need_pool()
    tmp = os.path.join(d, "t mp")
    os.makedirs(tmp, exist_ok=True)
    words = [*client(*(use or ["put", port]))]
    for r in ready if ready is not None else [port]:
        words += ["--ready", r]
    if stop:
        words += ["--stop", stop]
    result = pmend(command, *words, *options, "--", SERVER, "serve", port, "{pool}", *how, cwd=d, env={"TMPDIR": tmp, **env})
    equal(wait_for_ends(tmp, [], 60), {}, "processes that are left")
    equal(os.listdir(tmp), [], "what is left in TMPDIR")
    return result


def with_port(function):
    reserved, port = port_reserve()
    with reserved, folder() as d:
        function(d, str(port))


def test_right_and_wrong():
    """An acknowledgement before the data is durable is found, and the right server is silent. The client's output is not the program's; it is in trace and report."""
    def right(d, port):
        equal(served(d, "record", port=port, options=["-o", "t.pmt", "-q"]), (0, "", ""))
        meta = json.loads(pmend("show", "--summary", "--format=json", os.path.join(d, "t.pmt"))[1])["meta"]
        equal([meta[f"recipe.{i}"] for i in range(4)], ["--client", shlex.join([SERVER, "put", port]), "--ready", port])
        equal(len([e for e in events(os.path.join(d, "t.pmt")) if e["kind"] == "process"]), 1, "processes that were recorded")
        equal(pmend("check", "-q", os.path.join(d, "t.pmt"))[0], 0, "check of the right server")
        status, out, err = served(d, "check", "early", port=port, options=["--format", "json"])
        equal(status, 1, f"the status ({err})")
        report = json.loads(out)
        equal(report["recipe"], ["--client", shlex.join([SERVER, "put", port]), "--ready", port])
        equal([b["locations"][0]["line"] for b in report["bugs"] if b["kind"] == "ack-before-durable"], [line_of("BUG: ack-before-durable")])
    with_port(right)


def test_unix_socket():
    """Without --ready, any socket that it listens on will do. {pool} is the same in the client."""
    with folder() as d:
        status, _, err = served(d, "check", port="{pool}.sock", ready=[], options=["-q"])
        equal((status, err), (0, ""))


def test_text():
    """It comes in two pieces. A server that keeps it in its buffer gets never ready, and the message says why."""
    def says(d, port):
        equal(served(d, "check", "says", port=port, ready=["it is ready"], options=["-q"])[:2], (0, "now it is ready\n"))
        status, _, err = served(d, "check", "holds", port=port, ready=["it is ready", port], options=["--timeout", "1"])
        equal(status, 3)
        contains(err, "the server was not ready after 1 s (--timeout): it did not print 'it is ready'")
        contains(err, "flush the output, or say --ready PORT")
    with_port(says)


def test_never_ready():
    def never(d, port):
        fails(served(d, "crash", "deaf", port=port, options=["--recover", RECOVER, "--timeout", "1"]), 3, f"it does not listen on port {port}; it listens on nothing")
        status, _, err = served(d, "record", port="/no/such/place", ready=["7"])
        equal(status, 3)
        contains(err, "pmend: the server ended before it was ready; its last output: line ")
        equal(sorted(os.listdir(d)), ["t mp"], "what is in the folder")
    with_port(never)


def test_client_fails():
    def bad(d, port):
        status, _, err = served(d, "test", port=port, use=["fail"])
        equal(status, 3)
        contains(err, "pmend: the client failed with exit status 3; its last output: no luck today\n")
        fails(served(d, "record", port=port, use=["put", port], options=["--client", "no-such-program"]), 3, "--client: cannot run no-such-program")
    with_port(bad)


def test_server_dies():
    """That is the program's own failure: it is judged up to there."""
    def dies(d, port):
        status, out, err = served(d, "check", "dies", "early", port=port)
        equal(status, 3 if "No bugs found" in out else 1, err)
        contains(err, "the client failed with exit status 1")
        contains(err, "killed by SIGSEGV (Segmentation fault)")
    with_port(dies)


def test_stop():
    """By a signal, by a command, by itself; a daemon; one that ignores it."""
    def ends(d, port):
        for how, stop in ((["once"], None), (["daemon"], None), ([], "KILL"), (["stubborn"], "9"), (["stubborn"], shlex.join([SERVER, "end", port]))):
            status, _, err = served(d, "record", *how, port=port, stop=stop, options=["-q"])
            equal((status, err), (0, ""), f"status and errors of {how} {stop}")
        fails(served(d, "record", "stubborn", port=port, options=["--timeout", SOON]), 3, f"the server still ran {SOON} s (--timeout) after signal TERM, and was killed")
        status, _, err = served(d, "record", port=port, stop=shlex.join([SERVER, "fail"]))
        equal(status, 3)
        contains(err, "the command of --stop failed with exit status 3; its last output: no luck today\n")
    with_port(ends)


def test_max_time():
    """A client that goes on is ended with its server; what there is is judged."""
    def long(d, port):
        status, out, err = served(d, "crash", port=port, use=["wait", port], options=["--recover", RECOVER, "--max-time", SOON])
        equal(status, 0, f"the status ({err})")
        contains(err, f"the program still ran after {SOON} s (--max-time), and was ended")
        contains(out, f"The program still ran after {SOON} s (--max-time)")
    with_port(long)


def test_broken_off():
    """SIGTERM ends pmend, the server and the client."""
    def stopped(d, port):
        need_pool()
        with subprocess.Popen([PMEND, "check", *client("wait", port), "--", SERVER, "serve", port, "{pool}", "tells"], cwd=d, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env=dict(os.environ, TMPDIR=d)) as p:
            equal(p.stdout.readline(), "stored\n")
            p.send_signal(signal.SIGTERM)
            out, err = p.communicate(timeout=60)
        equal((p.returncode, out), (3, ""))
        contains(err, "pmend was stopped; the trace is kept as pmend-out/check.pmt")
        equal(wait_for_ends(d, [], 60), {}, "processes that are left")
    with_port(stopped)


def test_refused():
    """Before anything is started."""
    def usage(*words):
        return pmend("check", *words, "--", SERVER, "serve", "1", "p")
    fails(usage("--ready", "7"), 2, "--ready and --stop need --client")
    fails(usage("--client", SERVER, "--ready", "70000"), 2, "a TCP port, not '70000'")
    fails(usage("--client", SERVER, "--stop", "99"), 2, "there is no signal 99")
    fails(usage("--client", SERVER + " {pool}"), 2, "--client has {pool}")
    fails(usage("--client", SERVER + " {Pool}"), 2, "did you mean {pool}?")
    fails(usage("--client", "'a"), 2, "a quote is not closed")
    fails(pmend("check", "--client", SERVER, "x.pmt"), 2, "apply only to recording a program")


def test_project_file():
    """Its keys are the options, and --platform all records the server again."""
    def of_project(d, port):
        write(os.path.join(d, ".pmend"), f"[check]\nclient = {shlex.join([SERVER, 'put', port])}\nready = {port}\nready = now it is ready\n")
        need_pool()
        status, out, err = pmend("check", "--platform", "all", "-o", "r.json", "--format", "json", "--", SERVER, "serve", port, "{pool}", "says", cwd=d, env={"LD_PRELOAD": "libpmem.so.1"})
        equal(status, 1, f"the status ({err})")  # nothing is synced
        with open(os.path.join(d, "r.json"), encoding="utf-8") as f:
            equal(json.load(f)["recipe"][-1], "now it is ready")
        contains(err, "running the program once more, for msync")
    with_port(of_project)


def test_limit_of_open_files():
    """Valgrind takes the soft limit at its start as the hard one, and refuses to change that; the program does not see this."""
    def limits(d, port):
        need_pool()
        p = subprocess.run([PMEND, "record", "-q", "-o", "t.pmt", *client("put", port), "--", SERVER, "serve", port, "pool", "limits"], cwd=d, capture_output=True, text=True, timeout=300,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (500, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
        equal((p.returncode, p.stdout, p.stderr), (0, "at first 500\n", ""))
    with_port(limits)


def test_fix_verifies():
    """The copies of the tree are recorded with the report's client, in paths with blanks."""
    def verify(d, port):
        tree, tmp = os.path.join(d, "a tree"), os.path.join(d, "t mp")
        os.makedirs(os.path.join(tree, "tests"))
        os.mkdir(tmp)
        for name in ("tests/cli/server.c", "tests/machine.h"):
            with open(name, encoding="utf-8") as f:
                write(os.path.join(tree, "server.c" if name.endswith("server.c") else name), f.read())
        words = ["cc", "-std=gnu11", "-O1", "-g", "-D_GNU_SOURCE", "-I.", "-o", "server", "server.c"]
        write(os.path.join(tree, "compile_commands.json"), json.dumps([{"directory": tree, "file": "server.c", "arguments": words}]))
        equal(run(*words, cwd=tree)[0], 0, "the status of the compiler")
        # the early fence is fixed by another one
        status, _, err = pmend("check", "--only", "acknowledged", "--format", "json", "-o", "r.json", "--client", "./server put {pool}.sock", "--", "./server", "serve", "{pool}.sock",
                               "{pool}", "early", cwd=tree, env={"TMPDIR": tmp})
        equal(status, 1, f"the status ({err})")
        status, _, err = pmend("fix", "--verify", shlex.join(words), "r.json", cwd=tree, env={"TMPDIR": tmp})
        contains(err, "1 of 1 fixed bug is gone, 0 new; output unchanged, exit status unchanged")
        equal(status, 0, f"the status ({err})")
    with_port(verify)
