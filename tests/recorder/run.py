#!/usr/bin/env python3
"""Records the programs of this folder and compares each trace with what the program itself expected (see expect.h).

    tests/recorder/run.py [NAME]...      all tests, or those named; in the project's folder

For every program: replaying the trace's initial content and stores must give the files' final bytes.
Prints `ok NAME: property` or `FAIL NAME: property: first difference`."""

import itertools
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, "tests")
from each import Skip, choose  # noqa: E402

PMEND = "build/pmend"
PROGRAMS = "build/tests/recorder"
PAGE = 4096
DYING_STORES = 60000  # of kill.c

IS_ARM64 = platform.machine() == "aarch64"
PLAIN = ("store", "store-pair", "store-vector")
STORES = (*PLAIN, "store-nt", "store-rmw", "store-sys", "store-ordered")
FLUSHES = ("clflush", "clflushopt", "clwb", "dc-cvac", "dc-civac", "dc-cvap", "dc-cvadp")
FENCES = ("sfence", "mfence", "lfence", "rmw-fence", "dmb", "dsb")
DATA = (*STORES, *FLUSHES, *FENCES, "load")
LIBC_FENCES = ("dmb",)  # also made by libc itself


class Wrong(Exception):
    """A property does not hold; the message is the first difference."""


def brief(event):
    keys = ("seq", "kind", "file", "offset", "size", "data", "args", "text", "function", "line", "process", "chain", "of")
    return " ".join(f"{k}={os.path.basename(v) if k == 'file' else v}" for k in keys if (v := event.get(k)) is not None)


# ---- recording ----


class Recording:
    def __init__(self, name, program, args=(), options=(), env=None, prepare=None, output=None):
        self.name = name
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix=f"pmend-{name}-"))
        self.pools = os.path.join(self.folder, "pools")
        self.trace = output or os.path.join(self.folder, "trace.pmt")
        self.expect_file = os.path.join(self.folder, "expect")
        os.mkdir(self.pools)
        if prepare:
            prepare(self.pools)
        command = [PMEND, "record", "-o", self.trace, *(options(self.pools) if callable(options) else options), "--", os.path.join(PROGRAMS, program), self.pools, *args]
        environment = dict(os.environ, EXPECT_FILE=self.expect_file, **(env or {}))
        self.done = run(command, environment)
        self.shown = None
        self._events = self._expectations = None

    def show(self, *options):
        return run([PMEND, "show", *options, self.trace])

    @property
    def events(self):
        if self._events is None:
            self.shown = self.show("--format", "json", "--stacks")
            self._events = [json.loads(line) for line in self.shown.stdout.splitlines()]
        return self._events

    @property
    def expectations(self):
        if self._expectations is None:
            with open(self.expect_file) as f:
                self._expectations = [json.loads(line) for line in f]
        return self._expectations

    def of_kind(self, *kinds):
        return [e for e in self.events if e["kind"] in kinds]


def run(command, env=None):
    return subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          text=True, errors="replace", timeout=600)


# ---- properties that all programs share ----


def check_exit(r, status=0, record=0):
    """The program ended as it should, which includes its own checks, and record said so."""
    said = (r.done.stderr or r.done.stdout).strip()[-600:]
    if r.done.returncode != record:
        raise Wrong(f"pmend record returned {r.done.returncode}, not {record}: {said}")
    exits = [e["args"] for e in r.of_kind("exit") if e["process"] == 0]
    if r.shown.returncode != 0:
        raise Wrong(f"pmend show returned {r.shown.returncode}: {r.shown.stderr.strip()[-300:]}")
    if status is not None and exits != [[status]]:
        raise Wrong(f"exit events of the first process {exits}, not [[{status}]]: {said}")


def check_numbers(r):
    """Events are numbered in order, and none is called incomplete."""
    seqs = [e["seq"] for e in r.events]
    if any(b <= a for a, b in zip(seqs, seqs[1:])):
        raise Wrong("numbers do not rise")
    for e in r.of_kind("incomplete"):
        raise Wrong(f"the trace says it is incomplete: {e.get('text')}")


def covers(expected, event):
    end = expected["offset"] + expected["size"]
    of, kind = expected["of"], event["kind"]
    if of == "copy" and kind == "sfence":
        return True
    if event.get("file") != expected["file"]:
        return False
    if of == "any" and kind in FLUSHES:
        return expected["offset"] // 64 * 64 <= event["offset"] < end
    if of not in ("any", "copy", kind) and not (of == "store" and kind in PLAIN) or kind not in STORES:
        return False
    return expected["offset"] <= event["offset"] and event["offset"] + event["size"] <= end


def frames(event):
    return [f.get("function", "?") + ("~" if f.get("inlined") else "") for f in event.get("stack", [])]


def chain_matches(pattern, names):
    if not pattern:
        return True
    if pattern[0] == "*":
        return any(chain_matches(pattern[1:], names[i:]) for i in range(len(names) + 1))
    return bool(names) and names[0] == pattern[0] and chain_matches(pattern[1:], names[1:])


def differs(expected, event, ignore):
    """Why the event is not the expected one, or None."""
    for key, value in expected.items():
        if key in ignore:
            continue
        if key == "args":
            args = event.get("args", [])
            if len(args) != len(value) or any(v is not None and v != a for v, a in zip(value, args)):
                return f"args {args}, not {value}"
        elif key == "chain":
            if not chain_matches(value.split(" < "), frames(event)):
                return f"stack {' < '.join(frames(event)[:12])}, not {value}"
        elif key == "repeats":
            if (n := frames(event).count(value)) != expected["times"]:
                return f"{n} frames of {value}, not {expected['times']}"
        elif key != "times" and event.get(key) != value:
            return f"{key} {event.get(key)}, not {value}"
    return None


def is_of_libc(event):
    return event["kind"] in LIBC_FENCES and "tests/" not in (event.get("stack") or [{}])[0].get("source", "")


def check_trace(r, ignore=()):
    """The data events, and the events of other kinds that the program mentions, are the expected ones and no others."""
    expected_kinds = {e["kind"] for e in r.expectations}
    events = [e for e in r.events if e["kind"] in expected_kinds or e["kind"] in DATA and not is_of_libc(e)]
    i = 0
    if not r.expectations:
        raise Wrong("the program expected nothing")
    for number, expected in enumerate(r.expectations, 1):
        where = f"expectation {number}: {brief(expected)}"
        if expected["kind"] == "anything":
            return
        if i == len(events):
            raise Wrong(f"the trace ends before {where}")
        if expected["kind"] == "cover":
            first = i
            while i < len(events) and covers(expected, events[i]):
                i += 1
            if i == first:
                raise Wrong(f"{where}; got {brief(events[i])}")
            continue
        why = differs(expected, events[i], ignore)
        if why:
            raise Wrong(f"{why}; {where}; got {brief(events[i])}")
        i += 1
    if i < len(events):
        raise Wrong(f"{len(events) - i} events too many, the first: {brief(events[i])}")


# ---- replay: the trace must contain everything that made the files what they are ----


class File:
    def __init__(self, path, size):
        self.path = path
        self.size = size
        self.pages = {}
        self.gone = False

    def write(self, offset, data):
        while data:
            page, at = divmod(offset, PAGE)
            piece = data[:PAGE - at]
            self.pages.setdefault(page, bytearray(PAGE))[at:at + len(piece)] = piece
            offset += len(piece)
            data = data[len(piece):]

    def zero(self, offset, count):
        end = offset + count
        for page in [p for p in self.pages if p * PAGE < end and (p + 1) * PAGE > offset]:
            a, b = max(offset - page * PAGE, 0), min(end - page * PAGE, PAGE)
            self.pages[page][a:b] = bytes(b - a)

    def resize(self, size):
        if size < self.size:
            self.zero(size, self.size - size + PAGE)
        self.size = size


def replay_file_event(files, event):
    args = event["args"]
    if event["kind"] == "file":
        files[args[0]] = File(event["text"], args[1])
        files[args[0]].gone = bool(args[2] & 0xc0)  # a folder, a symbolic link: no bytes to compare
        return
    f = files.get(args[0])
    if f is None:
        raise Wrong(f"unknown file: {brief(event)}")
    if event["kind"] == "size":
        f.resize(args[1])
    elif event["kind"] == "rename":
        f.path = event["text"]
    elif event["kind"] == "unlink":
        f.gone = True
    elif event["kind"] == "fallocate":
        _, mode, offset, count = args
        if mode & 0x12:  # FALLOC_FL_PUNCH_HOLE, FALLOC_FL_ZERO_RANGE
            f.zero(offset, count)
        if not mode & 1:  # FALLOC_FL_KEEP_SIZE
            f.size = max(f.size, offset + count)


def old_bytes(offset, count):
    """As docs/format.md has it."""
    def word(at):
        n = (at // 8 + 1) * 0x9e3779b97f4a7c15 % 2**64
        n = (n ^ n >> 32) * 0xd6e8feb86659fd93 % 2**64
        return n ^ n >> 32 | 0x8080808080808080

    return bytes(word(at) >> at % 8 * 8 & 0xff for at in range(offset, offset + count))


def replay(events):
    files = {}
    for e in events:
        kind = e["kind"]
        if kind in ("file", "size", "rename", "unlink", "fallocate"):
            replay_file_event(files, e)
        elif kind in STORES or kind == "content":
            f = next((f for f in files.values() if f.path == e["file"] and not f.gone), None)
            if f is None and any(f.path == e["file"] for f in files.values()):
                continue
            if f is None:
                raise Wrong(f"no file event before {brief(e)}")
            data = bytes.fromhex(e["data"]) if "data" in e else (
                bytes.fromhex(e["blob"]) if "blob" in e else e["text"].encode())
            f.write(e["offset"], data)
        elif kind == "old-bytes":
            f = next(f for f in files.values() if f.path == e["file"] and not f.gone)
            f.write(e["offset"], old_bytes(e["offset"], e["args"][0]))
    return files


def data_pages(handle, size):
    """Page numbers of the file that are not holes."""
    offset = 0
    while offset < size:
        try:
            offset = os.lseek(handle, offset, os.SEEK_DATA)
        except OSError:
            return
        end = os.lseek(handle, offset, os.SEEK_HOLE)
        yield from range(offset // PAGE, (end + PAGE - 1) // PAGE)
        offset = end


def compare_file(f):
    handle = os.open(f.path, os.O_RDONLY)
    try:
        size = os.fstat(handle).st_size
        if f.size != size:
            raise Wrong(f"{os.path.basename(f.path)} replays to {f.size} bytes, not {size}")
        for page in sorted(set(data_pages(handle, size)) | set(f.pages)):
            have = bytes(f.pages.get(page, bytes(PAGE)))
            want = os.pread(handle, PAGE, page * PAGE).ljust(PAGE, b"\0")
            if page * PAGE < size and have != want:
                at = next(i for i in range(PAGE) if have[i] != want[i])
                raise Wrong(f"{os.path.basename(f.path)} differs at offset {page * PAGE + at}: "
                            f"replayed {have[at:at + 8].hex()}, file {want[at:at + 8].hex()}")
    finally:
        os.close(handle)


def check_replay(r):
    """Initial content + stores = the files' final bytes."""
    files = [f for f in replay(r.events).values() if f.path.startswith(r.pools) and not f.gone]
    if not files:
        raise Wrong("the trace knows no file")
    for f in files:
        compare_file(f)


# ---- properties of one program ----


def check_cpuid(r):
    """CPUID shows clwb and clflushopt, and not what VEX cannot run; the auxiliary vector shows what the processor has."""
    if IS_ARM64:
        with open("/proc/cpuinfo") as f:
            words = f.read().split()
        want = f"dcpop {int('dcpop' in words)} dcpodp {int('dcpodp' in words)}"
        if r.done.stdout.strip() != want:
            raise Wrong(f"{r.done.stdout.strip()}, not {want}")
    elif r.done.stdout.strip() != "clwb 1 clflushopt 1 avx512f 0":
        raise Wrong(r.done.stdout.strip())


def check_output(r):
    """What the program acknowledged is in the trace, with its text."""
    texts = [e.get("text") for e in r.of_kind("output") if e["args"][0] == 1]
    if texts != ["acknowledged\n"]:
        raise Wrong(f"output events {texts}")


def check_non_temporal_copy(r):
    """The large memcpy went around the cache and ended with a fence, as the tunable says. (Arm has no such stores.)"""
    if IS_ARM64:
        return
    stores = r.of_kind("store-nt")
    if len(stores) < 1000 or not r.of_kind("sfence"):
        raise Wrong(f"{len(stores)} non-temporal stores, {len(r.of_kind('sfence'))} sfences")


def check_files(r):
    """File events tell size and whether the file was there before; content is sparse."""
    files = {os.path.basename(e["text"]): e["args"] for e in r.of_kind("file")}
    for name, size, flags in (("a", 8192, 1), ("existing", 20480, 0), ("sparse", 1 << 30, 0), ("large", 1 << 30, 1)):
        args = files.get(name)
        if not args or args[1] != size or args[2] != flags:
            raise Wrong(f"{name}: file event {args}, expected size {size}, flags {flags}")
    stat = os.stat(os.path.join(r.pools, "existing"))
    if files["existing"][4] != stat.st_ino:
        raise Wrong(f"inode {files['existing'][4]}, not {stat.st_ino}")
    content = [e for e in r.of_kind("content")]
    if sum(1 for e in content if e["file"].endswith("/sparse")) != 1:
        raise Wrong("the sparse pool has one page of content, not " + ", ".join(brief(e)[:80] for e in content[:5]))
    if any(e["offset"] % PAGE for e in content):
        raise Wrong("content that does not start at a page")


def check_maps(r):
    """Every map is unmapped or lives on to the end; a store lies in a mapping of its file."""
    maps = r.of_kind("map")
    if not maps or any(len(e["args"]) != 3 or e["args"][1] <= 0 or e["args"][2] > 7 for e in maps):
        raise Wrong(f"map events {[brief(e) for e in maps][:3]}")
    ranges = {}
    for e in r.events:
        if e["kind"] == "map":
            ranges.setdefault(e["file"], []).append((e["offset"], e["offset"] + e["args"][1]))
        elif e["kind"] in STORES and e["kind"] != "store-sys":
            if not any(a <= e["offset"] and e["offset"] + e["size"] <= b for a, b in ranges.get(e["file"], [])):
                raise Wrong(f"a store outside every mapping so far: {brief(e)}")
    if not r.of_kind("unmap"):
        raise Wrong("no unmap event")


def check_processes(r):
    """Every process has its first event, fork names the child's stream, every child's end is there."""
    begins = {e["process"] for e in r.of_kind("process")}
    forks = {e["args"][0] for e in r.of_kind("fork")}
    used = {e["process"] for e in r.events}
    if not used <= begins or not forks <= used:
        raise Wrong(f"events of {used}, process events of {begins}, forks to {forks}")
    exits = {e["process"]: e["args"][0] for e in r.of_kind("exit")}
    if [exits.get(i) for i in range(4)] != [0, 7, 0, 0]:
        raise Wrong(f"exit events {exits}")


def check_exec(r):
    """Following exec: the executed program is recorded, and an exec event names it."""
    if not any(e["file"].endswith("/executed") for e in r.of_kind("store")):
        raise Wrong("no stores of the executed program")
    if not r.of_kind("exec"):
        raise Wrong("no exec event")


def check_no_exec(r):
    """With --no-follow the executed program is not recorded."""
    if any(e.get("file", "").endswith("/executed") for e in r.events):
        raise Wrong("the executed program was recorded")


def check_threads(r):
    """Threads begin and end, and events say which thread they belong to."""
    begins = [e["args"][0] for e in r.of_kind("thread-begin")]
    if len(begins) != 2 or len(set(begins)) != 2 or len(r.of_kind("thread-end")) < 2:
        raise Wrong(f"thread-begin {begins}, {len(r.of_kind('thread-end'))} thread-end")
    deep = [e["thread"] for e in r.of_kind("store") if "thread_deep" in frames(e)]
    if len(deep) != 4 or set(deep) != set(begins):
        raise Wrong(f"stores of the threads {begins} are said to be of {deep}")
    if any(e["thread"] != 1 for e in r.of_kind("store") if "main" in frames(e)):
        raise Wrong("a store of the main thread says another thread")


def check_signals(r):
    """A signal event comes before what its handler stores; the interrupted frame is marked."""
    numbers = [e["args"][0] for e in r.of_kind("signal")]
    if numbers != [10, 12, 10, 11, 11, 11] * 2:
        raise Wrong(f"signal events {numbers}")
    for e in r.of_kind("store"):
        marked = [f.get("function") for f in e["stack"] if f.get("signal")]
        handlers = [n for n in frames(e) if n.startswith("on_")]
        if len(marked) != len(handlers):
            raise Wrong(f"{len(handlers)} handlers, marked as interrupted: {marked}: {' < '.join(frames(e)[:9])}")


def check_memory_file(r):
    """Registered memory that is no file is flagged as such."""
    if not any(e["args"][2] & 2 for e in r.of_kind("file")):
        raise Wrong(f"no file event has flag 2: {[brief(e) for e in r.of_kind('file')]}")


def check_transactions(r):
    """libpmemobj tells its transactions: begin, add, end, in order."""
    kinds = [e["kind"] for e in r.of_kind("tx-begin", "tx-add", "tx-end")]
    depth = adds = 0
    for kind in kinds:
        depth += {"tx-begin": 1, "tx-end": -1, "tx-add": 0}[kind]
        adds += kind == "tx-add" and depth > 0
        if depth < 0:
            raise Wrong("a transaction ends that did not begin")
    if depth or kinds.count("tx-begin") < 2 or adds < 3:
        raise Wrong(f"{kinds[:20]}")


def check_allocated(r):
    """libpmemobj tells which memory it hands out without content: here the root object."""
    if not any(e["args"][0] >= 808 for e in r.of_kind("undefined")):
        raise Wrong(f"{[brief(e) for e in r.of_kind('undefined')][:5]}")


def check_flushed(r):
    """libpmemobj flushes and fences as on real PM: with clwb and sfence, with dc cvap and dmb. (It deep-syncs headers by msync.)"""
    count = {k: len(r.of_kind(k)) for k in (*FLUSHES, *FENCES)}
    flush, fence = ("dc-cvap", "dmb") if IS_ARM64 else ("clwb", "sfence")
    if count[flush] < 20 or count[fence] < 10 or any(count[k] for k in FLUSHES if k != flush):
        raise Wrong(f"{count}")


def check_no_names(r):
    """A stripped binary: the trace is complete, functions are unknown or nearest symbols, never wrong lines."""
    if any("line" in e for e in r.of_kind("clwb")):
        raise Wrong("lines in a stripped binary")


def check_all_stores(r):
    """Every store that the program made before it died is there."""
    stores = r.of_kind("store")
    x, mask = 88172645463325252, (1 << 64) - 1
    for i in range(DYING_STORES):
        x ^= x << 13 & mask
        x ^= x >> 7
        x ^= x << 17 & mask
        if i >= len(stores):
            raise Wrong(f"{DYING_STORES - i} stores are missing at the end")
        e = stores[i]
        if e["offset"] != x % ((1 << 20) // 8) * 8 or e["data"] != x.to_bytes(8, "little").hex():
            raise Wrong(f"store {i} is {brief(e)}")


def check_death(signal, is_told):
    def death(r):
        """Record tells how the program died; show reads the trace."""
        list(r.events)
        if r.done.returncode != 3:
            raise Wrong(f"pmend record returned {r.done.returncode}, not 3: {r.done.stderr.strip()[-300:]}")
        if not re.search(signal, r.done.stderr, re.I):
            raise Wrong(f"the message does not say {signal}: {r.done.stderr.strip()[-300:]}")
        if is_told and any(e["process"] == 0 for e in r.of_kind("exit")):
            raise Wrong("an exit event of a process that was killed")
    death.__doc__ = f"Record returns 3 and says {signal}."
    death.__name__ = "check_death"
    return death


def prepare_pools(folder):
    with open(os.path.join(folder, "existing"), "wb") as f:
        f.write(bytes(range(1, 256)) * 10 + bytes(20480 - 2550 - 5) + b"end.\n")
    with open(os.path.join(folder, "sparse"), "wb") as f:
        f.truncate(1 << 30)
        f.seek(700 << 20)
        f.write(b"far out\0")


# ---- the tests ----

COMMON = (check_exit, check_numbers, check_trace, check_replay)


def test_stores():
    return Recording("stores", "stores"), COMMON


def test_direct():
    return Recording("direct", "direct"), COMMON


def test_flushes():
    return Recording("flushes", "flushes"), (*COMMON, check_cpuid)


def test_libc():
    env = {"GLIBC_TUNABLES": "glibc.cpu.x86_non_temporal_threshold=0x10000"}
    return Recording("libc", "libc", env=env), (*COMMON, check_non_temporal_copy)


def test_syscalls():
    return Recording("syscalls", "syscalls"), (*COMMON, check_output)


def test_mappings():
    return Recording("mappings", "mappings", prepare=prepare_pools), (*COMMON, check_files, check_maps)


def test_files():
    return Recording("files", "files"), (check_exit, check_numbers, check_replay)


# Of the files below --files, by their last part: the events in order, without sizes and stores.
FOLLOWED = [
    "name old 0 old", "name written 1 written",
    *["write written+%d 10" % at for at in (0, 10, 20, 30, 40)], "msync written+40 10 4",
    *["write written+%d 10" % at for at in (50, 60, 70)],
    "fsync written", "fdatasync written", "sync-range written+0 80 2", "fsync all",
    "name synced 1 synced", "write synced+0 1", "msync synced+0 1 4",
    "fallocate old 0 0 8192", "fallocate old 1 0 16384", "fallocate old 3 0 4096",
    "name sub 1 sub", "name symbolic 1 symbolic", "name written 2 hard",
    "move written 0 0 written/renamed", "move written 2 synced renamed/synced",
    "move synced 0 old renamed/old", "unlink old", "move sub 0 0 sub/folder", "fsync pools",
    "unname synced old", "name synced 2 back",
    "write #+0 8", "name # 2 named",
    "unname symbolic symbolic", "unname written hard", "unname sub folder",
    "name by a thread 1 by a thread", "write by a thread+0 1",
    "name by a child 1 by a child", "write by a child+0 1", "fsync all",
]


def check_followed(r):
    """Each call on a followed file makes its event."""
    names, numbers, have = {0: "0"}, {}, []  # by number: what the file was first called; by path
    for e in r.events:
        kind, args = e["kind"], e.get("args", [])
        if kind in ("file", "rename"):
            numbers[e["text"]] = args[0]
        if kind == "file":
            names[args[0]] = re.sub(r"#.*", "#", os.path.basename(e["text"]))
        path = names[numbers[e["file"]]] if "offset" in e else None
        if kind in ("write", "msync", "sync-range"):
            have.append(" ".join([kind, f"{path}+{e['offset']}", *map(str, args)]))
        elif kind in ("fsync", "fdatasync"):
            have.append(f"{kind} {names[args[0]] if args[0] else 'all'}")
        elif kind == "fallocate":
            have.append(" ".join([kind, names[args[0]], *map(str, args[1:])]))
        elif kind == "move":
            have.append(f"move {names[args[0]]} {args[3]} {names[args[4]]} {e['text']}")
        elif kind == "name":
            have.append(f"name {names[args[0]]} {args[2]} {e['text']}")
        elif kind in ("unname", "unlink"):
            have.append(" ".join(filter(None, [kind, names[args[0]], e.get("text")])))
    for want, got in itertools.zip_longest(FOLLOWED, have):
        if want != got:
            raise Wrong(f"'{got}', not '{want}', after {have[:have.index(got)][-3:] if got in have else have[-3:]}")


def test_followed():
    def prepare(pools):
        os.mkdir(os.path.join(pools, "logs"))
        for name in ("old", "logs/for people"):
            with open(os.path.join(pools, name), "w") as f:
                f.write("what was there before\n")

    folder = tempfile.mkdtemp(prefix="pmend-followed-")
    r = Recording("followed", "followed", args=[os.path.join(folder, "outside")], prepare=prepare,
                  options=lambda pools: ["--files", pools, "--files-except", "logs"])
    os.rmdir(folder)
    return r, (check_exit, check_numbers, check_replay, check_followed)


def test_fork():
    return Recording("fork", "fork", args=["exec-seen"]), (*COMMON, check_processes, check_exec)


def test_no_follow():
    r = Recording("no_follow", "fork", args=["exec-unseen"], options=["--no-follow"])
    return r, (check_exit, check_trace, check_replay, check_no_exec)


def check_sync(r):
    """Each line of the program says which events its calls make, thread by thread."""
    sizes = dict(word.split("=") for word in r.done.stdout.split() if "=" in word)
    want, have, create, any_events = [], [], 0, set()
    with open("tests/recorder/sync.c") as f:
        for number, line in enumerate(f, 1):
            if "/* any: " in line:
                any_events.add(number)
            create = number if "pthread_create(" in line else create
            if m := re.search(r"/\* (T1|T2): (.*) \*/", line):
                for event in m[2].split(", "):
                    kind, flags, what = event.split()
                    want.append((int(m[1] == "T2") + 1, number, kind, int(flags), int(sizes[what])))
    for e in r.of_kind("lock", "unlock", "acquire", "release"):
        lines = [f["line"] for f in e["stack"] if f.get("source", "").endswith("sync.c")]
        if lines and lines[-1] != create and lines[-1] not in any_events:  # what the C library does there is its own
            have.append((e["thread"], lines[-1], e["kind"], e["args"][1], e["args"][2]))
    want.sort(key=lambda e: e[0])
    have.sort(key=lambda e: e[0])
    for w, h in itertools.zip_longest(want, have):
        if w != h:
            raise Wrong(f"{h}, not {w}")
    if "threads=yes" not in [e.get("text") for e in r.of_kind("meta")] or not r.of_kind("load"):
        raise Wrong("no META threads, or no loads")


def sync(program):
    options = ["--threads", "--lock-call", "own_lock", "--unlock-call", "own_unlock"]
    return Recording(program, program, options=options), (check_exit, check_numbers, check_replay, check_sync)


def test_sync():
    return sync("sync")


def test_sync_static():
    return sync("sync_static")


def test_loads():
    return Recording("loads", "loads", options=["--loads", "--pm", "chosen"]), COMMON


def test_annotations():
    return Recording("annotations", "annotations"), (*COMMON, check_memory_file)


def check_old(r):
    """Only the option fills memory, and the trace says so."""
    said = [e["text"] for e in r.of_kind("meta") if e["text"].startswith("old_bytes=")]
    if bool(said) != r.name.endswith("_old") or bool(r.of_kind("old-bytes")) != bool(said):
        raise Wrong(f"META {said}, {len(r.of_kind('old-bytes'))} events")


def test_handed_old():
    return Recording("handed_old", "handed", args=["old"], options=["--old-bytes"]), (check_exit, check_numbers, check_replay, check_old)


def test_handed():
    return Recording("handed", "handed"), (check_exit, check_numbers, check_replay, check_old)


def test_pmdk():
    return Recording("pmdk", "pmdk"), (*COMMON, check_transactions, check_allocated, check_flushed)


def stacks(level):
    r = Recording(f"stacks_{level}", f"stacks_{level}", options=["--check-stacks"])
    return r, (*COMMON, check_threads, check_signals)


def test_stacks_O0():
    return stacks("O0")


def test_stacks_O2():
    return stacks("O2")


def exceptions(level):
    return Recording(f"exceptions_{level}", f"exceptions_{level}", options=["--check-stacks"]), COMMON


def test_exceptions_O0():
    return exceptions("O0")


def test_exceptions_O2():
    return exceptions("O2")


def binaries(kind):
    return Recording(f"binaries_{kind}", f"binaries_{kind}", options=["--check-stacks"]), COMMON


def test_binaries_nopie():
    return binaries("nopie")


def test_binaries_static():
    return binaries("static")


def test_binaries_staticpie():
    return binaries("staticpie")


def test_binaries_stripped():
    def check_trace_without_names(r):
        check_trace(r, ignore=("function", "line", "chain"))
    check_trace_without_names.__doc__ = check_trace.__doc__
    r = Recording("binaries_stripped", "binaries_stripped")
    return r, (check_exit, check_numbers, check_trace_without_names, check_replay, check_no_names)


def test_sigkill():
    r = Recording("sigkill", "kill", args=["sigkill"])
    return r, (check_death("SIGKILL|signal 9|killed", True), check_all_stores, check_replay)


def test_sigsegv():
    r = Recording("sigsegv", "kill", args=["sigsegv"])
    return r, (check_death("SIGSEGV|signal 11|segmentation", True), check_all_stores, check_replay)


def test_disk_full():
    """The trace's file system becomes full: record says so, and show reads what is there."""
    if os.geteuid() != 0:
        raise Skip("only root can mount a small file system")
    disk = tempfile.mkdtemp(prefix="pmend-disk-")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], check=True)
    try:
        r = Recording("disk_full", "kill", args=["flood"], output=os.path.join(disk, "trace.pmt"))
        shown = r.show("--format", "json")
    finally:
        subprocess.run(["umount", disk], check=True)
        os.rmdir(disk)

    def check_message(r):
        """Record returns 3 and says that there is no space."""
        if r.done.returncode != 3 or not re.search("no space|full", r.done.stderr, re.I):
            raise Wrong(f"pmend record returned {r.done.returncode}: {r.done.stderr.strip()[-300:]}")

    def check_beginning(r):
        """Show prints the stores up to where the disk was full, and says that the rest is missing."""
        stores = shown.stdout.count('"kind":"store"')
        if stores < 20000:
            raise Wrong(f"{stores} stores can be read: {shown.stderr.strip()[-300:]}")
        r._events = [json.loads(line) for line in shown.stdout.splitlines()[:DYING_STORES + 100]]
        check_all_stores(r)
        if not shown.stderr.strip():
            raise Wrong(f"show says nothing about the missing rest (it returned {shown.returncode})")

    return r, (check_message, check_beginning)


TESTS = {name[5:]: f for name, f in list(globals().items()) if name.startswith("test_")}


def judge(name, keep):
    """Runs one test; the names of its failed properties."""
    started = time.monotonic()
    failed = []
    recording = None
    try:
        recording, checks = TESTS[name]()
    except Skip as e:
        print(f"SKIP {name}: {e}", flush=True)
        return [], 0
    except Exception as e:
        print(f"FAIL {name}: cannot record: {e}", flush=True)
        return ["record"], 0
    for check in checks:
        label = check.__name__.removeprefix("check_").replace("_", " ")
        try:
            check(recording)
            print(f"ok {name}: {label}", flush=True)
        except Wrong as e:
            failed.append(label)
            print(f"FAIL {name}: {label}: {e}", flush=True)
        except Exception as e:
            failed.append(label)
            print(f"FAIL {name}: {label}: {type(e).__name__}: {e}", flush=True)
    if keep or failed and os.environ.get("KEEP"):
        print(f"# {name}: {recording.folder}", flush=True)
    else:
        shutil.rmtree(recording.folder)
    print(f"# {name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return failed, len(checks) - len(failed)


def main():
    words = sys.argv[1:]
    keep = "--keep" in words
    passed = failed = 0
    for name in choose(list(TESTS), [w for w in words if w != "--keep"]):
        bad, good = judge(name, keep)
        passed += good
        failed += len(bad)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
