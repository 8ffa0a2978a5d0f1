"""Which mutants of this folder an analysis tells from the original, for run.py and bench/mutants. Nothing here depends on time.

A judge kills a mutant by a correctness bug that the original does not have. Judges see a few runs of each mutant. `check` sees those in which what it
lacks is done latest, because whatever comes after may make good for it; `crash` sees some that go on in different ways, because it is what comes
after that must not overtake. survivors.txt says which mutants a judge cannot kill, and why."""
import collections
import json
import os
import shutil
import subprocess
import tempfile

PMEND = os.path.abspath(os.environ.get("PMEND", "build/pmend"))
STRUCTURES = ("log", "hash", "radix", "btree", "list")
SURVIVORS = "tests/mutants/survivors.txt"
SLOW = ("btree", "list")  # libpmemobj takes long to open a pool
TIMEOUT_S = 900
RACES = ("cross-failure-race", "cross-failure-semantic", "uninitialised-read")

Mutant = collections.namedtuple("Mutant", "structure number kind line")
# A run of so many operations, on a new pool, or on one that a run of the original left: of so many operations, killed at the place die_at, if
# it is not 0.
Run = collections.namedtuple("Run", "operations seed before die_at")

# Of these, and of their beginnings, and of those that runs_of_recovery() adds.
RUNS = [*(Run(0, 1, before, 0) for before in (0, 20)), *(Run(12, seed, before, 0) for before in (0, 4, 8, 20, 32) for seed in range(1, 7))]
RUNS_SLOW = [Run(0, 1, 0, 0), Run(12, 1, 0, 0), *(Run(12, seed, before, 0) for before in (8, 20, 32) for seed in (1, 2)), Run(40, 1, 20, 0)]


def program(structure):
    return f"build/mutants/{structure}-any"


def mutants_of(structure):
    out = subprocess.run([program(structure), "mutants"], capture_output=True, text=True, check=True).stdout
    return [Mutant(structure, int(number), kind, int(line)) for number, kind, line in map(str.split, out.splitlines())]


# ---- choosing runs ----

pools = tempfile.TemporaryDirectory(dir="/dev/shm")  # that runs begin with


def prepare(structure, run, pool):
    """Gives the arguments of the run, having made the pool that it needs, with the original."""
    if run.before:
        kept = os.path.join(pools.name, f"{structure}-{run.before}-{run.die_at}")
        if not os.path.exists(kept):
            subprocess.run([program(structure), kept, "run", str(run.before), "1"], env=dict(os.environ, PMEND_DIE_AT=str(run.die_at)),
                           stdout=subprocess.DEVNULL, timeout=TIMEOUT_S)
        shutil.copy(kept, pool)
    return [pool, "run", str(run.operations), str(run.seed)]


def points_of(structure, run):
    """The numbers that the original reaches, in order: a list for each operation (the first has those of opening, too), one for the end."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        arguments = prepare(structure, run, os.path.join(folder, "pool"))
        out = subprocess.run(["sh", "-c", 'exec "$0" "$@" 3>&1', program(structure), *arguments], env=dict(os.environ, PMEND_POINTS="1"),
                             stdout=subprocess.PIPE, text=True, check=True, timeout=TIMEOUT_S).stdout
    points = [[]]
    for line in out.splitlines():
        if line.isdigit():
            points[-1].append(int(line))
        else:
            points.append([])  # an acknowledgement
    return points


def runs_for_check(mutant, reached, kinds):
    """The best two: fewest places of the same kind after the last one that the mutant lacks, then the shortest."""
    ranked = []
    for run, points in reached.items():
        for i, part in enumerate(points):
            if mutant.number in part:
                rest = part[len(part) - part[::-1].index(mutant.number):] + (points[-1] if part is not points[-1] else [])
                ranked.append((sum(kinds[p] == mutant.kind for p in rest), i, run._replace(operations=min(i + 1, run.operations))))
    return [run for _, _, run in sorted(ranked)[:2]]


def ways_on(number, points):
    """After each operation that comes to the place: its index, and the places that follow."""
    for i, part in enumerate(points):
        for at in (k for k, p in enumerate(part) if p == number):
            yield i, tuple((part[at + 1:] + [p for later in points[i + 1:] for p in later])[:4])


def runs_for_crash(mutant, reached, _):
    """Short ones that differ in the next place or in the pool being new, some more that differ in the next four; some operations follow."""
    nafter, runs_max = (1, 2) if mutant.structure in SLOW else (2, 8)
    ranked = sorted((min(i + 1 + nafter, run.operations) + run.before / 100, way, run._replace(operations=min(i + 1 + nafter, run.operations)))
                    for run, points in reached.items() for i, way in ways_on(mutant.number, points))
    chosen, seen = [], set()
    for len_way in (1, 4):
        for _, way, run in ranked:
            if (way[:len_way], run.before > 0) not in seen and run not in chosen:
                seen.update(((way[:1], run.before > 0), (way, run.before > 0)))
                chosen.append(run)
    return chosen[:runs_max]


# ---- judges ----

def judge(structure, run, number, *command):
    """Records a run of a mutant and lets pmend judge: the correctness bugs, by id."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        trace, pool = os.path.join(folder, "t.pmt"), os.path.join(folder, "pool")
        arguments = prepare(structure, run, pool)
        env = dict(os.environ, PMEND_MUTANT=str(number))
        subprocess.run([PMEND, "record", "-q", "-o", trace, "--", program(structure), *arguments], env=env, stdout=subprocess.DEVNULL, check=True,
                       timeout=TIMEOUT_S)
        p = subprocess.run([PMEND, *command, "--format", "json", trace], env=env, capture_output=True, text=True,
                           timeout=TIMEOUT_S)
        if p.returncode not in (0, 1):
            raise AssertionError(f"pmend {command[0]} ended with {p.returncode}: {p.stderr}")
        return {bug["id"]: bug["kind"] for bug in json.loads(p.stdout)["bugs"] if bug["severity"] == "correctness"}


def judge_check(structure, run, number):
    return judge(structure, run, number, "check")


def judge_crash(structure, run, number):
    """Of each failure point, only few states if they take long."""
    command = f"'{program(structure)}' {{}} "
    sample = "4" if structure in SLOW else "16"
    return judge(structure, run, number, "crash", "--recover", command + "check", "--dump", command + "dump", "--sample", sample, "--seed", "1",
                 "--timeout", "60")


def judge_races(structure, run, number):
    """One run a failure point; what recovery reads, not how it ends."""
    found = judge(structure, run, number, "crash", "--races", "--strategy", "prefix", "--recover", f"'{program(structure)}' {{}} check",
                  "--timeout", "60")
    return {id_: kind for id_, kind in found.items() if kind in RACES}


# name: function of structure, run and mutant's number (0: the original) that gives {id: kind of bug}; function that chooses its runs; does a survivor
# need a reason (races does not: a mutant whose order is wrong need not make recovery read what may be lost)
JUDGES = {"check": (judge_check, runs_for_check, True), "crash": (judge_crash, runs_for_crash, True), "races": (judge_races, runs_for_crash, False)}


class Kills:
    """Of one data structure."""

    def __init__(self, structure):
        self.structure, self.results = structure, {}
        self.mutants = mutants_of(structure)
        self.kinds = {m.number: m.kind for m in self.mutants}

    def remember(self, what, run, number, function):
        """Of a run, what the function gives, which is called once."""
        key = f"{what} {number} {' '.join(map(str, run))}"
        if key not in self.results:
            self.results[key] = function()
        return self.results[key]

    def points(self, run):
        return self.remember("points", run, 0, lambda: points_of(self.structure, run))

    def runs_of_recovery(self):
        """What recovery repairs takes a crash: runs after one that was killed where it first came to each place."""
        first, nplaces = {}, 0
        for part in self.points(Run(40, 1, 0, 0)):
            for number in part:
                nplaces += 1
                first.setdefault(number, nplaces)
        return [Run(n, 2, 40, die_at) for die_at in first.values() for n in (0, 4)]

    def reached(self):
        """The places that each run comes to."""
        reached = {run: self.points(run) for run in (RUNS_SLOW if self.structure in SLOW else RUNS)}
        if any(all(m.number not in part for points in reached.values() for part in points) for m in self.mutants):
            reached.update((run, self.points(run)) for run in self.runs_of_recovery())
        return reached

    def runs(self, judge, mutant):
        """That the judge is shown; none: no run comes to what the mutant lacks."""
        return JUDGES[judge][1](mutant, self.remember("reached", (), 0, self.reached), self.kinds)

    def bugs(self, judge, run, number):
        return self.remember(judge, run, number, lambda: JUDGES[judge][0](self.structure, run, number))

    def killed_by(self, judge, mutant):
        """The kinds of bugs that tell the mutant from the original; none: it survives."""
        for run in self.runs(judge, mutant):
            found = self.bugs(judge, run, mutant.number)
            same = self.bugs(judge, run, 0) if found else {}
            kinds = {kind for id_, kind in found.items() if id_ not in same}
            if kinds:
                return kinds
        return set()


def survivors_expected():
    """{(judge, structure, number): reason}"""
    expected = {}
    with open(SURVIVORS) as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                judge, structure, number, reason = line.split(None, 3)
                expected[judge, structure, int(number)] = reason.strip()
    return expected
