"""pmend record: what is refused before the start, and what is said about the end."""
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys

from cli import ARCH, PMEND, POOL, Skip, contains, equal, events, fails, folder, need_pool, pmend, run, write


X86_64, AARCH64 = 62, 183  # machines of ELF
OWN, OTHER = (AARCH64, X86_64) if ARCH == "arm64" else (X86_64, AARCH64)


def elf(bits=64, machine=OWN, kind=2):
    ident = b"\x7fELF" + bytes([2 if bits == 64 else 1, 1, 1]) + bytes(9)
    return (ident + struct.pack("<HHI", kind, machine, 1)).ljust(64, b"\0")


def program(path, data):
    write(path, data)
    os.chmod(path, 0o755)
    return path


def refuses(target, *parts, options=(), **kw):
    with folder() as d:
        trace = os.path.join(d, "t.pmt")
        fails(pmend("record", "-o", trace, *options, "--", target, **kw), 3, *parts)
        equal(os.path.exists(trace), False, "whether there is a trace")


def test_no_such_program():
    refuses("no-such-program", "no program 'no-such-program' in PATH")
    refuses("/no/such/program", "/no/such/program", "no such program")
    refuses("", "PATH")
    with folder() as d:
        program(os.path.join(d, "here"), elf())
        refuses("here", "./here", cwd=d)


def test_not_a_program():
    with folder() as d:
        refuses(d, "is a folder, not a program or trace")
        refuses(".", ". is a folder", cwd=d)
        refuses(write(os.path.join(d, "a file"), elf()), "is not executable")
        refuses(program(os.path.join(d, "32"), elf(32, 3)), "32-bit")
        refuses(program(os.path.join(d, "other"), elf(64, OTHER)), "another machine", "arm64 ones" if ARCH == "arm64" else "x86-64 ones")
        refuses(program(os.path.join(d, "object"), elf(kind=1)), "object file")
        refuses(program(os.path.join(d, "text"), "hello"), "is not an ELF program, and not a script")
        refuses(program(os.path.join(d, "empty"), ""), "is not an ELF program, and not a script")


def test_output_not_writable():
    with folder() as d:
        fails(pmend("record", "-o", os.path.join(d, "no", "t.pmt"), "true"), 3, "No such file")
        fails(pmend("record", "-o", d, "true"), 3, "it is a folder")
        fails(pmend("record", "-o", "/dev/null", "true"), 3, "regular file")
        fails(pmend("record", "-o", "/proc/t.pmt", "true"), 3, "/proc")
        fails(pmend("record", "-o", os.path.join(write(os.path.join(d, "file"), ""), "t.pmt"), "true"), 3, "file")
        equal(os.listdir(d), ["file"], "what is left")


def test_valgrind_missing():
    refuses("/bin/true", "apt-get install valgrind", env={"PATH": "/nowhere"})


def test_recorder_missing():
    with folder() as d:
        copy = shutil.copy(PMEND, os.path.join(d, "pmend"))
        r = subprocess.run([copy, "record", "--", "/bin/true"], capture_output=True, text=True, cwd=d, timeout=60)
        fails((r.returncode, r.stdout, r.stderr), 3, f"pmend-{ARCH}-linux", "make")


def record(d, *args, options=(), **kw):
    need_pool()
    return pmend("record", "-o", os.path.join(d, "a trace.pmt"), *options, "--", POOL, os.path.join(d, "a pool"), *args, **kw)


def store_line():
    with open("tests/cli/pool.c", encoding="utf-8") as f:
        return next(n for n, line in enumerate(f, 1) if "/* STORE */" in line)


def test_record_and_show():
    with folder() as d:
        status, _, err = record(d)
        equal(status, 0)
        assert re.fullmatch(r"pmend: recorded \d+ events on 1 file in 1 process: .*a trace\.pmt, \d+ bytes\n", err), err
        kinds = ["store", "dc-cvap", "dsb"] if ARCH == "arm64" else ["store", "clflush", "sfence"]
        found = events(os.path.join(d, "a trace.pmt"), "--kind", ",".join(kinds))
        equal([e["kind"] for e in found], kinds)
        equal((found[0]["file"], found[0]["offset"], found[0]["data"]), (os.path.join(d, "a pool"), 64, "2a00000000000000"))
        equal((found[0]["function"], found[0]["line"]), ("update", store_line()))
        equal([e["function"] for e in found], ["update"] * 3, "functions, without compiler intrinsics")
        total = json.loads(pmend("show", "--summary", "--format=json", os.path.join(d, "a trace.pmt"))[1])
        contains(total["objects"], POOL)
        equal(total["meta"]["argv.0"], POOL)
        equal((total["meta"]["isa"], total["meta"]["page"]), (ARCH, str(os.sysconf("SC_PAGESIZE"))))
        assert int(total["meta"]["line"]) >= 16 and ("lse2" in total["meta"]) == (ARCH == "arm64"), total["meta"]


def test_quiet():
    with folder() as d:
        equal(record(d, options=["-q"]), (0, "", ""))


def test_without_dashes():
    need_pool()
    with folder() as d:
        equal(pmend("record", "-q", POOL, "pool", cwd=d), (0, "", ""))
        equal(sorted(os.listdir(d)), ["pmend.pmt", "pool"])


def test_killed_by_signal():
    with folder() as d:
        status, _, err = record(d, "segv")
        equal(status, 3)
        contains(err, "killed by SIGSEGV (Segmentation fault); the trace is complete up to that point: ")
        equal([e["kind"] for e in events(os.path.join(d, "a trace.pmt"), "--kind=store")], ["store"])


def test_exit_status():
    with folder() as d:
        status, _, err = record(d, "7")
        equal(status, 3)
        contains(err, "exit status 7")
        equal(len(events(os.path.join(d, "a trace.pmt"), "--kind=store")), 1)


def test_waits_for_a_daemon():
    with folder() as d:
        equal(record(d, "daemon")[0], 0)
        equal(len(events(os.path.join(d, "a trace.pmt"), "--kind=store")), 2)


def test_no_pm():
    need_pool()
    with folder() as d:
        fails(pmend("record", "-o", os.path.join(d, "t"), "--", "/bin/true"), 3, "the program mapped no shared writable file; did it get {pool}?")
        status, _, err = record(d, options=["--pm", "*.other"])
        equal(status, 3)
        contains(err, "--pm")


def test_pm_globs():
    with folder() as d:
        for glob in ("a p*", "a?p[no]o[!k-]", os.path.join(d, "*"), "./a pool"):
            status, _, err = record(d, options=["-q", "--pm", "nothing", "--pm", glob], cwd=d)
            equal((status, err), (0, ""), f"status and errors with --pm {glob!r}")
        equal(record(d, options=["-q", "--pm", "./b*", "--pm", "a p[!o]ol"], cwd=d)[0], 3)


def test_replaces_old_trace():
    with folder() as d:
        write(os.path.join(d, "a trace.pmt"), "something else")
        equal(record(d, options=["-q"]), (0, "", ""))
        equal(record(d, options=["-q"]), (0, "", ""))
        equal(len(events(os.path.join(d, "a trace.pmt"), "--kind=store")), 1)
        equal(sorted(os.listdir(d)), ["a pool", "a trace.pmt"])


def test_keeps_old_trace_when_nothing_runs():
    with folder() as d:
        trace = write(os.path.join(d, "t.pmt"), "precious")
        target = program(os.path.join(d, "broken"), "#!/no/such/interpreter\n")
        status, _, err = pmend("record", "-o", trace, "--", target)
        equal(status, 3)
        contains(err, "valgrind could not start the program")
        with open(trace, encoding="utf-8") as f:
            equal(f.read(), "precious")
        equal(sorted(os.listdir(d)), ["broken", "t.pmt"])


def test_full_disk():
    """There is no room for the trace: that is said, and nobody else is blamed. Needs a file system of one's own."""
    need_pool()
    with folder() as d:
        script = 'mount -t tmpfs -o size=4k none "$0" || exit 77; cd "$0"; "$1" record -o t.pmt -- "$2" ../pool'
        status, _, err = run("unshare", "-r", "-m", "sh", "-c", script, write_folder(os.path.join(d, "small")), PMEND, POOL)
        if status == 77 or "unshare" in err:
            raise Skip("no file system can be mounted here")
        equal(status, 3, f"the status ({err})")
        contains(err, "t.pmt: the disk is full")
        equal("could not start" in err, False, f"blame of the program ({err})")


def write_folder(path):
    os.mkdir(path)
    return path


def interrupted(send):
    """Starts a program that waits, ends it by send(process), gives status, errors and kinds of events."""
    need_pool()
    with folder() as d:
        trace = os.path.join(d, "t.pmt")
        with subprocess.Popen([PMEND, "record", "-o", trace, "--", POOL, os.path.join(d, "a pool"), "wait"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as p:
            equal(p.stdout.readline(), "ready\n")
            send(p)
            out, err = p.communicate(timeout=60)
        equal(out, "")
        left = subprocess.run(["pgrep", "-f", re.escape(d)], capture_output=True, text=True)
        equal(left.stdout, "", "processes left")
        return p.returncode, err, [e["kind"] for e in events(trace, "--kind=store")]


def test_interrupt_from_terminal():
    status, err, kinds = interrupted(lambda p: os.killpg(p.pid, signal.SIGINT))
    equal((status, kinds), (3, ["store"]))
    contains(err, "killed by SIGINT")
    contains(err, "recorded ")


def test_interrupt_of_pmend_alone():
    for number, name in ((signal.SIGINT, "SIGINT"), (signal.SIGTERM, "SIGTERM")):
        status, err, kinds = interrupted(lambda p, n=number: os.kill(p.pid, n))
        equal((status, kinds), (3, ["store"]))
        contains(err, f"killed by {name}")


def test_platforms():
    with folder() as d:
        for platform in ("arm64" if ARCH == "arm64" else "x86-adr", "eadr", "msync"):
            equal(record(d, options=["-q", "--platform", platform])[0], 0)
            total = json.loads(pmend("show", "--summary", "--format=json", os.path.join(d, "a trace.pmt"))[1])
            equal(total["meta"]["platform"], platform)


def peak_kib(rounds):
    """The most memory that the recorder had at a time, and how many events it wrote."""
    code = ("import resource, subprocess, sys\n"
            "subprocess.run(sys.argv[1:], check=True)\n"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n")
    with folder() as d:
        trace = os.path.join(d, "t.pmt")
        p = subprocess.run([sys.executable, "-c", code, PMEND, "record", "-q", "-o", trace, "--", "build/tests/cli/loop",
                            os.path.join(d, "pool"), str(rounds)], capture_output=True, text=True, timeout=300)
        equal((p.returncode, p.stderr), (0, ""))
        total = json.loads(pmend("show", "--summary", "--format=json", trace)[1])
        return int(p.stdout), total["events"]


def test_memory_does_not_grow_with_events():
    need_pool()
    (few_kib, few), (many_kib, many) = peak_kib(40000), peak_kib(800000)
    assert many > 15 * few, (few, many)
    # neither noticeable nor as much as a byte for each event
    assert many_kib < 1.1 * few_kib and (many_kib - few_kib) * 1024 < many - few, (few_kib, many_kib, few, many)


def test_command_of_a_script():
    """The report has the command that was recorded, not those of the programs that it executes."""
    with folder() as d:
        script = 'cd / && "$0" "$1" && "$0" "$1" longer words'
        status, out, _ = pmend("check", "--format", "json", "--", "sh", "-c", script, POOL, "{pool}", cwd=d)
        report = json.loads(out)
        equal((status, report["command"]), (0, ["sh", "-c", script, POOL, "{pool}"]))
        status, out, _ = pmend("check", "--format", "json", "--", "sh", "-c", 'exec "$0" "$1"', POOL, "{pool}", cwd=d)
        equal(json.loads(out)["command"], ["sh", "-c", 'exec "$0" "$1"', POOL, "{pool}"])
