"""The pages for users: their commands run as printed, and print what the page shows."""
import os
import re
import shutil

import page
from cli import ARCH, PMEND, Skip, equal

# On arm64 other states are possible and other instructions run: there the findings and statuses count, not each line.
GIST = re.compile(r"^(?:[\w/]+\.c:\d+: [a-z-]+:|No bugs found|\d+$)", re.M)


def gist(text):
    return [re.sub(r":\d+:", ":", line) for line in GIST.findall(text)]


def commands_print_what_is_shown(path):
    if not os.access(PMEND, os.X_OK) or not shutil.which("cc"):
        raise Skip("pmend or cc is not there")
    commands = page.parse(page.read(path))
    assert commands, f"{path} has no commands"
    for c, got in page.run(commands):
        if ARCH == "amd64":
            equal(page.normal(got), page.normal(c.output), f"{path} (tests/cli/page.py writes it anew): what '{c.text}' prints")
        else:
            equal(gist(got), gist(c.output), f"{path}: the gist of what '{c.text}' prints")


def test_readme():
    commands_print_what_is_shown("README.md")


def test_tutorial():
    commands_print_what_is_shown("docs/tutorial.md")


def test_pmdk():
    commands_print_what_is_shown("docs/pmdk.md")


def test_a_difference_is_seen():
    """The pages' own test can fail: other output, another status, a command that is not there."""
    for right, wrong in (("$ echo a\na\n", "$ echo a\nb\n"), ("$ false\n$ echo $?\n1\n", "$ false\n$ echo $?\n0\n"),
                         ("$ cd /\n$ pwd\n/\n", "$ cd /\n$ pwd\n/tmp\n")):
        for block, same in ((right, True), (wrong, False)):
            commands = page.parse(f"```console\n{block}```\n")
            equal(all(page.normal(got) == page.normal(c.output) for c, got in page.run(commands)), same, block)


def test_links():
    """Every link of a page leads to a file, and every anchor to a heading."""
    pages = ["README.md", "CONTRIBUTING.md"] + sorted(os.path.join("docs", n) for n in os.listdir("docs") if n.endswith(".md"))
    bad = []
    for path in pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read(path)):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(target):
                bad.append(f"{path}: {link}")
            elif anchor and anchor not in anchors(page.read(target)):
                bad.append(f"{path}: {link}: no such heading")
    equal(bad, [], "links that lead nowhere")


def anchors(text):
    """As GitHub makes them of headings."""
    return {re.sub(r"[^\w -]", "", h.lower()).strip().replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, re.M)}


def test_index():
    """docs/README.md lists every page."""
    index = page.read("docs/README.md")
    equal([n for n in sorted(os.listdir("docs")) if n.endswith(".md") and n != "README.md" and f"({n})" not in index], [], "pages that the index lacks")
