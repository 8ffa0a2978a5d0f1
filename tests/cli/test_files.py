"""--files and {dir}: files that are written, synced and renamed are followed."""
import json
import os

from cli import contains, equal, fails, folder, pmend

WRITE = ("sh", "-c", 'echo text > "$0/file" && mv "$0/file" "$0/moved"', "{dir}")
NEEDS_FOLDER = "need a recovery that is run on them: put {dir} where"


def test_scratch_folder():
    """It is there and empty; what is not synced there is found, and afterwards the folder is gone."""
    with folder() as d:
        tmp = os.path.join(d, "scratch room")
        os.mkdir(tmp)
        status, out, err = pmend("check", "--format", "json", "--", *WRITE, cwd=d, env={"TMPDIR": tmp})
        report = json.loads(out)
        equal((status, report["command"][-1], os.listdir(tmp)), (1, "{dir}", []), err)
        equal(sorted(b["kind"] for b in report["bugs"]), ["missing-fsync", "rename-before-fsync"])
        contains(report["coverage"]["note"], "Files below {dir}")
        equal(report["coverage"]["complete"], True)


def test_exceptions():
    with folder() as d:
        os.mkdir(os.path.join(d, "data"))
        status, out, err = pmend("check", "--files", "data", "--files-except", "fil*", "--files-except", "moved", "--",
                                 *WRITE[:3], os.path.join(d, "data"), cwd=d)
        equal(status, 0, out + err)
        contains(out, "No bugs found")
        contains(out, "the program changed no file below --files")


def test_too_many():
    """Those that have a number are followed to the end."""
    with folder() as d:
        status, out, err = pmend("check", "--", "sh", "-c", "i=0; while [ $i -lt 700 ]; do : > $0/$i; i=$((i + 1)); done; echo x > $0/1", "{dir}", cwd=d)
        equal(status, 1, err)
        contains(out, "missing-fsync")
        contains(out, "there are too many files below --files: not all are followed")


def test_crash_says_not_yet():
    """What cannot be explored is said before anything runs."""
    with folder() as d:
        os.mkdir(os.path.join(d, "data"))
        fails(pmend("crash", "--files", "data", "--recover", "true", "--", "true", cwd=d), 2, NEEDS_FOLDER)
        fails(pmend("crash", "--recover", "true", "--", *WRITE, cwd=d), 2, NEEDS_FOLDER)
        fails(pmend("test", "--recover", "true", "--", *WRITE, cwd=d), 2, NEEDS_FOLDER)
        fails(pmend("test", "--recover", "true {} {dir}", "--", *WRITE, cwd=d), 2, "{} and files that are followed")
        for option in (["--then", "recorded"], ["--races"], ["--failure-points", "store"], ["--strategy", "eager"]):
            fails(pmend("crash", "--recover", "true {dir}", *option, "--", *WRITE, cwd=d), 2, option[0], "is not there yet for files that are followed")
        fails(pmend("crash", "--recover", "true {dir}", "--fresh", "--files", "data", "--", "true", cwd=d), 2, "--fresh does not empty the folder of --files yet")
        equal(pmend("record", "-q", "--", *WRITE, cwd=d)[0], 0)
        fails(pmend("crash", "--recover", "true {dir}", "--shard", "1/2", "-o", "part.json", "pmend.pmt", cwd=d), 2, "--shard is not there yet for files")
        fails(pmend("pack", "--recover", "true {dir}", "-o", "x.pmb", "pmend.pmt", cwd=d), 2, "'pmend pack' does not follow files yet")
        fails(pmend("index", "pmend.pmt", cwd=d), 2, "'pmend index' does not follow files yet")
        fails(pmend("crash", "--recover", "true", "pmend.pmt", cwd=d), 2, NEEDS_FOLDER)
        fails(pmend("check", "--files", "data", "pmend.pmt", cwd=d), 2, "--files applies only to recording")


def test_wrong_use():
    with folder() as d:
        fails(pmend("record", "--files-except", "x", "--", "true", cwd=d), 2, "--files-except needs --files DIR")
        fails(pmend("record", "--files", "nowhere", "--", "true", cwd=d), 3, "--files nowhere: No such file or directory; make the folder first")
        fails(pmend("record", "--files", "/", "--", "true", cwd=d), 3, "that is everything")
