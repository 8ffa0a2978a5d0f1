"""docs/findings.md: every kind is explained, and the examples of a kind are what the page says: the first has that finding, the second has none."""
import json
import os
import re

import page
from cli import Skip, equal, folder, pmend, run, write

PAGE = "docs/findings.md"
CRASH = {"ordering": [], "atomicity": [], "cross-failure-race": ["--races"]}  # options of pmend crash
CHECK = {"overwrite-unpersisted": ["--with", "overwrite"]}                   # options of pmend check


def sections():
    """Each kind with its examples in C."""
    parts = re.split(r"^### `([a-z-]+)`$", page.read(PAGE), flags=re.M)[1:]
    return {kind: re.findall(r"^```c\n(.*?)^```$", re.split(r"^## ", text, flags=re.M)[0], re.M | re.S) for kind, text in zip(parts[::2], parts[1::2])}


def kinds_of(dir_name, kind, example):
    program = os.path.join(dir_name, "example")
    inc = write(os.path.join(dir_name, "example.inc"), example)
    source = ["tests/cli/example_tx.c", "-lpmemobj"] if kind.startswith("tx-") else ["tests/cli/example.c"]
    status, _, err = run("cc", "-g", "-O1", "-Iinclude", "-Iexamples", f'-DEXAMPLE="{inc}"', "-o", program, *source)
    equal((status, err), (0, ""), f"compiling the example of {kind}")
    if kind in CRASH:
        result = pmend("crash", "--format", "json", "-o", "report.json", *CRASH[kind], "--recover", f"./example {{}} {kind}",
                       "--", "./example", "{pool}", cwd=dir_name)
    else:
        result = pmend("check", "--format", "json", "-o", "report.json", *CHECK.get(kind, []), "--", "./example", "{pool}", cwd=dir_name, stdin=b"1\n2\n3\n")
    assert result[0] in (0, 1), (kind, result)
    with open(os.path.join(dir_name, "report.json"), encoding="utf-8") as f:
        return [b["kind"] for b in json.load(f)["bugs"]]


def test_every_kind():
    with open("report/kinds.c", encoding="utf-8") as f:
        kinds = re.findall(r'^\t\{ "([a-z-]+)", BUG_', f.read(), re.M)
    assert len(kinds) > 20, kinds
    equal(sorted(sections()), sorted(kinds), f"the kinds that {PAGE} explains")


def test_examples():
    if run("sh", "-c", "command -v cc")[0]:
        raise Skip("there is no cc")
    tried = 0
    with folder() as d:
        for kind, examples in sections().items():
            found = [kinds_of(d, kind, e) for e in examples]
            assert len(found) <= 2 and kind in (found + [[kind]])[0], f"pmend does not find {kind}, but {found}"
            equal(found[1:], [[]] * len(found[1:]), f"what pmend finds when {kind} is fixed")
            tried += len(found)
    assert tried >= 31, tried
