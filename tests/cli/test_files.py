"""--files and {dir}: files that are written, synced and renamed are followed."""
import json
import os

from cli import ARCH, contains, equal, fails, folder, pmend

MEMORY = {"amd64": "x86-adr", "arm64": "arm64"}[ARCH]
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


def test_profiles():
    """Findings say for which file systems they were shown, and the report by what files were judged. On ext4, those are left out that it does not have."""
    script = 'echo old > "$0/file"; sync "$0/file" "$0"; echo new > "$0/new"; mv "$0/new" "$0/file"; echo more > "$0/made"; sync "$0/made"'
    with folder() as d:
        equal(pmend("record", "-q", "-o", "t.pmt", "--", "sh", "-c", script, "{dir}", cwd=d)[0], 0)
        for platform, want in ((None, {"rename-before-fsync": ["files", "ext4", "xfs"], "missing-dir-fsync": ["files"]}), ("ext4", {"rename-before-fsync": ["files", "ext4", "xfs"]}),
                               (f"{MEMORY},xfs", {"rename-before-fsync": ["files", "ext4", "xfs"]}), (f"{MEMORY},files", None)):
            status, out, err = pmend("check", "--format", "json", *(["--platform", platform] if platform else []), "t.pmt", cwd=d)
            report = json.loads(out)
            got = {b["kind"]: b["profiles"] for b in report["bugs"]}
            if want is not None:
                equal({k: v for k, v in got.items() if k != "missing-fsync"}, want, f"on {platform} ({err})")
            equal((report["files_profile"], report["files_only"]), (platform.split(",")[-1] if platform else "files", True), f"{platform}")
        contains(pmend("check", "t.pmt", cwd=d)[1], "shown for file systems: files\n")
        contains(pmend("check", "t.pmt", cwd=d)[1], "shown for file systems: files, ext4, xfs\n")
        contains(pmend("check", "t.pmt", cwd=d)[1], "are judged by what the weakest file system promises")
        contains(pmend("check", "--platform", "ext4", "t.pmt", cwd=d)[1], ", on ext4, in ")
        contains(pmend("check", "--platform", "ext4", "t.pmt", cwd=d)[1], "are judged by what ext4 promises")
        fails(pmend("check", "--platform", "ext5", "t.pmt", cwd=d), 2, "for followed files files, ext4 or xfs, as in x86-adr,ext4, not 'ext5'")
        fails(pmend("record", "--platform", "x86-adr,ext4", "--", "true", cwd=d), 2, "not 'x86-adr,ext4'")
        for command in ("check", "test", "crash"):
            fails(pmend(command, "--platform", "ext4", *(["--recover", "true"] if command != "check" else []), "--", "true", cwd=d), 2, "--platform ext4 is about files that are followed")


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
        equal(pmend("record", "-q", "--", *WRITE, cwd=d)[0], 0)
        fails(pmend("pack", "--recover", "true", "-o", "x.pmb", "pmend.pmt", cwd=d), 2, NEEDS_FOLDER)
        fails(pmend("pack", "--recover", "true {dir}", "--races", "-o", "x.pmb", "pmend.pmt", cwd=d), 2, "--races is not there yet for files")
        fails(pmend("index", "pmend.pmt", cwd=d), 2, "'pmend index' does not follow files yet")
        fails(pmend("crash", "--recover", "true", "pmend.pmt", cwd=d), 2, NEEDS_FOLDER)
        fails(pmend("check", "--files", "data", "pmend.pmt", cwd=d), 2, "--files applies only to recording")


def test_wrong_use():
    with folder() as d:
        fails(pmend("record", "--files-except", "x", "--", "true", cwd=d), 2, "--files-except needs --files DIR")
        fails(pmend("record", "--files", "nowhere", "--", "true", cwd=d), 3, "--files nowhere: No such file or directory; make the folder first")
        fails(pmend("record", "--files", "/", "--", "true", cwd=d), 3, "that is everything")
