"""The platform that nobody asked for: msync for programs that sync their files and flush nothing, else the machine's own."""
import json
import os

from cli import contains, equal, folder, pmend
from missing import ARCH
import schema  # noqa: F401  (looks at every report that is read)

SYNCED, LIBPMEM = os.path.abspath("build/tests/cli/synced"), os.path.abspath("build/tests/cli/synced_libpmem")
OWN = "x86-adr" if ARCH == "amd64" else "arm64"

# style, what is chosen, what is said, the status of `check`
STYLES = [
    (SYNCED, "msync", "msync", "analysed for platform msync", 0),
    (SYNCED, "fsync", "msync", "analysed for platform msync", 0),
    (SYNCED, "fdatasync", "msync", "analysed for platform msync", 0),
    (SYNCED, "half", "msync", "analysed for platform msync", 1),
    (SYNCED, "broken", "msync", "analysed for platform msync", 1),
    (SYNCED, "few", OWN, "but only 2 of the 8 pages that it stores to are synced", 1),
    (SYNCED, "async", OWN, "but only with MS_ASYNC, which promises nothing", 1),
    (SYNCED, "flush", OWN, "but the program flushes cache lines", 0),
    (LIBPMEM, "libpmem", OWN, "but the program flushes cache lines", 0),
    (LIBPMEM, "msync", OWN, "but the program uses libpmem", 0),
]


def record(d, program, style, *options):
    status, _, err = pmend("record", "-q", *options, "-o", f"{style}.pmt", "--", program, "pool", style, cwd=d)
    equal(status, 0, f"the status of record ({err})")
    os.remove(os.path.join(d, "pool"))


def read(d, name):
    with open(os.path.join(d, name), encoding="utf-8") as f:
        return json.load(f)


def judged(d, *words):
    """Status, platform, whether it was chosen, what was said, and the kinds."""
    status, _, err = pmend(words[0], "--format", "json", "-o", "r.json", *words[1:], cwd=d)
    equal(status < 2, True, f"the status of {words} ({err})")
    report = read(d, "r.json")
    return status, report["platform"], report.get("platform_chosen", False), err, [b["kind"] for b in report["bugs"] if b["severity"] == "correctness"]


def test_chosen_by_what_the_program_does():
    with folder() as d:
        for program, style, platform, said, wanted in STYLES:
            record(d, program, style)
            status, is_, is_chosen, err, kinds = judged(d, "check", f"{style}.pmt")
            equal((status, is_, is_chosen), (wanted, platform, platform == "msync"), f"status, platform, and whether it was chosen, of {style} ({kinds}, {err})")
            equal(err.count("analysed for platform"), 1, f"the lines about the platform of {style} ({err})")
            contains(err, said)


def test_asked_for():
    """What was asked for stays, now or when it was recorded. A program without libpmem is the same on both."""
    with folder() as d:
        record(d, SYNCED, "fsync", "--platform", OWN)
        equal(judged(d, "check", "fsync.pmt")[:4], (0, OWN, False, ""), "what is said of a trace for which a platform was asked for")
        equal(judged(d, "check", "--platform", "msync", "fsync.pmt")[:4], (0, "msync", False, ""), "the same on msync")
        record(d, SYNCED, "fsync")
        equal(judged(d, "check", "--platform", OWN, "fsync.pmt")[:4], (0, OWN, False, ""), "what is said if the platform is asked for now")
        record(d, LIBPMEM, "libpmem")
        status, _, err = pmend("check", "--platform", "msync", "libpmem.pmt", cwd=d)
        equal(status, 3, "the status for libpmem, which flushed")
        contains(err, "libpmem flushed when this was recorded")


def test_crash_and_test():
    """The same for `crash` and `test`, with a program or its trace; in parts, and from a bundle."""
    recover = ("--recover", f"'{SYNCED}' {{}}")
    with folder() as d:
        for command in ("crash", "test"):
            for style, bugs in (("broken", 1), ("fsync", 0)):
                status, platform, is_chosen, err, kinds = judged(d, command, *recover, "--trace", "t.pmt", "--", SYNCED, "pool", style)
                equal((status, platform, is_chosen, err.count("analysed for platform msync"), len(kinds)), (bugs, "msync", True, 1, bugs), f"what {command} says of {style} ({err})")
                os.remove(os.path.join(d, "pool"))
        record(d, SYNCED, "broken")
        for i in (1, 2):
            pmend("crash", *recover, "--shard", f"{i}/2", "-o", f"part-{i}.json", "broken.pmt", cwd=d)
            equal((read(d, f"part-{i}.json")["platform"], read(d, f"part-{i}.json").get("platform_chosen")), ("msync", True), "the platform of a part")
        equal(judged(d, "merge", "part-1.json", "part-2.json")[:3], (1, "msync", True), "status and platform of all parts")
        equal(pmend("pack", "-q", "-o", "b.pmb", *recover, "broken.pmt", cwd=d)[0], 0, "the status of pack")
        equal(judged(d, "crash", "b.pmb")[:3], (1, "msync", True), "status and platform of a bundle")
