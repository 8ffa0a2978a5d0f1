"""Runs `pmend test --threads --schedules N` on a program of this folder, and says what came of it."""
import json
import os
import subprocess
import tempfile

PMEND = os.path.abspath(os.environ.get("PMEND", "build/pmend"))
PROGRAMS = os.path.abspath("build/tests/threads")
SOURCES = os.path.abspath("tests/threads")
NAMES = sorted(name[:-2] for name in os.listdir(SOURCES) if name.endswith(".c"))
HAS_DUMP = ("server",)  # where only a client can tell
TIMEOUT_S = 7200


def marked(name):
    """The lines of the stores that are durable too late in the broken variant."""
    with open(f"{SOURCES}/{name}.c", encoding="utf-8") as f:
        return {number for number, line in enumerate(f, 1) if "/* BUG */" in line}


def run(name, nthreads, nschedules, is_broken=False, seed=1):
    """Gives the report."""
    program = f"{PROGRAMS}/{name}" + ("-broken" if is_broken else "")
    command = [PMEND, "test", "--quiet", "--threads", "--schedules", str(nschedules), "--schedule-seed", str(seed), "--format", "json", "-o", "report.json",
               "--recover", f"{program} {{}} check"]
    if name in HAS_DUMP:
        command += ["--dump", f"{program} {{}} dump"]
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        p = subprocess.run([*command, "--", program, "{pool}", "run", str(nthreads)], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S)
        if p.returncode > 1:
            raise AssertionError(f"status {p.returncode}: {p.stderr.strip()[-500:]}")
        with open(f"{folder}/report.json", encoding="utf-8") as f:
            return json.load(f)


def line_of(bug):
    return bug["locations"][0].get("line") if bug["locations"] else None


def summary(bugs):
    return "; ".join(f"{b['kind']} ({b['severity']}) at line {line_of(b)}, in schedules {','.join(map(str, b.get('schedules_seen', [])[:5]))}" for b in bugs)


def found(name, report):
    """(the first schedule that shows what is wrong in the broken variant, the first one that a crash state confirms); None where there is none."""
    right = [b for b in report["bugs"] if b["severity"] == "correctness" and line_of(b) in marked(name)]
    return tuple(min((b["schedules_seen"][0] for b in bugs), default=None) for bugs in (right, [b for b in right if "crash" in b]))
