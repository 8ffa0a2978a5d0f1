"""Ten programs in the styles of real code bases, four bugs each; see README. Makes the program with a bug, has `pmend test` find it and `pmend fix` mend it, and looks
at the result. bench/forty does it for all, tests/fix/run.py for some."""
import json
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PMEND = os.path.abspath(os.environ.get("PMEND", os.path.join(HERE, "..", "..", "..", "build", "pmend")))
PROGRAMS = HERE  # bench/forty looks at others, too
TIMEOUT_S = 900


def programs():
    return sorted(n for n in os.listdir(PROGRAMS) if os.path.exists(os.path.join(PROGRAMS, n, "build")))


def bugs_of(name):
    return sorted(int(f.split(".")[0]) for f in os.listdir(os.path.join(PROGRAMS, name, "bugs")) if f.endswith(".patch"))


def run(command, folder, **more):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, env=dict(os.environ, PMEM_IS_PMEM_FORCE="1"), **more)


class Program:
    """A copy of a program in a folder of its own, with some of its bugs."""

    def __init__(self, name, folder, bugs=()):
        self.name, self.folder = name, folder
        source = os.path.join(PROGRAMS, name)
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("bugs", "fixes", "__pycache__"))
        for n in bugs:
            self.patch(os.path.join(source, "bugs", f"{n}.patch"))
        self.database()

    def line(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as f:
            return f.read().strip()

    def patch(self, path):
        p = run(["patch", "-p1", "-i", os.path.abspath(path)], self.folder)
        assert p.returncode == 0, f"{path} does not apply: {p.stdout}{p.stderr}"

    def database(self):
        entries = []
        for command in self.line("build").splitlines():
            entries += [{"directory": self.folder, "command": command, "file": word} for word in command.split() if word.endswith((".c", ".cpp", ".cc"))]
        with open(os.path.join(self.folder, "compile_commands.json"), "w", encoding="utf-8") as f:
            json.dump(entries, f)

    def build(self):
        p = run(["sh", "-e", "build"], self.folder)
        assert p.returncode == 0, f"{self.name} does not build: {p.stderr}"
        return p.stderr

    def output(self):
        """Of the workload alone: (status, output)."""
        p = run(["sh", "-c", self.line("run").replace("POOL", "pool")], self.folder)
        self.remove_pools()
        return p.returncode, p.stdout

    def remove_pools(self):
        for n in os.listdir(self.folder):
            if n.startswith("pool"):
                os.unlink(os.path.join(self.folder, n))

    def test(self, report="report.json"):
        """`pmend test`: the report."""
        command = [PMEND, "test", "-j", "1", "--seed", "1", "--format", "json", "-o", report, "--trace", report + ".pmt", "--recover", self.line("recover").replace("POOL", "{}"),
                   "--", "sh", "-c", self.line("run").replace("POOL", "pool")]
        p = run(command, self.folder)
        self.remove_pools()
        assert p.returncode in (0, 1), f"{' '.join(command)} ended with {p.returncode}: {p.stderr}"
        with open(os.path.join(self.folder, report), encoding="utf-8") as f:
            return json.load(f)

    def fix(self, report="report.json", patch="fix.patch"):
        """(exit status, what it said, the patch)"""
        p = run([PMEND, "fix", "-p", ".", "-o", patch, report], self.folder)
        path = os.path.join(self.folder, patch)
        text = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                text = f.read()
        return p.returncode, p.stderr, text


def shown(bug):
    """One line of a bug."""
    at = bug["locations"][0] if bug["locations"] else {}
    return f"{os.path.basename(at.get('file') or '?')}:{at.get('line', 0)} {bug['kind']}"


def own(report, severities=("correctness",)):
    return [b for b in report["bugs"] if b["severity"] in severities and not b.get("library")]
