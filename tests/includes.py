#!/usr/bin/env python3
"""The house stands on floors, and a file may include what stands below it, nothing beside or above it. Four tests:
  floors   every #include goes down. valgrind/ and runtime/ are programs of their own: they see their own headers and include/ only.
  circles  no two files need each other, directly or by others: what the object files define and use tells (needs a build).
  processor  only arch/ folders of a program know registers, instructions or the name of a processor.
  paths    every file of ours that a document, a comment or a makefile names by its path is there."""
import glob
import os
import re
import shutil
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")

# Bottom first. Houses on one line do not see each other. A house may stand in the garden of another one: explore/session is above explore.
STREET = ["util serve a64", "trace", "model source", "check crash explore repair report bundle", "pools", "record", "crash/setup", "account", "session",
          "distribute doctor explore/session repair/verify", "cmd"]
# Bottom first, inside a house; "." are the files of the folder itself. Floors on one line do not see each other.
FLOORS = {
    "crash": ["shadow", "states", "index", "run representative", "search", "races", "findings", "workers", ".", "files"],
    "source": [".", "clang", "alias", "library"],
    "explore": ["expr", "path", "graph", ".", "z3"],
    "repair": ["edit", "plan", "idiom", "effects", "durability tx", "amend files", "."],
    "cmd": ["project show talk", ".", "completion fix distribute"],
    "pools": ["unseen", "."],
    "account": [".", "causes evidence"],
    "distribute": ["packing shard spread"],
    "report": [".", "html text"],
    "valgrind/recorder": ["out", "place", "pm", "schedule", "blocks kernel", "."],
    "valgrind/tracer": ["value", "path", "shadow", "blocks", "."],
}
# Programs without the rest of the house, and the folders that they are made of besides their own; they see include/, too.
ALONE = {
    "runtime": ("serve", "a64"),
    "valgrind/common": ("a64",),
    "valgrind/recorder": ("valgrind/common", "serve"),
    "valgrind/tracer": ("valgrind/common", "explore/expr"),
}
# Circles of files that are meant, each by the header that says why.
CIRCLES = {}

# Programs of which only arch/ knows the processor.
ARCHED = ("runtime/",)
PROCESSOR = re.compile(r"\b(?:REG_[A-Z0-9]+|gregs|__x86_64__|__aarch64__|__asm__|asm|cpuid\.h)\b|\bZydis")

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def heights():
    """By folder: (house, place in the street, floor)."""
    high = {}
    for place, row in enumerate(STREET + list(ALONE)):
        for house in row.split():
            for floor, names in enumerate(FLOORS.get(house, ["."])):
                for name in names.split():
                    high[house if name == "." else f"{house}/{name}"] = (house, place, floor)
    return high


def room(folder):
    """A folder's arch/ is part of it, and so is its without/: stubs of what a build leaves out."""
    return re.sub(r"(/arch/[^/]+)?(/without)?$", "", folder, count=1)


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
    folder, bad = room(os.path.dirname(path)), []
    alone = next((a for a in ALONE if (folder + "/").startswith(a + "/")), None)
    for name in INCLUDE.findall(text):
        contract = os.path.exists(os.path.join(TOP, "include", name))
        if alone:
            target = room(os.path.dirname(name))
            own = any(os.path.exists(os.path.join(TOP, place, name)) for place in (alone, folder, os.path.dirname(path))) or target in ALONE[alone]
            down = target.startswith(alone) and is_down(high, folder, target)
            allowed = own or down or contract or name.startswith(("pub_tool_", "libvex")) or name == "valgrind.h"
        elif folder == "include":
            allowed = contract
        elif any(folder in lent for lent in ALONE.values()):  # a part of such a program, too
            allowed = contract or os.path.dirname(name) == folder
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
    assert wrong(high, "valgrind/recorder/x.c", '#include "util/error.h"\n')
    assert wrong(high, "valgrind/recorder/out/x.c", '#include "valgrind/recorder/pm/pm.h"\n')
    assert wrong(high, "valgrind/tracer/x.c", '#include "valgrind/recorder/out/out.h"\n')
    assert wrong(high, "explore/expr/x.c", '#include "util/error.h"\n')
    assert wrong(high, "crash/states/x.c", '#include "crash/search/verdict.h"\n')
    assert wrong(high, "crash/run/x.c", '#include "crash/representative/graph.h"\n')
    assert wrong(high, "crash/x.c", '#include "report/bug.h"\n')
    assert wrong(high, "session/x.c", '#include "cmd/cmd.h"\n')
    assert wrong(high, "account/x.c", '#include "session/crashing.h"\n')
    assert wrong(high, "crash/setup/x.c", '#include "account/recorded.h"\n')
    assert wrong(high, "crash/x.c", '#include "crash/setup/crash_setup.h"\n')
    assert wrong(high, "session/x.c", '#include "distribute/shard/checks.h"\n')
    assert wrong(high, "pools/x.c", '#include "record/machine.h"\n')
    assert not wrong(high, "account/x.c", '#include "crash/setup/crash_setup.h"\n')
    assert wrong(high, "explore/x.c", '#include "explore/session/slots.h"\n')
    assert wrong(high, "session/x.c", '#include "explore/session/slots.h"\n')
    assert wrong(high, "explore/session/x.c", '#include "repair/verify/side.h"\n')
    assert not wrong(high, "explore/session/x.c", '#include "explore/explore.h"\n#include "account/check_report.h"\n')
    assert wrong(high, "repair/edit/x.c", '#include "repair/plan/internal.h"\n')
    assert not wrong(high, "crash/search/x.c", '#include "crash/states/walk.h"\n')
    bad = []
    for path in ours:
        with open(os.path.join(TOP, path), encoding="utf-8") as f:
            bad += wrong(high, path, f.read())
    return bad


def knows_processor(path, text):
    """What of a file only an arch/ folder may know."""
    if not path.startswith(ARCHED) or "/arch/" in path:
        return []
    return [f"{path}: {word} belongs into arch/" for word in sorted(set(PROCESSOR.findall(text)))]


def test_processor(ours):
    assert knows_processor("runtime/x.c", "uc->uc_mcontext.gregs[REG_RIP]"), "the test itself must be able to fail"
    assert not knows_processor("runtime/arch/amd64/x.c", "uc->uc_mcontext.gregs[REG_RIP]")
    bad = []
    for path in ours:
        with open(os.path.join(TOP, path), encoding="utf-8") as f:
            bad += knows_processor(path, f.read())
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
    """Object files by program: all of pmend, each program that stands alone, and the libraries that are opened when needed."""
    by = {}
    for path in ours:
        if path.endswith(".c") and not path.startswith(("tests/", "bench/", "examples/")):
            obj, tool = f"build/obj/{path[:-2]}.o", f"build/obj/tracer-tool/{path[:-2]}.o"
            own = next((a for a in ALONE if path.startswith(a + "/")), "pmend")
            lent = [a for a in ALONE if room(os.path.dirname(path)) in ALONE[a]]
            copy = f"build/obj/runtime-{path[:-2]}.o"  # what the runtime links, too
            libraries = [(f"{so} library", f"build/obj/{so}-so/{path[:-2]}.o") for so in ("source", "solver")]
            for program, o in [(own, obj)] + [(a, obj if own != "pmend" else tool) for a in lent] + libraries + [("runtime", copy)]:
                if os.path.exists(os.path.join(TOP, o)):
                    by.setdefault(program, []).append(o)
    return by


def test_circles(ours):
    assert circles({"a": ["b"], "b": ["a"], "c": ["a"]}) == [("a", "b")], "the test itself must be able to fail"
    bad = []
    for program, objects in sorted(programs(ours).items()):
        for part in circles(uses(objects)):
            names = tuple(re.sub(r"^build/obj/((tracer-tool|source-so|solver-so)/|runtime-(?=serve/|a64/))?|\.o$", "", o) for o in part)
            if names not in CIRCLES:
                bad.append(f"{program}: a circle of files: {' '.join(names)}")
    return bad


def unknown_paths(known, path, text):
    """The paths below our folders that a file names and that are not there. In C only comments are read, because #include is tested by the compiler."""
    tops = "|".join(sorted({k.split("/")[0] for k in known if "/" in k and not k.startswith(".")}))
    named = re.compile(rf"(?<![\w/.$)-])((?:{tops})/[\w./-]*\w\.(?:c|h|py|md|mk|sh))\b")
    return [f"{path} names {m}, which is not there" for line in text.splitlines() if "#include" not in line
            for m in named.findall(line) if m not in known and "NAME" not in m and not m.endswith(("/x.c", "/x.h"))]


def test_paths():
    out = subprocess.run(["git", "ls-files"], cwd=TOP, capture_output=True, text=True)
    known = set(out.stdout.split())
    if not known:  # not a checkout: nothing says what belongs to it
        return []
    assert unknown_paths(known, "docs/x.md", "see cmd/there_is_no_such.c"), "the test itself must be able to fail"
    bad = []
    for path in sorted(known):
        if path.endswith((".md", ".mk", ".py", ".h", ".c")) and not (path.startswith("tests/") and path.endswith((".c", ".h"))) or path == "Makefile":
            with open(os.path.join(TOP, path), encoding="utf-8") as f:
                bad += unknown_paths(known, path, f.read())
    return [b for b in bad if not b.startswith("tests/includes.py ")]


def main():
    os.chdir(TOP)
    high = heights()
    ours = files()
    mine = [p for p in ours if not p.startswith(("tests/", "bench/", "examples/"))]
    status = 0
    tests = [("floors", "every #include goes down", test_floors(high, mine)),
             ("processor", "only arch/ knows the processor", test_processor(mine)),
             ("circles", "no circle of files", test_circles(ours)),
             ("paths", "every path that is named is there", test_paths())]
    for name, says, bad in tests:
        for b in bad:
            print(f"FAIL {name}: {b}")
        if not bad:
            print(f"ok {name}: {says}")
        status |= bool(bad)
    return status


if __name__ == "__main__":
    sys.exit(main())
