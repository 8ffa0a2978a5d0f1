"""{pool} is the path of a scratch pool: the program makes the file, pmend removes it."""
import json
import os

from cli import ARCH, POOL, Skip, contains, equal, fails, folder, need_pool, pmend, write

LOG = os.path.abspath("build/examples/append_log")


def need_log():
    need_pool()
    if not os.access(LOG + "_buggy", os.X_OK):
        raise Skip("build/examples/append_log_buggy is not built")


def alone(d, *args, **kw):
    """Runs pmend in an empty folder with a TMPDIR of its own, which has a space in its name; nothing may be left in that."""
    here, tmp = os.path.join(d, "here"), os.path.join(d, "scratch room")
    for name in (here, tmp):
        os.makedirs(name, exist_ok=True)
    result = pmend(*args, cwd=here, env={"TMPDIR": tmp}, **kw)
    equal(os.listdir(tmp), [], "what is left in TMPDIR")
    return result, here


def test_record():
    need_log()
    with folder() as d:
        (status, _, err), here = alone(d, "record", "-o", "t.pmt", "--", LOG, "{pool}", "one")
        equal(status, 0, err)
        equal(os.listdir(here), ["t.pmt"], "what is in the folder")
        status, out, _ = pmend("check", "--format", "json", os.path.join(here, "t.pmt"))
        equal((status, json.loads(out)["command"]), (0, [LOG, "{pool}", "one"]))


def test_in_a_word():
    """Also as a part of a word, and more than once."""
    need_pool()
    with folder() as d:
        script = write(os.path.join(d, "app"), f'#!/bin/sh\ncase $1 in --at=/*"/scratch room/"*/pool,/*/pool.b) ;; *) exit 9 ;; esac\n'
                                               f'p=${{1%,*}}\nexec {LOG} "${{p#--at=}}" x\n')
        os.chmod(script, 0o755)
        (status, out, err), _ = alone(d, "check", "--", script, "--at={pool},{pool}.b")
        equal(status, 0, out + err)


def test_without():
    """Other braces are the program's."""
    need_log()
    with folder() as d:
        (status, _, err), here = alone(d, "record", "-q", "--", LOG, "{log}", "{}")
        equal((status, err), (0, ""))
        equal(sorted(os.listdir(here)), ["pmend.pmt", "{log}"])


def test_crash_and_replay():
    """The trace is replayed when the folder of the pool is gone; findings have the same ids as with a pool of the user's."""
    need_log()
    with folder() as d:
        dump = ("--dump", f"{LOG} {{}}")
        (status, out, err), here = alone(d, "crash", *dump, "--format", "json", "-o", "r.json", "--", LOG + "_buggy", "{pool}", "hello")
        equal(status, 1, out + err)
        equal(sorted(os.listdir(here)), ["pmend-out", "r.json"])
        with open(os.path.join(here, "r.json"), encoding="utf-8") as f:
            report = json.load(f)
        equal(report["command"], [LOG + "_buggy", "{pool}", "hello"])
        state = report["bugs"][0]["crash"]["replay"].split("--replay ")[1].split()[0]
        for text in (f"{LOG} {{}}", f"{LOG} {{pool}}"):
            (status, out, _), _ = alone(d, "crash", "--dump", text, "--replay", state, "pmend-out/crash.pmt")
            equal(status, 1)
            contains(out, "0: hell\n")
        alone(d, "crash", *dump, "--format", "json", "-o", "own.json", "--", LOG + "_buggy", "own", "hello")
        with open(os.path.join(here, "own.json"), encoding="utf-8") as f:
            own = json.load(f)
        equal([b["id"] for b in own["bugs"]], [b["id"] for b in report["bugs"]], "the ids")


def test_default_recovery():
    """Without --recover, recovery is the recorded command on the same pool; also later, by the trace."""
    need_log()
    with folder() as d:
        (status, out, err), _ = alone(d, "crash", "--trace", "kept.pmt", "--", LOG, "{pool}", "hello")
        equal(status, 0, out + err)
        (status, out, err), _ = alone(d, "crash", "kept.pmt")
        equal((status, err), (0, ""), out)
        contains(out, "No bugs found")


def test_test():
    need_log()
    with folder() as d:
        (status, out, err), _ = alone(d, "test", "--recover", f"{LOG} {{pool}}", "--", LOG, "{pool}", "hello")
        equal(status, 0, out + err)
        (status, _, err), here = alone(d, "test", "--", LOG + "-is-not-there", "{pool}")
        equal((status, os.listdir(here)), (3, []), err)


def test_explore():
    """Every run has the pool for itself, and an exploration goes on although the path is another one."""
    need_log()
    if not os.access(f"build/libexec/pmend/pmend-trace-{ARCH}-linux", os.X_OK):
        raise Skip("the tracer is not built")
    with folder() as d:
        args = ("explore", "--max-runs", "2", "--jobs", "2", "--out", "out", "--format", "json", "--", LOG, "{pool}", "@@")
        for start in ("first", "second"):
            (status, out, err), _ = alone(d, *args)
            if status not in (0, 3):  # 3: there is more to try
                raise AssertionError(f"{start} start: {status} {err}")
            equal(json.loads(out)["command"], [LOG, "{pool}", "@@"])


def test_misspelled():
    """What is a placeholder but for one letter, or its case, is an error before anything runs; other braces pass, and so does a shell's ${POOL}."""
    with folder() as d:
        for word in ("{Pool}", "x={POOL}", "{pol}", "{poool}", "{tool}", "{plool}", "{opol}"):
            for command in (["record"], ["check"], ["crash", "--recover", "true {}"], ["test"], ["explore"]):
                fails(pmend(*command, "--", POOL, word, cwd=d), 2, f"{word[word.index('{'):]} is no placeholder; did you mean {{pool}}?")
        for word in ("{Pool}", "{OP}"):
            fails(pmend("crash", "--recover", "true {}", "--then", f"true {word}", "there-is-no.pmt", cwd=d), 2, f"--then: {word} is no placeholder; did you mean")
        equal(os.listdir(d), [])
        for word in ("{}", "{1}", "{pools,pod}", "{pool", "pool}", "${POOL}", "{spools}", "{p}", "{2op}"):
            _, _, err = pmend("check", "-q", "--", "true", word, cwd=d)
            equal("placeholder" in err, False, f"{word}: {err}")
