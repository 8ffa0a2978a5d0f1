#!/usr/bin/env python3
"""pmend submit against Slurm: slurmctld, six slurmd and munged of the test's own, in namespaces of their own (network, processes, mounts), so that nothing can be left behind.
Whatever happens to the tasks, the report is that of one process. Nothing here waits for a time: recovery waits for a file, which the test makes when it has seen what it waits for.
Only the time limit takes what Slurm's shortest one takes, a minute. Arguments: names of tests (default: all)."""
import concurrent.futures
import contextlib
import fcntl
import json
import os
import re
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True
os.chdir(os.path.join(HERE, "..", ".."))

from cluster import Cluster  # noqa: E402
from each import choose  # noqa: E402
import schema  # noqa: E402,F401  (looks at every report that is read)

PMEND = os.path.abspath("build/pmend")
STEPS = os.path.abspath("build/tests/slurm/steps")
INSIDE = "PMEND_SLURM_TEST"  # set in the namespaces
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "munged", "unshare")
SECONDS = 300  # only bounds how long a failure takes


class Exploration:
    """A trace in a folder with a blank in its name, and a submission of it."""

    def __init__(self, cluster, name, nparts, *options):
        self.cluster, self.nparts, self.options = cluster, nparts, options
        self.folder = os.path.join(cluster.folder, "work", f"the {name}")
        os.makedirs(self.folder)
        self.words = ["--seed", "1", "--timeout", "600", "--recover", f"{shlex.quote(STEPS)} {{}} {shlex.quote(self.folder)} {nparts}", "a trace.pmt"]
        subprocess.run([PMEND, "record", "-q", "-o", "a trace.pmt", "--", STEPS, "{pool}"], cwd=self.folder, check=True)
        self.process = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def part(self, index, ending="json"):
        return self.path(f"parts/part-{index}-of-{self.nparts}.{ending}")

    def submit(self, *options):
        """Starts `pmend submit`; finish() waits for it."""
        command = [PMEND, "submit", "slurm", "--parts", str(self.nparts), "--out", "parts", "-o", "merged.json", *self.options, *options, "--", *self.words]
        with open(self.path("errors"), "wb") as errors:
            self.process = subprocess.Popen(command, cwd=self.folder, env=self.cluster.env, stdin=subprocess.DEVNULL, stderr=errors)

    def finish(self):
        """Its status, and what it said. Slurm would start a task again after two minutes; there is nothing to wait for."""
        job = job_of(self)
        self.cluster.wait("pmend submit has ended", lambda: self.process.poll() is not None or hurry(self.cluster, job))
        status = self.process.returncode
        with open(self.path("errors"), encoding="utf-8") as f:
            return status, f.read()

    def go(self):
        with open(self.path("go"), "w", encoding="utf-8"):
            pass

    def pmends(self, index):
        """Processes that explore this part, by number."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
                if os.path.basename(words[0]) == b"pmend" and f"{index}/{self.nparts}".encode() in words and self.folder.encode() in b" ".join(words):
                    found.append(int(pid))
        return sorted(found)

    def nruns(self, index):
        return os.path.getsize(self.path(f"runs-{index}"))

    def ndone(self, index):
        """Failure points of a part that are done, by its file."""
        with contextlib.suppress(FileNotFoundError), open(self.part(index), encoding="utf-8") as f:
            return json.load(f)["shard"]["done"]
        return 0

    def wait_for_kept(self, parts):
        """Until some of each of these parts is kept: recovery waits then."""
        self.cluster.wait("parts are kept", lambda: self.process.poll() is not None or all(self.ndone(i) > 0 for i in parts))
        if self.process.poll() is not None:
            raise AssertionError(f"pmend submit has ended: {self.finish()}")

    def expect_whole(self):
        """The submission ended well, and its report is that of one process."""
        status, err = self.finish()
        if status != 1:
            raise AssertionError(f"pmend submit ended with {status}: {err}")
        self.go()
        one = subprocess.run([PMEND, "crash", "--jobs", "1", "-o", "one.json", *self.words], cwd=self.folder).returncode
        equal(status, one, "the exit status")
        with open(self.path("merged.json"), encoding="utf-8") as f, open(self.path("one.json"), encoding="utf-8") as g:
            merged, whole = without_costs(json.load(f)), without_costs(json.load(g))
        equal(len(whole["bugs"]), 1, "the number of bugs")
        if wrong := [key for key in {**merged, **whole} if merged.get(key) != whole.get(key)]:
            raise AssertionError("the report differs: " + "; ".join(f"{key} is {merged.get(key)!r}, not {whole.get(key)!r}" for key in wrong))
        return err

    def nruns_alone(self, index):
        """How often recovery runs for a part that nobody interrupts."""
        alone = self.path("alone")
        os.makedirs(alone)
        words = [w.replace(self.folder, alone) for w in self.words]
        env = dict(os.environ, SLURM_ARRAY_TASK_ID=str(index))
        subprocess.run([PMEND, "crash", "--jobs", "1", "--shard", f"{index}/{self.nparts}", "-o", "alone/part.json", *words], cwd=self.folder, env=env)
        return os.path.getsize(os.path.join(alone, f"runs-{index}"))


def without_costs(value):
    """Without what tells how long it took to find something: that depends on who looks where."""
    if isinstance(value, list):
        return [without_costs(v) for v in value]
    if not isinstance(value, dict):
        return value
    return {k: without_costs(v) for k, v in value.items() if not (k == "runs" and "replay" in value or k in ("shared_runs", "faults", "diagnosis_runs", "lazy_runs", "whole_runs"))}


def equal(got, want, what):
    if got != want:
        raise AssertionError(f"{what} is {got!r}, not {want!r}")


def job_of(e):
    """The job that is waited for; None: there is none."""
    with contextlib.suppress(FileNotFoundError), open(e.path("parts/job"), encoding="utf-8") as f:
        return f.read().strip()
    return None


def tasks(c, job):
    """Each task of a job that is not over: [part, state, node, why it waits]."""
    lines = c.run("squeue", "--noheader", "--array", "--format=%F|%K|%T|%N|%r")
    if lines is None:
        raise AssertionError("squeue failed")
    return [line.split("|")[1:] for line in lines.splitlines() if line.split("|")[0] == job]


def hurry(c, job):
    """Tasks that Slurm has begun anew start as soon as they can."""
    for task in tasks(c, job):
        if task[1] == "PENDING" and task[3] == "BeginTime":
            c.run("scontrol", "update", f"JobId={job}_{task[0]}", "StartTime=now")
    return False


def test_normal_end(c):
    """More parts than nodes; whole nodes, and few of them at a time. The parts stay where --out says."""
    e = Exploration(c, "normal end", 8, "--nodes", "3")
    e.go()
    e.submit("--progress")
    err = e.expect_whole()
    if not re.search(r"pmend: parts \d/8, failure points \d+/\d+ so far, \d+ tasks running", err):
        raise AssertionError(f"no progress in {err!r}")
    equal(sorted(n for n in os.listdir(e.path("parts")) if n.endswith(".json")), sorted(f"part-{i}-of-8.json" for i in range(1, 9)), "the list of parts")


def test_bundle(c):
    """The nodes have a bundle and nothing else: the program and the trace are gone when the parts are explored and put together."""
    e = Exploration(c, "bundle", 4)
    program = shutil.copy(STEPS, e.path("own steps"))
    words = ["--seed", "1", "--timeout", "600", "--recover", f"{shlex.quote(program)} {{}} {shlex.quote(e.folder)} 4"]
    subprocess.run([PMEND, "record", "-q", "-o", "a trace.pmt", "--", program, "{pool}"], cwd=e.folder, check=True)
    subprocess.run([PMEND, "pack", "-q", "-o", "a bundle.pmb", *words, "a trace.pmt"], cwd=e.folder, check=True)
    os.remove(program)
    os.remove(e.path("a trace.pmt"))
    e.words = ["a bundle.pmb"]
    e.submit()
    e.wait_for_kept([1, 2, 3, 4])
    before, pids = e.nruns(3), e.pmends(3)
    c.run("scontrol", "requeue", f"{job_of(e)}_3")
    c.wait("the task has ended", lambda: not set(pids) & set(e.pmends(3)))
    e.go()
    e.expect_whole()
    if e.nruns(3) <= before:
        raise AssertionError("the task that was started again ran no recovery")


def test_default_folder(c):
    """Without --out, nothing stays but the report."""
    e = Exploration(c, "default folder", 2)
    e.go()
    status = subprocess.run([PMEND, "submit", "slurm", "--parts", "2", "-o", "merged.json", "--", *e.words], cwd=e.folder, env=c.env).returncode
    equal((status, sorted(os.listdir(e.folder))), (1, ["a trace.pmt", "go", "merged.json", "runs-1", "runs-2"]), "status and files")


def test_node_drained(c):
    """Eight parts, four nodes: one of these takes no more after its first. Another one is down: Slurm starts its task again elsewhere."""
    e = Exploration(c, "node drained", 8)
    e.submit()
    e.wait_for_kept([1, 2, 3, 4])
    job = job_of(e)
    where = {node: int(part) for part, state, node, _ in tasks(c, job) if state == "RUNNING"}
    equal(sorted(where), ["n1", "n2", "n3", "n4"], "the list of nodes at work")
    c.run("scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=test")
    c.wait("n2 drains", lambda: "draining" in (c.run("sinfo", "--noheader", "--Node", "--nodes=n2", "--format=%T") or ""))
    lost = e.pmends(where["n3"])
    c.run("scontrol", "update", "NodeName=n3", "State=DOWN", "Reason=test")
    c.wait("the task on n3 has ended", lambda: not set(lost) & set(e.pmends(where["n3"])))
    e.go()
    try:
        e.expect_whole()
        equal(c.run("sinfo", "--noheader", "--Node", "--nodes=n2", "--format=%T").strip(), "drained", "the state of n2")
    finally:
        for node in ("n2", "n3"):
            c.run("scontrol", "update", f"NodeName={node}", "State=RESUME")
        c.wait("all nodes are idle", lambda: c.states() == {"idle"})


def test_task_requeued(c):
    """Slurm ends a task and starts it again: it goes on where its part ended."""
    e = Exploration(c, "task requeued", 4)
    e.submit()
    e.wait_for_kept([1, 2, 3, 4])
    before, pids = e.nruns(3), e.pmends(3)
    c.run("scontrol", "requeue", f"{job_of(e)}_3")
    c.wait("the task has ended", lambda: not set(pids) & set(e.pmends(3)))
    e.go()
    e.expect_whole()
    expect_resumed(e, 3, before)


def test_task_killed(c):
    """A task that something kills (memory, say) is over for Slurm: the array is submitted again, for this part only."""
    e = Exploration(c, "task killed", 4)
    e.submit()
    e.wait_for_kept([1, 2, 3, 4])
    before, first = e.nruns(2), job_of(e)
    pids = e.pmends(2)
    os.kill(pids[0], signal.SIGKILL)
    c.wait("the task has ended", lambda: not set(pids) & set(e.pmends(2)))
    e.go()
    c.wait("the part is submitted again", lambda: e.process.poll() is not None or job_of(e) not in (first, None))
    e.expect_whole()
    expect_resumed(e, 2, before)
    with open(e.path("parts/job.sh"), encoding="utf-8") as f:
        equal(re.search(r"--array=(.*)", f.read())[1], "2", "what is submitted again")


def expect_resumed(e, index, before):
    """Recovery ran less often than twice from the beginning."""
    after, alone = e.nruns(index) - before, e.nruns_alone(index)
    if not 0 < after < alone:
        raise AssertionError(f"recovery ran {before} times, then {after} times, and {alone} times without interruption: the part began anew")


def test_time_limit(c):
    """Both tasks run into the limit, and their parts are submitted again."""
    e = Exploration(c, "time limit", 2, "--partition", "few", "--time", "1")
    e.submit()
    e.wait_for_kept([1, 2])
    before, first, pids = e.nruns(1), job_of(e), e.pmends(1) + e.pmends(2)
    c.wait("the time limit ends both tasks", lambda: not set(pids) & set(e.pmends(1) + e.pmends(2)))
    e.go()
    e.expect_whole()
    expect_resumed(e, 1, before)
    equal(set(re.findall(r" JobState=(\w+)", c.run("scontrol", "--oneliner", "show", "job", first) or "")), {"TIMEOUT"}, "how the tasks ended")


def test_no_progress(c):
    """Tasks that fail at once are not submitted for ever; what they said is told."""
    e = Exploration(c, "no progress", 2, "--pmend", "/nonexistent/pmend")
    e.submit()
    status, err = e.finish()
    equal(status, 3, "the exit status")
    for part in ("0 of 2 parts are over, and the others make no progress", "part 1 said last: ", "/nonexistent/pmend"):
        if part not in err:
            raise AssertionError(f"{part!r} is not in {err!r}")


def test_too_often(c):
    """--retries 0: a part that was ended from outside is not submitted again, and the same command goes on with it."""
    e = Exploration(c, "too often", 2, "--retries", "0")
    e.submit()
    e.wait_for_kept([1, 2])
    os.kill(e.pmends(2)[0], signal.SIGKILL)
    e.go()
    status, err = e.finish()
    equal((status, "1 of 2 parts are over, and the others were ended too often (see --retries); part 2 said last: " in err), (3, True), f"status and words ({err!r})")
    e.submit()
    e.expect_whole()


def test_interrupted(c):
    """Ctrl-C cancels the job; the same command goes on."""
    e = Exploration(c, "interrupted", 4)
    e.submit()
    e.wait_for_kept([1, 2, 3, 4])
    job = job_of(e)
    os.kill(e.process.pid, signal.SIGINT)
    status, err = e.finish()
    equal((status, "pmend: interrupted; the job is cancelled; the parts are in " in err), (3, True), f"status and words ({err!r})")
    c.wait("the job is cancelled", lambda: not tasks(c, job))
    e.go()
    e.submit()
    e.expect_whole()


def test_waited_for_again(c):
    """Whoever waits is killed: the job goes on, and the same command waits for it, submitting nothing."""
    e = Exploration(c, "waited for again", 4)
    e.submit()
    e.wait_for_kept([1, 2, 3, 4])
    job = job_of(e)
    os.kill(e.process.pid, signal.SIGKILL)
    e.process.wait()
    e.submit()
    c.wait("it waits", lambda: e.process.poll() is not None or f"waiting for job {job}, which was submitted before" in open(e.path("errors"), encoding="utf-8").read())
    e.go()
    e.expect_whole()


TESTS = {name[len("test_"):]: f for name, f in list(globals().items()) if name.startswith("test_")}
ALONGSIDE = "time_limit"  # on nodes of its own, while the others run


def run(c, name, lock):
    try:
        TESTS[name](c)
        text = f"ok slurm.{name}"
    except Exception as e:  # any exception is this test's failure, not the end of the others
        text = f"FAIL slurm.{name}: {type(e).__name__}: {e}"
    with lock:
        print(text, flush=True)
    return text.startswith("ok ")


def run_all(names):
    lock = threading.Lock()
    with tempfile.TemporaryDirectory(prefix="pmend-slurm-") as folder:
        os.environ["TMPDIR"] = os.path.join(folder, "tmp")  # of the tasks, too: what is killed may leave something
        os.mkdir(os.environ["TMPDIR"])
        with Cluster(folder, 6) as c, concurrent.futures.ThreadPoolExecutor(1) as alongside:
            beside = [alongside.submit(run, c, n, lock) for n in names if n == ALONGSIDE]
            results = [run(c, n, lock) for n in names if n != ALONGSIDE]
            return results + [b.result() for b in beside]


def network_up():
    """The only network that the namespace has. slurmd takes one with no address but the loopback's for no network at all, so there is another address."""
    with socket.socket() as s:
        fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 1 | 64))  # SIOCSIFFLAGS: up, running
        fcntl.ioctl(s, 0x8916, struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton("10.0.0.1")))  # SIOCSIFADDR


def skipped(names, reason):
    for name in names:
        print(f"SKIP slurm.{name}: {reason}")
    print(f"0 passed, 0 failed, {len(names)} skipped")
    return 0


def main():
    names = choose(list(TESTS), sys.argv[1:])
    if not os.environ.get(INSIDE):
        missing = [p for p in PROGRAMS if not shutil.which(p, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
        if missing:
            return skipped(names, f"{', '.join(missing)} not installed; 'make check-slurm' installs what it needs")
        if os.getuid() != 0:
            return skipped(names, "Slurm's daemons drop groups, which only root may")
        own = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if subprocess.run([*own, "mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], capture_output=True).returncode != 0:
            return skipped(names, "this machine gives no namespaces of processes, networks and mounts")
        env = dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin", **{INSIDE: "1"})
        return subprocess.run([*own, sys.executable, os.path.abspath(__file__), *names], env=env).returncode
    network_up()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], check=True)  # ours, and gone with us
    results = run_all(names)
    print(f"{sum(results)} passed, {results.count(False)} failed")
    return 1 if False in results else 0


sys.exit(main())
