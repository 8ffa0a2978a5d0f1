"""What the tests of the command line share. A test is a function named test_*; it fails by an exception."""
import json
import os
import platform
import subprocess
import tempfile

from each import Skip  # noqa: F401  (the tests take it from here)

PMEND = os.path.abspath(os.environ.get("PMEND", "build/pmend"))
POOL = os.path.abspath("build/tests/cli/pool")
PATIENCE = 10 if os.environ.get("PMEND_EMULATED") == "1" else 3  # a busy or emulated machine is slow; a time only bounds how long a failure takes
LONG = bool(os.environ.get("LONG"))  # make check-long: each combination, where one of each kind shows the same
ARCH = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]


os.environ.setdefault("SOURCE_DATE_EPOCH", "1700000000")  # HTML pages say when they were made


def run(*args, cwd=None, env=None, stdin=None, timeout=120):
    """Runs a command; gives status, output, errors."""
    p = subprocess.run([str(a) for a in args], capture_output=True, cwd=cwd, input=stdin, timeout=timeout * PATIENCE,
                       env=dict(os.environ, **env) if env else None)
    return p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace")


def pmend(*args, **kw):
    return run(PMEND, *args, **kw)


def equal(got, want, what="value"):
    if got != want:
        raise AssertionError(f"{what} is {got!r}, not {want!r}")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"{part!r} is not in {text!r}")


def fails(result, status, *parts):
    """The command ended with this status and one clear line, which holds the parts."""
    got, _, err = result
    equal(got, status, f"the status ({err.strip()!r})")
    lines = err.splitlines()
    equal(len(lines), 1, f"the number of lines in {err!r}")
    if not lines[0].startswith("pmend: "):
        raise AssertionError(f"{lines[0]!r} does not begin with 'pmend: '")
    for part in parts:
        contains(lines[0], part)


def folder():
    """A scratch folder with a space in its name; goes away with the returned object."""
    return tempfile.TemporaryDirectory(prefix="pmend cli ")


def write(path, data):
    with open(path, "wb") as f:
        f.write(data.encode() if isinstance(data, str) else data)
    return path


def imported(dir_name, log, name="a trace.pmt"):
    """Imports a log, which must go well; gives the trace's path."""
    trace = os.path.join(dir_name, name)
    status, _, err = pmend("import", "-q", "-o", trace, write(os.path.join(dir_name, "a log"), log))
    equal((status, err), (0, ""), "the import's status and errors")
    return trace


def events(trace, *options):
    status, out, err = pmend("show", "--format", "json", trace, *options)
    equal((status, err), (0, ""), "the status and errors of show")
    return [json.loads(line) for line in out.splitlines()]


def need_pool():
    if not os.access(POOL, os.X_OK) or not os.access(f"build/libexec/pmend/pmend-{ARCH}-linux", os.X_OK):
        raise Skip("build/tests/cli/pool or the recorder is not built")
