"""arm64: traces of its instructions, and what `pmend check --platform arm64` says about an amd64 recording."""
import json
import os

from cli import contains, equal, fails, folder, pmend, run

FLAG = "build/tests/cli/flag"
ARM64 = ["isa=arm64", "platform=arm64"]


def trace(d, *words):
    path = os.path.join(d, "t.pmt")
    equal(run("build/tests/cli/write_trace", path, *words)[0], 0)
    return path


def found(path, *options):
    """Status, kinds with messages, and the whole report."""
    status, out, _ = pmend("check", "--format", "json", *options, path)
    told = json.loads(out)
    return status, [(b["kind"], b["severity"], b["message"]) for b in told["bugs"]], told


def kinds(path, *options):
    status, bugs, _ = found(path, *options)
    return status, [kind for kind, _, _ in bugs]


def test_show():
    with folder() as d:
        path = trace(d, *ARM64, "lse2=1", "store@0", "store-pair@16", "store-vector@32:8", "store-ordered@64:2", "store-ordered@72:7", "order:1",
                     "dc-cvap@0", "dmb:10", "dsb:15", "dsb:11")
        out = pmend("show", path)[1]
        for part in ("isa=arm64", "store-pair    pool+0x10  8", "element=8", "order=release", "order=acquire+release+atomic", "order         order=acquire  ", "dc-cvap       pool+0x0  64",
                     "dmb           ishst", "dsb           sy", "dsb           ish"):
            contains(out, part)
        contains(pmend("show", "--summary", path)[1], "isa: arm64")
        events = [json.loads(line) for line in pmend("show", "--format", "json", path)[1].splitlines()]
        equal([e["args"] for e in events if e["kind"] == "store-ordered"], [[2], [7]])


def test_flush_and_completion():
    with folder() as d:
        equal(kinds(trace(d, *ARM64, "store@0", "dc-cvap@0", "dsb:15")), (0, []))
        equal(kinds(trace(d, *ARM64, "store@0", "dc-cvadp@0", "dsb:11")), (0, []))
        for option in (13, 14, 9, 10, 7):  # ld, st, ishld, ishst, nsh
            status, [(kind, _, message)], _ = found(trace(d, *ARM64, "store@0", "dc-cvap@0", f"dsb:{option}"))
            equal((status, kind), (1, "missing-fence"))
            contains(message, "no dsb (sy, ish or osh)")
        equal(kinds(trace(d, *ARM64, "store@0", "dc-cvap@0", "dmb:15")), (1, ["missing-fence"]))
        equal(kinds(trace(d, *ARM64, "store@0", "dc-cvap@0", "order:7")), (1, ["missing-fence"]))
        equal(kinds(trace(d, *ARM64, "store@0", "dsb:15")), (1, ["missing-flush", "redundant-fence"]))


def test_point_of_coherency():
    with folder() as d:
        path = trace(d, *ARM64, "store@0", "dc-cvac@0", "dsb:15")
        status, [(kind, _, message)], told = found(path)
        equal((status, kind, told["platform"]), (1, "missing-flush", "arm64"))
        contains(message, "only to the point of coherency")
        equal([place["role"] for place in told["bugs"][0]["locations"]], ["store", "flush"])
        equal(kinds(path, "--platform", "arm64-poc"), (0, []))
        equal(kinds(trace(d, *ARM64, "store@0", "dc-civac@0", "dc-cvap@0", "dsb:15")), (0, []))


def test_pmdk_relies_on_dmb():
    with folder() as d:
        path = trace(d, *ARM64, "store@0", "libpmem/dc-cvap@0", "libpmem/dmb:10", "store@64", "libpmem/dc-cvap@64", "libpmem/dmb:10")
        status, bugs, told = found(path)
        equal((status, bugs), (0, []))
        contains(told["coverage"]["note"], "PMDK relies on that")
        text = pmend("check", path)[1]
        equal(text.count("PMDK relies on that"), 1)
        equal(kinds(path, "--no-trust"), (1, ["missing-fence", "missing-fence"]))
        assert "note" not in found(path, "--no-trust")[2]["coverage"]
        assert "note" not in found(trace(d, *ARM64, "store@0", "dc-cvap@0", "dsb:15", "libpmem/dmb:10"))[2]["coverage"]


def test_platforms_of_a_trace():
    with folder() as d:
        path = trace(d, *ARM64, "store@0", "dc-cvac@0", "dsb:15")
        fails(pmend("check", "--platform", "x86-adr", path), 3, "recorded on arm64")
        status, _, told = found(path, "--platform", "all")
        equal((status, told["platforms"]), (1, ["eadr", "arm64", "arm64-poc"]))
        equal(kinds(path, "--platform", "eadr")[1], ["flush-clean"])
        equal(kinds(trace(d, *ARM64, "store@0", "store@64"), "--platform", "eadr"), (0, []))


def test_porting():
    with folder() as d:
        paths = {}
        for how in ("plain", "fence", "locked"):
            paths[how] = os.path.join(d, how + ".pmt")
            equal(pmend("record", "-q", "-o", paths[how], "--", FLAG, os.path.join(d, how), how)[0], 0)
            equal(kinds(paths[how], "--platform", "x86-adr", "--only", "durability"), (0, []), "on amd64")
        status, [(kind, severity, message)], told = found(paths["plain"], "--platform", "arm64")
        equal((status, kind, severity), (0, "porting", "porting"))
        contains(message, "safe if this store is a release")
        with open("tests/cli/flag.c", encoding="utf-8") as f:
            lines = f.read().splitlines()
        places = {p["role"]: p["line"] for p in told["bugs"][0]["locations"]}
        contains(lines[places["survived"] - 1], "/* FLAG */")
        contains(lines[places["lost"] - 1], "/* VALUE */")
        equal(pmend("check", "-q", "--platform", "arm64", "--fail-on", "porting", paths["plain"])[0], 1)
        equal(kinds(paths["fence"], "--platform", "arm64"), (0, []))
        equal(kinds(paths["locked"], "--platform", "arm64", "--only", "durability"), (1, ["missing-fence", "missing-fence"]))
        contains(pmend("check", "--platform", "arm64", paths["plain"])[1], "0 bugs, 1 porting note")
        equal(found(paths["plain"], "--platform", "all")[2]["platforms"], ["x86-adr", "eadr", "msync"])  # no libpmem, so the recording is good for msync, too
        equal(pmend("check", "-q", "--platform", "arm64", "--", FLAG, os.path.join(d, "now"))[0], 0)
        result = json.loads(pmend("check", "--platform", "arm64", "--format", "sarif", paths["plain"])[1])["runs"][0]["results"][0]
        equal((result["ruleId"], result["level"]), ("porting", "note"))


def test_crash():
    """Where a recording was made does not matter: the states are those of its instructions, and failure points lie before what completes a flush."""
    with folder() as d:
        for words, platform, points, states in (
                (["store@0", "store@8", "dc-cvap@0", "dsb:15", "store@64"], "arm64", 2, 4 + 2),  # before the dsb, and the end
                (["store@0", "dmb:11", "store@8", "dc-cvap@0", "dsb:15", "store@64"], "arm64", 2, 3 + 2),
                (["store@0", "store-ordered@8:2", "dc-cvap@0", "dsb:15", "store@64"], "arm64", 2, 3 + 2),
                (["store@0", "store@8", "dc-cvap@0", "dmb:15", "store@64"], "arm64", 1, 4 * 2),  # completes nothing
                (["store@0", "store@8", "dc-cvac@0", "dsb:15", "store@64"], "arm64", 1, 4 * 2),
                (["store@0", "store@8", "dc-cvac@0", "dsb:15", "store@64"], "arm64-poc", 2, 4 + 2),
                (["store@0", "store@64", "dmb:11", "store@8"], "eadr", 4, 1 + 2 + 4 + 2)):  # before each store and barrier, and the end
            path = trace(d, *ARM64, "argv.0=app", *words)
            status, out, err = pmend("crash", "--format", "json", "--platform", platform, "--recover", "cat {}", path)
            equal(status, 0, err)
            told = json.loads(out)["coverage"]
            equal((told["failure_points"], told["states_all"]), (points, str(states)), f"{words} on {platform}")


def test_crash_trust():
    """A dmb of PMDK's libraries completes flushes, and the report says so; --no-trust judges it as the architecture does."""
    with folder() as d:
        path = trace(d, *ARM64, "argv.0=app", "store@0", "dc-cvap@0", "libpmem/dmb:11", "store@64")
        for options, points, states, has_note in (([], 2, 2 + 2, True), (["--no-trust"], 1, 2 * 2, False)):
            told = json.loads(pmend("crash", "--format", "json", *options, "--recover", "cat {}", path)[1])["coverage"]
            equal((told["failure_points"], told["states_all"], "dmb" in told.get("note", "")), (points, str(states), has_note), f"with {options}")


def test_crash_ported():
    """What `check` calls porting, `crash` does, too, and only that; a program is recorded here, and judged as it would be there."""
    with folder() as d:
        recover = "sh -c 'set -- $(od -A n -t d8 -N 16 \"$0\"); test \"${2:-0}\" = 0 -o \"${1:-0}\" = 42' {}"
        for how, status, found_kinds in (("plain", 0, ["porting"]), ("fence", 0, [])):
            pool = os.path.join(d, how)
            got, out, err = pmend("crash", "--format", "json", "--trace", pool + ".pmt", "--platform", "arm64", "--recover", recover, "--", FLAG, pool, how)
            equal((got, [b["kind"] for b in json.loads(out)["bugs"]]), (status, found_kinds), err)
            equal(pmend("crash", "-q", "--recover", recover, pool + ".pmt")[0], 0)
        equal(pmend("crash", "-q", "--platform", "arm64", "--fail-on", "porting", "--recover", recover, os.path.join(d, "plain.pmt"))[0], 1)
        equal(pmend("test", "-q", "--platform", "arm64", "--recover", recover, "--", FLAG, os.path.join(d, "tested"))[0], 0)


def test_usage():
    fails(pmend("record", "--platform", "arm64", "--", "true"), 2, "do not run here", "pmend check --platform arm64")
    fails(pmend("crash", "--platform", "x86", "--recover", "true", "x.pmt"), 2, "arm64-poc", "'x86'")
    fails(pmend("check", "--fail-on", "nothing", "x.pmt"), 2, "porting", "'nothing'")
