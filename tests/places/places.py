"""What the rows of the table share: a place, the program that is tested in it, and what must come out.

Every program of this folder does the same with its pool (pool.h), whose mistakes are marked there, `/* BUG: KIND ROLE */`. So the findings are known, and a place
may neither add one nor take one away: `works` compares them, and wants all crash states explored and nothing said. `noted` wants the same findings, and that the row's own words
are said; only where these say that something was left out, findings may be missing, and the report must not claim to be complete. `refused` wants exit status 3, the row's words,
and no finding that is not marked."""
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import tempfile

from each import Skip

PMEND = os.path.abspath(os.environ.get("PMEND", "build/pmend"))
PROGRAMS = os.path.abspath("build/tests/places")
ARCH = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
    HAS_KEYS = " ospke" in cpuinfo.read()
SOURCES = os.path.dirname(os.path.abspath(__file__))
MARK = re.compile(r"/[/*] BUG: ([a-z-]+) ([a-z]+)")
NOBODY = "65534"
TIMEOUT_S = 600
NO_RANK = "pmend does not know which unflushed stores recovery reads: threads without protection keys"
FOUND = "pmend: found "  # of an exploration that takes long
OLD_POOL = "held data before the run; --fresh starts without it"


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def marks(source):
    """{(kind, role, line)} that a source marks."""
    with open(os.path.join(SOURCES, source), encoding="utf-8") as f:
        return {(kind, role, number) for number, line in enumerate(f, 1) for kind, role in MARK.findall(line)}


def findings(report, source):
    """The same of a report."""
    found = set()
    for bug in report["bugs"]:
        for where in bug["locations"]:
            if where["role"] in ("flush", "fence") and bug["kind"] != "redundant-fence":  # what was done for a lost store: for pmend fix
                continue
            is_own = os.path.basename(where.get("file", "")) == source
            found.add((bug["kind"], where["role"], where["line"] if is_own else None))
    return found


class Place:
    """A scratch folder, which any user may use, and how a command is run in it."""

    def __init__(self, says):
        self.says = says  # of the table's row
        self.folder = tempfile.mkdtemp(prefix="pmend-places-")
        os.chmod(self.folder, 0o777)
        self.wrap = []  # words in front of a command
        self.env = {}
        self.cwd = self.folder
        self.options = []  # of pmend test
        self.source = "pool.h"
        self.pool_words = []  # behind the pool's path
        self.is_old_pool = False

    def close(self):
        os.chmod(self.folder, 0o777)
        shutil.rmtree(self.folder)

    def run(self, *words, stdin=subprocess.DEVNULL):
        """Runs a command in this place; gives status, output, errors."""
        p = subprocess.run([*self.wrap, *words], capture_output=True, cwd=self.cwd, env=dict(os.environ, **self.env), timeout=TIMEOUT_S, stdin=stdin)
        return p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace")

    def command(self, program, *words, recover=None):
        """pmend test of a program: its words are those in front of `write POOL`. recover: other ones, of recovery."""
        path = program if "/" in program else os.path.join(PROGRAMS, program)
        if not os.path.exists(path):
            raise Skip(f"{program} is not built: its compiler is not installed")
        return [PMEND, "test", "--format", "json", *self.options, "--recover", shlex.join([path, *(recover or words), "check", "{}"]), "--",
                path, *words, "write", "pool", *self.pool_words]

    # ---- mounts ----

    def mounted(self, setup, needs_root=False):
        """Commands run in a mount namespace of their own, after the setup, which a shell does."""
        outer = ["unshare", "-m", "--propagation", "private"] if os.geteuid() == 0 else ["unshare", "-Urm", "--propagation", "private"]
        if needs_root and os.geteuid() != 0:
            raise Skip("only root mounts this")
        script = f"set -e\n{setup}\n"
        p = subprocess.run([*outer, "sh", "-c", script], capture_output=True, text=True, cwd=self.cwd)
        if p.returncode != 0:
            raise Skip(f"it cannot be mounted here: {p.stderr.strip()[-100:]}")
        self.wrap = [*outer, "sh", "-c", script + 'exec "$@"', "sh", *self.wrap]

    def image(self, make):
        """A file system in a file, mounted by a loop device as folder/fs, which is where commands run then."""
        if not shutil.which(make[0]):
            raise Skip(f"{make[0]} is not installed")
        path = os.path.join(self.folder, "image")
        with open(path, "wb") as f:
            f.truncate(400 << 20)
        p = subprocess.run([*make, path], capture_output=True, text=True)
        expect(p.returncode == 0, f"{make[0]}: {p.stderr.strip()}")
        os.mkdir(os.path.join(self.folder, "fs"))
        self.mounted("mount -o loop image fs\ncd fs", needs_root=True)

    # ---- who ----

    def as_nobody(self):
        if os.geteuid() != 0:
            return  # we are not root, anyway
        self.wrap = [*self.wrap, "setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"]
        probe = subprocess.run([*self.wrap, "test", "-x", PMEND], cwd=self.cwd)
        if probe.returncode != 0:
            raise Skip("this folder is closed to others than root")

    def limited(self, *limits):
        """ulimit's words, one limit each."""
        self.wrap = [*self.wrap, "bash", "-c", " && ".join(f"ulimit {one}" for one in limits) + ' && exec "$@"', "bash"]

    # ---- what must come out ----

    def test(self, program="plain", *words, recover=None):
        status, out, err = self.run(*self.command(program, *words, recover=recover))
        err = "\n".join(line for line in err.splitlines() if not line.startswith(FOUND) and not (self.is_old_pool and line.endswith(OLD_POOL)) and (HAS_KEYS or not line.endswith(NO_RANK)))
        return status, json.loads(out) if out else None, err

    def works(self, program="plain", *words, recover=None):
        status, report, err = self.test(program, *words, recover=recover)
        expect(status == 1, f"status {status}: {err[-300:]}")
        expect(err == "", f"it says {err[-300:]!r}")
        self.same(report)
        coverage = report["coverage"]
        expect(coverage["complete"] and coverage["states"] == coverage["states_all"], f"not all was explored: {coverage}")
        if HAS_KEYS or "(threads without protection keys)" not in coverage.get("note", ""):
            expect("note" not in coverage and not coverage.get("whole_runs"), f"a note: {coverage}")

    def same(self, report):
        want, got = marks(self.source), findings(report, self.source)
        expect(got == want, f"the findings differ: {sorted(map(str, got ^ want))}")

    def noted(self, program="plain", *words, is_less=False):
        """is_less: something is left out, and the report says so."""
        status, report, err = self.test(program, *words)
        expect(status == 1, f"status {status}: {err[-300:]}")
        coverage = report["coverage"]
        expect(self.says in " ".join([coverage.get("note", ""), coverage.get("why_incomplete", ""), err]), f"{self.says!r} is not said: {coverage}, {err!r}")
        if is_less:
            expect(not coverage["complete"], f"it is called complete: {coverage}")
            expect(findings(report, self.source) < marks(self.source), f"no less is found: {findings(report, self.source)}")
        else:
            self.same(report)
            expect(coverage["complete"] and coverage["states"] == coverage["states_all"], f"not all was explored: {coverage}")

    def refused(self, program="plain", *words):
        status, report, err = self.test(program, *words)
        expect(status == 3, f"status {status}, not 3: {err[-300:]}")
        said = err + (report["coverage"].get("note", "") if report else "")
        expect(self.says in said, f"{self.says!r} is not in {said!r}")
        if report:
            wrong = findings(report, self.source) - marks(self.source)
            expect(not wrong, f"findings that are none: {wrong}")
