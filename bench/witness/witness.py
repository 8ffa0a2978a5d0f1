#!/usr/bin/env python3
"""Asks a real ext4 or XFS what a crash leaves, and compares that with the model of files. Root, loop devices and /dev/fuse are needed.

    bench/witness/witness.py --direct [TEST]...                      the tests of tests/files/ext4.litmus
    bench/witness/witness.py --direct --kind xfs [TEST]...           those of tests/files/xfs.litmus
    bench/witness/witness.py --direct --options dioread_lock ...

Each test's calls are made on a file system whose disk has a log of all writes (device.py), many times: between the calls, schedules
write back files or single pages, commit, and hold data back on its way to the disk while a commit goes on (--direct). Then for many
moments and subsets of what was not flushed, an image is put together and mounted, so that the kernel replays the journal. What it shows
must be among the states that the model (build/tests/unit/test_files) gives for that moment. EXCLUDED: it is not, and the model is too
strong; the exit status is 1. A test takes half a minute to some minutes. That a state was not seen says nothing."""
import argparse
import concurrent.futures
import ctypes
import mmap
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
from device import Device, loop_attach, mount, umount, LIBC  # noqa: E402

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

LETTERS = b"uvwxyz"
IMAGE = 24 << 20
JOBS = 6


def litmus(path):
    """[(name, calls)] of its tests."""
    tests = []
    with open(path) as f:
        for line in f:
            line = line.split("#")[0].strip()
            word = line.split(" ")[0]
            if word == "test":
                tests.append((line.split()[1], []))
            elif line and word not in ("profile", "state", "states", "never"):
                tests[-1][1].append(line)
    return tests


def model(top, profile, calls):
    """What the model allows before the first call, and after each: a list of sets."""
    with tempfile.NamedTemporaryFile("w") as f:
        f.write("".join(c + "\n" for c in calls))
        f.flush()
        out = subprocess.run([top + "/build/tests/unit/test_files", profile, f.name], capture_output=True, text=True, check=True).stdout
    sets = [set()]
    for line in out.splitlines():
        if line.startswith("state"):
            sets[-1].add(line[6:])
        elif line == "end":
            sets.append(set())
    assert len(sets) == len(calls) + 2, out
    return sets[:-1]


def is_data(data):
    return data[0] in LETTERS and data[:8] == data[:1] * 8


class Folder:
    """Makes the calls of a test in a folder."""

    def __init__(self, top):
        self.top = top
        self.fds = {}  # inode: descriptor
        self.maps = []

    def path(self, name):
        return os.path.join(self.top, name)

    def fd(self, name):
        path = self.path(name)
        is_folder = os.path.isdir(path)
        ino = os.stat(path).st_ino
        if ino not in self.fds:
            self.fds[ino] = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
        return self.fds[ino]

    def files(self):
        return sorted(n for n in self.regular())

    def regular(self):
        for base, folders, names in os.walk(self.top):
            folders[:] = [f for f in folders if f != "lost+found"]
            for n in names:
                yield os.path.relpath(os.path.join(base, n), self.top)

    def call(self, line):
        w = line.split()
        p = [self.path(x) for x in w[1:3]]
        if w[0] == "make":
            fd = os.open(p[0], os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            self.fds[os.fstat(fd).st_ino] = fd
        elif w[0] == "mkdir":
            os.mkdir(p[0])
        elif w[0] == "write":
            os.pwrite(self.fd(w[1]), w[4].encode() * int(w[3]), int(w[2]))
        elif w[0] == "dwrite":
            fd = os.open(p[0], os.O_WRONLY | os.O_DSYNC)
            os.pwrite(fd, w[4].encode() * int(w[3]), int(w[2]))
            os.close(fd)
        elif w[0] == "append":
            fd = self.fd(w[1])
            os.pwrite(fd, w[3].encode() * int(w[2]), os.fstat(fd).st_size)
        elif w[0] == "store":
            at, n = int(w[2]), int(w[3])
            m = mmap.mmap(self.fd(w[1]), 0)
            m[at:at + n] = w[4].encode() * n
            self.maps.append(m)
        elif w[0] in ("msync", "msync.async"):
            at, n = int(w[2]), int(w[3])
            m = mmap.mmap(self.fd(w[1]), 0)
            base = ctypes.addressof(ctypes.c_char.from_buffer(m))
            assert LIBC.msync(ctypes.c_void_p(base + at), ctypes.c_size_t(n), 4 if w[0] == "msync" else 1) == 0
            self.maps.append(m)
        elif w[0] == "truncate":
            os.ftruncate(self.fd(w[1]), int(w[2]))
        elif w[0] in ("reserve", "punch"):
            r = LIBC.fallocate(self.fd(w[1]), 1 if w[0] == "reserve" else 3, ctypes.c_long(int(w[2])), ctypes.c_long(int(w[3])))
            assert r == 0
        elif w[0] == "fsync":
            os.fsync(self.fd(w[1]))
        elif w[0] == "fdatasync":
            os.fdatasync(self.fd(w[1]))
        elif w[0] == "sync":
            fd = os.open(self.top, os.O_RDONLY)
            assert LIBC.syncfs(fd) == 0
            os.close(fd)
        elif w[0] == "rename":
            os.rename(*p)
        elif w[0] == "exchange":
            assert LIBC.renameat2(-100, p[0].encode(), -100, p[1].encode(), 2) == 0
        elif w[0] == "link":
            os.link(*p)
        elif w[0] == "unlink":
            os.unlink(p[0])
        else:
            raise ValueError(line)

    def close(self):
        self.maps = []
        for fd in self.fds.values():
            os.close(fd)
        self.fds = {}


def show(data):
    out = ""
    for m in re.finditer(rb"(.)\1*", data, re.S):
        out += "%s%d" % ("." if m[1] == b"\0" else m[1].decode("latin-1"), len(m[0]))
    return out


def look(top):
    found = []
    for base, folders, names in os.walk(top):
        folders[:] = [f for f in folders if f != "lost+found"]
        rel = os.path.relpath(base, top)
        for n in folders + names:
            path = os.path.join(base, n)
            name = n if rel == "." else rel + "/" + n
            if os.path.isdir(path):
                found.append((name, name + "/"))
            else:
                with open(path, "rb") as f:
                    data = f.read()
                found.append((name, name + ("=" + show(data) if data else "")))
    return " ".join(t for _, t in sorted(found))


class Lab:
    def __init__(self, scratch, kind="ext4", options="", is_direct=False):
        self.scratch, self.kind, self.is_direct = scratch, kind, is_direct
        self.options = options or ("nouuid" if kind == "xfs" else "")  # images of one file system are mounted at the same time
        self.point = os.path.join(scratch, "mnt")
        os.makedirs(self.point, exist_ok=True)
        base = os.path.join(scratch, "base")
        with open(base, "wb") as f:
            f.truncate(IMAGE)
        xfs = ["mkfs.xfs", "-q", "-f", "-s", "size=4096", "-l", "size=8m", base]  # the variables of xfsprogs' own tests allow a small one
        os.environ.update(TEST_DIR="1", TEST_DEV="1", QA_CHECK_FS="1")
        ext4 = ["mkfs.ext4", "-q", "-F", "-b", "4096", "-I", "256", "-J", "size=4", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", base]
        subprocess.run(xfs if kind == "xfs" else ext4, check=True)
        with open(base, "rb") as f:
            self.base = f.read()
        self.places = queue.Queue()
        self.attaching = threading.Lock()
        for k in range(JOBS):
            place = os.path.join(scratch, "crashed%d" % k)
            with open(place, "wb") as f:
                f.write(self.base)
            os.mkdir(place + ".mnt")
            self.places.put(place)
        self.nmounts = 0

    def run(self, calls, schedule):
        """Does the calls, and between them what the schedule says. Gives the log and [(first, last position, numbers of allowed sets)]."""
        d = Device(self.base, os.path.join(self.scratch, "disk"))
        loop, fd = loop_attach(d.place, self.is_direct)
        mount(loop, self.point, self.kind, self.options)
        os.close(fd)
        folder = Folder(self.point)
        commit_fd = None
        spans = []
        notes = []

        def commit():
            nonlocal commit_fd
            if commit_fd is None:
                if self.kind != "ext4":
                    os.makedirs(self.point + "/lost+found", exist_ok=True)
                commit_fd = os.open(self.point + "/lost+found", os.O_RDONLY)
            os.utime(commit_fd, (random.random() * 1e9, 1))
            os.fsync(commit_fd)

        def hold():
            d.is_held = lambda at, data: is_data(data)

        def in_time(work):
            """Does something, while data is held: what waits for the data is waited for, and then the data is let go."""
            t = threading.Thread(target=work)
            t.start()
            t.join(0.3)
            if t.is_alive():
                notes.append("a call waited while data was held")
                d.release()
                t.join()

        def act(what):
            if what == "C":
                in_time(commit)
            elif what == "h":
                hold()
            elif what == "r":
                d.release()
            elif what == "H":
                hold()
                t = threading.Thread(target=lambda: [write_back(n) for n in folder.files()])
                c = threading.Thread(target=commit)
                t.start()
                with d.lock:
                    d.lock.wait_for(lambda: d.held, 0.2)
                c.start()
                c.join(0.3)
                notes.append("commit %s while data was held (%d)" % ("waited" if c.is_alive() else "ended", len(d.held)))
                d.release()
                t.join()
                c.join()
            elif what[0] == "W":
                for n in folder.files():
                    if what == "W" or what[1:] == n:
                        in_time(lambda: write_back(n))
            elif what[0] == "P":
                page, name = what[1:].split(":")
                if name in folder.files():
                    in_time(lambda: write_back(name, int(page) * 4096, 4096))

        def write_back(name, at=0, n=0):
            LIBC.sync_file_range(folder.fd(name), ctypes.c_long(at), ctypes.c_long(n), 7)

        try:
            commit()
            first = d.mark()
            for k in range(len(calls) + 1):
                start = d.mark()
                for what in schedule[k]:
                    act(what)
                spans.append((start, d.mark(), (k,)))
                if k < len(calls):
                    start = d.mark()
                    in_time(lambda: folder.call(calls[k]))
                    spans.append((start, d.mark(), (k, k + 1)))
            d.release()
            start = d.mark()
            # what the kernel does later
            for what in ("C", "W", "C"):
                act(what)
            spans.append((start, d.mark(), (len(calls),)))
            log = d.log[:]
        finally:
            d.release()
            folder.close()
            if commit_fd is not None:
                os.close(commit_fd)
            umount(self.point)
            d.close()
        return log, first, spans, notes

    def images(self, log, first, seed):
        """Yields (first position, last position, [(offset, bytes)]): what a crash in these positions can leave."""
        rng = random.Random(seed)
        durable, pending = [], []  # numbers of writes
        ended = set()
        flushes = [i for i, e in enumerate(log) if e[0] == "f"] + [len(log)]
        lower = 0
        for upper in flushes:
            for i in range(lower, upper):
                if log[i][0] == "w":
                    pending.append(i)
                elif log[i][0] == "e":
                    ended.add(log[i][1])
            if upper >= first:
                yield from self.subsets(log, durable, pending, max(lower, first), upper, rng)
            if upper < len(log):
                durable += [i for i in pending if i in ended]
                pending = [i for i in pending if i not in ended]
            lower = upper + 1

    def subsets(self, log, durable, pending, lower, upper, rng):
        base = [(log[i][1], log[i][2]) for i in durable]
        units = []
        for i in pending:
            for at in range(0, len(log[i][2]), 4096):
                units.append((i, log[i][1] + at, log[i][2][at:at + 4096]))
        n = len(units)
        chosen = set()
        if n <= 5:
            chosen = set(range(1 << n))
        else:
            for k in range(n + 1):
                chosen.add((1 << k) - 1)
            for k in range(n):
                chosen.add(1 << k)
                chosen.add(((1 << n) - 1) ^ (1 << k))
            for _ in range(8):
                chosen.add(rng.getrandbits(n))
        for bits in sorted(chosen):
            last = max([units[k][0] + 1 for k in range(n) if bits >> k & 1], default=lower)
            yield max(last, lower), upper, base + [(units[k][1], units[k][2]) for k in range(n) if bits >> k & 1]
        for _ in range(4 if any(is_data(u[2]) for u in units) else 0):  # torn at sectors
            writes, last = [], lower
            for i, at, data in units:
                if not is_data(data):
                    if rng.random() < 0.5:
                        writes.append((at, data))
                        last = max(last, i + 1)
                    continue
                for s in range(0, len(data), 512):
                    if rng.random() < 0.5:
                        writes.append((at + s, data[s:s + 512]))
                        last = max(last, i + 1)
            yield last, upper, base + writes

    def mounted(self, writes):
        """Gives the state that the file system shows on this image."""
        image = bytearray(self.base)
        for at, data in writes:
            image[at:at + len(data)] = data
        place = self.places.get()
        try:
            with open(place, "r+b") as f:
                f.write(image)
            self.nmounts += 1
            with self.attaching:
                loop, fd = loop_attach(place)
            try:
                mount(loop, place + ".mnt", self.kind, self.options)
            except OSError as e:
                return "no mount: %s" % e.strerror
            finally:
                os.close(fd)
            try:
                return look(place + ".mnt")
            finally:
                umount(place + ".mnt")
        finally:
            self.places.put(place)


# What a schedule does after a call: C commits, W writes back all files (Wa: file a, P0:a its first page), h begins to hold data back and
# r lets it go, H is: data that is written back is held until a commit is over, or 0.3 s have shown that the commit waits for it.
def schedules(calls, n, seed, has_held):
    rng = random.Random(seed)
    count = len(calls) + 1
    names = sorted({w for c in calls for w in c.split()[1:3] if re.fullmatch(r"[a-z./]+", w) and len(w) < 8 and w != "."})
    for fixed in ([], ["C"], ["W"], ["W", "C"], ["C", "W"]):
        yield [fixed] * count
    if has_held:
        yield [["H"]] * count
        yield [["h"], *[[]] * (count - 1)]
        for k in range(1, count):
            yield [["h"] if i == k - 1 else ["C", "r"] if i == k else [] for i in range(count)]
            yield [["H"] if i == k else [] for i in range(count)]
    choices = [[], [], ["C"], ["W"], ["W", "C"], ["C", "W"]]
    for name in names:
        choices += [["W" + name], ["W" + name, "C"], ["P0:" + name], ["P0:" + name, "C"], ["P1:" + name, "C"]]
    if has_held:
        choices += [["H"]] * 4
    for _ in range(n):
        yield [rng.choice(choices) for _ in range(count)]


def check(lab, top, name, calls, n, seed):
    """Says what was seen of a test. False: something that the model excludes."""
    allowed = model(top, lab.kind, calls)
    weakest = model(top, "files", calls)
    seen, excluded, notes = {}, {}, {}
    t0, mounts0 = time.time(), lab.nmounts
    nruns = 0
    for schedule in schedules(calls, n, seed, lab.is_direct):
        nruns += 1
        log, first, spans, said = lab.run(calls, schedule)
        for s in said:
            notes[s] = notes.get(s, 0) + 1
        known = {}
        images = [(lower, upper, tuple((a, hash(b)) for a, b in writes), writes) for lower, upper, writes in lab.images(log, first, seed)]
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            for _, _, key, writes in images:
                if key not in known:
                    known[key] = pool.submit(lab.mounted, writes)
        for lower, upper, key, _ in images:
            state = known[key].result()
            for start, end, sets in spans:
                if start > upper or end < lower:
                    continue
                if sets[-1] == len(calls) == sets[0]:
                    seen[state] = seen.get(state, 0) + 1
                if not any(state in allowed[k] for k in sets):
                    excluded.setdefault((state, sets, any(state in weakest[k] for k in sets)), schedule)
    final = allowed[-1]
    print("%s: %d runs, %d mounts, %.0f s; at the end: %d of the model's %d states seen" % (name, nruns, lab.nmounts - mounts0, time.time() - t0, len(set(seen) & final), len(final)))
    for s in sorted(set(final) | set(seen)):
        if len(final) <= 12 or s not in final:
            print("    %-9s %6d  '%s'" % ("" if s in final else "EXCLUDED", seen.get(s, 0), s))
    for (state, sets, is_weak), schedule in sorted(excluded.items(), key=str):
        print("    EXCLUDED '%s' around calls %s%s, schedule %s" % (state, sets, "" if is_weak else " (ALSO BY THE WEAKEST)", schedule))
    for s in sorted(notes):
        print("    %d times: %s" % (notes[s], s))
    sys.stdout.flush()
    return not excluded


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--top", default=TOP, help="the folder with build/ and tests/files/")
    p.add_argument("--kind", choices=("ext4", "xfs"), default="ext4", help="the file system, and the profile")
    p.add_argument("--options", default="", help="of mount")
    p.add_argument("--direct", action="store_true", help="the disk takes several writes at a time, so that one can be held back")
    p.add_argument("-n", type=int, default=6, help="random schedules, beside the fixed ones")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("names", metavar="TEST", nargs="*")
    a = p.parse_args()
    scratch = tempfile.mkdtemp(prefix="witness", dir="/dev/shm")
    lab = Lab(scratch, a.kind, a.options, a.direct)
    ok = True
    try:
        for name, calls in litmus(os.path.join(a.top, "tests/files", a.kind + ".litmus")):
            if not a.names or name in a.names:
                ok &= check(lab, a.top, name, calls, a.n, a.seed)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    sys.exit(not ok)


if __name__ == "__main__":
    main()
