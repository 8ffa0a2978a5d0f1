"""Runs the commands of a page: in blocks ```console, `$ ` begins a command, `> ` continues it, and other lines are its output.

    python3 tests/cli/page.py docs/tutorial.md      writes the output of today into the page

All commands of a page run in one shell, which starts in the project's folder. What differs between two runs is normalised."""
import os
import re
import shlex
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
REPLAY = re.compile(r"(?<=--replay )\S+")
NOT_RUN = ("make demo",)  # builds pmend, which the tests have done

WORK = "/tmp/work"  # how a page shows what `mktemp -d` made
WORK_FOLDER = re.compile(r"/\S*/tmp\.\w+")

# What depends on the machine, the C library or the moment.
VARIES = [
    (re.compile(r"\b[0-9a-f]{16}\b"), "ID"),
    (WORK_FOLDER, WORK),
    (REPLAY, "STATE"),
    (re.compile(r"\b\d+(?= (events?|crash states|recovery runs|runs? of recovery|instructions|bytes))"), "N"),
    (re.compile(r"\b\d+ of N crash states"), "N of N crash states"),
    (re.compile(r"(?<=event )\d+"), "N"),
    (re.compile(r"(?<=flushes: )\d+ before, \d+"), "N before, N"),
    (re.compile(r"(?<=instructions: )\d+ before, \d+ after \(\S+ %\)"), "N before, N after (N %)"),
    (re.compile(r"\d+ before, \d+(?= after$)"), "N before, N"),
    (re.compile(r"\b[\d.]+ s\b"), "T s"),
]


class Command:
    def __init__(self, text, output):
        self.text = text      # without the `$ ` and `> `
        self.output = output  # as the page has it


def commands_of(block):
    """The commands of a block, with the output that the page shows."""
    found = []
    in_command = False
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:], ""))
            in_command = True
        elif in_command and line.startswith("> "):
            found[-1].text += "\n" + line[2:]
        else:
            assert found, f"output without a command: {line!r}"
            found[-1].output += line + "\n"
            in_command = False
    return found


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def parse(text):
    return [c for m in FENCE.finditer(text) for c in commands_of(m[1])]


def normal(text):
    for pattern, word in VARIES:
        text = pattern.sub(word, text)
    # what an exploration tells after five seconds, on a slow machine
    return "".join(line.rstrip() + "\n" for line in text.splitlines() if not line.startswith("pmend: found "))


class Shell:
    """One shell; the output of each command comes by a file of its own, so that `cd` and `export` hold for the next."""

    def __init__(self, folder, env):
        self.folder = folder
        self.p = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        self.number = 0

    def run(self, text):
        self.number += 1
        out = os.path.join(self.folder, f"page-output-{self.number}")
        self.p.stdin.write(f"(exit ${{page_status:-0}})\n{{ {text}\n}} >{shlex.quote(out)} 2>&1 </dev/null\npage_status=$?; echo done\n")
        self.p.stdin.flush()
        assert self.p.stdout.readline() == "done\n", f"the shell ended in {text!r}"
        with open(out, encoding="utf-8", errors="replace") as f:
            return f.read()

    def close(self):
        self.p.communicate()


def run(commands):
    """Yields each command with its output of today. A state to replay is the one that was printed today."""
    with tempfile.TemporaryDirectory(prefix="pmend-page-") as folder:
        shell = Shell(folder, dict(os.environ, TMPDIR=folder, LC_ALL="C.UTF-8"))
        today = {}
        try:
            for c in commands:
                if c.text in NOT_RUN:
                    continue
                got = shell.run(REPLAY.sub(lambda m: today.get(m[0], m[0]), c.text))
                today.update(zip(REPLAY.findall(c.output), REPLAY.findall(got)))
                yield c, got
        finally:
            shell.close()


def rewrite(path):
    """Puts today's output into the page."""
    text = read(path)
    blocks = [commands_of(m[1]) for m in FENCE.finditer(text)]
    outputs = {id(c): "".join(WORK_FOLDER.sub(WORK, line).rstrip() + "\n" for line in got.splitlines()) for c, got in run([c for b in blocks for c in b])}

    def block_text(_):
        lines = []
        for c in blocks.pop(0):
            lines.append("$ " + c.text.replace("\n", "\n> ") + "\n" + outputs.get(id(c), c.output))
        return "```console\n" + "".join(lines) + "```"

    new = FENCE.sub(block_text, text)
    with open(path, "w", encoding="utf-8") as f:
        f.write(new)


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    for page in sys.argv[1:]:
        rewrite(page)
