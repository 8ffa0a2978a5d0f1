"""Programs with several bugs at once (several.c, several_obj.c): whether each is named, for run.py and bench/mutants.

Their sources mark the statements of a bug: `BUG line 2`, the second of the case `line`. With all bugs, each has a finding of its own at one of its statements. Without one of them, the others
have, and nothing is said about the one that is gone. Without all of them, nothing is said."""
import json
import os
import re
import subprocess

PROGRAMS = ("several", "several_obj")
PMEND = os.path.abspath(os.environ.get("PMEND", "build/pmend"))
FOLDER = "build/mutants"
MARK = re.compile(r"BUG (\w+) (\d)")
TIMEOUT_S = 300
WITH_DUMPS = ("early",)


def marks(program):
    """{case: {number: lines}}"""
    found = {}
    with open(f"tests/mutants/{program}.c") as f:
        for line, text in enumerate(f, 1):
            for case, number in MARK.findall(text):
                found.setdefault(case, {}).setdefault(number, set()).add(line)
    return found


def lines_of(program, where):
    """Of a finding, or of one of its call paths: the lines of the source at which the store is made, and where what makes it is called."""
    return {frame["line"] for frame in [where["locations"][0], *where["locations"][0].get("stack", [])] if os.path.basename(frame.get("file") or "") == f"{program}.c"}


def bugs_of(program, case, fixed, command, folder):
    """Those of the report, as JSON has them."""
    binary, pool, out = os.path.abspath(f"{FOLDER}/{program}"), os.path.join(folder, "pool"), os.path.join(folder, "report.json")
    if os.path.exists(pool):
        os.unlink(pool)
    if program == "several_obj":
        subprocess.run([binary, pool, "create"], check=True, timeout=TIMEOUT_S)
    judged = f"'{binary}' {{}} {case} recover"
    recovery = [] if command == "check" else ["--dump" if case in WITH_DUMPS else "--recover", judged, "--seed", "1", "--trace", os.path.join(folder, "t.pmt")]
    p = subprocess.run([PMEND, command, "--severity", "correctness", "--format", "json", "-o", out, *recovery, "--", binary, pool, case, fixed],
                       capture_output=True, text=True, timeout=TIMEOUT_S)
    if p.returncode not in (0, 1):
        raise AssertionError(f"pmend {command} ended with {p.returncode}: {p.stderr}")
    with open(out) as f:
        return [b for b in json.load(f)["bugs"] if b["severity"] == "correctness"]


def findings(program, case, fixed, command, folder):
    """[(kind, [lines of each call path])]"""
    return [(b["kind"], [lines_of(program, x) for x in [b, *b.get("paths", [])]]) for b in bugs_of(program, case, fixed, command, folder)]


def told_apart(program, case, fixed, folder):
    """(consequences that take all causes, those that take only their own)"""
    listed = [c.get("takes_all", False) for b in bugs_of(program, case, fixed, "test", folder) for c in b.get("consequences", [])]
    return sum(listed), len(listed) - sum(listed)


def is_named(lines, found):
    return any(not lines.isdisjoint(place) for _, paths in found for place in paths)


def wrong(program, case, fixed, command, folder, seen=None):
    """What is wrong with the report of a case without the bugs that are fixed, or None. seen: the bugs that this command sees, if they are alone; None: all."""
    wanted = {n: lines for n, lines in marks(program)[case].items() if n not in fixed}
    found = findings(program, case, fixed, command, folder)
    missing = [n for n, lines in wanted.items() if (seen is None or n in seen) and not is_named(lines, found)]
    more = [kind for kind, paths in found if not any(is_named(lines, [(kind, paths)]) for lines in wanted.values())]
    text = [*([f"hides {', '.join(missing)}"] if missing else []), *([f"accuses {more}"] if more else [])]
    return f"{program} {case} without {fixed or 'none'}, {command}: {'; '.join(text)}: {[(kind, list(map(sorted, paths))) for kind, paths in found]}" if text else None


def seen_alone(program, case, command, folder):
    """The bugs that a command sees when all others are fixed."""
    numbers = marks(program)[case]
    return [n for n in numbers if is_named(numbers[n], findings(program, case, "".join(k for k in numbers if k != n), command, folder))]


def variants(program, case):
    """The bugs that are left out: none, each one alone, all."""
    numbers = sorted(marks(program)[case])
    return ["", *numbers, "".join(numbers)] if len(numbers) > 1 else ["", numbers[0]]


def sweep(program, case, folder, commands=("test", "crash", "check")):
    """Everything that is wrong with the reports of a case, by all commands, with all of its bugs, without one of them, and without all."""
    found = []
    for command in commands:
        seen = seen_alone(program, case, command, folder)
        unseen = sorted(set(marks(program)[case]) - set(seen)) if command != "check" else []  # it does not know what recovery needs
        found += [f"{program} {case}, {command}: does not see {', '.join(unseen)} alone"] if unseen else []
        found += [w for fixed in variants(program, case) for w in [wrong(program, case, fixed, command, folder, seen)] if w]
    return found
