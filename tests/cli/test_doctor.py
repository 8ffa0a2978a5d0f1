"""pmend doctor: what it finds here, and what it says when something is missing."""
import json
import os

from cli import ARCH, Skip, contains, equal, fails, folder, need_pool, pmend

MAIN = ["valgrind", "recorder", "temporary-files", "recording", "recovery"]


def examine(**env):
    """Gives the status, and the checks by name."""
    need_pool()
    status, out, err = pmend("doctor", "--format", "json", env=env or None)
    equal(err, "", "standard error")
    report = json.loads(out)
    equal(report["architecture"], ARCH)
    equal(report["works"], status == 0, "works")
    return status, {c["name"]: c for c in report["checks"]}


def test_main_job():
    """It works where the tests run; all that is needed for it is marked, and tried."""
    status, checks = examine()
    equal(status, 0, str(checks))
    equal([n for n, c in checks.items() if c["main"]], MAIN)
    for name in MAIN:
        assert checks[name]["state"] != "missing", checks[name]
    contains(checks["valgrind"]["found"], "valgrind-")
    contains(checks["recovery"]["found"], "failure points")


def test_says_what_to_do():
    """Whatever is not well has a use, and something to do."""
    _, checks = examine(PATH="/nowhere")
    bad = [c for c in checks.values() if c["state"] != "ok"]
    assert len(bad) >= 4, bad
    for c in bad:
        assert c["used_for"] and c.get("todo"), c


def test_text_says_the_same():
    _, checks = examine()
    status, out, _ = pmend("doctor")
    equal(status, 0)
    for name, c in checks.items():
        assert any(line.split()[:2] == [c["state"], name] for line in out.splitlines()), (name, out)
    contains(out, "pmend can record and crash programs on this machine.")


def test_without_valgrind():
    status, checks = examine(PATH="/nowhere")
    equal((status, checks["valgrind"]["state"], checks["valgrind"]["todo"]), (3, "missing", "apt-get install valgrind"))
    equal((checks["recording"]["state"], checks["recovery"]["state"]), ("missing", "missing"))
    equal(checks["gdb"]["state"], "missing")
    equal(checks["clang"]["state"], "limited", "fix works without clang: its state")


def test_without_room():
    status, checks = examine(TMPDIR="/nowhere")
    equal((status, checks["temporary-files"]["state"]), (3, "missing"))
    contains(checks["temporary-files"]["todo"], "TMPDIR")


def test_recovery_unwatched():
    """The runtime is told to catch nothing: recovery runs on whole images, and that is limited, not missing."""
    status, checks = examine(PMEND_RUN_NO_DISPATCH="all")
    equal((status, checks["recovery"]["state"]), (0, "limited"))
    contains(checks["recovery"]["found"], "whole images")


def test_keys_and_dispatch():
    _, checks = examine()
    for name in ("protection-keys", "syscall-dispatch"):
        if ARCH == "arm64":
            equal((checks[name]["state"], checks[name]["found"]), ("ok", "not used on arm64"))
        else:
            assert checks[name]["state"] in ("ok", "limited"), checks[name]


def test_leaves_nothing():
    need_pool()
    with folder() as d:
        equal(pmend("doctor", cwd=d, env={"TMPDIR": d})[0], 0)
        equal(os.listdir(d), [])


def test_usage():
    fails(pmend("doctor", "now"), 2, "now", "pmend help doctor")
    fails(pmend("doctor", "--format", "sarif"), 2, "--format is text or json")


def test_output_fails():
    if not os.path.exists("/dev/full"):
        raise Skip("there is no /dev/full")
    need_pool()
    import subprocess
    from cli import PMEND
    with open("/dev/full", "w", encoding="utf-8") as full:
        equal(subprocess.run([PMEND, "doctor"], stdout=full, stderr=subprocess.DEVNULL, check=False).returncode, 3)
