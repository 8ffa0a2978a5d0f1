"""The man pages say what -h says."""
import glob
import os
import re

from cli import equal, pmend


def sections(page):
    with open(page, encoding="utf-8") as f:
        parts = re.split(r"^# (.+)$", f.read(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def plain(markdown):
    """Without emphasis and line breaks."""
    return " ".join(markdown.replace("*", "").replace("\\", "").split())


def commands():
    for page in sorted(glob.glob("docs/pmend-*.1.md")):
        yield os.path.basename(page)[len("pmend-"):-len(".1.md")], sections(page)


def test_every_command_has_a_page():
    listed = re.findall(r"^  (\w+)  ", pmend("--help")[1], re.M)
    equal(sorted(name for name, _ in commands()), sorted(listed), "the list of pages")
    equal(re.findall(r"^\*\*(\w+)\*\*$", sections("docs/pmend.1.md")["COMMANDS"], re.M), listed, "COMMANDS of pmend(1)")


def test_synopsis():
    for name, page in commands():
        usage = re.match(r"Usage: (.+?)\n\n", pmend(name, "-h")[1], re.S).group(1)
        equal(plain(page["SYNOPSIS"]), " ".join(usage.split()), f"the synopsis of pmend-{name}(1)")


def test_options():
    for name, page in commands():
        table = re.findall(r"^  +((?:-\w, )?--\S+(?: \S+)?)(?:  |$)", pmend(name, "-h")[1], re.M)
        listed = [plain(o) for o in re.findall(r"^(\*\*-.+)$", page["OPTIONS"], re.M)]
        equal(listed, table, f"the options of pmend-{name}(1)")


def test_sections():
    for name, page in commands():
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "FILES", "BUGS"):
            if section not in page:
                raise AssertionError(f"pmend-{name}(1) has no {section}")
        help_line = pmend(name, "-h")[1].split("\n\n")[1].replace("\n", " ").rstrip(".")
        equal(plain(page["NAME"]).split(" - ", 1)[1].lower(), help_line.lower(), f"NAME of pmend-{name}(1)")


def test_kinds():
    with open("include/pmtrace.h", encoding="utf-8") as f:
        kinds = re.findall(r'X\(\d+, \w+, "([\w-]+)"', f.read())
    text = sections("docs/pmend-show.1.md")["KINDS"]
    equal(sorted(re.findall(r"\*\*([\w-]+)\*\*", text)), sorted(kinds), "KINDS of pmend-show(1)")
    with open("docs/format.md", encoding="utf-8") as f:
        equal(re.findall(r"^\| \d+ \| `([\w-]+)` \|", f.read(), re.M), kinds, "kinds in format.md")
