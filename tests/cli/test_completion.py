"""pmend completion: what the shells make of the scripts."""
import os
import re
import shutil

from cli import PMEND, Skip, contains, equal, fails, folder, pmend, run, write
from test_usage import COMMANDS


def script(shell):
    status, out, err = pmend("completion", shell)
    equal((status, err), (0, ""))
    return out


def options_of(command):
    return re.findall(r"^  (?:-\w, |    )(--[\w-]+)", pmend("help", command)[1], re.M)


def in_bash(*words, cwd=None):
    """What bash offers for the last word."""
    line = " ".join(f"'{w}'" for w in words)
    code = (f"{script('bash')}\ncompopt() {{ :; }}\nCOMP_WORDS=({line})\nCOMP_CWORD={len(words) - 1}\n"
            "_pmend\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n")
    status, out, err = run("bash", "--norc", "-c", code, cwd=cwd)
    equal((status, err), (0, ""), "the status and errors of bash")
    return out.split("\n")[:-1] if out.strip() else []


def test_bash_commands():
    equal(sorted(in_bash("pmend", "")), sorted([*COMMANDS, "help", "--help", "--version"]))
    equal(in_bash("pmend", "cra"), ["crash"])
    equal(sorted(in_bash("pmend", "help", "")), sorted([*COMMANDS, "help"]))


def test_bash_options():
    """Every option of every command is offered, and nothing else."""
    for c in COMMANDS:
        equal(sorted(in_bash("pmend", c, "--")), sorted(options_of(c)), f"the options of {c}")


def test_bash_words():
    equal(in_bash("pmend", "check", "--format", "js"), ["json"])
    equal(in_bash("pmend", "check", "--format", "=", "sa"), ["sarif"])
    equal(in_bash("pmend", "check", "--format", "="), ["text", "json", "sarif", "html", "junit"])
    equal(in_bash("pmend", "completion", ""), ["bash", "zsh", "fish"])
    equal(in_bash("pmend", "doctor", ""), [])
    equal(in_bash("pmend", "crash", "--max-time", ""), [])


def test_bash_files():
    with folder() as d:
        for name in ("a b.json", "c.json", "zz"):
            write(os.path.join(d, name), "")
        os.mkdir(os.path.join(d, "dir"))
        equal(in_bash("pmend", "fix", "-p", "", cwd=d), ["dir"])
        equal(sorted(in_bash("pmend", "show", "", cwd=d)), ["a b.json", "c.json", "dir", "zz"])
        equal(in_bash("pmend", "check", "--baseline", "a", cwd=d), ["a b.json"])
        equal(in_bash("pmend", "check", "--", "./app", "z", cwd=d), ["zz"])


def test_words_are_taken():
    """What is offered for an option is what pmend takes."""
    for c, option, words in re.findall(r"^\t(\w+)\)$|^\t\t(?:-\w \| )?(--[\w-]+)\) _pmend_reply -W '([^']+)'", script("bash"), re.M):
        if c:
            command = c
            continue
        for word in words.split():
            status, _, err = pmend(command, option, word, *(["operand"] if command == "doctor" else []))
            equal(status, 2, f"{command} {option} {word}")  # something else is missing
            assert f"'{word}'" not in err and "is one of" not in err, (command, option, word, err)


def test_zsh():
    if not shutil.which("zsh"):
        raise Skip("zsh is not installed")
    with folder() as d:
        write(os.path.join(d, "_pmend"), script("zsh"))
        equal(run("zsh", "-f", "-n", os.path.join(d, "_pmend")), (0, "", ""))
        # the functions of the script, with what zsh's completion system would call replaced by one that prints
        code = (f"fpath=({d!r} $fpath)\nautoload -Uz _pmend\n_arguments() {{ print -rl -- \"$@\" }}\n_describe() {{ print -rl -- ${{(P)2}} }}\n"
                "words=(pmend '') CURRENT=2; _pmend\n")
        status, out, err = run("zsh", "-f", "-c", code)
        equal((status, err), (0, ""))
        equal([line.split(":")[0] for line in out.splitlines()], [*COMMANDS, "help"])
        for c in COMMANDS:
            status, out, err = run("zsh", "-f", "-c", code + f"words=(pmend {c} '') CURRENT=3; _pmend")
            equal((status, err), (0, ""))
            for option in options_of(c):
                contains(out, option + "[")


def test_fish():
    if not shutil.which("fish"):
        raise Skip("fish is not installed")
    with folder() as d:
        path = write(os.path.join(d, "pmend.fish"), script("fish"))
        env = {"HOME": d, "XDG_CONFIG_HOME": d, "XDG_DATA_HOME": d}

        def offered(line):
            # fish looks for the command
            status, out, err = run("fish", "--no-config", "-c", f"set -x PATH {os.path.dirname(PMEND)} $PATH; source '{path}'; complete -C '{line}'", env=env)
            equal((status, err), (0, ""))
            return [word.split("\t")[0] for word in out.splitlines()]

        equal(sorted(offered("pmend ")), sorted([*COMMANDS, "help"]))
        for c in COMMANDS:
            equal(sorted(o for o in offered(f"pmend {c} --") if o.startswith("--")), sorted(options_of(c)), f"the options of {c}")
        equal(offered("pmend check --format s"), ["sarif"])
        equal(offered("pmend completion f"), ["fish"])


def test_usage():
    fails(pmend("completion"), 2, "bash, zsh or fish")
    fails(pmend("completion", "tcsh"), 2, "not 'tcsh'")
    fails(pmend("completion", "bash", "zsh"), 2, "exactly one shell")
