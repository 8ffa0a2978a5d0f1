"""Several explorations that share a folder (`pmend explore --instance`): what each may rely on, whoever comes first and whoever dies."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

HEAD = re.compile(r"pmend explore state 2, \d+ bytes, program and input [0-9a-f]{16}\n")


class Shared:
    """A folder with a shared one in it, and explorations of a case of programs.c, or of small.c."""

    def __init__(self, pmend, case):
        self.pmend, self.case = pmend, case
        self.folder = tempfile.mkdtemp(prefix="pmend-explore-")
        self.out, self.tmp = os.path.join(self.folder, "out"), os.path.join(self.folder, "tmp")
        os.mkdir(self.tmp)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def command(self, instance, more=(), pool="{pool}", out=None):
        report, seed, is_small = os.path.join(self.folder, f"{instance}.json"), os.path.join(self.folder, "seed"), self.case == "small"
        with open(seed, "wb") as f:
            f.write(bytes(3))
        return [self.pmend, "explore", "--out", out or self.out, *(["--instance", instance] if instance else []), "--format", "json", "-o", report, "--timeout", "600",
                "--solver-timeout", "100", *more, *(["--seed", seed] if is_small else []), "--", f"{os.path.dirname(self.pmend)}/tests/explore/{'small' if is_small else 'programs'}",
                *([] if is_small else [self.case]), pool, "@@"]

    def start(self, instance, more=(), **where):
        return subprocess.Popen(self.command(instance, more, **where), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                env=dict(os.environ, TMPDIR=self.tmp))

    def run(self, instance, *more, status=(0, 1, 3)):
        """What it says on standard error, and its report."""
        p = self.start(instance, more)
        stderr = p.communicate()[1]
        assert p.returncode in status, f"{instance} {more}: status {p.returncode}: {stderr.strip()[-500:]}"
        return stderr, self.report(instance) if p.returncode != 2 and os.path.exists(f"{self.folder}/{instance}.json") else None

    def report(self, instance):
        with open(f"{self.folder}/{instance}.json", encoding="utf-8") as f:
            return json.load(f)

    def own(self, instance):
        return os.path.join(self.out, "instances", instance) if instance else self.out

    def inputs(self, instance):
        folder = os.path.join(self.own(instance), "corpus")
        result = []
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as f:
                result.append(f.read())
        return result

    def state(self, instance):
        with open(os.path.join(self.own(instance), "state"), encoding="utf-8") as f:
            return f.read()

    def lines(self, instance, word):
        return [line.split() for line in self.state(instance).splitlines() if line.startswith(f"{word} ")]

    def claims(self):
        return set(os.listdir(f"{self.out}/claims"))


def ids(report):
    return [b["id"] for b in report["bugs"] if b["severity"] == "correctness"]


def kinds(report):
    return {(b["kind"], b["locations"][0].get("line")) for b in report["bugs"] if b["severity"] == "correctness"}


def wait_until(p, is_true):
    """For what the process is going to do; it may end before."""
    while p.poll() is None and not is_true():
        time.sleep(0.02)


def check_alone(pmend, marks):
    """One without a name has the folder that it always had; one with a name runs the same inputs."""
    with Shared(pmend, "magic") as s:
        s.run("", "--max-runs", "4")
        assert sorted(os.listdir(s.out)) == ["corpus", "paths", "report.json", "state"], os.listdir(s.out)
        assert not re.search(r"^(take|no|unknown) |^run \S+ \S+ ", s.state(""), re.M), s.state("")
        alone = s.inputs("")
        shutil.rmtree(s.out)
        s.run("a", "--max-runs", "4")
        assert s.inputs("a") == alone, f"{s.inputs('a')}, not {alone}"
        assert sorted(os.listdir(s.out)) == ["claims", "instances"], os.listdir(s.out)


def check_one_after_the_other(pmend, marks):
    """The second one goes on where the first one stopped, and so does the first again; each report is of all."""
    with Shared(pmend, "magic") as s:
        _, report = s.run("a", "--max-runs", "2")
        assert report["coverage"]["inputs"] == 2 and "others that share" not in report["coverage"]["note"], report["coverage"]
        _, report = s.run("b", "--max-runs", "1")
        assert report["coverage"]["inputs"] == 3, report["coverage"]
        assert "this exploration ran 1 of the inputs, and 1 others that share " in report["coverage"]["note"], report["coverage"]["note"]
        assert [words[1:3] for words in s.lines("b", "take")] == [["a", "0"], ["a", "1"]], s.state("b")
        s.run("", "--max-runs", "1")
        _, report = s.run("a", "--max-runs", "20", "--first", status=(1,))
        assert kinds(report) == marks("magic"), kinds(report)
        inputs = s.inputs("a") + s.inputs("b") + s.inputs("")
        assert len(set(inputs)) == len(inputs), "an input was run twice"
        assert report["coverage"]["inputs"] == len(inputs), report["coverage"]
        assert [words[1] for words in s.lines("a", "take")] == [".", "b"], s.state("a")
        # nobody else ran it, and all know of it
        for instance in "b", "", "c":
            before = len(s.inputs(instance)) if instance != "c" else 0
            _, again = s.run(instance, "--max-runs", "0", status=(1,))
            assert ids(again) == ids(report), f"{instance}: {ids(again)}, not {ids(report)}"
            assert len(s.inputs(instance)) == before and again["coverage"]["inputs"] == len(inputs), again["coverage"]


def check_same_bug(pmend, marks):
    """A bug that two of them have found is one."""
    with Shared(pmend, "magic") as s:
        _, report = s.run("a", "--max-runs", "20", "--first", status=(1,))
        shutil.copytree(s.own("a"), s.own("b"))
        _, both = s.run("c", "--max-runs", "0", status=(1,))
        assert ids(both) == ids(report) and len(ids(both)) == len(set(ids(both))), f"{ids(both)}, not {ids(report)}"
        assert both["coverage"]["inputs"] == 2 * report["coverage"]["inputs"], both["coverage"]


def check_at_once(pmend, marks):
    """Two at once find the bug, whoever is faster; both end when nothing is left, and both know everything."""
    with Shared(pmend, "small") as s:
        running = {name: s.start(name) for name in "ab"}
        said = {name: p.communicate()[1] for name, p in running.items()}
        for name, p in running.items():
            assert p.returncode == 1, f"{name}: status {p.returncode}: {said[name]}"
            report = s.report(name)
            assert kinds(report) == marks("small") and report["coverage"]["complete"], f"{name}: {kinds(report)}, {report['coverage']}"
        _, report = s.run("c")
        assert kinds(report) == marks("small") and report["coverage"]["complete"] and not s.inputs("c"), report["coverage"]
        assert os.listdir(s.tmp) == [], os.listdir(s.tmp)


def check_killed(pmend, marks):
    """What a killed one has claimed is run by another one; and the killed one goes on, once started again, also behind half a line."""
    with Shared(pmend, "small") as s:
        p = s.start("a")
        wait_until(p, lambda: os.path.isdir(f"{s.out}/claims") and len(s.claims()) > 1)
        p.kill()
        p.communicate()
        before = s.inputs("a")
        with open(f"{s.own('a')}/state", "a", encoding="utf-8") as f:
            f.write("run 0")
        _, report = s.run("b", status=(1,))
        assert kinds(report) == marks("small") and report["coverage"]["complete"], report["coverage"]
        both = s.inputs("a") + s.inputs("b")
        assert len(set(both)) == len(both), "an input was run twice"
        _, report = s.run("a", status=(1,))
        assert kinds(report) == marks("small") and report["coverage"]["complete"], report["coverage"]
        assert s.inputs("a")[:len(before)] == before, "not the same inputs as before"


def check_dead_claims(pmend, marks):
    """All is claimed, and nobody does it."""
    with Shared(pmend, "small") as s:
        s.run("a")
        claims, ran, head = s.claims(), s.inputs("a"), HEAD.match(s.state("a")).group()
        shutil.rmtree(s.out)
        os.makedirs(f"{s.out}/claims")
        for name in claims:
            with open(f"{s.out}/claims/{name}", "wb"):
                pass
        os.makedirs(s.own("dead"))
        with open(f"{s.own('dead')}/state", "w", encoding="utf-8") as f:
            f.write(head)
        _, report = s.run("b", status=(1,))
        assert kinds(report) == marks("small") and report["coverage"]["complete"], report["coverage"]
        ran_now = s.inputs("b")
        assert len(set(ran_now)) == len(ran_now) == len(ran), f"{ran_now}, and one alone {ran}"
        tried = {words[3] for words in s.lines("b", "run")} | {words[1] for words in s.lines("b", "no")}
        assert tried & claims, "other keys than before"


def check_foreign_files(pmend, marks):
    """What is damaged or none of an exploration is left out, with a note, and changes nothing."""
    with Shared(pmend, "small") as s:
        s.run("a")
        ran, head = s.inputs("a"), HEAD.match(s.state("a")).group()
        shutil.rmtree(s.out)
        os.makedirs(f"{s.out}/instances")
        states = {"other": head.replace("input ", "input f"), "half": head + "run -1", "none": head + "run -1 0\n", "short": head + "run -1 0\n", "nopath": head + "run -1 0\n",
                  "garbage": head + "pm 1 /x\nrm 1 2\n", "report": head, "empty": "", "zeros": head + "\0" * 100}
        for name, text in states.items():
            os.makedirs(f"{s.own(name)}/corpus")
            os.makedirs(f"{s.own(name)}/paths")
            with open(f"{s.own(name)}/state", "w", encoding="utf-8") as f:
                f.write(text)
        for name, content in (("short", ran[0][:-1]), ("nopath", ran[0])):
            with open(f"{s.own(name)}/corpus/000000", "wb") as f:
                f.write(content)
        with open(f"{s.own('nopath')}/paths/000000.pmp", "wb") as f:
            f.write(b"PMPATH\r\n" + bytes(100))
        for name in f"{s.own('report')}/report.json", f"{s.out}/instances/a file", f"{s.out}/claims.txt":
            with open(name, "w", encoding="utf-8") as f:
                f.write("{")
        stderr, report = s.run("b", status=(1,))
        assert kinds(report) == marks("small") and report["coverage"]["complete"], report["coverage"]
        assert s.inputs("b") == ran, "not the same inputs as without those files"
        for words in ("instances/a file is not a folder of an exploration", "other/state belongs to another program", "run 0 of .*/none is damaged", "run 0 of .*/short is damaged",
                      "run 0 of .*/nopath is damaged", "garbage/state has an invalid line", "report/report.json"):
            assert len(re.findall(words, stderr)) in (1, 2), f"{words}: {stderr}"


def check_cannot_write(pmend, marks):
    """No room, or no right to write: the exploration ends and says where."""
    with Shared(pmend, "small") as s:
        os.makedirs(s.own("full"))
        os.symlink("/dev/full", f"{s.own('full')}/state")
        stderr, _ = s.run("full", status=(3,))
        assert "full/state: No space left on device" in stderr, stderr
        os.remove(f"{s.own('full')}/state")
        with open(f"{s.out}/claims", "w", encoding="utf-8"):
            pass
        stderr, _ = s.run("b", status=(3,))
        assert re.search("cannot write .*/out/claims/[0-9a-f]{16}: Not a directory", stderr), stderr
        shutil.rmtree(s.out)
        with open(s.out, "w", encoding="utf-8"):
            pass
        stderr, _ = s.run("b", status=(3,))
        assert "Not a directory" in stderr or "File exists" in stderr, stderr
        os.remove(s.out)
        if os.geteuid() != 0:
            os.mkdir(s.out, 0o555)
            stderr, _ = s.run("b", status=(3,))
            assert "cannot make the folder" in stderr and "Permission denied" in stderr, stderr
        for name in "", "a b", "../x", ".", "x" * 65:
            p = subprocess.run([pmend, "explore", "--instance", name, "--out", f"{s.folder}/none", "--", "/bin/true", "@@"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
            assert p.returncode == 2 and "--instance needs a name" in p.stderr and not os.path.exists(f"{s.folder}/none"), f"'{name}': {p.returncode} {p.stderr}"
        assert os.listdir(s.tmp) == [], os.listdir(s.tmp)


def check_not_shared(pmend, marks):
    """Two that write to the same place, or use the same pool, are told apart."""
    with Shared(pmend, "correct") as s:
        p = s.start("a")
        wait_until(p, lambda: os.path.exists(f"{s.own('a')}/corpus/000000"))
        with open(f"{s.own('a')}/state", "a", encoding="utf-8") as f:
            f.write("no 1\n")  # as another one would
        stderr = p.communicate()[1]
        assert p.returncode == 3 and "another exploration writes to it; give each a name with --instance" in stderr, f"status {p.returncode}: {stderr}"
        pool = f"{s.folder}/pool"
        first = s.start("first", pool=pool, out=f"{s.folder}/first")
        wait_until(first, lambda: os.path.exists(f"{s.folder}/first/instances/first/corpus/000000"))
        second = s.start("second", pool=pool, out=f"{s.folder}/second")
        stderr = second.communicate()[1]
        assert second.returncode == 3 and f"another exploration on this machine uses the pool {pool}" in stderr, f"status {second.returncode}: {stderr}"
        first.send_signal(signal.SIGINT)
        first.communicate()
        assert not os.path.exists(pool) and os.listdir(s.tmp) == [], f"{os.listdir(s.folder)}, {os.listdir(s.tmp)}"


CHECKS = {"sharing: alone": check_alone, "sharing: one after the other": check_one_after_the_other, "sharing: the same bug": check_same_bug, "sharing: two at once": check_at_once,
          "sharing: killed": check_killed, "sharing: dead claims": check_dead_claims, "sharing: foreign files": check_foreign_files,
          "sharing: cannot write": check_cannot_write, "sharing: not shared": check_not_shared}
