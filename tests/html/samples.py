"""Reports to make pages of: many findings, hostile ones, and those of real programs."""
import json
import os
import subprocess

PMEND = os.path.abspath(os.environ.get("PMEND", "build/pmend"))
HOSTILE = "</script><img src=x onerror=alert(1)> \x1b[31mred\x1b[0m \u202ereversed <b>bold</b> \"quoted\" 'single' &amp; -->"
LONG = "x" * (1 << 20)


def run(*command, env=None, status=(0, 1)):
    p = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=240,
                       env=dict(os.environ, **(env or {})))
    if p.returncode not in status:
        raise AssertionError(f"{' '.join(map(str, command))} ended with {p.returncode}: {p.stderr[-500:]}")
    return p.stdout


def page(report, path, *options):
    """The page of a JSON report, which may be an object."""
    if isinstance(report, dict):
        with open(path + ".json", "w", encoding="utf-8") as f:
            json.dump(report, f)
        report = path + ".json"
    run(PMEND, "show", "--format", "html", *options, "-o", path, report)
    return path


def location(role, file, line, function):
    return {"role": role, "file": file, "line": line, "function": function, "text": "node->value = v; /* as it was */",
            "stack": [{"function": f"caller_{i}", "file": "src/main.c", "line": 10 + i} for i in range(4)]}


def bug(i, severity="correctness", kind="missing-flush", file="app.c", message="this store is never flushed", **more):
    return {"id": f"{i + 1:016x}", "kind": kind, "severity": severity, "message": message, "count": i % 7 + 1,
            "locations": [location("store", f"src/{file}", 10 + i % 500, f"update_{i}")], **more}


def evidence(nevents=24):
    """A timeline and memory as `pmend test` makes them."""
    row = "00" * 64
    newest = "11223344" + "00" * 60
    kinds = ["op-begin", "store", "store", "clwb", "sfence", "op-end", "output", "store"]
    events = [{"event": 100 + i, "kind": kinds[i % 8], "thread": 1 + i % 2, "states": "xpd"[i % 3] * 2, "file": "src/app.c", "line": 10 + i, "function": "update",
               **({"row": i % 2, "offset": 64 + i, "size": 8, "field": "node.value", "what": "42"} if kinds[i % 8].startswith("store") else {}),
               **({"skipped": 1000 * i} if i % 5 == 4 else {}), **({"role": "lost"} if i == 1 else {})} for i in range(nevents)]
    memory = [{"file": "/mnt/pmem/pool", "offset": 64 * k, "durable": row, "newest": newest, "found": "1122" + "00" * 62, "possible": [row, newest],
               "possible_all": 2, "fields": [{"offset": 0, "size": 8, "name": "node.value"}]} for k in range(2)]
    return {"timeline": {"events": events, "crash_before": 100 + nevents, "skipped_at_end": 3}, "memory": memory}


def crash(**more):
    return {"failure_point": 3, "lost": [], "outcome": "the state after recovery is neither that before nor that after the operation in flight",
            "command": "./app dump {}", "output": "a 1\n", "replay": "pmend crash --dump './app dump {}' --replay 3:1+40=1 app.pmt",
            "comparison": {"operation": {"number": 2, "name": "put", "source": "annotated", "in_flight": 1}, "allowed": 2, "before": "a 1\nb 2\n",
                           "after": "a 1\nb 3\n", "found": "a 1\nb 9\n", "differences": 1,
                           "difference": [{"line": 2, "before": "b 2", "after": "b 3", "found": "b 9"}]}, **more}


def report(bugs, **more):
    return {"pmend": "0.1.0", "platform": "x86-adr", "command": ["./app", "pool"], "bugs": bugs,
            "coverage": {"events": 81234, "failure_points": 90, "runs": 214, "complete": False, "why_incomplete": "the budget ended"}, **more}


def mixed():
    """Findings of each severity, two files, one of a library, one with all there is."""
    whole = bug(0, kind="ordering", message="a crash can lose this store while a later one survives", **evidence(), crash=crash())
    whole["locations"] = [location("lost", "src/app.c", 12, "put"), location("survived", "src/app.c", 15, "put"), location("flush", "src/other.c", 7, "persist")]
    whole["consequences"] = [bug(900, message="of the same cause")]
    return report([whole, bug(1), bug(2, file="tree.c", kind="missing-fence"), bug(3, "performance", "redundant-flush", "tree.c", "flushed twice"),
                   bug(4, "performance", "flush-clean", library="libpmemobj"), bug(5, "warning", "recovery-output")])


def explored():
    """Of `pmend explore` and of representative testing."""
    r = report([bug(0, input={"file": "out/corpus/000012", "command": "pmend check -- ./app pool out/corpus/000012", "size": 9, "first": "out/corpus/000003"}, **evidence()), bug(1)])
    r["bugs"][0]["timeline"]["input"] = "out/corpus/000003"
    r["coverage"].update(inputs=20, progress=[{"input": 1, "file": "out/corpus/000000", "new_pm": 7}, {"input": 4, "file": "out/corpus/000003", "new_pm": 2, "new_bugs": 2},
                                              {"input": 9, "file": "out/corpus/000008", "new_bugs": 1}, {"input": 15, "file": "out/corpus/000014", "new_pm": 1}])
    r["coverage"]["representative"] = {"behaviours": 115, "behaviours_tested": 11, "behaviours_represented": 115, "groups": 2, "groups_begun": 2, "groups_tested": 1,
                                       "groups_failed": 1, "followed_up": 1, "list": [
                                           {"type": "node", "fields": "key, value, next", "places": "hash_put (hash.c:236)", "behaviours": 24, "tested": True, "failed": True},
                                           {"type": "head", "fields": "count", "places": "hash_put (hash.c:243)", "behaviours": 91, "tested": False, "failed": False}]}
    return r


def hostile():
    b = bug(0, kind="my-" + HOSTILE, file=HOSTILE + ".c", message=HOSTILE, **evidence(), crash=crash(output=HOSTILE + "\n" + LONG, outcome=HOSTILE, command=HOSTILE))
    b["locations"][0].update(function=HOSTILE, text=HOSTILE, role=HOSTILE)
    for e in b["timeline"]["events"]:
        e.update(function=HOSTILE, what=HOSTILE, kind=HOSTILE, role=HOSTILE, file=HOSTILE, field=HOSTILE + LONG)
    for row in b["memory"]:
        row["file"] = HOSTILE
        row["fields"][0]["name"] = HOSTILE + LONG
    b["crash"]["comparison"].update(before=HOSTILE, after=LONG, found=HOSTILE + LONG)
    long = bug(1, kind=LONG, file=LONG, message=LONG)
    long["locations"][0].update(function=LONG, text=LONG)
    return report([b, long], command=[HOSTILE, LONG])
