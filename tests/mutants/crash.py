#!/usr/bin/env python3
"""Crashes a recorded run of one of the programs of this folder at every fence, and lets the program recover.

    tests/mutants/crash.py PROG TRACE.pmt [SAMPLES [SEED [EVERY]]]      EVERY: of so many fences, only one

Before each fence, and at the end, the file could hold all that was stored, only what is guaranteed, or something between: of each cache line a prefix
of its stores; on arm64 a set of them that has, with each store, those that it overlaps, those before the last barrier, and all earlier ones if it is a
release. Both ends and SAMPLES random states are tried: `PROG POOL dump` must print the content before or after the operation in
flight, with all that was acknowledged. A sampler, written independently of pmend's own model and exploration in order to test the programs."""
import array
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile

LINE = 64
PMEND = os.environ.get("PMEND", "build/pmend")
KINDS = ("file,content,size,store,store-nt,store-rmw,store-sys,clflush,clflushopt,clwb,sfence,mfence,rmw-fence,msync,fsync,op-begin,output,"
         "store-pair,store-vector,store-ordered,order,dc-cvap,dc-cvadp,dmb,dsb")
FLUSHES = ("clwb", "clflushopt", "dc-cvap", "dc-cvadp")
WEAK_BARRIERS = (1, 5, 6, 7, 9, 13)  # dmb and dsb: for loads, or for this processor only
ACQUIRE, RELEASE = 1, 2


def model_step(content, line):
    """Does to a dictionary what an acknowledged operation did to the pool."""
    words = line.split()
    if words[0] == "put":
        content[int(words[1])] = int(words[2])
    elif words[0] == "del":
        content.pop(int(words[1]), None)
    else:
        content.clear()


def states_of(lines, before=None):
    """The contents before and after each operation, as tuples."""
    content = dict(before or {})
    states = [tuple(sorted(content.items()))]
    for line in lines:
        model_step(content, line)
        states.append(tuple(sorted(content.items())))
    return states


def units(offset, data, is_one):
    """What survives as a whole: a store of up to 8 bytes, or one that is_one, in one line; or each aligned word of a larger one."""
    if is_one and offset // LINE == (offset + len(data) - 1) // LINE:
        return [(offset, data)]
    cuts = [offset, *range(offset // 8 * 8 + 8, offset + len(data), 8), offset + len(data)]
    return [(a, data[a - offset:b - offset]) for a, b in zip(cuts, cuts[1:])]


def overlap(a, b):
    """Of two stores."""
    return a[0][1] < b[-1][1] + len(b[-1][2]) and b[0][1] < a[-1][1] + len(a[-1][2])


class Memory:
    """What is guaranteed, and what is not: by line, plain stores in order, of which a flush captures the first n; non-temporal stores.
    A store is a list of units (number, offset, bytes). Numbers are the order in which they were made. `after` has, for each plain store by its number
    and line, the numbers of the line's stores that survive if it does."""

    def __init__(self, is_unordered):
        self.durable, self.newest, self.n = bytearray(), array.array("I"), 0
        self.plain, self.captured, self.waiting = {}, {}, []
        self.is_unordered, self.barrier, self.after = is_unordered, 0, {}

    def resize(self, size):
        grown = max(0, size - len(self.durable))
        self.durable = self.durable[:size] + bytes(grown)
        self.newest = self.newest[:size] + array.array("I", bytes(4 * grown))

    def earlier(self, line, parts, is_release):
        """The numbers of stores to this line that cannot be lost when this one is not."""
        return {other[0][0] for other in self.plain.get(line, [])
                if not self.is_unordered or is_release or other[0][0] <= self.barrier or overlap(other, parts)}

    def store(self, offset, data, is_nt, is_one, is_release=False):
        lines = {}
        self.n += 1
        for at, part in units(offset, data, is_one):
            lines.setdefault(at // LINE, []).append((self.n, at, part))
        for line, parts in lines.items():
            if is_nt:
                self.waiting += parts
            else:
                self.after[self.n, line] = self.earlier(line, parts, is_release)
                self.plain.setdefault(line, []).append(parts)

    def flush(self, line):
        self.captured[line] = len(self.plain.get(line, []))

    def fence(self):
        done = self.waiting
        for line, n in self.captured.items():
            stores = self.plain.pop(line, [])
            done = done + [u for parts in stores[:n] for u in parts]
            if stores[n:]:
                self.plain[line] = stores[n:]
        self.overlay(self.durable, done, self.newest)
        self.captured, self.waiting, self.barrier = {}, [], self.n

    def overlay(self, image, chosen, newest):
        """In order; an older store never comes back over a newer one that is durable."""
        for n, offset, data in sorted(chosen):
            end = offset + len(data)
            if max(self.newest[offset:end]) <= n:
                image[offset:end] = data
            else:
                for i in range(offset, end):
                    if self.newest[i] <= n:
                        image[i] = data[i - offset]
            if newest is not None:
                for i in range(offset, end):
                    newest[i] = max(newest[i], n)

    def choose(self, pick):
        """What survives of that which is not guaranteed; pick(n) gives one of 0…n."""
        chosen = []
        for line, stores in self.plain.items():
            n, lost = pick(len(stores)), set()
            for i, parts in enumerate(stores):
                number = parts[0][0]
                kept = parts if i < n else [] if self.after[number, line] & lost else [u for u in parts if pick(1)]
                chosen += kept
                if len(kept) < len(parts):
                    lost.add(number)
        return chosen + [u for u in self.waiting if pick(1)]

    def image(self, chosen):
        image = bytearray(self.durable)
        self.overlay(image, chosen, None)
        return image


class Crasher:
    def __init__(self, program, trace, nsamples, seed, every=1):
        self.program, self.nsamples, self.seed, self.random = program, nsamples, seed, random.Random(seed)
        self.every, self.npoints = every, self.random.randrange(every)
        out = subprocess.run([PMEND, "show", "--format", "json", "--kind", KINDS, trace], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.events = [json.loads(line) for line in out.splitlines()]
        self.lines = [line for e in self.events if e["kind"] == "output" for line in e["text"].splitlines()]
        self.states = states_of(self.lines)
        self.memory, self.nacknowledged, self.nbegun = Memory(is_unordered=os.uname().machine == "aarch64"), 0, 0
        self.is_changed, self.tried, self.failures = False, set(), []

    def dump(self, chosen):
        """Runs recovery on an image: status, content, complaints."""
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            pool = os.path.join(folder, "pool")
            with open(pool, "wb") as f:
                f.write(self.memory.image(chosen))
            p = subprocess.run([self.program, pool, "dump"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        return p.returncode, tuple(tuple(map(int, line.split())) for line in p.stdout.splitlines()), p.stderr.strip()

    def try_state(self, seq, what, chosen):
        allowed = self.states[self.nacknowledged:self.nbegun + 1]
        key = hashlib.md5(repr((seq, chosen)).encode()).digest()
        if key in self.tried:
            return
        self.tried.add(key)
        status, content, errors = self.dump(chosen)
        if status != 0:
            self.failures.append(f"event {seq}, {what}: recovery ends with {status}: {errors}")
        elif content not in allowed:
            self.failures.append(f"event {seq}, {what}: the content is neither that before nor that after operation {self.nacknowledged + 1}")

    def crash(self, seq):
        if not self.is_changed:
            return
        self.is_changed = False
        self.npoints += 1
        if self.npoints % self.every != 0:
            return
        self.try_state(seq, "nothing survives", self.memory.choose(lambda n: 0))
        self.try_state(seq, "everything survives", self.memory.choose(lambda n: n))
        for i in range(self.nsamples):
            self.try_state(seq, f"sample {i}", self.memory.choose(lambda n: self.random.randint(0, n)))

    def step(self, e):
        kind, m = e["kind"], self.memory
        if kind in ("file", "size"):
            m.resize(e["args"][1])
        elif kind == "content":
            data = bytes.fromhex(e["data"])
            m.durable[e["offset"]:e["offset"] + len(data)] = data
        elif kind == "op-begin":
            self.nbegun += 1
        elif kind == "output":
            self.nacknowledged += len(e["text"].splitlines())
            self.is_changed = True
        elif kind.startswith("store"):
            if kind == "store-rmw":
                self.crash(e["seq"])
                m.fence()
            data, order = bytes.fromhex(e["data"]), e["args"][0] if kind == "store-ordered" else 0
            if order & ACQUIRE:
                m.barrier = m.n
            m.store(e["offset"], data, kind == "store-nt", len(data) <= 8 or kind in ("store-rmw", "store-pair", "store-ordered"), bool(order & RELEASE))
            if order & ACQUIRE:
                m.barrier = m.n
            self.is_changed = True
        elif kind in FLUSHES:
            m.flush(e["offset"] // LINE)
        elif kind == "order":
            m.barrier = m.n  # more than it orders
        elif kind not in ("dmb", "dsb") or e["args"][0] not in WEAK_BARRIERS:
            self.crash(e["seq"])
            if kind == "clflush":
                m.flush(e["offset"] // LINE)
            m.fence()  # more than an msync of a part does, or a dmb outside of PMDK: states may be left out, none is invented

    def run(self):
        for e in self.events:
            self.step(e)
        self.crash("end")


def main():
    if not 3 <= len(sys.argv) <= 6:
        sys.exit(__doc__)
    c = Crasher(sys.argv[1], sys.argv[2], *map(int, (sys.argv[3:] + ["4", "1", "1"][len(sys.argv) - 3:])))
    c.run()
    for failure in c.failures:
        print(failure)
    print(f"{len(c.tried)} states, {len(c.failures)} failures")
    sys.exit(1 if c.failures else 0)


if __name__ == "__main__":
    main()
