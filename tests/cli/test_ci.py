"""docs/ci.md: its shell steps, run in the order of the workflow on a small project. Only what needs GitHub (actions, packages) is left out."""
import json
import os
import re
import shutil
import textwrap

from cli import PMEND, contains, equal, folder, need_pool, run, write

LEFT_OUT = {"what the program is built with": "is installed here", "build": "is made here, with other names"}


def page():
    with open("docs/ci.md", encoding="utf-8") as f:
        return f.read()


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", page(), re.S | re.M)


def steps():
    """(name, script) of each step of the workflow that is shell."""
    workflow, = blocks("yaml")
    for step in re.split(r"^      - ", workflow, flags=re.M)[1:]:
        name = re.match(r"name: (.+)\n", step)
        long = re.search(r"^ +run: \|\n((?: {10}.*\n|\n)+)", step, re.M)
        short = re.search(r"^ +run: (?!\|)(.+)$", step, re.M)
        if long or short:
            yield name.group(1), textwrap.dedent(long.group(1)) if long else short.group(1)


def shell(script, cwd):
    """As GitHub runs a step: `bash -e`; pmend is the one that was built."""
    return run("bash", "-e", "-o", "pipefail", "-c", script, cwd=cwd, env={"PATH": f"{os.path.dirname(PMEND)}:{os.environ['PATH']}"})


def build(d, is_buggy):
    """The project's program: it makes an entry in its log, and recovers when it is given none."""
    need_pool()
    app = os.path.join(d, "app")
    shutil.copy(os.path.abspath("build/examples/append_log" + ("_buggy" if is_buggy else "")), app + ".bin")
    # what the program does without further words: append on a new pool, recover on an old one
    write(app, f'#!/bin/sh\nif [ -s "$1" ]; then exec "{app}.bin" "$1"; else exec "{app}.bin" "$1" hello; fi\n')
    os.chmod(app, 0o755)


def the_steps(d):
    """Runs all; gives the statuses by name."""
    return {name: shell(script, d) for name, script in steps() if name not in LEFT_OUT}


def test_names():
    names = [n for n, _ in steps()]
    equal(names, ["what the program is built with", "what works here", "build", "look for new bugs", "fail on new bugs"])


def test_known_bugs_pass_new_ones_fail():
    first, = blocks("sh")
    with folder() as d:
        build(d, False)
        status, out, err = shell(first, d)
        equal(status, 0, f"the first time: {out + err}")
        with open(os.path.join(d, "pmend-baseline.json"), encoding="utf-8") as f:
            equal(json.load(f)["bugs"], [])
        for name, (status, out, err) in the_steps(d).items():
            equal(status, 0, f"'{name}' without a bug: {out + err}")

        build(d, True)  # somebody forgets a flush
        done = the_steps(d)
        equal({n: s[0] for n, s in done.items()}, {"what works here": 0, "look for new bugs": 0, "fail on new bugs": 1})
        contains(done["fail on new bugs"][1], "missing-flush")
        with open(os.path.join(d, "pmend.sarif"), encoding="utf-8") as f:
            sarif = json.load(f)
        results = sarif["runs"][0]["results"]
        assert any(r["ruleId"] == "missing-flush" for r in results), results
        assert os.path.getsize(os.path.join(d, "pmend.html")) > 1000
        with open(os.path.join(d, "pmend.xml"), encoding="utf-8") as f:
            contains(f.read(), '<failure type="missing-flush"')
        equal(sum(script.count("pmend test ") for _, script in steps()), 1, "how often the workflow runs the analysis")

        equal(shell(first, d)[0], 0, "accepting the bug: the status")
        equal(the_steps(d)["fail on new bugs"][0], 0, "the status when the bug is known")


def test_program_fails():
    """A program that dies is a failure of the job, not a finding."""
    with folder() as d:
        write(os.path.join(d, "pmend-baseline.json"), '{"pmend": "0.1.0", "platform": "x86-adr", "command": [], "bugs": []}')
        write(os.path.join(d, "app"), "#!/bin/sh\nexit 7\n")
        os.chmod(os.path.join(d, "app"), 0o755)
        need_pool()
        step = dict(steps())["look for new bugs"]
        assert shell(step, d)[0] != 0


def test_options_exist():
    """What the table of choices names is an option of `pmend test`."""
    text = run(PMEND, "help", "test")[1]
    for option in re.findall(r"^\| .* \| .*?`(--[a-z-]+)", page(), re.M):
        contains(text, option + " ")
