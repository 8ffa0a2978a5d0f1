#!/usr/bin/env python3
"""The five data structures of this folder: unmutated they have no findings, the right contents, and a recovery that works; each mutant is killed. In the project's folder.

    tests/mutants/run.py [NAME]...      all tests, or those whose names begin so (`hash`, `hash.original-O0`)

Prints `ok NAME`, `SKIP NAME: …` or `FAIL NAME: …`. Of the mutants, `pmend check` must kill all but those that survivors.txt lists, and `pmend crash`
those of them that it can. bench/mutants has the rest: `crash` on those that `check` kills, too, and `--races`.
LONG=1 also tries all cases of several.c and several_obj.c."""
import functools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True
os.chdir(os.path.join(HERE, "..", ".."))

import crash  # noqa: E402
from each import choose, run_each  # noqa: E402
import kills  # noqa: E402
import several  # noqa: E402
import schema  # noqa: E402,F401  (looks at every report that is read)

PMEND = os.environ.get("PMEND", "build/pmend")
NAMES = ("log", "hash", "radix", "btree", "list")
ON_LIBPMEMOBJ = ("btree", "list")
SIGNATURES = {"btree": b"PENDBTR1", "list": b"PENDLST1"}
OPERATIONS = "40"
MUTANT_WITHOUT_FLUSH = ("log", 5)  # built with -DMUTANT=5, too


def binary(name, variant):
    return f"build/mutants/{name}-{variant}"


def run(*command, env=None, status=0):
    """Runs a command, which must end with this status; gives its output."""
    p = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600, env=dict(os.environ, **(env or {})))
    if status is not None and p.returncode != status:
        raise AssertionError(f"{' '.join(command)} ended with {p.returncode}: {(p.stderr or p.stdout).strip()[-300:]}")
    return p.stdout


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def dump(program, pool):
    return tuple(tuple(map(int, line.split())) for line in run(program, pool, "dump").splitlines())


def copy_of(pool):
    return shutil.copy(pool, pool + ".copy")


# ---- tests: each gets the name of a data structure and a folder ----

def numbers(name, folder):
    """Consecutive from 1, and the same however built."""
    lists = [run(binary(name, v), "mutants").splitlines() for v in ("O0", "O2", "any")]
    expect([int(line.split()[0]) for line in lists[0]] == list(range(1, len(lists[0]) + 1)), f"numbers are not consecutive: {lists[0]}")
    expect({line.split()[1] for line in lists[0]} <= {"flush", "fence", "add"}, f"unknown kinds: {lists[0]}")
    expect(lists[0] == lists[1] == lists[2], "builds list different mutants")


def original(name, folder, level):
    """Nothing to find, and the content is what the acknowledgements say, also after a second run."""
    program, pool, trace = binary(name, level), os.path.join(folder, "pool"), os.path.join(folder, "t.pmt")
    lines = run(PMEND, "record", "-q", "-o", trace, "--", program, pool, "run", OPERATIONS).splitlines()
    expect(len(lines) == int(OPERATIONS), f"{len(lines)} acknowledgements")
    report = json.loads(run(PMEND, "check", "--format", "json", trace, status=None))
    expect(not report["bugs"] and report["coverage"]["complete"], f"{len(report['bugs'])} findings: " + ", ".join(
        f"{b['kind']} {b['locations'][0].get('function')}:{b['locations'][0].get('line')}" for b in report["bugs"]))
    run(program, pool, "check")
    expect(dump(program, pool) == crash.states_of(lines)[-1], "the content differs from what was acknowledged")
    again = run(program, pool, "run", OPERATIONS, "2").splitlines()
    run(program, pool, "check")
    expect(dump(program, pool) == crash.states_of(lines + again)[-1], "the content differs after a second run")
    if level == "O2" and name not in ON_LIBPMEMOBJ:
        crashes(program, trace)


def crashes(program, trace):
    """A few of the states that a crash can leave."""
    c = crash.Crasher(program, trace, nsamples=1, seed=random.randrange(1000), every=12)
    c.run()
    expect(len(c.tried) > 5, f"only {len(c.tried)} states")
    expect(not c.failures, f"seed {c.seed}: {len(c.failures)} of {len(c.tried)} crash states are not recovered from, the first: "
           + (c.failures or [""])[0])


def no_pool(name, folder):
    """A pool that is absent, empty, or not complete is none; a run makes it one."""
    program, pool = binary(name, "O2"), os.path.join(folder, "pool")
    run(program, pool, "run", "3")
    size = os.path.getsize(pool)
    os.unlink(pool)
    for content in (None, b"", bytes(4096), bytes(size)):
        if content is not None:
            with open(pool, "wb") as f:
                f.write(content)
        expect("no pool yet" in run(program, pool, "check"), "an incomplete pool was taken for one")
        expect(dump(program, pool) == (), "an incomplete pool has content")
        lines = run(program, pool, "run", "3").splitlines()
        expect(dump(program, pool) == crash.states_of(lines)[-1], "creation was not completed well")


def damage(name, folder):
    """Nothing in the file makes the programs crash; what they say about it is right where that is clear."""
    program, pool = binary(name, "O2"), os.path.join(folder, "pool")
    run(program, pool, "run", OPERATIONS, "3")
    with open(pool, "rb") as f:
        good = f.read()
    with open(pool, "wb") as f:
        f.write(good[:-4096])
    run(program, pool, "check", status=1)
    if name in ON_LIBPMEMOBJ:  # only the root: the rest is libpmemobj's own
        places = [(good.index(SIGNATURES[name]) + 8, 24)]
    else:
        places = [(64 + random.randrange(len(good) - 64), random.choice((1, 8, 64, 4096))) for _ in range(6)]
        places += [(64, 8), (128, 16)]
    for at, n in places:
        bad = bytearray(good)
        bad[at:at + n] = random.randbytes(min(n, len(good) - at))
        with open(pool, "wb") as f:
            f.write(bad)
        p = subprocess.run([program, pool, "dump"], capture_output=True, timeout=60)  # checks, too
        expect(p.returncode in (0, 1), f"dump ended with {p.returncode} with {n} bytes at {at} garbled")
    if name in ON_LIBPMEMOBJ:
        expect(p.returncode == 1, "a garbled root went unnoticed")


def kill(program, pool, die_at, operations, seed):
    """A run that ends at its nth numbered place; gives the contents that may be left."""
    env = {"PMEND_DIE_AT": str(die_at)}
    before = dict(dump(program, pool))
    copy = copy_of(pool) if os.path.exists(pool) else pool + ".copy"
    full = run(program, copy, "run", operations, seed).splitlines()
    os.unlink(copy)
    acknowledged = run(program, pool, "run", operations, seed, env=env, status=None).splitlines()
    expect(full[:len(acknowledged)] == acknowledged, "a run that is killed does something else")
    return crash.states_of(full, before)[len(acknowledged):len(acknowledged) + 2]


def killed(name, folder):
    """Killed at some place, and again early in the next run, which recovers: the content is that before or after."""
    program, pool = binary(name, "any"), os.path.join(folder, "pool")
    for round_number in range(2):
        if os.path.exists(pool):
            os.unlink(pool)
        for die_at in (random.randrange(1, 160 if round_number else 8), random.randrange(1, 12)):
            allowed = kill(program, pool, die_at, OPERATIONS, str(round_number + 1))
            run(program, copy_of(pool) if os.path.exists(pool) else pool, "check")
            expect(dump(program, pool) in allowed, f"wrong content after a kill at {die_at}")


def flag(name, folder):
    """-DMUTANT=5 leaves out number 5, and `check` tells."""
    name, number = MUTANT_WITHOUT_FLUSH
    pool = os.path.join(folder, "pool")
    report = json.loads(run(PMEND, "check", "--format", "json", "--", binary(name, number), pool, "run", "5", status=1).split("\n", 5)[5])
    expect("missing-flush" in {b["kind"] for b in report["bugs"]}, f"found {[b['kind'] for b in report['bugs']]}")


@functools.cache
def kills_of(name):
    return kills.Kills(name)


def killed_by(name, number, judge):
    """Killed, if survivors.txt does not say why not; then, silent."""
    mutant = next(m for m in kills_of(name).mutants if m.number == number)
    reason = kills.survivors_expected().get((judge, name, number))
    expect(kills_of(name).runs(judge, mutant), f"no run comes to what mutant {number} lacks")
    found = kills_of(name).killed_by(judge, mutant)
    expect(found or reason, f"mutant {number} ({mutant.kind}, {name}.c:{mutant.line}) survives")
    expect(not found or not reason, f"survivors.txt says why mutant {number} survives, but there is {', '.join(sorted(found))}")


def mutant_tests():
    expected = kills.survivors_expected()
    for name in NAMES:
        for m in kills.mutants_of(name):
            yield f"{name}.mutant-{m.number}.check", lambda f, n=name, k=m.number: killed_by(n, k, "check")
            if ("check", name, m.number) in expected and ("crash", name, m.number) not in expected:
                yield f"{name}.mutant-{m.number}.crash", lambda f, n=name, k=m.number: killed_by(n, k, "crash")


# Each bug of these is named although there are others; LONG=1: of all cases, by all commands, and with each bug fixed alone.
SEVERAL = (("several", "threads"), ("several", "never"), ("several", "function"), ("several", "early"), ("several", "arrays"), ("several_obj", "lines"))


def several_named(program, case, folder):
    wrong = several.wrong(program, case, "", "test", folder)
    expect(not wrong, wrong)


def several_told_apart(folder):
    """What fails in the transaction takes all of its missing TX_ADDs, unless there is only one; what one of them lacks itself takes only that one."""
    together, own = several.told_apart("several_obj", "lines", "", folder)
    assert together > 0 and own > 0, f"{together} take all, {own} take one"
    together, own = several.told_apart("several_obj", "lines", "23", folder)
    assert together == 0 and own > 0, f"with one bug, {together} take all, {own} take one"


def several_counted(folder):
    """Each missing TX_ADD is one finding: what is lost of its store is listed under it."""
    found = several.findings("several_obj", "functions", "", "test", folder)
    equal = sorted(kind for kind, _ in found) == ["tx-missing-add"] * len(several.marks("several_obj")["functions"])
    expect(equal, f"{found}")


def several_swept(program, case, folder):
    wrong = several.sweep(program, case, folder)
    expect(not wrong, "; ".join(wrong))


def several_tests():
    for program in several.PROGRAMS if os.environ.get("LONG") else ():
        for case in several.marks(program):
            yield f"{program}.{case}.sweep", lambda f, p=program, c=case: several_swept(p, c, f)
    for program, case in SEVERAL:
        yield f"{program}.{case}", lambda f, p=program, c=case: several_named(p, c, f)


def tests():
    for name in NAMES:
        yield f"{name}.numbers", lambda f, n=name: numbers(n, f)
        for level in ("O0", "O2"):
            yield f"{name}.original-{level}", lambda f, n=name, x=level: original(n, f, x)
        yield f"{name}.no_pool", lambda f, n=name: no_pool(n, f)
        yield f"{name}.damage", lambda f, n=name: damage(n, f)
        yield f"{name}.killed", lambda f, n=name: killed(n, f)
    yield "build_flag", lambda f: flag(None, f)
    yield from several_tests()
    yield "several_obj.told_apart", several_told_apart
    yield "several_obj.counted", several_counted
    yield from mutant_tests()


def run_alone(name, test):
    """With a folder of its own; chance is the same each time, unless SEED says otherwise."""
    random.seed(f"{name} {os.environ.get('SEED', '1')}")
    with tempfile.TemporaryDirectory(prefix="pmend mutants ", dir="/dev/shm") as folder:
        test(folder)


def main():
    found = dict(tests())
    return run_each("mutants", [(n, functools.partial(run_alone, n, found[n])) for n in choose(list(found), sys.argv[1:])])


sys.exit(main())
