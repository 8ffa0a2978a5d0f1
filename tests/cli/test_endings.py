"""Programs that fail, and runs that are broken off: what was done until then is judged, and nothing is left behind."""
import json
import os
import signal
import subprocess
import time

from cli import LONG, PMEND, contains, equal, fails, folder, need_pool, pmend

DIES = os.path.abspath("build/tests/cli/dies")
RECOVER = "/bin/sh -c 'test ! -e \"$0\" || head -c 1 \"$0\" >/dev/null' {}"


def run_in(d, command, *how, options=(), env={}):
    """Gives status, output and errors of a command on the program. Its folder, and that for scratch, is d."""
    need_pool()
    os.makedirs(os.path.join(d, "tmp"), exist_ok=True)
    result = pmend(command, *options, "--", DIES, "pool", *how, cwd=d, env={"TMPDIR": os.path.join(d, "tmp"), **env})
    equal(os.listdir(os.path.join(d, "tmp")), [], "what is left in TMPDIR")
    return result


def test_failed_program_is_judged():
    """Its bugs are reported, with status 1; without any, the status is 3, because the program failed."""
    ends = {"7": "ended with exit status 7", "segv": "killed by SIGSEGV (Segmentation fault)", "kill": "killed by SIGKILL (Killed)"}
    for command, options, own in (("check", [], ends), ("crash", ["--recover", RECOVER], ["kill"]), ("test", [], ["7"]), ("test", ["--recover", RECOVER], ["segv"])):
        for end in ends if LONG else own:
            said = ends[end]
            with folder() as d:
                kept = "pmend-out/check.pmt" if command == "check" else "pmend-out/crash.pmt"
                status, out, err = run_in(d, command, end, options=options)
                equal(status, 3, f"the status of {command} without bugs ({err})")
                contains(out, "No bugs found")
                contains(err, said)
                contains(err, f"kept as {kept}\n")
                equal(sorted(os.listdir(d)), ["pmend-out", "pool", "tmp"])
                equal(pmend("show", kept, cwd=d)[0], 0, "the status of show with the trace that is kept")
                if command != "crash":
                    status, out, err = run_in(d, command, "bug", end, options=options)
                    equal(status, 1, f"the status of {command} with a bug ({err})")
                    contains(out, "missing-flush")
                    contains(err, said)


def test_failed_program_on_all_platforms():
    with folder() as d:
        status, out, err = run_in(d, "check", "bug", "7", options=["--platform", "all", "--format", "json"], env={"LD_PRELOAD": "libpmem.so.1"})
        equal(status, 1, f"the status ({err})")
        contains(json.loads(out)["coverage"]["why_incomplete"], "not analysed for msync: the program failed, so it was not run again")


def test_check_stays_if_crashes_cannot_be_explored():
    with folder() as d:
        status, out, err = run_in(d, "test", "bug", "0", options=["--recover", "/bin/false {}"])
        equal(status, 1, f"the status ({err})")
        contains(out, "missing-flush")
        contains(out, "no crash was explored: recovery fails")
        equal(run_in(d, "test", "good", "0", options=["--recover", "/bin/false {}"])[0], 3)


def test_trace_that_was_asked_for():
    with folder() as d:
        status, _, err = run_in(d, "crash", "7", options=["--recover", RECOVER, "--trace", "mine.pmt"])
        equal(status, 3)
        contains(err, "mine.pmt")
        equal(sorted(os.listdir(d)), ["mine.pmt", "pool", "tmp"])


def broken_off(command, options, number):
    """Sends pmend a signal when the program runs; nothing may be left in TMPDIR. Gives what there is then, and what was said."""
    need_pool()
    with folder() as d:
        tmp = os.path.join(d, "tmp")
        os.mkdir(tmp)
        with subprocess.Popen([PMEND, command, *options, "--", DIES, "pool", "good", "said", "wait"], cwd=d, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=dict(os.environ, TMPDIR=tmp)) as p:
            equal(p.stdout.readline(), "done\n")
            os.kill(p.pid, number)
            out, err = p.communicate(timeout=60)
        wait_until(lambda: os.listdir(tmp) == [], f"{command} leaves {os.listdir(tmp)} after signal {number}")
        kept = os.path.join(d, "pmend-out")
        return p.returncode, out, err, sorted(os.listdir(kept)) if os.path.isdir(kept) else []


def wait_until(is_true, what):
    """A process that cleans up has ended when its pipe does; this only bounds how long that may take."""
    end = time.monotonic() + 60
    while not is_true():
        if time.monotonic() > end:
            raise AssertionError(what)
        time.sleep(0.02)


def test_broken_off_leaves_nothing():
    for command, options in (("check", []), ("test", []), ("crash", ["--recover", RECOVER])):
        broken_off(command, options, signal.SIGKILL)
        status, out, err, left = broken_off(command, options, signal.SIGINT)  # ends the program, which is judged then
        equal((status, "No bugs found" in out), (3, True), f"status and report ({err})")
        status, out, err, left = broken_off(command, options, signal.SIGTERM)  # ends pmend
        equal((status, out), (3, ""), f"status and report ({err})")
        contains(err, "pmend was stopped; the trace is kept as")
        equal(left, ["check.pmt" if command == "check" else "crash.pmt"])


def test_dying_leaves_nothing():
    """pmend itself gives up: recovery cannot be run, or the report cannot be written."""
    with folder() as d:
        equal(run_in(d, "crash", "0", options=["--recover", "/there-is-no-such {}"])[0], 3)
        equal(run_in(d, "crash", "0", options=["--recover", "/bin/false {}"])[0], 3)
        equal(run_in(d, "check", "bug", "0", options=["-o", "/dev/full"])[0], 3)
        equal(run_in(d, "test", "bug", "0", options=["-o", "/dev/full"])[0], 3)


def test_time_is_over():
    """A program that does not end is ended after --max-time, and judged up to there: incomplete, with the place where it was. A slow machine takes more
    time to come there."""
    for command in ("test", "crash") if LONG else ("test",):
        for seconds in (2, 8, 32, 128):
            with folder() as d:
                status, out, err = run_in(d, command, "bug", "late", "wait", options=["--recover", RECOVER, "--max-time", seconds, "--format", "json"])
            ending = json.loads(out).get("ending", {}) if out else {}
            if ending.get("not_flushed") and "nothing could be explored" not in err:
                break
        report = json.loads(out)
        contains(err, f"the program still ran after {seconds} s (--max-time), and was ended; it is analysed up to that point")
        equal(status, 1 if command == "test" else 0, f"the status ({err})")
        equal(ending["how"], "time")
        contains(ending["text"], "dies.c:")
        equal(report["coverage"]["complete"], False, "complete")
        contains(report["coverage"]["why_incomplete"], f"the program was ended after {seconds} s (--max-time)")
        if report["coverage"]["failure_points"] < 1:
            raise AssertionError("no failure point was explored")
        if command == "test":
            contains([b["kind"] for b in report["bugs"]], "missing-flush")


def test_time_is_over_for_what_is_left():
    """The program failed long before, and only a process that it left was ended then: it failed."""
    need_pool()
    for seconds in (3, 12, 48):
        with folder() as d:
            status, out, err = pmend("test", "--max-time", seconds, "--recover", RECOVER, "--format", "json", "--", "sh", "-c",
                                     '"$0" pool good wait & "$0" pool good 0; exit 5', DIES, cwd=d)
        if out and json.loads(out).get("ending", {}).get("how") != "time":
            break
    equal(status, 3, f"the status ({err})")
    contains(err, "the program ended with exit status 5")
    equal(json.loads(out)["ending"], {"how": "exit", "status": 5, "text": "The program ended with exit status 5", "not_flushed": []}, "ending")


# ---- what a program that is killed had no chance to do ----

def line_of(mark):
    with open("tests/cli/dies.c", encoding="utf-8") as f:
        return next(i for i, line in enumerate(f, 1) if f"/* {mark} */" in line)


def lines(list_of_bugs):
    return sorted(b["locations"][0]["line"] for b in list_of_bugs if b.get("severity") != "performance")


def judged(d, *how):
    """Records the program and checks the trace. Gives the status, the bugs' lines, and how the recording ended."""
    trace = os.path.join(d, "t.pmt")
    pmend("record", "-q", "-o", trace, "--", DIES, "pool", *how, cwd=d)
    status, out, err = pmend("check", "--format", "json", trace, cwd=d)
    report = json.loads(out)
    equal(err, "", "errors")
    return status, lines(report["bugs"]), report.get("ending"), report


def test_killed_between_store_and_flush():
    """Is no bug, but is told. So is it between flush and fence; a locked instruction that is not about PM is no chance."""
    need_pool()
    for how, mark in ((["late"], "LATE"), (["flushed"], "FLUSHED"), (["good", "said", "late"], "LATE"), (["late", "locked"], "LATE")):
        ends = (("kill", "SIGKILL", 9), ("segv", "SIGSEGV", 11), ("abort", "SIGABRT", 6), ("term", "SIGTERM", 15))
        for end, name, number in ends if LONG or how == ["late"] else ends[:1]:
            with folder() as d:
                status, bugs, ending, report = judged(d, *how, end)
                equal((status, bugs), (0, []), f"status and bugs of {how} {end}")
                equal((ending["how"], ending["signal"]), ("signal", number))
                contains(ending["text"], f"killed by {name}")
                equal(lines(ending["not_flushed"]), [line_of(mark)])
                equal(report["coverage"]["complete"], True)


def test_had_its_chance():
    """A fence, an acknowledgement or an exit comes after the store: it is a bug, whatever comes then."""
    need_pool()
    for how, mark in ((["bug", "kill"], "BUG"), (["bug", "late", "segv"], "BUG"), (["late", "good", "kill"], "LATE"), (["late", "said", "kill"], "LATE"),
                      (["flushed", "said", "segv"], "FLUSHED"), (["late", "0"], "LATE"), (["late", "7"], "LATE"), (["late", "alone"], "LATE")):
        with folder() as d:
            status, bugs, ending, _ = judged(d, *how)
            equal((status, bugs), (1, [line_of(mark)]), f"status and bugs of {how}")
            equal(lines(ending["not_flushed"]) if ending else [], [line_of("LATE")] if "bug" in how and "late" in how else [], f"not flushed by {how}")
            equal(ending["how"] if ending else None, {"kill": "signal", "segv": "signal", "7": "exit"}.get(how[-1]))


def test_chances_of_threads():
    """Each thread has its own. What one that ended left, another may do."""
    need_pool()
    for how, is_bug in ((["thread", "late", "leave", "good", "kill"], False), (["thread", "late", "join", "kill"], False),
                        (["thread", "late", "join", "good", "kill"], True), (["thread", "good", "leave", "late", "kill"], False),
                        (["thread", "late", "good", "leave", "kill"], True)):
        with folder() as d:
            status, bugs, ending, _ = judged(d, *how)
            late = [line_of("LATE")]
            equal((status, bugs, lines(ending["not_flushed"])), (1, late, []) if is_bug else (0, [], late), f"what {how} shows")


def test_thread_that_exit_cuts_off():
    """By another thread: it is as cut off as by a signal. What it stored before its last chance is a bug, and so is all that the exiting thread leaves."""
    need_pool()
    late = [line_of("LATE")]
    with folder() as d:
        status, bugs, ending, _ = judged(d, "thread", "late", "leave", "good", "0")
        equal((status, bugs, ending["how"], lines(ending["not_flushed"])), (0, [], "thread", late))
        contains(pmend("check", "t.pmt", cwd=d)[1], "Not flushed when the program ended. These are not bugs; the threads still ran")
    for how in (["thread", "late", "good", "leave", "0"], ["thread", "good", "leave", "late", "0"], ["thread", "late", "join", "0"]):
        with folder() as d:
            equal(judged(d, *how)[:3], (1, late, None), f"what {how} shows")
    with folder() as d:  # its end is a crash as any other
        judged(d, "thread", "half", "leave", "0")
        equal(pmend("crash", "-q", "--recover", f"{DIES} {{}} whole", "t.pmt", cwd=d)[0], 1, "the status of crash")


def test_killed_child():
    need_pool()
    with folder() as d:
        status, bugs, ending, _ = judged(d, "fork", "late", "0")
        equal((status, bugs, ending["how"], lines(ending["not_flushed"])), (0, [], "process", [line_of("LATE")]))
        status, bugs, _, _ = judged(d, "fork", "bug", "0")
        equal((status, bugs), (1, [line_of("BUG")]))


def test_formats_tell_the_ending():
    need_pool()
    with folder() as d:
        judged(d, "late", "kill")
        place, report = f"dies.c:{line_of('LATE')}", os.path.join(d, "r.json")
        equal(pmend("check", "--format", "json", "-o", report, "t.pmt", cwd=d)[0], 0)
        for out in (pmend("check", "t.pmt", cwd=d)[1], pmend("check", "--format", "html", "t.pmt", cwd=d)[1], pmend("show", report)[1],
                    pmend("show", "--format", "html", report)[1], pmend("check", "--platform", "all", "t.pmt", cwd=d)[1]):
            contains(out, "killed by SIGKILL (Killed)")
            contains(out, "Not flushed when the program was killed")
            contains(out, f"{place}: stored, but not flushed")
        with open(report, encoding="utf-8") as f:
            told = json.load(f)["ending"]
        equal(json.loads(pmend("show", "--format", "json", report)[1])["ending"], told, "what is read back")
        for out in (pmend("check", "--format", "sarif", "t.pmt", cwd=d)[1], pmend("show", "--format", "sarif", report)[1]):
            run = json.loads(out)["runs"][0]
            notes = run["invocations"][0]["toolExecutionNotifications"]
            equal((run["results"], len(notes)), ([], 3))
            contains(notes[2]["message"]["text"], "'pmend crash' finds them")
            contains(notes[0]["message"]["text"], "SIGKILL")
            equal(notes[1]["locations"][0]["physicalLocation"]["region"]["startLine"], line_of("LATE"))
        equal("ending" in judged(d, "good", "0")[3], False, "a program that ended well says nothing")


def test_trace_that_is_cut():
    """Cut at any byte, the trace of a correct program shows no bug, and says that it is damaged."""
    need_pool()
    with folder() as d:
        trace = os.path.join(d, "t.pmt")
        equal(pmend("record", "-q", "-o", trace, "--", DIES, "pool", *["good", "said"] * 6, cwd=d)[0], 0)
        with open(trace, "rb") as f:
            data = f.read()
        used = int.from_bytes(data[16384 + 12:16384 + 16], "little")
        seen = set()
        for cut in range(16384 + 48 + used - 260, 16384 + 48 + used, 3):
            with open(os.path.join(d, "cut.pmt"), "wb") as f:
                f.write(data[:cut])
            status, out, err = pmend("check", "--format", "json", "cut.pmt", cwd=d)
            report = json.loads(out)
            equal((status, lines(report["bugs"]), report["ending"]["how"]), (3, [], "damage"), f"what is seen, cut at {cut} ({err})")
            seen.add(len(report["ending"]["not_flushed"]))
        equal(seen, {0, 1}, "cuts inside and outside of an update")


def test_damage_is_said():
    """With -q, too: a status of 3 without a word would be a riddle."""
    need_pool()
    with folder() as d:
        trace = os.path.join(d, "t.pmt")
        equal(pmend("record", "-q", "-o", trace, "--", DIES, "pool", *["good", "said"] * 6, cwd=d)[0], 0)
        with open(trace, "rb") as f:
            data = f.read()
        used = int.from_bytes(data[16384 + 12:16384 + 16], "little")
        with open(os.path.join(d, "cut.pmt"), "wb") as f:
            f.write(data[:16384 + 48 + used - 100])
        for command in (["check"], ["check", "--fail-on", "incomplete"], ["crash", "--recover", RECOVER]):
            result = pmend(*command, "-q", "cut.pmt", cwd=d)
            fails(result, 3, "the trace is damaged", "the analysis is incomplete", "truncated")
            equal(result[1], "", f"the report of {command}")
            equal(pmend(*command, "-q", "t.pmt", cwd=d)[1:], ("", ""), f"what {command} says of a whole trace")


# ---- crashes of such a program ----

def test_incomplete_is_said():
    """-q does not hide that the analysis is incomplete, nor why --fail-on incomplete makes the status 1."""
    need_pool()
    with folder() as d:
        judged(d, "many", "0")
        sampled = ["crash", "-q", "--strategy", "eager", "--sample", "1", "--recover", f"{DIES} {{}} sum"]
        result = pmend(*sampled, "--fail-on", "incomplete", "t.pmt", cwd=d)
        fails(result, 1, "the analysis is incomplete", "--fail-on incomplete", "--sample")
        equal(result[1], "", "the report")
        status, out, err = pmend(*sampled, "t.pmt", cwd=d)
        equal((status, out), (0, ""), "the status, and the report")
        contains(err, "pmend: the analysis is incomplete: ")


def test_end_of_a_killed_program_is_a_crash():
    """Recovery that fails on what a kill left is a bug of the program, not a wrong checker; and 'never flushed' is not said of what was about to be."""
    need_pool()
    with folder() as d:
        judged(d, "half", "kill")
        status, out, err = pmend("crash", "--format", "json", "--recover", f"{DIES} {{}} whole", "t.pmt", cwd=d)
        equal(status, 1, f"the status ({err})")
        report = json.loads(out)
        assert {b["kind"] for b in report["bugs"]} <= {"atomicity", "ordering"}, [(b["kind"], b["message"]) for b in report["bugs"]]
        equal(report["ending"]["signal"], 9)
        judged(d, "half", "0")
        equal(pmend("crash", "--recover", f"{DIES} {{}} whole", "t.pmt", cwd=d)[0], 3, "at an exit, the checker is wrong")
