"""What guides a user who does not know pmend: "I want to...", suggestions, lines that fit the terminal."""
import re

from cli import PMEND, contains, equal, fails, pmend
from terminal import run_on_terminal
from test_usage import COMMANDS


def wants():
    return re.findall(r"^      (pmend .+)$", pmend("help")[1], re.M)


def test_wants():
    """Each line names a command that exists, with options that it has."""
    lines = wants()
    assert len(lines) >= 8, lines
    for line in lines:
        name = line.split()[1]
        assert name in COMMANDS, line
        text = pmend("help", name)[1]
        for option in re.findall(r" (--[a-z-]+)", line.split(" -- ")[0]):
            contains(text, option + " ")


def test_wants_without_command():
    contains(pmend()[2], "I want to...")


def test_did_you_mean_option():
    fails(pmend("crash", "--revocer", "x"), 2, "unknown option --revocer, did you mean --recover?", "'pmend help crash'")
    fails(pmend("check", "--basline=x.json"), 2, "unknown option --basline, did you mean --baseline?")
    fails(pmend("show", "--form", "html"), 2, "did you mean --format?")
    fails(pmend("show", "--hepl"), 2, "did you mean --help?")


def test_nothing_alike():
    for word in ("--x", "--qqqqqqq", "--" + "y" * 200):
        result = pmend("show", word)
        fails(result, 2, f"unknown option {word};")
        assert "did you mean" not in result[2], result


def test_program_instead_of_command():
    fails(pmend("/bin/true"), 2, "to check a program: 'pmend check -- /bin/true'")
    assert "to check" not in pmend("/bin/nothing-there")[2]


def widest(text):
    return max(len(line) for line in text.splitlines())


def words_of(text):
    return text.split()


def test_help_wraps():
    """At 80 columns without a terminal, at the terminal's width with one; the words are the same."""
    for name in COMMANDS:
        plain = pmend("help", name)[1]
        assert widest(plain) <= 80, (name, widest(plain))
        for columns in (60, 100, 200):
            status, text = run_on_terminal([PMEND, "help", name], columns)
            equal(status, 0)
            assert widest(text) <= columns, (name, columns, widest(text))
            equal(words_of(text), words_of(plain), f"the words of 'pmend help {name}' at {columns} columns")
    assert widest(run_on_terminal([PMEND, "help", "crash"], 200)[1]) > 100


def test_main_help_wraps():
    assert widest(pmend("help")[1]) <= 80
