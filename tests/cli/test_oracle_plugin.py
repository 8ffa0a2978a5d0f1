"""pmend check --oracle: the oracle of docs/howto-add-oracle.md, and what can be wrong with a file."""
import json
import os

from cli import ARCH, contains, equal, fails, folder, need_pool, pmend, write

BUILT = os.path.abspath("build/tests/cli")
HOWTO = f"{BUILT}/howto_oracle.so"
PROBE = f"{BUILT}/oracle_probe.so"
SOURCE = "tests/cli/commits.c"
KIND = "commit-order/early-commit"


def line_of(mark):
    with open(SOURCE, encoding="utf-8") as f:
        return [number for number, line in enumerate(f, 1) if mark in line][0]


def recorded(d):
    trace = os.path.join(d, "t.pmt")
    equal(pmend("record", "-q", "-o", trace, "--", f"{BUILT}/commits", os.path.join(d, "a pool"))[0], 0, "the recording's status")
    return trace


def bugs(trace, *options):
    status, out, err = pmend("check", "--format", "json", *options, trace)
    found = json.loads(out)["bugs"]
    equal((status, err), (1 if any(b["severity"] == "correctness" for b in found) else 0, ""), "the status and errors of check")
    return found


def test_howto():
    need_pool()
    with open(f"{BUILT}/howto_oracle.c", encoding="utf-8") as f:
        assert len(f.readlines()) < 50, "the document promises less than 50 lines"
    with folder() as d:
        trace, report = recorded(d), os.path.join(d, "r.json")
        equal(bugs(trace), [], "what is found without the oracle")
        [bug] = bugs(trace, "--oracle", HOWTO)
        equal((bug["kind"], bug["severity"], bug["count"]), (KIND, "correctness", 1))
        equal([(w["role"], w["function"], w["line"]) for w in bug["locations"]],
              [("store", "write_carelessly", line_of("/* BUG */")), ("lost", "write_carelessly", line_of("/* LOST */"))])
        contains(bug["advice"], "Flush and fence")
        equal(bugs(trace, "--oracle", HOWTO)[0]["id"], bug["id"], "the id of a second run")

        status, out, _ = pmend("check", "--oracle", HOWTO, "--format", "sarif", trace)
        run = json.loads(out)["runs"][0]
        equal((status, [r["ruleId"] for r in run["results"]]), (1, [KIND]))
        assert KIND in [r["id"] for r in run["tool"]["driver"]["rules"]]
        hidden = write(os.path.join(d, "s"), "{\nkind: commit-order/*\n}\n")
        equal(bugs(trace, "--oracle", HOWTO, "--suppress", hidden), [])
        equal(pmend("check", "--oracle", HOWTO, "--format", "json", "-o", report, trace)[0], 1)
        equal(bugs(trace, "--oracle", HOWTO, "--baseline", report), [])

        equal(bugs(trace, "--oracle", HOWTO, "--only", "durability"), [], "what is found without the oracle being asked for")
        equal(len(bugs(trace, "--oracle", HOWTO, "--only", "commit-order")), 1)
        fails(pmend("check", "--oracle", HOWTO, "--only", "commits", trace), 2, "no oracle 'commits'; there are durability", "commit-order")
        made = os.path.join(d, "made")
        fails(pmend("check", "--with", "overwrites", "--", "touch", made), 2, "no oracle 'overwrites'")
        assert not os.path.exists(made), "the program was run before the name was found to be wrong"
        the_interface(trace)


def the_interface(trace):
    """All that an oracle is told; on eADR, nothing can be lost on amd64, and on arm64 what nothing orders."""
    told = "1 files, 4 stores, sum 32, {} not durable, {} to be lost at flushes, 0 ignored on {}"
    both = bugs(trace, "--oracle", HOWTO, "--oracle", PROBE)
    equal([b["kind"] for b in both], [KIND, "probe/seen"])
    equal((both[1]["severity"], both[1]["message"], both[1]["count"]), ("performance", told.format(1, 5, {"amd64": "x86-adr", "arm64": "arm64"}[ARCH]), 3))
    [probed] = bugs(trace, "--oracle", PROBE, "--only", "probe", "--platform", "eadr")
    equal(probed["message"], told.format(*{"amd64": (0, 0), "arm64": (1, 4)}[ARCH], "eadr"))


def test_what_is_no_oracle():
    with folder() as d:
        pool, text = os.path.join(d, "a pool"), write(os.path.join(d, "text.so"), "no ELF file")
        for path, parts in (("none.so", ("none.so", "No such file")), (text, (text, "shared object")),
                            (f"{BUILT}/runtime_probe.so", ("no 'pmend_oracle'", "howto-add-oracle")),
                            (f"{BUILT}/oracle_other_abi.so", ("version 999", "version 1")),
                            (f"{BUILT}/oracle_unnamed.so", ("the name of the oracle", "must consist of lower-case letters"))):
            fails(pmend("check", "--oracle", path, "--", f"{BUILT}/commits", pool), 3, *parts)
        assert not os.path.exists(pool), "a program was run although an oracle is no good"
