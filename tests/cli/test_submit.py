"""pmend submit without a cluster: what it refuses, what it would submit, and what it does with a Slurm that is three scripts. `make check-slurm` has the real one."""
import functools
import json
import os
import re
import shutil
import shlex
import tempfile

from cli import PMEND, Skip, contains, equal, fails, folder, need_pool, pmend, run, write

LOG = os.path.abspath("build/examples/append_log")


@functools.cache
def recording():
    """A folder with a trace that has bugs. It goes away at the end."""
    d = tempfile.TemporaryDirectory(prefix="pmend cli ")
    status, _, err = pmend("record", "-q", "-o", "a trace.pmt", "--", LOG + "_buggy", "{pool}", "one", "two", "it's", cwd=d.name)
    equal((status, err), (0, ""), "the status and errors of record")
    return d


def trace_in(d):
    """A trace with bugs; gives the words of the exploration."""
    need_pool()
    shutil.copy(os.path.join(recording().name, "a trace.pmt"), d)
    return ["--jobs", "1", "--seed", "1", "--dump", f"{shlex.quote(LOG)} {{}}", "a trace.pmt"]


def without_costs(value):
    """Without what depends on who looks where: how long it took to find something, and for which of two bugs with one cause an occurrence counts."""
    if isinstance(value, list):
        return [without_costs(v) for v in value]
    if not isinstance(value, dict):
        return value
    return {k: without_costs(v) for k, v in value.items() if not (k == "runs" and "replay" in value or k in ("shared_runs", "faults", "count", "diagnosis_runs", "lazy_runs", "whole_runs"))}


def report_of(path):
    with open(path, encoding="utf-8") as f:
        return without_costs(json.load(f))


def expect_whole(d, words, merged="merged.json"):
    """The report is that of one process, which found something."""
    equal(pmend("crash", "-o", "one.json", *words, cwd=d)[0], 1)
    got, want = report_of(os.path.join(d, merged)), report_of(os.path.join(d, "one.json"))
    for key in {**got, **want}:
        equal(got.get(key), want.get(key), f"{key} of the report")


def merge(d, *parts):
    status, _, err = pmend("merge", "-o", "merged.json", *parts, cwd=d)
    equal((status, err), (1, ""), "the status and errors of merge")


def test_usage():
    with folder() as d:
        words = trace_in(d)
        fails(pmend("submit"), 2, "slurm or k8s")
        fails(pmend("submit", "slrm", "x.pmt"), 2, "did you mean 'slurm'?")
        fails(pmend("submit", "pbs-pro-and-so-on", "x.pmt"), 2, "the first word is slurm or k8s")
        fails(pmend("submit", "slurm", "--parts", "2"), 2, "a trace or a bundle is needed at the end")
        fails(pmend("submit", "slurm", "--parts", "2", "--", "./app", cwd=d), 2, "a trace or a bundle is needed at the end")
        fails(pmend("submit", "slurm", "--parts", "2", "--", "none.pmt", cwd=d), 3, "cannot read none.pmt")
        fails(pmend("submit", "slurm", "--parts", "2", "--", "--recovr", "x", *words, cwd=d), 2, "did you mean --recover?")
        fails(pmend("submit", "slurm", "--parts", "2", "--", "--shard", "1/2", *words, cwd=d), 2, "--shard and --continue")
        fails(pmend("submit", "slurm", "--parts", "2", "--", "-o", "x.json", *words, cwd=d), 2, "for the report before --")
        fails(pmend("submit", "slurm", "--parts", "2", "--", "--gdb", *words, cwd=d), 2, "--replay")
        fails(pmend("submit", "slurm", "--", *words, cwd=d), 2, "--nodes or --parts is needed")
        fails(pmend("submit", "slurm", "--parts", "0", "--", *words, cwd=d), 2, "--parts is from 1 to 65536")
        fails(pmend("submit", "slurm", "--parts", "2", "--cpus", "300", "--", *words, cwd=d), 2, "--cpus is from 1 to 256")
        fails(pmend("submit", "slurm", "--parts", "2", "--time", "1 2", "--", *words, cwd=d), 2, "one word")
        fails(pmend("submit", "slurm", "--parts", "2", "--sbatch", "lab", "--", *words, cwd=d), 2, "not 'lab'")
        fails(pmend("submit", "slurm", "--parts", "2", "--image", "i", "--", *words, cwd=d), 2, "for Kubernetes")
        fails(pmend("submit", "k8s", "--parts", "2", "--dry-run", "--", *words, cwd=d), 2, "--image is needed")
        fails(pmend("submit", "k8s", "--parts", "2", "--image", "i", "--time", "9", "--dry-run", "--", *words, cwd=d), 2, "for Slurm")
        fails(pmend("submit", "k8s", "--parts", "2", "--image", "i", "--", *words, cwd=d), 2, "add --dry-run", "kubectl create")
        fails(pmend("submit", "slurm", "--parts", "2", "--format", "yaml", "--", *words, cwd=d), 2, "--format is one of")


def test_slurm_script():
    """--dry-run prints the script; run by hand, it does its part. Nothing is written before that."""
    with folder() as d:
        words = trace_in(d)
        before = sorted(os.listdir(d))
        options = ["--nodes", "2", "--parts", "3", "--time", "1:00:00", "--partition", "fast", "--sbatch", "--account=lab", "--sbatch=--mem=1G", "--out", "the parts"]
        status, script, err = pmend("submit", "slurm", *options, "--dry-run", "--", *words, cwd=d)
        equal((status, err, sorted(os.listdir(d))), (0, "", before), "status, errors and files")
        equal(re.findall(r"^#SBATCH (.+)$", script, re.M),
              ["--job-name=pmend", "--array=1-3%2", "--requeue", "--output=/dev/null", "--nodes=1", "--ntasks=1", "--exclusive", "--partition=fast", "--time=1:00:00", "--account=lab",
               "--mem=1G"], "options for sbatch")
        os.mkdir(os.path.join(d, "the parts"))
        for i in (1, 2, 3):
            status, out, err = run("bash", "-c", script, cwd="/", env={"SLURM_ARRAY_TASK_ID": str(i)})
            equal((status, out, err), (0, "", ""), "status and output of a task")
        merge(d, *(f"the parts/part-{i}-of-3.json" for i in (1, 2, 3)))
        expect_whole(d, words)


def test_jobs():
    """As many as the task has cores, unless the user says otherwise."""
    with folder() as d:
        words = trace_in(d)
        _, script, _ = pmend("submit", "slurm", "--parts", "2", "--cpus", "4", "--dry-run", "--", *words, cwd=d)
        contains(script, "#SBATCH --cpus-per-task=4\n")
        equal("SLURM_CPUS_ON_NODE" in script, False, "a second --jobs")
        _, script, _ = pmend("submit", "slurm", "--parts", "2", "--dry-run", "--", *words[2:], cwd=d)
        contains(script, "cores=${SLURM_CPUS_ON_NODE:-1}\n")
        equal("--exclusive" in script, False, "a node for each part")


def fake_slurm(d, sbatch):
    """Gives an environment where these are all that there is of Slurm."""
    programs = os.path.join(d, "programs")
    os.makedirs(programs, exist_ok=True)
    for name, script in {"sbatch": sbatch, "squeue": "exit 0", "scancel": "exit 0"}.items():
        os.chmod(write(os.path.join(programs, name), f"#!/bin/bash\n{script}\n"), 0o755)
    return {"PATH": f"{programs}:{os.environ['PATH']}"}


# The tasks run inside of sbatch, one after the other, those of ranges too.
RUNS_ALL = r"""for range in $(sed -n 's/^#SBATCH --array=//p' "$2" | tr , ' '); do
for task in $(seq ${range%-*} ${range#*-}); do SLURM_ARRAY_TASK_ID=$task bash "$2" || echo "task $task: $?" >>tasks; done; done; echo "17;cluster" """


def test_submitted():
    """The report is that of one process, and the folder of the parts goes."""
    with folder() as d:
        words = trace_in(d)
        env = fake_slurm(d, RUNS_ALL)
        status, out, err = pmend("submit", "slurm", "--parts", "3", "-o", "merged.json", "--", *words, cwd=d, env=env)
        equal((status, out, err), (1, "", ""), "status and output")
        equal(sorted(os.listdir(d)), ["a trace.pmt", "merged.json", "programs"], "the list of files")
        expect_whole(d, words)


def test_submitted_again():
    """A part that was ended is submitted again, alone; the parts stay in --out, and the same command only merges them."""
    with folder() as d:
        words = trace_in(d)
        env = fake_slurm(d, f'if [ -e once ]; then {RUNS_ALL}; else : >once; sed "s/--array=.*/--array=1,3/" "$2" >fewer; set -- "" fewer; {RUNS_ALL}; fi')
        for again in (False, True):
            status, out, err = pmend("submit", "slurm", "--parts", "3", "--out", "parts", "-o", "merged.json", "--", *words, cwd=d, env=env)
            equal((status, out, err), (1, "", ""), "status and output")
            with open(os.path.join(d, "parts/job.sh"), encoding="utf-8") as f:
                contains(f.read(), "#SBATCH --array=2\n")
            expect_whole(d, words)
            if not again:
                env = fake_slurm(d, "echo no more >&2; exit 1")


def test_not_submitted():
    with folder() as d:
        words = trace_in(d)
        args = ["submit", "slurm", "--parts", "2", "--", *words]
        fails(pmend(*args, cwd=d, env=fake_slurm(d, "echo 'sbatch: error: no such partition' >&2; exit 1")), 3, "sbatch failed: sbatch: error: no such partition", "the same command")
        fails(pmend(*args, cwd=d, env=fake_slurm(d, "echo ok")), 3, "does not say which job")
        fails(pmend(*args, cwd=d, env=fake_slurm(d, "echo 17")), 3, "0 of 2 parts are over, and the others make no progress", "left no log")
        if not shutil.which("sbatch"):
            fails(pmend(*args, cwd=d), 3, "sbatch is not installed here")


def test_k8s():
    """The manifest has the shape of an Indexed Job, and what its pods run does the parts."""
    try:
        import yaml
    except ImportError as e:
        raise Skip("python3-yaml is not installed") from e
    with folder() as d:
        words = trace_in(d)
        status, text, err = pmend("submit", "k8s", "--image", "registry.example/pmend:1", "--claim", "data", "--parts", "3", "--nodes", "2", "--cpus", "2", "--dry-run", "--",
                                  *words, cwd=d)
        equal((status, err), (0, ""), "status and errors")
        job = yaml.safe_load(text)
        equal((job["apiVersion"], job["kind"]), ("batch/v1", "Job"))
        spec = job["spec"]
        equal((spec["completionMode"], spec["completions"], spec["parallelism"], spec["backoffLimit"]), ("Indexed", 3, 2, 30))
        pod = spec["template"]["spec"]
        container, = pod["containers"]
        equal((pod["restartPolicy"], container["image"], container["workingDir"]), ("OnFailure", "registry.example/pmend:1", "/work"))
        equal(container["resources"], {"requests": {"cpu": "2"}})
        equal(container["volumeMounts"], [{"name": "work", "mountPath": "/work"}])
        equal(pod["volumes"], [{"name": "work", "persistentVolumeClaim": {"claimName": "data"}}])
        command = [w.replace("$$", "$") for w in container["command"]]  # as Kubernetes does
        for i in range(3):
            status, _, err = run(*command, cwd=d, env={"JOB_COMPLETION_INDEX": str(i), "PATH": f"{os.path.dirname(PMEND)}:{os.environ['PATH']}"})
            equal((status, err), (0, ""), "status and errors of a pod")
        merge(d, *(f"a trace.parts/part-{i}-of-3.json" for i in (1, 2, 3)))
        expect_whole(d, words)


def block(heading, number=0):
    """A block of shell of docs/scale.md."""
    with open("docs/scale.md", encoding="utf-8") as f:
        section = re.search(rf"^### {heading}\n(.*?)(?=^##|\Z)", f.read(), re.S | re.M)[1]
    return re.findall(r"^```sh\n(.*?)^```$", section, re.S | re.M)[number]


def shell(script, d):
    return run("bash", "-c", script, cwd=d, env={"PATH": f"{os.path.dirname(PMEND)}:{os.environ['PATH']}"})


def documented(d):
    """The program and the trace that the page speaks of; the words of the exploration. Recovery fails where an entry is empty."""
    words = trace_in(d)
    os.rename(os.path.join(d, words[-1]), os.path.join(d, "run.pmt"))
    app = write(os.path.join(d, "app"), f"""#!/bin/sh
case $({shlex.quote(LOG)} "$2"; echo .) in *": \n"*) exit 1; esac
""")
    os.chmod(app, 0o755)
    return ["--recover", "./app check {}", "run.pmt"]


def test_xargs():
    with folder() as d:
        words = documented(d)
        equal(shell(block("xargs"), d)[0], 1)
        expect_whole(d, ["--jobs", "1", "--seed", "1", *words], "report.json")


def test_parallel():
    if not shutil.which("parallel"):
        raise Skip("GNU parallel is not installed")
    with folder() as d:
        words = documented(d)
        equal(shell(block("GNU parallel"), d)[0], 1)
        expect_whole(d, ["--jobs", "1", "--seed", "1", *words], "report.json")


def test_ci_matrix():
    with folder() as d:
        words = documented(d)
        for i in range(1, 5):
            equal(shell(block("A CI matrix").replace("${{ matrix.part }}", str(i)), d)[0], 0)
        equal(shell(block("A CI matrix", 1), d)[0], 1)
        expect_whole(d, ["--seed", "1", *words], "report.json")
