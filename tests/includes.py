#!/usr/bin/env python3
"""The house stands on floors, and a file may include what stands below it, nothing beside or above it. Three tests:
  floors   every #include goes down. valgrind/ and runtime/ are programs of their own: they see their own headers and include/ only.
  circles  no two files need each other, directly or by others: what the object files define and use tells (needs a build).
  rooms    no folder has more than ROOM_MAX .c files of its own."""
import glob
import os
import re
import shutil
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
ROOM_MAX = 30

# Bottom first. Houses on one line do not see each other.
STREET = ["util", "trace", "model source", "check crash explore repair report", "cmd"]
# Bottom first, inside a house; "." are the files of the folder itself. Floors on one line do not see each other.
FLOORS = {
    "crash": ["shadow", "states", "run representative", "search", "races", "."],
    "source": [".", "clang", "alias", "library"],
    "explore": [".", "z3"],
}
# Programs without the rest of the house, and what they may see besides their own folder and include/.
ALONE = {"recorder": (), "runtime": (), "tracer": ("explore/expr.h", "decode.h")}
# Circles of files that are meant, each by the header that says why.
CIRCLES = {}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def heights():
    """By folder: (house, place in the street, floor)."""
    high = {}
    for place, row in enumerate(STREET):
        for house in row.split():
            for floor, names in enumerate(FLOORS.get(house, ["."])):
                for name in names.split():
                    high[house if name == "." else f"{house}/{name}"] = (house, place, floor)
    return high


def is_down(high, folder, target):
    """May a file of the folder include one of the target folder?"""
    if folder == target:
        return True
    if folder not in high or target not in high:
        return False
    house, place, floor = high[folder]
    other_house, other_place, other_floor = high[target]
    return other_floor < floor if house == other_house else other_place < place


def wrong(high, path, text):
    """The includes of one file that are not allowed."""
    folder, bad = os.path.dirname(path), []
    alone = next((a for a in ALONE if (folder + "/").startswith(a + "/")), None)
    for name in INCLUDE.findall(text):
        contract = os.path.exists(os.path.join(TOP, "include", name))
        if alone:
            own = any(os.path.exists(os.path.join(TOP, place, name)) for place in (alone, folder)) or name in ALONE[alone]
            allowed = own or contract or name.startswith(("pub_tool_", "libvex")) or name == "valgrind.h"
        elif folder == "include":
            allowed = contract
        else:
            allowed = contract or is_down(high, folder, os.path.dirname(name))
        if not allowed:
            bad.append(f'{path}: #include "{name}" goes against the direction of dependencies')
    return bad


def files():
    if shutil.which("git"):  # the emulated machine has none
        out = subprocess.run(["git", "ls-files", "*.c", "*.h"], cwd=TOP, capture_output=True, text=True)
        if out.returncode == 0 and out.stdout:
            return out.stdout.split()
    tops = [t for t in os.listdir(TOP) if t not in ("build", ".git")]
    return [f for t in tops for f in glob.glob(os.path.join(t, "**", "*.[ch]"), root_dir=TOP, recursive=True)]


def test_floors(high, ours):
    assert wrong(high, "trace/x.c", '#include "cmd/cmd.h"\n'), "the test itself must be able to fail"
    assert wrong(high, "recorder/x.c", '#include "util/error.h"\n')
    assert wrong(high, "crash/states/x.c", '#include "crash/search/verdict.h"\n')
    assert wrong(high, "crash/run/x.c", '#include "crash/representative/graph.h"\n')
    assert wrong(high, "crash/x.c", '#include "report/bug.h"\n')
    assert not wrong(high, "crash/search/x.c", '#include "crash/states/walk.h"\n')
    bad = []
    for path in ours:
        with open(os.path.join(TOP, path), encoding="utf-8") as f:
            bad += wrong(high, path, f.read())
    return bad


def circles(edges):
    """The strongly connected parts of a graph that have more than one node (Tarjan)."""
    number, low, stack, found = {}, {}, [], []

    def visit(v):
        number[v] = low[v] = len(number)
        stack.append(v)
        for w in edges[v]:
            if w not in number:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], number[w])
        if low[v] == number[v]:
            part = stack[stack.index(v):]
            del stack[stack.index(v):]
            if len(part) > 1:
                found.append(tuple(sorted(part)))

    sys.setrecursionlimit(10000)
    for v in edges:
        if v not in number:
            visit(v)
    return sorted(found)


def uses(objects):
    """By object file: the others that define what it uses."""
    defined, used = {}, {}
    for o in objects:
        used[o] = set()
        for line in subprocess.run(["nm", "-g", o], capture_output=True, text=True, check=True).stdout.splitlines():
            words = line.split()
            if len(words) == 2:
                used[o].add(words[1])
            elif len(words) == 3:
                defined[words[2]] = o
    return {o: sorted({defined[s] for s in used[o] if s in defined} - {o}) for o in objects}


def programs(ours):
    """Object files by program: all of pmend, and each program that stands alone."""
    by = {}
    for path in ours:
        if path.endswith(".c") and not path.startswith(("tests/", "bench/", "examples/")):
            for place, obj in (("", f"build/obj/{path[:-2]}.o"), ("tracer", f"build/obj/tracer-tool/{path[:-2]}.o")):
                if os.path.exists(os.path.join(TOP, obj)):
                    by.setdefault(place or next((a for a in ALONE if path.startswith(a + "/")), "pmend"), []).append(obj)
    return by


def test_circles(ours):
    assert circles({"a": ["b"], "b": ["a"], "c": ["a"]}) == [("a", "b")], "the test itself must be able to fail"
    bad = []
    for program, objects in sorted(programs(ours).items()):
        for part in circles(uses(objects)):
            names = tuple(re.sub(r"^build/obj/(tracer-tool/)?|\.o$", "", o) for o in part)
            if names not in CIRCLES:
                bad.append(f"{program}: a circle of files: {' '.join(names)}")
    return bad


def test_rooms(ours):
    count = {}
    for path in ours:
        if path.endswith(".c") and not path.startswith("tests/"):
            count[os.path.dirname(path)] = count.get(os.path.dirname(path), 0) + 1
    return [f"{folder}: {n} .c files in one folder" for folder, n in sorted(count.items()) if n > ROOM_MAX]


def main():
    os.chdir(TOP)
    high = heights()
    ours = files()
    mine = [p for p in ours if not p.startswith(("tests/", "bench/", "examples/"))]
    status = 0
    tests = [("floors", "every #include goes down", test_floors(high, mine))]
    if "--all" in sys.argv:  # not yet for every day
        tests += [("circles", "no circle of files", test_circles(ours)),
                  ("rooms", f"no folder of more than {ROOM_MAX} .c files", test_rooms(ours))]
    for name, says, bad in tests:
        for b in bad:
            print(f"FAIL {name}: {b}")
        if not bad:
            print(f"ok {name}: {says}")
        status |= bool(bad)
    return status


sys.exit(main())
