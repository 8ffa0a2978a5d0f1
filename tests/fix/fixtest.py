"""What the tests of `pmend fix` share: reports made of marks in a source, and compilation databases.

A mark stands in the line of the store: /* BUG: KIND */, or /* BUG: KIND 2 */ for the second store of the line, or
/* BUG: KIND in F */ if the store is inside function F, which is called here; KIND 2 in F: that in the second line of F that stores. `, left: TEXT` says that it cannot be
mended, and why; `, suggested: TEXT` that it stays, although it was redundant. `seldom`: it was not so each time. `before N`: it must be durable before the store, or the
answer, in the line with /* STEP: N */."""
import json
import os
import re

MARK = re.compile(r"/\* BUG: ([\w-]+)(?: (\d))?( seldom)?(?: in (\w+))?(?: before (\w+))?(?:, (?:left|suggested): (.*?))? \*/")
STORE = re.compile(r"[^=!<>]=[^=]|\+\+|\b(?:memcpy|memset|strcpy|memmove|__atomic_\w+|SET\w*|pm_flush|set|store|copy|copy_n|strncpy|fill_n|read|fill_in|answer|printf)\(")
CALL = re.compile(r"\b\w+\(")


def column(line, n, kind=""):
    """Of the nth store, as gcc tells it: that of the operator, or where the call begins."""
    if is_redundant(kind):
        return list(CALL.finditer(line))[n - 1].start() + 1
    found = list(STORE.finditer(line.split("/*")[0]))[n - 1]
    text = found.group(0)
    if text == "++":
        return len(re.match(r".*?(\S*)$", line[:found.start()]).group(0)) - len(re.search(r"[\w>.\-]*$", line[:found.start()]).group(0)) + 1
    return found.start() + (1 if "(" in text else 2)


def is_redundant(kind):
    return kind.startswith("redundant-") or kind in ("flush-clean", "tx-redundant-add")


def location(role, path, line, col, function="f", stack=()):
    return {"role": role, "file": path, "line": line, "column": col, "function": function, "stack": list(stack)}


def bugs(path, text):
    """Yields (bug, why it must be left or None)."""
    lines = text.splitlines()
    for i, line in enumerate(lines, 1):
        for kind, n, seldom, inside, before, left in MARK.findall(line):
            if not inside:
                at = location("store", path, i, column(line, int(n or 1), kind))
            else:
                start = next(k for k, l in enumerate(lines, 1) if re.match(rf"[a-z].*\b{inside}\(", l))
                k = [k for k in range(start, i) if STORE.search(lines[k])][int(n or 1) - 1]
                frame = {"file": path, "line": i, "column": line.index(f"{inside}(") + 1, "function": "f"}
                at = location("store", path, k + 1, column(lines[k], 1), inside, [frame])
            places = [at]
            at["text"] = lines[at["line"] - 1].strip()
            if kind == "missing-fence":
                places = [dict(at, role="store"), dict(at, role="flush")]
            if before:
                step, publishes = next((k, l) for k, l in enumerate(lines, 1) if f"/* STEP: {before} */" in l)
                roles = ("store", "acknowledged") if kind.startswith("ack") else ("lost", "survived")
                places = [dict(at, role=roles[0]), dict(location(roles[1], path, step, column(publishes, 1)), text=publishes.strip())]
            if is_redundant(kind):
                places = [dict(at, role=kind.split("-")[1] if kind != "flush-clean" else "flush")]
            yield {"id": f"{i:08x}{n or 1:0>8}", "kind": kind, "severity": "performance" if is_redundant(kind) else "correctness",
                   "message": "m", "count": 3, "executions": 4 if seldom else 3, "locations": places}, left or None


def write_report(path, found, command=()):
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"pmend": "0", "platform": "x86-adr", "command": list(command), "bugs": list(found)}, f)
    return path


def write_database(folder, commands):
    """commands: (directory, command line, file)."""
    with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as f:
        json.dump([{"directory": d, "command": c, "file": s} for d, c, s in commands], f)


STACK = re.compile(r"/\* stack: ([\w ]+?) \*/")
CALL = re.compile(r"\b(?!if\b|for\b|while\b|return\b|sizeof\b)\w+(?=\()")


def stack_bugs(sources, kind="missing-flush-fence"):
    """Bugs of marks /* stack: NAME0 OTHER1 */, which give the frames of bugs by number; sources: (path, text)."""
    frames = {}
    for path, text in sources:
        function = "?"
        for i, line in enumerate(text.splitlines(), 1):
            start = re.match(r"[a-z].*?(\w+)\(", line)
            function = start.group(1) if start else function
            for mark in (m for marks in STACK.findall(line) for m in marks.split()):
                name, level = re.match(r"(\D+)(\d+)$", mark).groups()
                col = column(line, 1) if level == "0" else CALL.search(line).start() + 1
                frames.setdefault(name, {})[int(level)] = {"file": path, "line": i, "column": col, "function": function}
    for n, (name, by_level) in enumerate(frames.items()):
        first, *rest = (by_level[k] for k in sorted(by_level))
        yield {"id": f"{n:016x}", "kind": kind, "severity": "correctness", "message": name, "count": 1,
               "locations": [dict(first, role="store", stack=rest)]}
