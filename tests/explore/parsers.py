"""Runs `pmend explore` on the parsers of parsers/: how each is run, and whether its bug, the line marked in the source, was found."""
import json
import os
import re
import subprocess

ZEROS = 24 * b"\0"

# name: program, how its input comes in, its arguments, what to begin with
PARSERS = {
    "strtok": ("strtok", ["--sym-stdin", "24"], ["POOL"], None),
    "strtok with a seed": ("strtok", ["--sym-stdin", "24"], ["POOL"], b"set a b\n"),
    "sscanf": ("sscanf", ["--sym-stdin", "24"], ["POOL"], None),
    "getline": ("getline", ["--sym-stdin", "20"], ["POOL"], b"a one\nc\nq\n"),
    "getopt": ("getopt", ["--sym-arg", "1", "--sym-arg", "2"], ["-v", "-lx", "POOL"], None),
    "frames": ("frames", [], ["POOL", "@@"], ZEROS),
    "json": ("json", [], ["POOL", "@@"], ZEROS),
    "states": ("states", [], ["POOL", "@@"], ZEROS),
    "escapes": ("escapes", ["--sym-stdin", "16"], ["POOL"], b'"name"\n'),
    "stack": ("stack", [], ["POOL", "@@"], ZEROS[:12]),
    "checksum": ("checksum", [], ["POOL", "@@"], ZEROS),
    "noise": ("noise", ["--sym-stdin", "20"], ["POOL"], None),
    "argument": ("argument", ["--sym-arg", "2"], ["POOL", "a"], None),
}
TEN = ("strtok", "sscanf", "getline", "getopt", "frames", "json", "states", "escapes", "stack", "checksum")
# in 60 inputs: a sequence of five instructions
NOT_FOUND = ("stack",)
# arguments that are nearer to the bug, for tests without LONG=1
NEAR = {"getopt": ["-vn", "00", "POOL"]}
CORRECT = ("strtok", "frames", "stack")


def parser_marks(program):
    """(kind, line) of the bugs of a parser."""
    with open(f"tests/explore/parsers/{program}.c", encoding="utf-8") as f:
        return {(kind, n) for n, line in enumerate(f, 1) for kind in re.findall(r"/\* BUG: ([\w-]+) \*/", line)}


def parser_bugs(report):
    """(kind, line) of what was found. Whether a fence came after the store depends on the rest of the input: that is not told apart."""
    return {(b["kind"].removesuffix("-fence"), b["locations"][0].get("line") if b["locations"] else None) for b in report["bugs"] if b["severity"] == "correctness"}


def parser_explore(pmend, folder, name, runs, more=(), variant="", near=False):
    """The report."""
    program, options, arguments, seed = PARSERS[name]
    arguments = NEAR.get(name, arguments) if near else arguments
    pool, out, report = (os.path.join(folder, n) for n in ("a pool", "out", "report.json"))
    if seed:
        options = [*options, "--seed", f"{folder}/seed"]
        with open(f"{folder}/seed", "wb") as f:
            f.write(seed)
    p = subprocess.run([pmend, "explore", *options, "--max-runs", str(runs), "--out", out, "--format", "json", "-o", report, "--timeout", "600", "--solver-timeout", "10",
                        *more, "--", f"{os.path.dirname(pmend)}/tests/explore/parsers/{program}{variant}", *[pool if a == "POOL" else a for a in arguments]],
                       capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    assert p.returncode in (0, 1, 3) and os.path.exists(report), f"status {p.returncode}: {p.stderr.strip()[-500:]}"
    with open(report, encoding="utf-8") as f:
        return json.load(f)
