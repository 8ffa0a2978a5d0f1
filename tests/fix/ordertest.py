"""What the tests of transactions share: call paths for tests/fix/write_tx, from order.calls and from marks in sources (MARKED).

A mark is /* TX */ in the line of a store that must be in the transaction, /* TX2 */ in another one of the same function, /* SEEN */ if the store merely ran, /* FLUSH */ if it must be flushed and fenced, /* LOGGED */ if a transaction logged it, /* WITHIN */ if so and it must be in the new one, /* FORGOTTEN */ if it should have; `, left: TEXT` says that the function is left, and why."""
import os
import re

MARKED = ["aisles.c", "edges.c", "logs.c", "allocs.c", "others.c", "custom.c", "joins.c", "commits.c", "klass.cc", "runner.cc", "callers.cc"]
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "order")
STORE = re.compile(r"(?<![=!<>])=(?!=)|[\w>.-]+\+\+|(?:strcpy|memset|memcpy)\(")


def line_of(file, text):
    text, _, nth = text.partition("#")
    with open(os.path.join(HERE, file), encoding="utf-8") as f:
        return [i for i, line in enumerate(f, 1) if text in line][int(nth or 0)]


def calls(names):
    """Bugs of order.calls in these files: the lines for write_tx, and what must become of each."""
    lines = []
    with open(os.path.join(HERE, "order.calls"), encoding="utf-8") as f:
        for line in f:
            role, _, rest = line.strip("\n").partition(" ")
            if role == "-":
                if lines[0].split()[1] in names:
                    yield lines, rest
                lines = []
            elif role != "#":
                frames = (part.strip(" ").split(" ", 2) for part in rest.split("|"))
                lines.append(" ".join([role] + [f"{file} {line_of(file, text)} 0 {function}" for file, function, text in frames]))


def shapes(name):
    """The same for each function of a file with marks."""
    function, lines, second, want = None, [], [], None
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        for i, line in enumerate(f, 1):
            mark = re.search(r"/\* (TX2?|WITHIN|LOGGED|FORGOTTEN|SEEN|FLUSH)(?:, left: (.*?))? \*/", line)
            begin = re.match(r"[\w ]+?\*?(\w+)\(.*\)$", line.rstrip())
            if begin:
                function = begin.group(1)
            if mark:
                role = {"TX": "interval", "TX2": "interval", "SEEN": "store", "FLUSH": "persist", "LOGGED": "logged", "WITHIN": "within", "FORGOTTEN": "tx"}[mark.group(1)]
                (second if mark.group(1) in ("TX2", "FLUSH") else lines).extend(f"{role} {name} {i} {found.start() + 1} {function}" for found in STORE.finditer(line.split("/*")[0]))
                want = "left: .*" + re.escape(mark.group(2)) if mark.group(2) else want or "mended: "
            if line.startswith("}") and lines:
                yield lines, want
                if second:
                    yield second, want
                lines, second, want = [], [], None
