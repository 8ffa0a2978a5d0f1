"""Subcommands, help, options, exit statuses."""
import re

from cli import contains, equal, fails, folder, pmend

COMMANDS = ("record", "check", "crash", "explore", "test", "init", "fix", "show", "pack", "index", "import", "merge", "submit", "doctor", "completion")


def test_no_command():
    status, out, err = pmend()
    equal((status, out), (2, ""))
    contains(err, "Usage: pmend COMMAND")


def test_help():
    for args in (["--help"], ["-h"], ["help"]):
        status, out, err = pmend(*args)
        equal((status, err), (0, ""))
        equal(tuple(re.findall(r"^  (\w+)  ", out, re.M)), COMMANDS, "the list of commands")


def test_version():
    status, out, err = pmend("--version")
    equal((status, err), (0, ""))
    assert re.fullmatch(r"pmend \d+\.\d+\.\d+\n", out), out


def test_help_of_command():
    for c in COMMANDS:
        want = pmend(c, "--help")
        equal(want[0], 0)
        contains(want[1], f"Usage: pmend {c} ")
        for args in (["help", c], [c, "-h"]):
            equal(pmend(*args), want)


def test_unknown_command():
    fails(pmend("recrod"), 2, "no such command 'recrod'", "did you mean 'record'?")
    fails(pmend("imp"), 2, "did you mean 'import'?")
    fails(pmend("xyzzy"), 2, "no such command 'xyzzy'", "pmend help")
    fails(pmend("help", "sho"), 2, "did you mean 'show'?")
    fails(pmend("--frobnicate"), 2, "--frobnicate")


def test_unknown_option():
    for c in COMMANDS:
        fails(pmend(c, "--nonsense"), 2, "unknown option --nonsense", f"pmend help {c}")
        fails(pmend(c, "-Z"), 2, "unknown option -Z")


def test_option_arguments():
    fails(pmend("show", "--thread"), 2, "--thread needs an argument")
    fails(pmend("show", "--thread", "x", "f"), 2, "--thread needs a number, not 'x'")
    fails(pmend("show", "--stacks=yes", "f"), 2, "--stacks takes no argument")
    fails(pmend("show", "-o"), 2, "-o needs an argument")
    fails(pmend("show", "--range", "9-3", "f"), 2, "--range")
    fails(pmend("show", "--range", "x", "f"), 2, "--range")
    fails(pmend("show", "--kind", "stroe", "f"), 2, "'stroe'")
    fails(pmend("show", "--format", "yaml", "f"), 2, "text, json or html")


def test_budget_of_nothing():
    """Nothing is run, and that is said."""
    with folder() as d:
        for option in ("--max-runs", "--max-time"):
            status, _, err = pmend("explore", option, "0", "--out", "out", "--", "/bin/true", "@@", cwd=d)
            equal((status, err), (3, "pmend: no input was run: --max-runs or --max-time ended before the first\n"))


def test_operands():
    fails(pmend("show"), 2, "exactly one trace or report")
    fails(pmend("show", "a", "b"), 2, "exactly one trace or report")
    fails(pmend("import"), 2, "exactly one pmemcheck log")
    fails(pmend("record"), 2, "no program given")
    fails(pmend("record", "--"), 2, "no program given")
    fails(pmend("record", "--platform", "arm", "--", "true"), 2, "x86-adr, eadr, msync", "'arm'")


def test_numbers_that_do_not_fit():
    """They are refused, not cut: a limit of 2^44 MiB would be none."""
    for option, number in (("--timeout", 4000001), ("--max-time", 1000000001), ("--max-memory", 1 << 44), ("--max-file", 1 << 44), ("--max-processes", 1 << 32)):
        fails(pmend("crash", option, str(number), "there-is-none.pmt"), 2, f"{option} is at most")
    for command in ("crash", "test"):
        for number in ("0", "1000001"):
            fails(pmend(command, "--window", number, "there-is-none.pmt"), 2, "--window is from 1 to 1000000")
