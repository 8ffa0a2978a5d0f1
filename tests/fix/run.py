#!/usr/bin/env python3
"""Tests of `pmend fix`. Runs in the project's folder. Arguments: names of tests (default: all).

Each source of this folder has marks at its stores; fixed/ holds what must come out (it builds without warnings with gcc and clang: fix.mk).
The programs at the end are recorded, mended and verified."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
sys.path[:0] = [HERE, os.path.join(HERE, "forty"), os.path.join(HERE, "..", "cli"), os.path.join(HERE, "..")]
sys.dont_write_bytecode = True
os.chdir(TOP)

from cli import contains, equal, fails, folder, pmend, run, write  # noqa: E402
from each import choose, run_each  # noqa: E402
import fixtest  # noqa: E402
import forty  # noqa: E402
import ordertest  # noqa: E402
from missing import ARCH  # noqa: E402
import schema  # noqa: E402,F401  (looks at every report that is read)

HOIST = sorted(glob.glob("tests/fix/hoist/*.[ch]"))
FLAGS = f"-std=gnu11 -I'{os.getcwd()}'" + (" -mclwb" if ARCH == "amd64" else "")


def prepare(scratch, *sources):
    """Copies sources, with a database and a report of their marks; gives the marks."""
    database, marks = [], []
    for source in sources:
        name = os.path.basename(source)
        text = read(source)
        path = write(os.path.join(scratch, name), text)
        flags = FLAGS if name.endswith(".c") else f"-std=c++17 -I'{os.getcwd()}'"
        database.append((scratch, f"gcc {flags} -c -o x.o {name}", path))
        marks += fixtest.bugs(name, text)
    fixtest.write_database(scratch, database)
    fixtest.write_report(os.path.join(scratch, "report.json"), [bug for bug, _ in marks])
    return marks


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


# Intrinsics are amd64's. Inline assembly is read, not assembled, so that of either machine is read on both.
SOURCES = [path for path in sorted(glob.glob("tests/fix/*.c*")) if os.path.exists(os.path.join("tests/fix/fixed", os.path.basename(path)))
           and (ARCH == "amd64" or "immintrin.h" not in read(path))]


def mend_sources(sources):
    """All in one run, which takes a while to load libclang. What has no counterpart in fixed/ must stay as it is. Gives what was said."""
    with folder() as scratch:
        marks = prepare(scratch, *sources)
        patched = os.path.join(scratch, "patched")
        os.mkdir(patched)
        for s in sources:
            shutil.copy(s, patched)
        status, out, err = pmend("fix", "--apply", "--fail-on", "performance", "-o", "../a.patch", "-p", scratch, "--root", scratch, "../report.json", cwd=patched, timeout=300)
        equal((status, out), (int(any(reason for _, reason in marks)), ""), f"the status and output ({err})")
        equal(run("patch", "-s", "-p1", "-i", "../a.patch", cwd=patched)[0], 0, "the status of patch")
        for path in sources:
            name, fixed = os.path.basename(path), os.path.join(os.path.dirname(path), "fixed", os.path.basename(path))
            expected = read(fixed if os.path.exists(fixed) else path)
            equal(read(scratch, name), expected, f"the mended {name}")
            equal(read(patched, name), expected, f"the patched {name}")
        lines = sorted(line for line in err.splitlines() if ": left: " in line or ": suggested: " in line)
        left = sorted((bug["locations"][0]["file"], bug["locations"][0]["line"], reason) for bug, reason in marks if reason)
        equal(len(lines), len(left), f"the number of bugs left in {lines}")
        for file, line, reason in left:
            contains(next((text for text in lines if text.startswith(f"{file}:{line}: ")), ""), reason)
    return err


def has_instructions(path):
    """Whether a source has instructions of a machine, or of a library that has them."""
    return re.search(r"\basm\b|__asm|_mm_|machine\.h|libpmem\.h", read(path))


def test_sources():
    mend_sources([path for path in SOURCES if not has_instructions(path)])


def test_instructions():
    mend_sources([path for path in SOURCES if has_instructions(path)])


def test_ways():
    """Helpers of all forms, known by what they do."""
    mend_sources(sorted(glob.glob("tests/fix/ways/*.c*")))


def test_amendments():
    """Flushes that are there, but too late, too short, or behind the loop."""
    contains(mend_sources(sorted(glob.glob("tests/fix/amend/*.c*"))), "29 flushes corrected")


def hoisting(scratch, sources=HOIST):
    """Copies the sources whose marks are call stacks, with a database and a report."""
    texts = [(os.path.basename(s), read(s)) for s in sources]
    for name, text in texts:
        write(os.path.join(scratch, name), text)
    fixtest.write_database(scratch, [(scratch, f"gcc {FLAGS} -MMD -MF x.d -c -o x.o {name}", os.path.join(scratch, name))
                                     for name, _ in texts if name.endswith(".c")])
    fixtest.write_report(os.path.join(scratch, "report.json"), list(fixtest.stack_bugs(texts)))
    return texts


def test_subprograms():
    """Copies of functions in two files and a header: by the analysis of the whole program, and without clang."""
    with folder() as scratch:
        texts = hoisting(scratch)
        files = set(os.listdir(scratch))
        status, plain, err = pmend("fix", "-p", scratch, "--explain", "report.json", cwd=scratch, env={"PATH": "/nowhere"})
        equal(status, 0, f"the status without clang ({err})")
        contains(err, "clang is not installed")
        equal(len(re.findall(r"^\+static void (?:set_key|update|modify|copy_text)_pm\(", plain, re.M)), 4, "the copies without clang")
        status, out, err = pmend("fix", "-p", scratch, "--apply", "--explain", "report.json", cwd=scratch)
        equal((status, out), (0, ""), f"the status and output ({err})")
        equal(set(os.listdir(scratch)), files, "the files")
        for name, _ in texts:
            mended = re.sub(r"^/\* pmend: .*\n| /\* pmend: .*? \*/", "", read(scratch, name), flags=re.M)
            equal(mended, read("tests/fix/hoist/fixed", name), f"the mended {name}")
        contains(err, "(scores: update 0 = 1 - 1, call in modify 0 = 1 - 1, call in listing 1 = 1 - 0, call in main 1 = 1 - 0; seen 1 times)")
        contains(err, "(scores: copy_text -1 = 1 - 2, call in cell_label -1 = 1 - 2, call in main 1 = 1 - 0; seen 1 times)")
        for reason in ("depth is recursive", "any_number takes any number", "counted keeps a static variable", "by_pointer is not called by its name"):
            contains(err, reason)


def test_scores():
    """The numbers of persistent and of volatile objects are those of scores.txt, whatever the version of LLVM. (Found with LLVM 14, where pointers have types.)"""
    found = ""
    for sources in (HOIST, sorted(glob.glob("tests/fix/copies/*.c"))):
        with folder() as scratch:
            hoisting(scratch, sources)
            err = pmend("fix", "-p", scratch, "--explain", "report.json", cwd=scratch)[2]
            found += "".join(f"{place} {scores}\n" for place, scores in re.findall(r"^(\S+:\d+): .*?\((scores: .*)\)$", err, re.M))
    equal(found, read("tests/fix/scores.txt"), "the scores")


def test_copies():
    """A copy of a function is made where it stores to volatile memory, too, and not where it only is given some that leads to persistent memory; with the analysis and without."""
    for env in ({}, {"PATH": "/nowhere"}):
        with folder() as scratch:
            texts = [(os.path.basename(s), read(s)) for s in sorted(glob.glob("tests/fix/copies/*.c"))]
            for name, text in texts:
                write(os.path.join(scratch, name), text)
            fixtest.write_database(scratch, [(scratch, f"gcc {FLAGS} -c -o x.o {name}", os.path.join(scratch, name)) for name, _ in texts])
            fixtest.write_report(os.path.join(scratch, "report.json"), list(fixtest.stack_bugs(texts)))
            status, out, err = pmend("fix", "-p", scratch, "--apply", "report.json", cwd=scratch, env=env)
            equal((status, out), (0, ""), f"the status and output ({err})")
            contains(err, "a copy of set_size, which also gets volatile memory")
            for name, _ in texts:
                equal(read(scratch, name), read("tests/fix/copies/fixed", name), f"the mended {name} with {env}")


def test_linked():
    """Files that have nothing to do with a bug's are not compiled: one that does not compile changes nothing, unless it names what these define."""
    other = "#include <stdlib.h>\nstatic int modify(char *p)\n{\n\treturn *p; /* update */\n}\nint main(void)\n{\n\treturn modify(UNDEFINED);\n}\n"
    with folder() as scratch:
        hoisting(scratch)
        database = json.loads(read(scratch, "compile_commands.json"))
        wanted = pmend("fix", "-p", scratch, "report.json", cwd=scratch)[:2]
        for name, text, is_linked in (("other.c", other, False), ("asks.c", other.replace("return *p", "cell_label(p);\n\treturn *p"), True)):
            path = write(os.path.join(scratch, name), text)
            entry = {"directory": scratch, "command": f"gcc {FLAGS} -c -o x.o {name}", "file": path}
            write(os.path.join(scratch, "compile_commands.json"), json.dumps(database + [entry]))
            status, out, err = pmend("fix", "-p", scratch, "report.json", cwd=scratch)
            equal(f"{name} does not compile" in err, is_linked, f"whether {name} was compiled ({err})")
            if not is_linked:
                equal((status, out), wanted, "the status and the patch")


def write_transactions(names, bugs):
    """As told, without a trace."""
    with folder() as scratch:
        fixtest.write_database(scratch, [(ordertest.HERE, f"gcc {FLAGS if name.endswith('.c') else ''} -I../../../include -c {name}", os.path.join(ordertest.HERE, name))
                                         for name in names])
        status, out, err = run("build/tests/fix/write_tx", scratch, "build/libexec/pmend",
                               stdin="\n\n".join("\n".join(lines) for lines, _ in bugs).encode() + b"\n", timeout=300)
    equal(status, 0, f"the status ({err})")
    said, *files = re.split(r"^=== ", out, flags=re.M)
    equal(len(said.splitlines()), len(bugs), "the number of bugs")
    for line, (_, want) in zip(said.splitlines(), bugs):
        equal(bool(re.match(want, line)), True, f"'{line}' for '{want}'")
    texts = dict(f.split("\n", 1) for f in files)
    headers = {name for name in texts if name.endswith(".h")}
    equal(sorted(texts), sorted(set(os.listdir("tests/fix/order/fixed")) & (set(names) | headers)), "the files that change")
    for name, text in texts.items():
        equal(text, read("tests/fix/order/fixed", name), f"the mended {name}")


def test_transactions():
    """Around stores of one function, of several, of several files; where they may begin and end; what they log."""
    names = ["callees.c", "two.c", "two_give.c", *(name for name in ordertest.MARKED if name.endswith(".c"))]
    write_transactions(names, list(ordertest.calls(names)) + [bug for name in names if name in ordertest.MARKED for bug in ordertest.shapes(name)])


def test_all_transactions():
    names = sorted(name for name in os.listdir(ordertest.HERE) if name.endswith((".c", ".cc")))
    write_transactions(names, list(ordertest.calls(names)) + [bug for name in ordertest.MARKED for bug in ordertest.shapes(name)])


def test_order():
    """Cures that are tried on the trace: a barrier that is enough, stores that no barrier makes atomic; and without the trace, nothing."""
    with folder() as scratch:
        shutil.copy("tests/fix/order/raw.c", scratch)
        build = f"gcc {FLAGS} -O1 -g -o raw raw.c"
        fixtest.write_database(scratch, [(scratch, f"gcc {FLAGS} -c raw.c", os.path.join(scratch, "raw.c"))])
        equal(run("sh", "-c", build, cwd=scratch, timeout=300)[0], 0, "the status of the build")
        status, _, err = pmend("crash", "--format", "json", "-o", "report.json", "--recover", "./raw {} check", "--trace", "raw.pmt", "--", "./raw",
                               "pool", cwd=scratch)
        equal(status, 1, f"the status of crash ({err})")
        status, out, err = pmend("fix", "-p", ".", "report.json", cwd=scratch)
        equal(status, 1, f"the status of fix ({err})")
        contains(err, "ordering: fixed: flush and fence added in append")
        contains(err, "must become durable together")
        equal(re.findall(r"^[-+]\t.*$", out, re.M), ["+\tflush(&p->values[p->count]);", "+\tfence();"], "the change")
        os.remove(os.path.join(scratch, "raw.pmt"))
        status, out, err = pmend("fix", "-p", ".", "report.json", cwd=scratch)
        equal((status, out), (1, ""), "the status and output without the trace")
        contains(err, "its trace raw.pmt is not there")


def test_interrupted():
    """Ctrl-C while cures are tried: what needs none is mended all the same, the rest is left, and nothing is applied. Recovery itself sends the signal, so the moment is certain.
    It says so in a folder of its own: beside the pool, each run would see the file anew."""
    signal_us = """static int check(const struct pool *p)
{
	FILE *f = fopen("told/interrupt", "r");
	int pid;

	if (f && fscanf(f, "%d", &pid) == 1)
		kill(pid, SIGINT);
	if (f)
		rename("told/interrupt", "told/done");
"""
    with folder() as scratch, folder() as tmp:
        text = "#include <signal.h>\n#include <stdio.h>\n" + read("tests/fix/order/raw.c").replace("static int check(const struct pool *p)\n{\n", signal_us)
        text += "\nvoid late(struct pool *p);\nvoid late(struct pool *p)\n{\n\tp->b = 7;\n}\n"
        source = write(os.path.join(scratch, "raw.c"), text)
        fixtest.write_database(scratch, [(scratch, f"gcc {FLAGS} -c raw.c", source)])
        equal(run("sh", "-c", f"gcc {FLAGS} -O1 -g -o raw raw.c", cwd=scratch, timeout=300)[0], 0, "the status of the build")
        status, _, err = pmend("crash", "--format", "json", "-o", "report.json", "--recover", "./raw {} check", "--trace", "raw.pmt", "--", "./raw", "pool", cwd=scratch)
        equal(status, 1, f"the status of crash ({err})")
        report = json.loads(read(scratch, "report.json"))
        line = next(i for i, s in enumerate(text.splitlines(), 1) if s == "\tp->b = 7;")
        report["bugs"].append({"id": "a" * 16, "kind": "missing-flush-fence", "severity": "correctness", "message": "m", "count": 1,
                               "locations": [fixtest.location("store", "raw.c", line, 7, "late")]})
        write(os.path.join(scratch, "report.json"), json.dumps(report))
        program = os.path.abspath("build/pmend")
        script = f"mkdir told && echo $$ >told/interrupt && exec '{program}' fix -p . --apply --outcome o.json report.json"
        status, out, err = run("sh", "-c", script, cwd=scratch, env={"TMPDIR": tmp}, timeout=300)
        equal(status, 1, f"the status ({err})")
        equal(re.findall(r"^[-+]\t.*$", out, re.M), ["+\tflush(&p->b);", "+\tfence();"], f"the change ({err})")
        counts = json.loads(read(scratch, "o.json"))["counts"]
        equal((counts["fixed"], counts["left"]), (1, len(report["bugs"]) - 1), f"the numbers ({err})")
        contains(err, "no fix was found: interrupted")
        contains(err, "neither verified nor applied")
        equal((read(scratch, "raw.c"), os.listdir(tmp)), (text, []), "the source, and what is left behind")


def test_interrupted_pointers():
    """Ctrl-C while files are compiled to follow pointers: callers are counted instead, and the patch is the one without clang. The compiler itself sends the signal."""
    with folder() as scratch:
        hoisting(scratch)
        number = re.search(r"libclang-(\d+)", subprocess.run(["ldd", "build/libexec/pmend/libpmend_source.so"], capture_output=True, text=True).stdout)[1]
        compiler = f"/usr/lib/llvm-{number}/bin/clang"  # not by PATH: ccache would look for it there again, and find the script
        tools = os.path.join(scratch, "bin")
        os.mkdir(tools)
        os.chmod(write(os.path.join(tools, f"clang-{number}"), f"#!/bin/sh\nmkdir '{tools}/sent' 2>/dev/null && kill -INT $PPID\nexec '{compiler}' \"$@\"\n"), 0o755)
        wanted = pmend("fix", "-p", scratch, "report.json", cwd=scratch, env={"PATH": "/nowhere"})[1]
        status, out, err = pmend("fix", "-p", scratch, "report.json", cwd=scratch, env={"PATH": f"{tools}:{os.environ['PATH']}"})
        equal((status, out), (3, wanted), f"the status and the patch ({err})")
        contains(err, "it counted callers instead: interrupted")
        contains(err, "interrupted: the patch has the fixes found so far")
        equal("were not compiled" in err, False, "whether some files were not compiled with the change")


def test_interrupted_check():
    """... while what changes is compiled: the patch is kept, and it is told how many files were not compiled with it."""
    names = ["array.c", "callees.c", "typed.c"]
    bugs = list(ordertest.calls(names))
    with folder() as scratch:
        fixtest.write_database(scratch, [(ordertest.HERE, f"gcc {FLAGS} -I../../../include -c {name}", os.path.join(ordertest.HERE, name)) for name in names])
        status, out, err = run("build/tests/fix/write_tx", scratch, "build/libexec/pmend", "files compiled with the change",
                               stdin="\n\n".join("\n".join(lines) for lines, _ in bugs).encode() + b"\n", timeout=300)
    equal(status, 0, f"the status ({err})")
    files = dict(f.split("\n", 1) for f in re.split(r"^=== ", out, flags=re.M)[1:])
    equal(files.pop("unchecked").strip(), str(len(names) - 1), "the number of files that were not compiled")
    equal(files, {name: read("tests/fix/order/fixed", name) for name in names}, "the files that change")


SYNCS = {"helper": "+\tto_disk(sizeof p->data, &p->data);", "file": "+\tfdatasync(fd);", "object": "+\tmsync(p, sizeof *p, MS_SYNC);", "other": None}


def fix_synced(name, *options):
    """Status, the lines of the patch, and what was said."""
    with folder() as scratch:
        for source in ("pool.h", f"{name}.c"):
            shutil.copy(os.path.join("tests/fix/msync", source), scratch)
        fixtest.write_database(scratch, [(scratch, f"gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -o {name} {name}.c", os.path.join(scratch, f"{name}.c"))])
        equal(run("sh", "-c", f"gcc -std=gnu11 -D_GNU_SOURCE -Wall -O1 -g -o {name} {name}.c", cwd=scratch, timeout=300)[0], 0, "the status of the build")
        status, _, err = pmend("check", "--format", "json", "-o", "r.json", "--", f"./{name}", "pool", "run", cwd=scratch)
        equal(status, 1, f"the status of check ({err})")
        equal(json.loads(read(scratch, "r.json"))["platform"], "msync", "the platform")
        os.remove(os.path.join(scratch, "pool"))
        status, out, err = pmend("fix", "-p", ".", *options, "-o", "a.patch", "r.json", cwd=scratch)
        patch = read(scratch, "a.patch") if os.path.exists(os.path.join(scratch, "a.patch")) else ""
        return status, re.findall(r"^[-+]\t.*$", patch, re.M), err


FILES = "tests/fix/files"


def build_files(scratch, *sources):
    """Builds a program of FILES in the scratch folder, without a warning."""
    flags = "g++ -std=c++17" if sources[0].endswith(".cc") else "gcc -std=gnu11 -D_GNU_SOURCE"
    equal(run("sh", "-c", f"{flags} -Wall -Wextra -Werror -O1 -g -o prog {' '.join(sources)}", cwd=scratch, timeout=300)[0], 0, f"the status of the build of {sources}")
    return [(scratch, f"{flags} -O1 -g -c {name}", os.path.join(scratch, name)) for name in sources]


def fix_files(scratch, *sources, options=(), status=0):
    """Checks the program, fixes it, compares it with what must come out, and checks it again. Gives what was said, and the kinds that were found."""
    for source in [*sources, *(os.path.basename(h) for h in glob.glob(f"{FILES}/*.h"))]:
        shutil.copy(os.path.join(FILES, source), scratch)
    fixtest.write_database(scratch, build_files(scratch, *sources))
    equal(pmend("check", "--format", "json", "-o", "r.json", "--", "./prog", "{dir}", cwd=scratch)[0], 1, f"the status of check of {sources}")
    found = [bug["kind"] for bug in json.loads(read(scratch, "r.json"))["bugs"]]
    result = pmend("fix", "-p", ".", "--apply", "--fail-on", "warning", *options, "r.json", cwd=scratch, timeout=300)
    equal(result[0], status, f"the status of fix of {sources} ({result[2]})")
    for source in sources:
        fixed = os.path.join(FILES, "fixed", source)
        equal(read(scratch, source), read(fixed if os.path.exists(fixed) else os.path.join(FILES, source)), f"the fixed {source}")
    build_files(scratch, *sources)
    left = pmend("check", "--format", "json", "-o", "again.json", "--", "./prog", "{dir}", cwd=scratch)[0]
    still = [bug["kind"] for bug in json.loads(read(scratch, "again.json"))["bugs"] if bug["severity"] != "performance"]
    equal((left, still == []), (status, status == 0), f"the status of check of the fixed {sources}, and what is left: {still}")
    return result[2], found


def is_verified(err, n):
    contains(err, f"{n} of {n} fixed bugs are gone, 0 new" if n > 1 else "1 of 1 fixed bug is gone, 0 new")


def test_files():
    """Programs that write files, each in its own style: the sync is the one of the program, with its handling of errors; the fixed program is silent."""
    wanted = {"die.c": "missing-fsync rename-before-fsync", "convention.c": "missing-dir-fsync missing-fsync rename-before-fsync", "cleanup.c": "missing-fsync",
              "stream.c": "missing-fsync missing-fsync", "class.cc": "missing-fsync", "log.c": "missing-dir-fsync missing-fsync", "mapped.c": "missing-fsync missing-fsync",
              "late.c": "missing-dir-fsync unlink-before-durable", "returned.c": "missing-fsync"}
    for name, kinds in wanted.items():
        with folder() as scratch:
            is_proven = name == "late.c" or os.environ.get("LONG")
            err, found = fix_files(scratch, name, options=["--verify"] if is_proven else [])
            equal(" ".join(sorted(found)), kinds, f"what is found in {name}")
            if is_proven:
                is_verified(err, len(kinds.split()))


def test_files_elsewhere():
    """The functions that sync are in another file, and one takes the path of a file."""
    with folder() as scratch:
        fix_files(scratch, "elsewhere.c", "elsewhere_sync.c")


def test_files_left():
    """No sync is written where the file may be closed or another one, where it has no descriptor, and where no error handling fits; the reason is said."""
    with folder() as scratch:
        err, _ = fix_files(scratch, "left.c", status=1)
        lines = [line for line in err.splitlines() if ": left: " in line]
        marks = [(i, why) for i, line in enumerate(read(FILES, "left.c").splitlines(), 1) for why in re.findall(r"/\* LEFT: (.*?) \*/", line)]
        equal(len(lines), len(marks), f"the number of bugs left in {lines}")
        for number, why in marks:
            contains(next((line for line in lines if f"left.c:{number}: " in line), ""), why)


def test_files_crash():
    """What recovery cannot do without: the content of a file, and its name, before the name of another one that leads there. Crashes are explored again."""
    with folder() as scratch:
        shutil.copy(f"{FILES}/current.c", scratch)
        fixtest.write_database(scratch, build_files(scratch, "current.c"))
        status, _, err = pmend("crash", "--format", "json", "-o", "r.json", "--trace", "t.pmt", "--recover", "./prog {dir} check", "--", "./prog", "{dir}", cwd=scratch)
        equal((status, [bug["kind"] for bug in json.loads(read(scratch, "r.json"))["bugs"]]), (1, ["ordering", "ordering"]), err)
        status, _, err = pmend("fix", "-p", ".", "--apply", "--verify", "r.json", cwd=scratch, timeout=300)
        equal((status, read(scratch, "current.c")), (0, read(FILES, "fixed", "current.c")), f"the status and the fixed program ({err})")
        is_verified(err, 2)
        contains(err, "recovery fails in 2 ways before, in 0 after")


def test_files_folder():
    """A folder of --files is followed again, with its exceptions; --run may name {dir} instead."""
    with folder() as scratch:
        os.mkdir(os.path.join(scratch, "data"))
        shutil.copy(f"{FILES}/cleanup.c", scratch)
        fixtest.write_database(scratch, build_files(scratch, "cleanup.c"))
        status, _, err = pmend("check", "--files", "data", "--files-except", "nothing*", "--format", "json", "-o", "r.json", "--", "./prog", "data", cwd=scratch)
        options = json.loads(read(scratch, "r.json"))["files_options"]
        equal((status, options[::2], options[3], os.path.basename(options[1])), (1, ["--files", "--files-except"], "nothing*", "data"), err)
        shutil.rmtree(os.path.join(scratch, "data"))
        os.mkdir(os.path.join(scratch, "data"))
        for run_it in ([], ["--run", "./prog {dir}"]):
            status, _, err = pmend("fix", "-p", ".", "--verify", *run_it, "r.json", cwd=scratch, timeout=300)
            equal((status, os.listdir(os.path.join(scratch, "data"))), (0, []), f"the status, and what is in the folder ({err})")
            is_verified(err, 1)


def test_msync():
    """Programs of the page cache get msync and fsync as they have them, never a flush; what nobody can tell to cover the store is left."""
    for name, line in SYNCS.items():
        is_proven = line and (name == "helper" or os.environ.get("LONG"))
        status, lines, err = fix_synced(name, *["--verify"] if is_proven else [])
        equal((status, lines), (0, [line] * (2 if name == "file" else 1)) if line else (1, []), f"the status and the patch of {name} ({err})")
        contains(err, "sync added in" if line else "this file shows no way to sync what is stored")
        if is_proven:
            gone, of = re.search(r"(\d+) of (\d+) fixed bugs? (?:is|are) gone, 0 new", err).groups()
            equal(gone, of, f"how many are gone ({err})")


def test_msync_beside_flushes():
    """The program can flush, too, and does not here: its own helper does what the run needs, and an instruction alone would make nothing durable."""
    with folder() as scratch:
        write(os.path.join(scratch, "either.c"), f"""#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "{os.getcwd()}/tests/machine.h"

static int is_pmem;

static void flush(const void *at, size_t n)
{{
	for (uintptr_t a = (uintptr_t)at & ~(uintptr_t)63; a < (uintptr_t)at + n; a += 64)
		flush_line(a);
}}

static void persist(void *at, size_t n)
{{
	uintptr_t page = (uintptr_t)at & ~(uintptr_t)4095;

	if (is_pmem) {{
		flush(at, n);
		fence();
	}} else {{
		msync((void *)page, (uintptr_t)at + n - page, MS_SYNC);
	}}
}}

int main(int argc, char **argv)
{{
	int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
	struct {{ char text[4096]; long n; }} *p = ftruncate(fd, 8192) ? MAP_FAILED : mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return 2;
	is_pmem = getenv("IS_PMEM") != NULL;
	strcpy(p->text, "hello");
	p->n = 1;
	persist(&p->n, sizeof p->n);
	return 0;
}}
""")
        fixtest.write_database(scratch, [(scratch, f"gcc {FLAGS} -O1 -g -o either either.c", os.path.join(scratch, "either.c"))])
        equal(run("sh", "-c", f"gcc {FLAGS} -O1 -g -o either either.c", cwd=scratch, timeout=300)[0], 0, "the status of the build")
        equal(pmend("check", "--format", "json", "-o", "r.json", "--", "./either", "pool", cwd=scratch)[0], 1, "the status of check")
        equal(json.loads(read(scratch, "r.json"))["platform"], "msync", "the platform")
        status, patch, err = pmend("fix", "-p", ".", "r.json", cwd=scratch)
        equal((status, len(re.findall(r"^\+\tpersist\(p->text, ", patch, re.M)), "+\tflush(" in patch), (0, 1, False), f"the status and the patch ({patch} {err})")


def test_wide():
    """Very many crash states at each failure point: cures take no more than twice the runs that found the bug. What was missing at the failure that is told is not enough
    for others: flush and fence are. And a limit that is too low is told."""
    with folder() as scratch:
        shutil.copy("tests/fix/wide/wide.c", scratch)
        fixtest.write_database(scratch, [(scratch, f"gcc {FLAGS} -c wide.c", os.path.join(scratch, "wide.c"))])
        equal(run("sh", "-c", f"gcc {FLAGS} -Wall -Wextra -O1 -g -o wide wide.c", cwd=scratch, timeout=300)[0], 0, "the status of the build")
        status, _, err = pmend("crash", "--format", "json", "-o", "report.json", "--max-runs", "25", "--recover", "./wide {} check", "--trace", "wide.pmt", "--",
                               "./wide", "pool", cwd=scratch)
        equal(status, 1, f"the status of crash ({err})")
        status, out, err = pmend("fix", "-p", ".", "--explain", "--outcome", "o.json", "report.json", cwd=scratch)
        cures = json.loads(read(scratch, "o.json"))["cures"]
        equal((status, cures["runs"] <= 50, cures["tried"] > cures["failed"]), (0, True, True), f"the status, and whether the effort is small ({err})")
        contains(err, f"{cures['tried']} fix{'' if cures['tried'] == 1 else 'es'} tried on the trace, {cures['failed']} failed; {cures['runs']} runs of recovery, ")
        equal(err.count("tried and failed: "), cures["failed"], "the cures that are told to have failed")
        equal(re.findall(r"^[-+]\t.*$", re.sub(r" /\*.*?\*/", "", out), re.M), ["+\tflush(&p->value[i].word);", "+\tfence();"], "the change")
        status, out, err = pmend("fix", "-p", ".", "--max-runs", "3", "report.json", cwd=scratch)
        equal((status, out), (1, ""), f"the status and output with few runs ({err})")
        contains(err, "3 recovery runs, the limit, were not enough to try fixes; allow more with --max-runs")
        contains(err, "--max-runs")


def test_what_is_left():
    """A source that was mended since the report, and one that does not compile."""
    with folder() as scratch:
        prepare(scratch, "tests/fix/pmem.c", "tests/fix/obj.c")
        shutil.copy("tests/fix/fixed/pmem.c", scratch)
        write(os.path.join(scratch, "obj.c"), read("tests/fix/obj.c").replace("<libpmemobj.h>", "<no_such_header.h>"))
        before = [read(scratch, name) for name in ("pmem.c", "obj.c")]
        stale = [bug for name, text in zip(("pmem.c", "obj.c"), before) for bug in list(fixtest.bugs(name, text))[:1]]
        fixtest.write_report(os.path.join(scratch, "report.json"), [bug for bug, _ in stale])
        status, out, err = pmend("fix", "--apply", "-p", scratch, os.path.join(scratch, "report.json"), cwd=scratch)
        equal((status, out), (1, ""), "the status and output")
        contains(err, "the source already has it")
        contains(err, "no_such_header.h")
        equal([read(scratch, name) for name in ("pmem.c", "obj.c")], before, "the sources")


ODD = """/* %s */
#include <libpmem.h>
struct r { long a, b; };
void f(struct r *r);
void f(struct r *r)
{
  if (r)
    r->a = 1; /* BUG: missing-flush-fence */
  r->b = 2; /* BUG: missing-flush-fence */
  pmem_persist(r, 1);
  pmem_persist(r, 1); /* BUG: flush-clean */
}"""  # no newline at the end


def test_odd_files():
    """CR LF, UTF-8, no last newline, blanks in names; then a report about lines that have changed."""
    with folder() as scratch:
        os.mkdir(os.path.join(scratch, "a folder"))
        source = os.path.join(scratch, "a folder", "ödd name.c")
        text = (ODD % "größer: 日本").replace("\n", "\r\n")
        write(source, text)
        fixtest.write_database(scratch, [(scratch, f"gcc {FLAGS} -c 'a folder/ödd name.c'", source)])
        found = [bug for bug, _ in fixtest.bugs("a folder/ödd name.c", text)]
        report = fixtest.write_report(os.path.join(scratch, "report.json"), found)
        status, _, err = pmend("fix", "-p", ".", "-o", "a.patch", report, cwd=scratch)
        equal(status, 0, f"the status ({err})")
        equal(run("patch", "-s", "-p1", "--binary", "-i", "a.patch", cwd=scratch)[0], 0, "the status of patch")
        with open(source, encoding="utf-8", newline="") as f:
            after = f.read()
        equal(after.count("\n"), after.count("\r\n"), "the number of CR LF")
        contains(after, "\r\n  if (r) {\r\n    r->a = 1; /* BUG: missing-flush-fence */\r\n    pmem_persist(&r->a, sizeof r->a);\r\n  }\r\n")
        equal((after[-1], after.count("pmem_persist(r, 1)")), ("}", 1), "the end, and what was redundant")
        for bug in found:
            bug["locations"][0]["text"] = text.split("\r\n")[bug["locations"][0]["line"] - 1].strip()
        fixtest.write_report(report, found)
        status, out, err = pmend("fix", "-p", ".", report, cwd=scratch)
        equal((status, out), (1, ""), f"the status and output ({err})")
        contains(err, "is not the line that was reported")


def test_interactive():
    """Answers of all sorts; what was rejected is left."""
    text = read("tests/fix/pmem.c") + ODD.split("<libpmem.h>")[1]+ "\n"
    with folder() as scratch:
        source = write(os.path.join(scratch, "pmem.c"), text)
        fixtest.write_database(scratch, [(scratch, f"gcc {FLAGS} -c pmem.c", source)])
        found = [bug for bug, _ in fixtest.bugs("pmem.c", text)]
        report = fixtest.write_report(os.path.join(scratch, "report.json"), found)
        status, out, err = pmend("fix", "-p", ".", "--interactive", report, cwd=scratch, stdin=b"n\n?\ny\nmaybe\ny\nq\n")
    wanted = ["+\tpmem_persist(&r->a, sizeof r->a);", "-  if (r)", "+  if (r) {", "+    pmem_persist(&r->a, sizeof r->a);", "+  }"]
    equal((status, re.findall(r"^[-+][^-+].*$", out, re.M)), (1, wanted), "status and change")
    equal((err.count("y - make this change"), err.count("Make this change"), err.count(": left: rejected")), (2, 6, 3), "help, questions and rejections")


def test_calls_given():
    with folder() as scratch:
        os.mkdir(os.path.join(scratch, "from"))
        declared = "void wb(unsigned long len, const void *addr);\nvoid wait_pm(void);\n"  # newer compilers take no other functions
        prepare(scratch, write(os.path.join(scratch, "from", "pmem.c"), declared + read("tests/fix/pmem.c")))
        status, out, _ = pmend("fix", "-p", scratch, "--flush-call", "wb({len}, {addr})", "--fence-call", "wait_pm", "--explain",
                               os.path.join(scratch, "report.json"), cwd=scratch)
        equal(status, 0, "the status")
        added = re.findall(r"^\+\t(.*)$", out, re.M)
        equal(added, ["wb(strlen(r->text) + 1, r->text); /* pmend: makes the store durable */",
                      "wb(sizeof r->a, &r->a); /* pmend: makes the store durable */", "wait_pm();"], "the lines added")


def test_what_does_not_compile():
    """One of two changes compiles: that one is written, the other bug is left, with what the compiler says."""
    with folder() as scratch:
        source = write(os.path.join(scratch, "p.c"), """struct one { long a[40]; };
struct two { long b[40]; };
void flush_one(const struct one *r);
void wait_pm(void);
void f(struct one *r);
void f(struct one *r)
{
	*r = (struct one){ { 1 } }; /* BUG: missing-flush */
}
void g(struct two *r);
void g(struct two *r)
{
	*r = (struct two){ { 1 } }; /* BUG: missing-flush */
}
""")
        fixtest.write_database(scratch, [(scratch, "gcc -Werror=incompatible-pointer-types -c p.c", source)])
        fixtest.write_report(os.path.join(scratch, "report.json"), (b for b, _ in fixtest.bugs(source, read(source))))
        status, out, err = pmend("fix", "-p", ".", "--flush-call", "flush_one({addr})", "--fence-call", "wait_pm()", "report.json", cwd=scratch)
        equal((status, re.findall(r"^\+\t(.*)$", out, re.M)), (1, ["flush_one(r);", "wait_pm();"]), f"the status and the lines added ({err})")
        contains(err, "missing-flush: left: the fix does not compile: ")


def test_pmemcheck():
    """A log has no folders, no columns, and no places of flushes."""
    log = ("==1== START|REGISTER_FILE;/p;0x4a5b000;0x1000;0x0|STORE;0x4a5b000;0x1;0x8;0x10: f (p.c:%d);0x20: main (p.c:99)"
           "|STORE;0x4a5b040;0x1;0x8;0x30: f (p.c:%d);0x20: main (p.c:99)|FLUSH;0x4a5b040;0x40|STOP\n")
    with folder() as scratch:
        os.mkdir(os.path.join(scratch, "src"))
        source = write(os.path.join(scratch, "src", "p.c"), ODD % "" + "\n")
        lines = [i for i, line in enumerate(ODD.split("\n"), 1) if "missing-flush-fence" in line]
        fixtest.write_database(scratch, [(scratch, f"gcc {FLAGS} -c src/p.c", source)])
        write(os.path.join(scratch, "p.log"), log % tuple(lines))
        equal(pmend("import", "-q", "-o", "p.pmt", "p.log", cwd=scratch)[0], 0, "the status of import")
        equal(pmend("check", "--format", "json", "-o", "p.json", "p.pmt", cwd=scratch)[0], 1, "the status of check")
        status, out, err = pmend("fix", "-p", ".", "p.json", cwd=scratch)
        equal(status, 0, f"the status ({err})")
        equal(re.findall(r"^\+ +(pmem.*)$", out, re.M), ["pmem_persist(&r->a, sizeof r->a);", "pmem_persist(&r->b, sizeof r->b);"], "the lines added")


def test_mistakes():
    with folder() as scratch:
        prepare(scratch, "tests/fix/pmem.c")
        report = os.path.join(scratch, "report.json")
        fails(pmend("fix", report), 2, "-p BUILD_DIR", "bear")
        equal(pmend("fix", report, cwd=scratch)[0], 0, "the status where the database is found")
        fails(pmend("fix", "-p", scratch), 2, "report")
        fails(pmend("fix", "-p", scratch, "--keep-scratch", report), 2, "--verify")
        with folder() as tmp:  # what --verify copied goes, unless it is asked to stay; what the build said is told
            status, _, err = pmend("fix", "-p", ".", "--verify", "echo no rule; false", "report.json", cwd=scratch, env={"TMPDIR": tmp})
            equal(status, 3, f"the status ({err})")
            contains(err, "\nno rule\npmend: the original tree does not build")
            equal(os.listdir(tmp), [], "what is left")
            assert "--root" not in err, err
            write(os.path.join(tmp, "outside.c"), '#include "../beside/of_another_project.h"\n')
            build = f"LC_ALL=C gcc -c -o x.o '{tmp}/outside.c'"  # a header that the copy does not have
            status, _, err = pmend("fix", "-p", ".", "--verify", build, "report.json", cwd=scratch, env={"TMPDIR": tmp})
            equal(status, 3, f"the status ({err})")
            contains(err.splitlines()[-1], f"only what is below {os.path.realpath(scratch)} was copied")
            contains(err.splitlines()[-1], "--root")
            os.remove(os.path.join(tmp, "outside.c"))
            status, _, err = pmend("fix", "-p", ".", "--keep-scratch", "--verify", "false", "report.json", cwd=scratch, env={"TMPDIR": tmp})
            contains(err, "original.log")
            equal(len(os.listdir(tmp)), 1, "the number of folders that are kept")
        os.remove(os.path.join(scratch, "compile_commands.json"))
        fails(pmend("fix", "-p", scratch, report), 3, "compile_commands.json", "bear")


def test_commands():
    """Of several commands of a file, the first counts, in whichever order the files come."""
    names = ["m.c", "z.c", "a.c"]
    text = "#include <libpmem.h>\n#ifndef RIGHT\n#error\n#endif\nvoid f(long *p);\nvoid f(long *p)\n{\n\t*p = 1; /* BUG: missing-flush-fence */\n}\n"
    with folder() as scratch:
        for name in names:
            write(os.path.join(scratch, name), text)
        fixtest.write_database(scratch, [(scratch, f"gcc {flag} -c {name}", os.path.join(scratch, name)) for flag in ("-DRIGHT", "-DWRONG") for name in names])
        fixtest.write_report(os.path.join(scratch, "report.json"), [bug for name in names for bug, _ in fixtest.bugs(name, text)])
        status, _, err = pmend("fix", "--apply", "-p", ".", "report.json", cwd=scratch, timeout=300)
        equal(status, 0, f"the status ({err})")
        contains(err, "pmend: the patch changes 3 files: 3 flushes added, 3 fences added\npmend: 3 findings in the report: 3 fixed, 0 left, 0 not applicable\n")
        for name in names:
            contains(read(scratch, name), "*/\n\tpmem_persist(p, sizeof *p);\n}")


def account(err):
    """The numbers of the summary: all, fixed, left, not applicable."""
    return [int(n) for n in re.search(r"^pmend: (\d+) findings? in the report: (\d+) fixed, (\d+) left(?: \(\d+ of them fixed in part\))?, (\d+) not applicable$", err, re.M).groups()]


EVERY_KIND = """
#include <libpmem.h>
struct r { long a, b; };
void f(struct r *r);
void f(struct r *r)
{
	r->a = 1;
	r->b = 2;
}
"""


def test_account():
    """Each kind of the report, findings under a cause, several call paths and libraries: every one has an outcome, and the numbers add up."""
    kinds = re.findall(r"^\| `([a-z-]+)` \| (?:correctness|performance|warning|porting) \|", read("docs/report.md"), re.M)
    equal(len(kinds) > 20, True, "enough kinds")
    with folder() as scratch:
        source = write(os.path.join(scratch, "k.c"), EVERY_KIND)
        fixtest.write_database(scratch, [(scratch, f"gcc {FLAGS} -c k.c", source)])
        at = {n: fixtest.location("store", "k.c", EVERY_KIND.split("\n").index(f"\tr->{n[0]} = {n[1]};") + 1, 7) for n in ("a1", "b2")}
        found = [{"id": f"{i:016x}", "kind": kind, "severity": "correctness", "message": "m", "count": 1, "locations": [at["a1"]]}
                 for i, kind in enumerate(kinds) if not kind.startswith("missing-")]
        main = [[{"file": "k.c", "line": 99, "column": 1, "function": name}] for name in ("one", "two")]
        found.append({"id": "c" * 16, "kind": "missing-flush-fence", "severity": "correctness", "message": "m", "count": 2, "locations": [at["b2"]],
                      "paths": [{"count": 1, "locations": [dict(at["b2"], stack=stack)]} for stack in main],
                      "consequences": [{"id": "d" * 16, "kind": "cross-failure-race", "severity": "correctness", "message": "m", "count": 1,
                                        "locations": [dict(at["b2"], role="read")]}]})
        found.append({"id": "e" * 16, "kind": "tx-redundant-add", "severity": "performance", "message": "m", "count": 1, "locations": [at["a1"]],
                      "library": "libpmemobj"})
        report = os.path.join(scratch, "report.json")
        with open(report, "w", encoding="utf-8") as f:
            json.dump({"pmend": "0", "platform": "x86-adr", "command": [], "bugs": found, "libraries": [{"library": "libpmemobj", "bugs": 5}]}, f)
        status, _, err = pmend("fix", "-p", ".", "--outcome", "o.json", "report.json", cwd=scratch)
        outcome = json.loads(read(scratch, "o.json"))
        total, mended, left, other = account(err)
        equal((status, total, total), (1, len(found), mended + left + other), f"the status and numbers ({err})")
        equal((outcome["counts"]["bugs"], outcome["counts"]["fixed"], outcome["counts"]["left"], outcome["counts"]["not applicable"]),
              (total + 1 + 5, mended + 1, left, other + 5), "the numbers in the file, which count the consequence and what the library's are")
        equal(other, 1, "those not applicable")
        by_id = {b["id"]: b for b in outcome["bugs"]}
        equal(sorted(by_id), sorted([b["id"] for b in found] + ["d" * 16]), "the bugs in the file")
        equal([by_id[c * 16]["outcome"] for c in "cde"], ["fixed", "fixed", "not applicable"], "the outcomes")
        equal((by_id["d" * 16]["cause"], len(by_id["c" * 16]["paths"])), ("c" * 16, 2), "the cause, and the call paths")
        equal(err.count("k.c:8: "), 1, f"the lines about the bug with a consequence ({err})")
        contains(err, "k.c:8: missing-flush-fence: fixed, with 1 more finding of the same cause: ")
        equal(by_id["d" * 16]["why"], "has the same outcome as its cause: missing-flush-fence at k.c:8", "what became of the consequence")
        contains(err, "libpmemobj: 5 findings: not applicable: ")
        for kind in kinds:
            if kind.startswith("missing-"):
                continue
            equal(len(re.findall(rf"^k\.c:7: {kind}: (?:fixed|left): ", err, re.M)), 1, f"the lines about {kind} in {err}")
        for b in outcome["bugs"]:
            if b["outcome"] == "left" and not b["kind"].startswith(("redundant-", "flush-clean", "ordering")):
                equal(bool(b["why"] and b.get("help")), True, f"why {b['kind']} is left, and what would help")
        # a consequence that is left: it is told, and the bug is not fixed
        one = next(b for b in found if b["id"] == "c" * 16)
        one["consequences"].append(dict(one["consequences"][0], id="f" * 16, kind="missing-flush", locations=[fixtest.location("store", "nowhere.c", 3, 7)]))
        fixtest.write_report(report, [one])
        status, _, err = pmend("fix", "-p", ".", "report.json", cwd=scratch)
        equal(status, 1, f"the status ({err})")
        contains(err, "k.c:8: missing-flush-fence: fixed, with 1 of 2 more findings of the same cause: ")
        contains(err, "\n  nowhere.c:3: missing-flush: left: ")
        contains(err, "pmend: 1 finding in the report: 0 fixed, 1 left (1 of them fixed in part), 0 not applicable\n")
        # performance counts if it is asked for, and then not what the user does not want removed
        fixtest.write_report(report, [dict(b, severity="performance") for b in found if b["kind"] == "redundant-fence"])
        more = ["--fail-on", "performance"]
        equal([pmend("fix", "-p", ".", *options, "report.json", cwd=scratch)[0] for options in ([], more, [*more, "--keep-redundant"], ["--fail-on", "warning"])],
              [0, 1, 0, 0], "the status")
        for word in ("libraries", "speed"):
            fails(pmend("fix", "-p", ".", "--fail-on", word, "report.json", cwd=scratch), 2, f"--fail-on is one of correctness, performance, porting, warning, not '{word}'")


def test_only():
    """--only: the other bugs are neither fixed nor counted, and an ID must be that of one bug."""
    with folder() as scratch:
        source = write(os.path.join(scratch, "k.c"), EVERY_KIND)
        fixtest.write_database(scratch, [(scratch, f"gcc {FLAGS} -c k.c", source)])
        line = {n: EVERY_KIND.split("\n").index(f"\tr->{n[0]} = {n[1]};") + 1 for n in ("a1", "b2")}
        found = [{"id": identity, "kind": kind, "severity": "correctness", "message": "m", "count": 1, "locations": [fixtest.location("store", "k.c", line[at], 7)]}
                 for identity, kind, at in (("ab01" + "0" * 12, "missing-flush-fence", "a1"), ("ab02" + "0" * 12, "missing-flush-fence", "b2"), ("cd" * 8, "unpersisted", "b2"))]
        found[1]["consequences"] = [{"id": "ef" * 8, "kind": "cross-failure-race", "severity": "correctness", "message": "m", "count": 1,
                                     "locations": [fixtest.location("read", "k.c", line["b2"], 7)]}]
        fixtest.write_report(os.path.join(scratch, "report.json"), found)

        def fixed(*words):
            status, out, err = pmend("fix", "-p", ".", "--outcome", "o.json", *[w for word in words for w in ("--only", word)], "report.json", cwd=scratch)
            outcome = json.loads(read(scratch, "o.json"))
            return status, [w.strip() for w in re.findall(r"^\+.*pmem_persist\(&r->(\w)", out, re.M)], sorted(b["id"][:4] for b in outcome["bugs"]), re.search(r"^pmend: (\d.*findings? in the report.*)$", err, re.M).group(1)

        equal(fixed("ab01"), (0, ["a"], ["ab01"], "1 of 3 findings in the report: 1 fixed, 0 left, 0 not applicable"), "one bug")
        equal(fixed("ab02" + "0" * 12), fixed("ef"), "what a bug's own finding stands for")
        equal(fixed("ef")[1:3], (["b"], ["ab02", "efef"]), "a bug with a finding under it")
        equal(fixed("ab01", "cd"), (1, ["a"], ["ab01", "cdcd"], "2 of 3 findings in the report: 1 fixed, 1 left, 0 not applicable"), "two bugs")
        for word, why in (("ab0", "several findings begin so: ab01000000000000 and ab02000000000000"), ("7", "no finding of the report has such an ID")):
            fails(pmend("fix", "-p", ".", "--only", word, "report.json", cwd=scratch), 2, f"--only {word}: {why}")


def test_no_store():
    """A place at which nothing is stored, in a function that stores nothing: the reason names it, not what is further out."""
    text = "long get(long *p);\nint f(long *p);\nint f(long *p)\n{\n\treturn get(p) == 1;\n}\n"
    with folder() as scratch:
        source = write(os.path.join(scratch, "k.c"), text)
        fixtest.write_database(scratch, [(scratch, f"gcc {FLAGS} -c k.c", source)])
        outer = {"file": "../sysdeps/nptl/libc_start_call_main.h", "line": 58, "column": 16, "function": "__libc_start_call_main"}
        fixtest.write_report(os.path.join(scratch, "report.json"),
                             [{"id": "1" * 16, "kind": "missing-flush-fence", "severity": "correctness", "message": "m", "count": 1,
                               "locations": [fixtest.location("store", "k.c", 5, 9, stack=[outer])]}])
        status, _, err = pmend("fix", "-p", ".", "report.json", cwd=scratch)
        equal(status, 1, "the status")
        contains(err, "k.c:5: missing-flush-fence: left: no store, or more than one, is at k.c:5:9.")


EFFECTS_CASE = re.compile(r"/\* (\w+)(?: (-)| \+ (.*?)|: (refused|allowed)(?: (.*?))?) \*/")


def judge(scratch, path, asked):
    """What the gate answers about changes of a source."""
    flags = FLAGS if path.endswith(".c") else f"-std=c++17 -I'{os.getcwd()}'"
    fixtest.write_database(scratch, [(os.path.dirname(os.path.abspath(path)), f"gcc {flags} -c {os.path.basename(path)}", os.path.abspath(path))])
    status, out, err = run("build/tests/fix/judge", scratch, "build/libexec/pmend", os.path.abspath(path), stdin=asked.encode(), timeout=300)
    equal(status, 0, f"the status ({err})")
    return out.splitlines()


def test_gate():
    """Changes that take away what was durable, fenced or logged on some path, or follow a NULL pointer, are refused; others are not."""
    for path in ("tests/fix/effects/gate.c", "tests/fix/effects/virtual.cc"):
        text, edits, wanted = read(path), {}, {}
        for m in EFFECTS_CASE.finditer(text):
            name, minus, code, answer, words = m.groups()
            begin, end = (text.rindex("\n", 0, m.start()) + 1, text.index("\n", m.end())) if minus else m.span()
            if answer:
                wanted[name] = words or answer
            else:
                edits.setdefault(name, []).append((begin, end - begin, code or ""))
        with folder() as scratch:
            asked = "".join("".join(f"edit {at} {removed} {len(new)}\n{new}" for at, removed, new in sorted(edits[name])) + "judge\n" for name in wanted)
            answers = dict(zip(wanted, judge(scratch, path, asked)))
        equal([f"{name}: {answers[name]}" for name in wanted if wanted[name] not in answers[name]], [], "what was not answered as it should be")


# ---- recorded programs ----

def prove(scratch, sources, name, flags, arguments, libraries=""):
    """Builds, records, mends with --verify and --apply. Gives what was said."""
    build = f"gcc {flags} -I. -Itests -o {name} {' '.join(os.path.basename(s) for s in sources if s.endswith('.c'))} {libraries}"
    for s in sources:
        shutil.copy(s, scratch)
    os.makedirs(os.path.join(scratch, "tests"))
    shutil.copy("tests/machine.h", os.path.join(scratch, "tests"))
    fixtest.write_database(scratch, [(scratch, f"gcc {flags} -I. -Itests -c -o x.o {os.path.basename(s)}",
                                      os.path.join(scratch, os.path.basename(s))) for s in sources if s.endswith(".c")])
    equal(run("sh", "-c", build, cwd=scratch, timeout=300)[0], 0, "the status of the build")
    status, _, _ = pmend("check", "--format", "json", "-o", "report.json", "--", f"./{name}", "pool", *arguments, cwd=scratch)
    equal(status, 1, "the status of check")
    with open(os.path.join(scratch, "report.json"), encoding="utf-8") as f:
        found = json.load(f)["bugs"]
    os.remove(os.path.join(scratch, "pool"))
    status, _, err = pmend("fix", "--apply", "--fail-on", "performance", "--verify", build, "-p", ".", "report.json", cwd=scratch, timeout=400)
    total, mended, left, other = account(err)
    equal((total, mended + left + other), (len(found), len(found)), f"the numbers of bugs ({err})")
    equal(status, 1 if left else 0, f"the status of fix ({err})")
    equal(re.findall(r": missing-[\w-]+: left: .*", err), [], "the durability bugs that are left")
    contains(err, f"{mended} of {mended} fixed {'bug is' if mended == 1 else 'bugs are'} gone, 0 new; output unchanged, exit status unchanged")
    return err


TWO_FILES = {
    "main.c": """#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "put.h"

int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	long *p = ftruncate(fd, 4096) ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return 2;
	put(p, (long)cos(argc));
	printf("done\\n");
	return 0;
}
""",
    "put.h": "void put(long *p, long n);\n",
    "put.c": """#include "tests/machine.h"
#include "put.h"

void put(long *p, long n)
{
	p[0] = n;
	flush_line(p);
	p[8] = n + 1;
	fence();
}
""",
    "other.c": "#error this is no part of the program\n",
}


def test_verify_by_database():
    """--verify without a command: the sources of the program are compiled by their own commands, and linked with the libraries that it needs."""
    with folder() as scratch, folder() as tmp:
        os.mkdir(os.path.join(scratch, "src"))
        for name, text in TWO_FILES.items():
            write(os.path.join(scratch, "src", name), text)
        flags = ["-O1", "-g", "-fno-builtin", f"-I{os.getcwd()}", *(["-mclwb"] if ARCH == "amd64" else [])]
        entries = [{"directory": scratch, "arguments": ["gcc", *flags, "-c", "-o", f"{n}.o", f"src/{n}.c"], "file": f"src/{n}.c"} for n in ("main", "put", "other")]
        write(os.path.join(scratch, "compile_commands.json"), json.dumps(entries))
        for e in entries[:2]:
            equal(run(*e["arguments"], cwd=scratch)[0], 0, "the status of gcc")
        equal(run("gcc", "-o", "prog", "main.o", "put.o", "-lm", cwd=scratch)[0], 0, "the status of the link")
        equal(pmend("check", "--format", "json", "-o", "report.json", "--", "./prog", "pool", cwd=scratch)[0], 1, "the status of check")
        before, files = read(scratch, "src", "put.c"), sorted(os.listdir(scratch))
        status, _, err = pmend("fix", "-p", ".", "-o", "/dev/null", "--run", "./prog {}/pool", "--verify", "report.json", cwd=scratch, env={"TMPDIR": tmp}, timeout=300)
        equal(status, 0, f"the status ({err})")
        contains(err, "1 of 1 fixed bug is gone, 0 new; output unchanged, exit status unchanged")
        contains(err, "flushes: 1 before, 2 after; fences: 1 before, 1 after")
        equal((read(scratch, "src", "put.c"), sorted(os.listdir(scratch)), os.listdir(tmp)), (before, files, []), "the source, and what is left behind")
        # a source that the database does not have, and a program of which nothing is known
        write(os.path.join(scratch, "compile_commands.json"), json.dumps(entries[1:]))
        status, _, err = pmend("fix", "-p", ".", "-o", "/dev/null", "--verify", "report.json", cwd=scratch, timeout=300)
        equal(status, 3, f"the status ({err})")
        contains(err, "the original tree does not build with the commands of compile_commands.json; say how with --verify COMMAND")
        equal(run("strip", "prog", cwd=scratch)[0], 0, "the status of strip")
        status, _, err = pmend("fix", "-p", ".", "-o", "/dev/null", "--verify", "report.json", cwd=scratch, timeout=300)
        equal(status, 3, f"the status ({err})")
        contains(err, "prog is not a program with debug information, so its sources are not known; say how to build it with --verify COMMAND")


def test_same_name_elsewhere():
    """Debug information has a relative path. Another entry's folder has a file of that name, which is not compiled."""
    with folder() as scratch:
        for name in ("lib", "app"):
            os.mkdir(os.path.join(scratch, name))
            write(os.path.join(scratch, name, f"{name}.c"), "int nothing;\n")
        write(os.path.join(scratch, "lib", "main.c"), "#error this is no part of the program\n")
        write(os.path.join(scratch, "app", "main.c"), TWO_STORES)
        flags = ["-g", "-D_GNU_SOURCE", f"-I{os.getcwd()}", *(["-mclwb"] if ARCH == "amd64" else [])]
        entries = [{"directory": os.path.join(scratch, d), "arguments": ["gcc", *flags, "-c", f], "file": f} for d, f in (("lib", "lib.c"), ("app", "main.c"))]
        write(os.path.join(scratch, "compile_commands.json"), json.dumps(entries))
        app = os.path.join(scratch, "app")
        equal(run("gcc", *flags, f"-fdebug-prefix-map={app}=.", "-o", "prog", "main.c", cwd=app)[0], 0, "the status of gcc")
        equal(pmend("check", "--format", "json", "-o", "report.json", "--", "./prog", "pool", cwd=app)[0], 1, "the status of check")
        contains(read(app, "report.json"), '"./main.c"')
        status, out, err = pmend("fix", "-p", "..", "-o", "fix.patch", "report.json", cwd=app)
        contains(err, "0 left")
        contains(read(app, "fix.patch"), "flush_line(&p[0]);")


TWO_STORES = """#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tests/machine.h"

int main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
	long *p = ftruncate(fd, 4096) ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return 2;
	p[64] = 1;
	flush_line(&p[64]);
	fence();
	p[0] = 1; p[32] = 2;
	fence();
	return 0;
}
"""


def test_two_stores_of_a_line():
    """One bug of the report, but both stores need a flush."""
    with folder() as sources, folder() as scratch:
        prove(scratch, [write(os.path.join(sources, "two.c"), TWO_STORES)], "two", "-O0 -g -D_GNU_SOURCE", [])
        contains(read(scratch, "two.c"), "\tp[0] = 1; flush_line(&p[0]); p[32] = 2;\n\tflush_line(&p[32]);\n\tfence();\n")


def test_short_helpers():
    """The report names helpers that flush less than they are given: they are mended, each in its own words, and one that cannot be is left with the reason."""
    with folder() as scratch:
        source, build = "tests/fix/short/short.c", f"gcc {FLAGS} -O1 -g -o short short.c"
        shutil.copy(source, scratch)
        fixtest.write_database(scratch, [(scratch, f"gcc {FLAGS} -c -o x.o short.c", os.path.join(scratch, "short.c"))])
        equal(run("sh", "-c", build, cwd=scratch)[0], 0, "the status of the build")
        equal(pmend("check", "--severity", "correctness", "--format", "json", "-o", "report.json", "--", "./short", "pool", cwd=scratch)[0], 1, "the status of check")
        os.remove(os.path.join(scratch, "pool"))
        status, _, err = pmend("fix", "--apply", "--verify", build, "-p", ".", "report.json", cwd=scratch, timeout=400)
        equal(status, 1, f"the status of fix ({err})")
        equal(read(scratch, "short.c"), read("tests/fix/short/fixed/short.c"), "the mended source")
        equal(account(err), [4, 3, 1, 0], "the numbers of bugs")
        contains(err, "short-flush: left, with 1 more finding of the same cause: what it leaves out is still not flushed: "
                      "flush_counted does not flush all lines of the range that it is given; fix it")
        contains(err, "3 of 3 fixed bugs are gone, 0 new; output unchanged, exit status unchanged")


def test_listings():
    sources = ["tests/corpus/listings_hippocrates.c", "tests/corpus/corpus.h", "include/pmend.h"]
    with folder() as scratch:
        err = prove(scratch, sources, "listings", "-O0 -g -D_GNU_SOURCE -pthread", [])
        contains(err, "pmend: the patch changes 1 file: 4 flushes added, 4 fences added\npmend: 6 findings in the report: 6 fixed, 0 left, 0 not applicable\n")
        text = read(scratch, "listings_hippocrates.c")
        contains(err, "instructions: ")
        # 3.5: not in update(), which works on volatile memory too; the file has an update_pm() and a modify_pm() already
        contains(text, "addr[idx] = value;\n}\n".replace(";", "; /* BUG: missing-flush-fence */"))
        contains(text, "void update_pm2(char *addr, int idx, char value)\n{\n\taddr[idx] = value; /* BUG: missing-flush-fence */\n"
                       "\tflush_line(&addr[idx]);\n}\n")
        contains(text, "\tupdate_pm2(addr, 3, 'x');\n}\n")
        contains(text, "modify_pm2(p->text);\n\tfence();\n")


def test_subprograms_proven():
    """The same, recorded."""
    with folder() as scratch:
        prove(scratch, HOIST, "cells", "-O0 -g -Wall -Wextra -Werror", [])
        for name in map(os.path.basename, HOIST):
            equal(read(scratch, name), read("tests/fix/hoist/fixed", name), f"the mended {name}")


FENCES = {"book": "aaa", "counts": "udud", "modes": "bfl", "ring": "pp", "shop": "bsbs", "stays": "tgdtgdt"}  # the requests


def without(text, pattern):
    return re.sub(pattern, "", text, flags=re.M)


CALLBACKS = {"both": "acsa", "custom": "ahscsa", "early": "pp", "functions": "acsa", "record": "aaa"}


def test_fences():
    """Where fences stand."""
    mend_marked("tests/fix/fences", FENCES)


def test_callbacks():
    """Who flushes what a callback stores."""
    mend_marked("tests/fix/callbacks", CALLBACKS)


def test_within_macros():
    """What is lost and what survives are stores of one macro, and so of one line."""
    mend_marked("tests/fix/within", {"chain": "abc"})
    forty.PROGRAMS = os.path.join(HERE, "six")
    with folder() as scratch:  # a macro that tests something is left, and the reason says what would help
        program = forty.Program("mailq", os.path.join(scratch, "a program"), (1,))
        header = os.path.join(program.folder, "pqueue.h")
        write(header, read(header).replace("\t(elm)->field.guard = ", "\tif ((elm) != NULL) (elm)->field.guard = "))
        program.build()
        program.test()
        status, said, patch = program.fix()
        equal((status, patch), (1, ""), f"what becomes of a macro with a test ({said})")
        contains(said, "A flush and a fence between them mend it; that was tried on the trace.")


def mend_marked(where, requests):
    """In each program, lines FIX are what must be added, those with GOES what must go, and then nothing is found."""
    for name in requests:
        source = next(s for s in (f"{name}.c", f"{name}.cc") if os.path.exists(os.path.join(where, s)))
        compiler = "gcc -std=gnu11" if source.endswith(".c") else "g++ -std=c++17"
        text = read(where, source)
        wanted = re.sub(r"^(\t*)/\* FIX: (#?)(.*) \*/( +\\)?$", lambda m: m[3] and (m[2] + m[3] if m[2] else m[1] + m[3] + (m[4].rjust(len(m[4]) + 11) if m[4] else "")), without(text, r"^.*// GOES.*\n"), flags=re.M)
        broken = without(text, r"^\t*/\* FIX: .*\n").replace("// GOES: ", "// ").replace(" // GOES", "")
        with folder() as scratch:
            write(os.path.join(scratch, source), broken)
            flags = f"-Wall -Wextra -Werror -I'{os.getcwd()}'" + (" -mclwb" if ARCH == "amd64" else "")
            build = f"{compiler} {flags} -O1 -g -o prog {source}"
            fixtest.write_database(scratch, [(scratch, f"{compiler} {flags} -c {source}", os.path.join(scratch, source))])
            command = ["test", "-j", "1", "--format", "json", "-o", "report.json", "--trace", "a.pmt", "--recover", "./prog {} check", "--", "sh", "-c", f"printf {requests[name]} | ./prog pool"]
            equal(run("sh", "-c", build, cwd=scratch, timeout=300)[0], 0, f"the status of the build of {name}")
            status, _, err = pmend(*command, cwd=scratch, timeout=300)
            equal(status, 1, f"the status of test of {name} ({err})")
            status, _, err = pmend("fix", "--apply", "-p", ".", "report.json", cwd=scratch, timeout=300)
            equal((status, read(scratch, source)), (0, wanted), f"the status of fix, and {name} ({err})")
            os.remove(os.path.join(scratch, "pool"))
            equal(run("sh", "-c", build, cwd=scratch, timeout=300)[0], 0, f"the status of the build of {name}, mended")
            status, out, err = pmend(*command, cwd=scratch, timeout=300)
            equal(status, 0, f"the status of test of {name}, mended ({out}{err})")


# Of tests/fix/forty, those that are quick, and the lines that mend them.
FORTY = {("cached", 4): [], ("eventlog", 4): ["Region::fence();"], ("notes", 4): ["CLWB(&s->slot[i]);"], ("tinyfs", 4): [],
         ("cached", 1): ["#ifdef WITH_PM", "if (settings.pm)", "pm_flush(&it->exptime, sizeof(it->exptime));", "#endif"], ("cached", 2): ["process_command(c);"],
         ("eventlog", 3): ["Region::fence();"], ("ledger", 2): ["pmem_drain();"], ("cached", 3): ["pm_persist(it->data, sizeof(*it) - offsetof(item, data));"], ("eventlog", 1): ["Region::persist(&topic->position, sizeof(topic->position));"], ("kvlog", 3): ["pm_fence();"], ("kvlog", 4): ["if (old)"],
         ("kvlog", 1): ["char *line = (char *)((uintptr_t)addr & ~(uintptr_t)(PM_LINE - 1));", "len += (char *)addr - line;"], ("ledger", 1): ["pmem_flush(a, sizeof(*a));"], ("ledger", 3): ["pmem_persist(&a->limit, sizeof(a->limit));"],
         ("ledger", 4): ["pmem_persist(a, sizeof(*a));", "pmem_persist(&l->naccounts, sizeof(l->naccounts));"], ("notes", 1): ["PERSIST(sl, sizeof(*sl));"], ("notes", 3): ["SFENCE();"], ("tinyfs", 1): ["pm_flush_buffer(di, sizeof(*di), true);"],
         ("tinyfs", 2): ["pm_flush_buffer(block + off, n, false);", "pm_wmb();"], ("tinyfs", 3): ["pm_flush_buffer(j, sizeof(*j), true);"],
         ("notes", 2): ["CLWB(&(map)[(n) / 64]);                          \\"], ("spool", 1): ["transaction::snapshot(&j->order);"]}


# The same of tests/fix/twelve, tests/fix/six and tests/fix/eight.
TWELVE = {("outbox", 4): [], ("segidx", 2): ["pm_persist(&s->count, sizeof(s->count));"]}
SIX = {("lexicon", 1): ["persist(slice_from(w, sizeof(*w) + text.len));"], ("lexicon", 2): ["persist(slice_of(w->seen));"], ("mailq", 2): ["pm_flush(&m->tries, sizeof(m->tries));", "pm_drain();"],
       ("meter", 1): ["ring_sync(s, sizeof(*s));"], ("shelf", 2): ["Medium::persist(*value);"], ("meter", 2): ["ring_sync(p, sizeof(*p));"], ("phone", 1): ["b->drain();"], ("shelf", 1): ["Medium::persist(slot);"]}
EIGHT = {("limits", 1): ["save(t, &s->limit, sizeof(s->limit));"], ("limits", 2): ["save(t, s, sizeof(*s));"], ("logstore", 2): ["pm_fence();"]}


def mend_programs(programs, wanted):
    """Programs that others wrote: found, mended, built without warnings, and found to be right, with the same output."""
    forty.PROGRAMS = os.path.join(HERE, programs)
    for (name, bug), added in wanted.items():
        with folder() as scratch:
            program = forty.Program(name, os.path.join(scratch, "a program"), (bug,))
            program.build()
            before = program.output()
            assert forty.own(program.test(), ("correctness", "performance")), f"{name} {bug} is not found"
            status, said, patch = program.fix()
            equal((status, [line[1:].strip() for line in patch.splitlines() if line.startswith("+") and not line.startswith("+++")]), (0, added), f"{name} {bug}: {said}")
            program.patch(os.path.join(program.folder, "fix.patch"))
            equal((program.build(), program.output()), ("", before), f"warnings and output of {name} {bug}")
            equal([forty.shown(b) for b in forty.own(program.test("mended.json"))], [], f"what is left of {name} {bug}")


def test_forty():
    mend_programs("forty", FORTY)


def test_twelve():
    mend_programs("twelve", TWELVE)


def test_eight():
    mend_programs("eight", EIGHT)


def test_six():
    mend_programs("six", SIX)
    with folder() as scratch:  # its macro makes both stores, in one line; a warning, which it also has without a bug, is left
        program = forty.Program("mailq", os.path.join(scratch, "a program"), (1,))
        program.build()
        program.test()
        status, said, patch = program.fix()
        equal((status, [line[1:].strip(" \t\\") for line in patch.splitlines() if line[:1] in "+-"][2:]), (0, ["pm_persist(&(elm)->field, sizeof((elm)->field));"]), f"what becomes of mailq 1 ({said})")
        contains(said, "flush and fence added in macro PQ_INSERT_HEAD")
        program.patch(os.path.join(program.folder, "fix.patch"))
        equal((program.build(), [forty.shown(b) for b in forty.own(program.test("mended.json"))]), ("", []), "warnings, and what is left of mailq 1")


def test_mutant():
    sources = glob.glob("tests/mutants/*.h") + ["tests/mutants/log.c", "tests/mutants/driver.c", "include/pmend.h"]
    with folder() as scratch:
        prove(scratch, sources, "log", "-O1 -g -D_GNU_SOURCE -DMUTANT=5", ["run", "30", "1"])
        contains(read(scratch, "log.c"), "commit_pack(s->commit));\n\tPM_FLUSH(&s->head->commit, sizeof s->head->commit);\n\tFLUSH(5")


def test_logs_proven():
    """What transactions do not log, as check tells it and as crash does: the lines of the comments, and nothing is found any more."""
    with folder() as scratch:
        text = read("tests/fix/tx/ledger.c")
        wanted = re.sub(r"/\* (TX_ADD.*?;) \*/", r"\1", text)
        flags = "-std=gnu11 -O1 -g -I."
        for source in ("tests/fix/tx/ledger.c", "tests/fix/order/main.h", "include/pmend.h"):
            shutil.copy(source, scratch)
        text = re.sub(r"\t+/\* TX_ADD.*?;.*\n", "", text)
        fixtest.write_database(scratch, [(scratch, f"gcc {flags} -c -o x.o ledger.c", os.path.join(scratch, "ledger.c"))])
        recover = ["--recover", "./ledger {} check", "--trace", "ledger.pmt"]
        for command, options in (("check", []), ("crash", recover)):
            write(os.path.join(scratch, "ledger.c"), text)
            equal(run("sh", "-c", f"gcc {flags} -o ledger ledger.c -lpmemobj", cwd=scratch, timeout=300)[0], 0, "the status of the build")
            status, _, err = pmend(command, "--format", "json", "-o", "report.json", *options, "--", "./ledger", "pool", "run", cwd=scratch, timeout=300)
            equal(status, 1, f"the status of {command} ({err})")
            os.remove(os.path.join(scratch, "pool"))
            status, _, err = pmend("fix", "--apply", "-p", ".", "report.json", cwd=scratch, timeout=300)
            equal(status, 0, f"the status of fix ({err})")
            contains(err, "pmend: the patch changes 1 file: 2 ranges logged\n")
            contains(err, " fixed, 0 left, ")
            equal(read(scratch, "ledger.c"), wanted, "the mended ledger.c")
        equal(run("sh", "-c", f"gcc {flags} -o ledger ledger.c -lpmemobj", cwd=scratch, timeout=300)[0], 0, "the status of the build")
        status, out, err = pmend("test", *recover, "--", "./ledger", "pool", "run", cwd=scratch, timeout=300)
        equal(status, 0, f"the status of test, mended ({out}{err})")


# The logs of tests/mutants/ by number: those that come back to where they were, and those for which another place does as well
LOGS = {"list": ([1, 2, 3, 6, 7, 8], []), "btree": ([6, 7, 8, 13, 14, 15, 18, 19], [1, 2, 3, 9, 10, 16, 17])}


def test_logs_given_back():
    """A program without one of its logs: the patch gives the program back that its author wrote, or one in which nothing is found."""
    for program, (same, others) in LOGS.items():
        plain = re.compile(r"\bADD\((\d+), (.*)\);\n")
        text = read("tests/mutants", f"{program}.c")
        for number in same + others:
            with folder() as scratch:
                for source in glob.glob("tests/mutants/*.h") + ["tests/mutants/driver.c", "include/pmend.h"]:
                    shutil.copy(source, scratch)
                build = f"gcc -O1 -g -D_GNU_SOURCE -I. -o app {program}.c driver.c -lpmemobj -lpmem"
                source = write(os.path.join(scratch, f"{program}.c"), plain.sub(r"\2;\n", re.sub(rf"\t+ADD\({number}, .*\n", "", text)))
                fixtest.write_database(scratch, [(scratch, f"gcc -O1 -g -D_GNU_SOURCE -I. -c -o x.o {name}", os.path.join(scratch, name))
                                                 for name in (f"{program}.c", "driver.c")])
                equal(run("sh", "-c", build, cwd=scratch, timeout=300)[0], 0, "the status of the build")
                check = ["check", "--format", "json", "-o", "report.json", "--", "./app", "pool", "run", "60"]
                seed = next((s for s in "1234" if pmend(*check, s, cwd=scratch, timeout=300)[0] == 1 or os.remove(os.path.join(scratch, "pool"))), None)
                equal(seed is None, False, f"{program} {number}: nothing was found")
                status, _, err = pmend("fix", "--apply", "-p", ".", "report.json", cwd=scratch, timeout=300)
                equal(status, 0, f"{program} {number}: the status ({err})")
                equal(bool(re.search(r"^pmend: the patch changes 1 file: \d+ ranges? logged$", err, re.M)), True, f"{program} {number}: whether only logs are added ({err})")
                contains(err, " fixed, 0 left, ")
                if number in same:
                    equal(read(source), plain.sub(r"\2;\n", text), f"{program} without log {number}, mended")
                    continue
                os.remove(os.path.join(scratch, "pool"))
                equal(run("sh", "-c", build, cwd=scratch, timeout=300)[0], 0, "the status of the build, mended")
                equal(pmend(*check, seed, cwd=scratch, timeout=300)[0], 0, f"{program} {number}: the status of check, mended")


LONG = ("fix.all_transactions", "fix.logs_given_back", "fix.mutant", "fix.subprograms_proven")  # many sources, or compiled, recorded and judged twice: only when named


def main():
    words = sys.argv[1:]
    tests = {f"fix.{name[5:]}": f for name, f in globals().items() if name.startswith("test_")}
    return run_each("fix", [(n, tests[n]) for n in choose(list(tests), words) if words or n not in LONG])


sys.exit(main())
