"""What `pmend test` says of a mutant, and whether that is the mutant's cause, for bench/mutants.

What a mutant lacks is one call. The statements that it serves are the call's own line and those of the stores that, without it, are not written back in time (a
flush), not waited for (a fence), or not logged (TX_ADD). They are found by looking at the original: a replay of its trace that knows nothing of pmend's analyses."""
import bisect
import functools
import itertools
import json
import os
import subprocess
import tempfile

from kills import PMEND, SLOW, TIMEOUT_S, prepare, program

LINE = 64
KINDS = "store,store-nt,store-rmw,store-pair,store-vector,store-ordered,clflush,clflushopt,clwb,dc-cvap,dc-cvadp,sfence,mfence,rmw-fence,dsb,dmb,tx-begin,tx-end,tx-add"
FLUSHES = ("clflush", "clflushopt", "clwb", "dc-cvap", "dc-cvadp")
FENCES = ("sfence", "mfence", "rmw-fence", "dsb", "dmb")


def events_of(structure, run):
    """Of the original."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        trace = os.path.join(folder, "t.pmt")
        arguments = prepare(structure, run, os.path.join(folder, "pool"))
        subprocess.run([PMEND, "record", "-q", "-o", trace, "--", program(structure), *arguments], stdout=subprocess.DEVNULL, check=True, timeout=TIMEOUT_S)
        p = subprocess.Popen([PMEND, "show", "--stacks", "--format", "json", "--kind", KINDS, trace], stdout=subprocess.PIPE, text=True)
        for line in p.stdout:
            yield json.loads(line)
        if p.wait() != 0:
            raise AssertionError(f"pmend show ended with {p.returncode}")


def line_of(frame):
    """"hash.c:17" """
    return f"{os.path.basename(frame.get('source') or frame.get('file') or '?')}:{frame.get('line', 0)}"


def place(where):
    """The line where it happens and, if that is in a header, the line of the structure that called it: "raw.h:63 < log.c:276"."""
    origin = where["internals"][-where["setters"]] if "setters" in where else where
    own = next((line_of(f) for f in [where, *where.get("stack", [])] if line_of(f).split(":")[0].endswith(".c") and "mutants" in (f.get("source") or f.get("file") or "")), None)
    return line_of(origin) if own in (None, line_of(origin)) else f"{line_of(origin)} < {own}"


def is_of_library(event):
    """PMDK stores to its log and its heap."""
    return "/libpmemobj" in (event.get("stack") or [{}])[0].get("object", "") or any("/libpmemobj" in f.get("object", "") for f in event.get("stack", [])[:4])


class Served:
    """What each call of a run serves, by the call's place and kind: statements, their cache lines, and the transactions that it is in."""

    def __init__(self):
        self.dirty, self.waiting, self.logged, self.by_call, self.ntx, self.depth = {}, set(), [], {}, 0, 0

    def note(self, event, kind, stores):
        """stores: (statement, cache line)"""
        for at in {line_of(event), *map(line_of, event.get("stack", []))}:
            of_call = self.by_call.setdefault((at, kind), {"statements": set(), "lines": set(), "transactions": set()})
            of_call["statements"].update(statement for statement, _ in stores)
            of_call["lines"].update(line for _, line in stores)
            of_call["transactions"].update([self.ntx] if self.depth > 0 else [])

    def step(self, e):
        kind = e["kind"]
        if kind.startswith("store"):
            at, size = e["offset"], len(e["data"]) // 2
            for line in range(at // LINE, (at + size - 1) // LINE + 1):
                if kind == "store-nt":
                    self.waiting.add((place(e), line))
                else:
                    self.dirty.setdefault(line, set()).add((place(e), line))
            for add, begin, end in self.logged if not is_of_library(e) else ():
                if at < end and begin < at + size:
                    self.note(add, "add", {(place(e), at // LINE)})
        elif kind in FLUSHES:
            flushed = self.dirty.pop(e["offset"] // LINE, set())
            self.note(e, "flush", flushed)
            self.waiting |= flushed
        elif kind in FENCES:
            self.note(e, "fence", self.waiting)
            self.waiting = set()
        elif kind == "tx-begin":
            self.ntx += self.depth == 0
            self.depth += 1
        elif kind == "tx-add":
            self.logged.append((e, e["offset"], e["offset"] + e["args"][0]))
        elif kind == "tx-end":
            self.depth -= 1
            self.logged = []


def served_by_calls(structure, run):
    """{"hash.c:17 flush": {"statements": ["hash.c:15", …], "lines": […], "transactions": […]}}"""
    served = Served()
    for e in events_of(structure, run):
        served.step(e)
    return {" ".join(call): {what: sorted(found) for what, found in serves.items()} for call, serves in served.by_call.items()}


def call_of(mutant):
    return f"{mutant.structure}.c:{mutant.line}"


def serves(mutant, calls, what):
    return set(calls.get(f"{call_of(mutant)} {mutant.kind}", {}).get(what, []))


def statements(mutant, calls):
    """Where a maintainer would look: any of these is right."""
    return {call_of(mutant), *serves(mutant, calls, "statements")}


@functools.cache
def functions_of(structure):
    """The line at which each function of a structure's source ends."""
    with open(f"tests/mutants/{structure}.c") as f:
        return [number for number, line in enumerate(f, 1) if line.rstrip() == "}"]


def function_of(mutant):
    return bisect.bisect_left(functions_of(mutant.structure), mutant.line)


def is_near(how, a, b, calls):
    """Do the calls that two mutants lack serve one cache line, are they of one transaction, or in one function?"""
    if how == "function":
        return function_of(a) == function_of(b)
    return not serves(a, calls, how + "s").isdisjoint(serves(b, calls, how + "s"))


# ---- what a report must name ----

def named(titles, causes):
    """Every one of some mutants at once has a place in the titles of findings that is its own. causes: (its kind, its statements, the titles that it has alone) of each. Two may share
    a place only if one statement lacks both calls: its flush and its fence, or both are found there when they are alone."""
    choices = [sorted(titles & statements) for _, statements, _ in causes]

    def is_shared(i, k, place):
        return causes[i][0] != causes[k][0] or (place in causes[i][2] and place in causes[k][2])

    return any(all(chosen[i] != chosen[k] or is_shared(i, k, chosen[i]) for i in range(len(chosen)) for k in range(i)) for chosen in itertools.product(*choices))


def places(bug):
    """Those of the title: one for each call path."""
    return sorted({place(x["locations"][0]) for x in [bug, *bug.get("paths", [])] if x["locations"]})


def analysis(name, structure, arguments, folder):
    """The command line of `pmend test`, or of `pmend check`."""
    command = f"'{program(structure)}' {{}} "
    of_crash = ["--recover", command + "check", "--dump", command + "dump", "--sample", "4" if structure in SLOW else "16", "--seed", "1", "--timeout", "60",
                "--trace", os.path.join(folder, "t.pmt")]
    return [PMEND, name, "--format", "json", "-o", os.path.join(folder, "report.json"), *(of_crash if name == "test" else []), "--", program(structure), *arguments]


def findings_of(structure, run, numbers, name="test"):
    """Correctness findings of `pmend test` or `check`, in the order of the report: kind, the places of the title, those of all locations, how many are listed under it; for
    all of them, the runs of recovery: of the exploration, and to explain what it found."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        arguments = prepare(structure, run, os.path.join(folder, "pool"))
        p = subprocess.run(analysis(name, structure, arguments, folder), env=dict(os.environ, PMEND_MUTANT=",".join(map(str, numbers))), stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
        if p.returncode not in (0, 1):
            raise AssertionError(f"pmend {name} ended with {p.returncode}: {p.stderr}")
        with open(os.path.join(folder, "report.json")) as f:
            report = json.load(f)
    runs = [report.get("coverage", {}).get(key, 0) for key in ("runs", "diagnosis_runs")]
    return [{"kind": b["kind"], "at": places(b), "locations": [f"{x['role']} {place(x)}" for x in b["locations"]],
             "point": b.get("crash", {}).get("failure_point"), "outcome": b.get("crash", {}).get("outcome"), "folded": len(b.get("consequences", [])), "runs": runs, "may": "may_share_cause" in b}
            for b in report["bugs"] if b["severity"] == "correctness"]
