"""The table: each row is a place or a habit of programs, the outcome, the words in which pmend says so, and the test. docs/places.md is generated from it."""
import json
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from typing import Callable

from places import ARCH, FOUND, PMEND, PROGRAMS, SOURCES, Place, Skip, expect

WORKS, NOTED, REFUSED = "works", "works with a note", "refused"
LIBRARIES = {"amd64": "/usr/lib/x86_64-linux-gnu", "arm64": "/usr/lib/aarch64-linux-gnu"}[ARCH]
TREE = os.path.abspath(os.path.join(SOURCES, "..", ".."))
GIB = 1 << 30
THREADS = "without protection keys (arm64, older amd64), states are run as whole images, and a note says so"


@dataclass
class Row:
    name: str
    what: str
    test: Callable[[Place], None]
    outcome: str = WORKS
    says: str = ""  # what pmend says, in part
    remark: str = ""  # what to do, or how it is imitated


# ---- who runs it, and with what limits ----

def not_root(p):
    p.as_nobody()
    p.works()


def docker(p):
    p.wrap = [os.path.join(PROGRAMS, "docker")]
    p.works()


def docker_not_root(p):
    p.as_nobody()
    p.wrap = [*p.wrap, os.path.join(PROGRAMS, "docker")]
    p.works()


def address_space(p):
    p.limited("-v 400000")
    p.works()


def little_address_space(p):
    p.limited("-v 64000")
    p.refused()


def few_descriptors(p):
    p.limited("-n 110")
    p.works()


def too_few_descriptors(p):
    p.limited("-n 64")
    p.refused()


def few_processes(p):
    p.as_nobody()
    p.limited("-u 24")
    p.options = ["--jobs", "8"]
    p.noted("habits", "spawn")


def too_few_processes(p):
    p.as_nobody()
    p.limited("-u 5")
    p.noted(is_less=True)


def untraced(p):
    """gdb is not even started."""
    p.works()
    trace = os.path.join(p.folder, "pmend-out/crash.pmt")
    p.wrap = [os.path.join(PROGRAMS, "untraced")]
    recover = [os.path.join(PROGRAMS, "plain"), "check", "{}"]
    status, out, err = p.run(PMEND, "crash", "--format", "json", "--recover", shlex.join(recover), trace)
    expect(status == 1, f"status {status}: {err}")
    words = shlex.split(next(b["crash"]["replay"] for b in json.loads(out)["bugs"] if "crash" in b))
    status, out, err = p.run(PMEND, words[1], "--gdb", *words[2:])
    expect(status == 3 and p.says in err, f"status {status}: {err!r}")
    status, out, err = p.run(PMEND, *words[1:])
    expect(status == 1 and "exit status 6" in out, f"status {status}: {out!r}")


# ---- memory and folders ----

def no_shm(p):
    p.mounted("while umount -l /dev/shm 2>/dev/null; do :; done\nmount -t tmpfs -o ro,size=4k none /dev/shm")
    p.works()


def small_shm(p):
    p.mounted("mount -t tmpfs -o size=64m none /dev/shm")
    p.pool_words = [str(100 << 20)]
    p.works()


def no_room(p):
    os.mkdir(os.path.join(p.folder, "tmp"))
    p.mounted("mount -t tmpfs -o size=64k none tmp")
    p.env = {"TMPDIR": os.path.join(p.folder, "tmp")}
    p.refused()


def read_only_tree(p):
    # build/ may be mounted, as in the folders of tools/on
    p.mounted(f"mount --rbind '{TREE}' '{TREE}'\nmount -o remount,ro,bind '{TREE}'\n"
              f"if mountpoint -q '{TREE}/build'; then mount -o remount,ro,bind '{TREE}/build'; fi")
    p.works()


def no_home(p):
    p.as_nobody()
    p.env = {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"}
    p.works()


def read_only_folder(p):
    p.mounted("mkdir -p closed\nmount -t tmpfs -o ro none closed\ncd closed")
    command = p.command("plain")
    command[command.index("pool")] = "../pool"
    status, out, err = p.run(*command)
    expect(status == 1 and p.says in err, f"status {status}: {err!r}")


def sparse_pool(p):
    size, n = 8 * GIB, 200
    path = os.path.join(p.folder, "pool")
    with open(path, "wb") as f:
        f.truncate(size)
        for i in range(n):
            f.seek(size // 2 + i * (size // 2 // n))
            f.write(bytes([i + 1]) * (1 << 20))
    p.is_old_pool = True
    p.pool_words = [str(size)]
    p.works()
    expect(os.stat(path).st_blocks * 512 < GIB, "the pool's holes are gone")


def ext4(p):
    p.image(["mkfs.ext4", "-q"])
    p.works()


def xfs(p):
    p.image(["mkfs.xfs", "-q"])
    p.works()


def tmpfs(p):
    p.mounted("mkdir -p fs\nmount -t tmpfs none fs\ncd fs")
    p.works()


def overlay(p):
    """The pool is in the lower folder: the first write to it makes a copy in the upper one."""
    p.mounted("mount -t tmpfs none .\ncd \"$PWD\"\nmkdir lower upper work fs\ntruncate -s 8192 lower/pool\n"
              "mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay fs\ncd fs")
    p.works()


def plan9(p):
    kind = subprocess.run(["stat", "-f", "-c", "%T", PROGRAMS], capture_output=True, text=True).stdout.strip()
    if kind != "v9fs":
        raise Skip(f"the build folder is on {kind}; the emulated machine has it on 9p")
    p.cwd = os.path.join(PROGRAMS, os.path.basename(p.folder))
    os.mkdir(p.cwd)
    try:
        p.works()
    finally:
        shutil.rmtree(p.cwd)


# ---- several at once ----

def many_jobs(p):
    p.options = ["--jobs", "64"]
    p.works()


def silent(err):
    return all(line.startswith(FOUND) for line in err.splitlines())


def two_at_once(p):
    """One waits, in the program that it records, until the other has done all: so they are at work at the same time, and each keeps its own trace."""
    gate = os.path.join(p.folder, "gate")
    os.mkfifo(gate)
    plain, other = p.command("plain"), p.command("habits", "none")
    at = plain.index("--") + 1
    plain[at:] = ["sh", "-c", f"cat gate && exec {shlex.join(plain[at:])}"]
    other[other.index("pool")] = "other_pool"
    first = subprocess.Popen(plain, cwd=p.cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with open(gate, "w"):  # opens when the first one's program is there
        status, out, err = p.run(*other)
        expect(status == 1 and silent(err), f"the second: {status}: {err!r}")
    first_out, first_err = first.communicate()
    expect(first.returncode == 1 and silent(first_err), f"the first: {first.returncode}: {first_err!r}")
    names = set()
    for text in first_out, out:
        report = json.loads(text)
        p.same(report)
        words = shlex.split(next(b["crash"]["replay"] for b in report["bugs"] if "crash" in b))
        names.add(words[-1])
        status, replayed, err = p.run(PMEND, *words[1:])
        expect(status == 1 and "exit status 6" in replayed, f"the replay of {words[-1]}: {status}: {replayed!r} {err!r}")
    expect(len(names) == 2 and "pmend-out/crash.pmt" in names, f"the traces are {names}")


# ---- programs ----

def habit(name):
    return lambda p: p.works("habits", name)


def preload(library):
    def test(p):
        path = os.path.join(LIBRARIES, library)
        if not os.path.exists(path):
            raise Skip(f"{library} is not installed")
        p.env = {"LD_PRELOAD": path}
        p.works("throws")
    return test


def rust(p):
    p.source = "rust.rs"
    p.works("rust")


def memmap2(p):
    p.source = "memmap2.rs"
    p.options = ["--platform", "msync"]
    p.works("memmap2")


def noted_habit(name):
    return lambda p: p.noted("habits", name)


def refused_in_recording(name):
    """Not in recovery."""
    def test(p):
        p.refused("habits", name)
        os.remove(os.path.join(p.folder, "pool"))
        p.works("habits", "none", recover=[name])
    return test


def program(name):
    return lambda p: p.works(name)


def noted_program(name):
    return lambda p: p.noted(name)


MACHINE = [
    Row("not_root", "a user other than root", not_root),
    Row("docker", "root in a container with Docker's default capabilities and seccomp profile", docker, remark="tested with a filter of our own"),
    Row("docker_not_root", "another user in such a container", docker_not_root, remark="tested with a filter of our own"),
    Row("address_space", "`ulimit -v` of 400 MB; overcommit 2 (memory is promised only once)", address_space, remark="overcommit is tested by the limit"),
    Row("little_address_space", "`ulimit -v` of 64 MB", little_address_space, REFUSED, "the recorder has no memory left", "raise the limit"),
    Row("few_descriptors", "`ulimit -n` of 110", few_descriptors),
    Row("too_few_descriptors", "`ulimit -n` of 64", too_few_descriptors, REFUSED, "cannot use file descriptor 100: Invalid argument; raise 'ulimit -n'"),
    Row("few_processes", "`ulimit -u` that allows few processes, and a recovery that starts some", few_processes, NOTED, "jobs instead of 8: 'ulimit -u' leaves room for",
        "pmend uses fewer workers"),
    Row("too_few_processes", "`ulimit -u` that allows no further process", too_few_processes, NOTED,
        "no crash was explored: cannot start another process: Resource temporarily unavailable; raise 'ulimit -u'", "the report has the findings of the execution, and is not complete"),
    Row("untraced", "Yama's `ptrace_scope` 2: `--replay` works, `--gdb` does not", untraced, NOTED, "gdb may not trace programs here",
        "tested with a filter of our own; the message says what to set"),
    Row("no_shm", "no writable `/dev/shm`", no_shm),
    Row("small_shm", "a `/dev/shm` of 64 MiB, as in Docker, and a pool of 100 MiB", small_shm),
    Row("no_room", "a full `TMPDIR`", no_room, REFUSED, "the trace is incomplete, writing it failed: No space left on device", "set `TMPDIR` to a folder with free space"),
    Row("read_only_tree", "the program, its sources and pmend itself on a read-only file system", read_only_tree),
    Row("no_home", "a missing or read-only home folder", no_home),
    Row("read_only_folder", "a read-only working folder", read_only_folder, NOTED, "cannot keep the trace as pmend-out/crash.pmt", "`--trace FILE` names another place"),
    Row("sparse_pool", "a sparse pool of 8 GiB with 200 MiB of data", sparse_pool),
    Row("ext4", "a pool on ext4", ext4),
    Row("xfs", "a pool on xfs", xfs),
    Row("tmpfs", "a pool on tmpfs", tmpfs),
    Row("overlay", "a pool on overlayfs, in its lower folder", overlay),
    Row("plan9", "a pool on 9p, a folder of a virtual machine's host", plan9),
    Row("two_at_once", "two pmend processes in one folder", two_at_once, remark="the second keeps its trace as `pmend-out/crash-PID.pmt`"),
    Row("many_jobs", "64 workers at once, `--jobs 64`", many_jobs),
]

PROGRAM = [
    Row("spawn", "starts a program by `posix_spawn`, with PM mapped", habit("spawn")),
    Row("system", "calls `system()`", habit("system")),
    Row("small_stack", "works on PM in a thread with a stack of `PTHREAD_STACK_MIN`", habit("stack"), remark=THREADS),
    Row("limits", "lowers its own limits: descriptors, memory, stack, file size, processes", habit("limits")),
    Row("hard_limit", "lowers the hard limit of descriptors", habit("hard-limit")),
    Row("no_new_privileges", "calls `prctl(PR_SET_NO_NEW_PRIVS)`", habit("no-new-privileges")),
    Row("filter", "has a seccomp filter that refuses calls", habit("filter")),
    Row("sandbox", "has a seccomp filter that kills it at any call but a few", noted_habit("sandbox"), NOTED, "The program was recorded without its seccomp filter",
        "the filter would refuse pmend's own calls in the same process; the same holds in recovery"),
    Row("trap", "has a seccomp filter that sends it SIGSYS, and relies on it", refused_in_recording("trap"), REFUSED, "The program was recorded without its seccomp filter",
        "Valgrind cannot record it; it works in recovery"),
    Row("plugin", "loads the code that works on PM by `dlopen`", habit("plugin")),
    Row("exceptions", "throws C++ exceptions through PM code, in destructors and threads", program("throws"), remark=THREADS),
    Row("jemalloc", "is preloaded with jemalloc (`LD_PRELOAD`)", preload("libjemalloc.so.2")),
    Row("tcmalloc", "is preloaded with tcmalloc", preload("libtcmalloc_minimal.so.4")),
    Row("rust", "is written in Rust, and maps a file", rust),
    Row("memmap2", "is written in Rust, and maps a file with the crate memmap2", memmap2, remark="a finding is at the program's line, not in the crate"),
    Row("no_libc", "is static and makes its own system calls, as Go's programs do", noted_program("bare"), NOTED, "cannot be preloaded: it is linked statically",
        "states are run as whole images; tested with a program without C library instead of Go"),
    Row("musl", "is linked with musl", noted_program("musl"), NOTED, "cannot be preloaded: it is linked with another C library", "states are run as whole images"),
    Row("musl_static", "is linked with musl, statically", noted_program("musl_static"), NOTED, "cannot be preloaded: it is linked statically",
        "states are run as whole images"),
]
