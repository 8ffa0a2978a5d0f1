"""A build without LLVM, Z3 and Zydis: it says what is left out, the rest works, and commands that need them say what to install."""
import json
import os
import shutil
import tempfile

from cli import ARCH, Skip, contains, equal, fails, folder, need_pool, run, write
from missing import IS_EMULATED, absent
from suites import suite_of_folders

PARTS = ["llvm", "z3"] + (["zydis"] if ARCH == "amd64" else [])
PACKAGES = {"llvm": "libclang-dev llvm-dev clang", "z3": "libz3-dev", "zydis": "libzydis-dev"}
APP = os.path.abspath("build/examples/append_log")


def make(b, *args):
    status, out, err = run("make", "--no-print-directory", f"B={b}", *args, timeout=300)
    equal(status, 0, f"make {args}: {(out + err)[-800:]}")
    return out


def told(out):
    """{part: packages} of what make says that it left out."""
    lines = [line for line in out.splitlines() if line.startswith("built without ")]
    return {line.split()[2].rstrip(":"): line.split("apt-get install ")[1].split(", then")[0] for line in lines}


def buggy_report(pmend, d):
    path = os.path.join(d, "r.json")
    status, _, err = run(pmend, "check", "--format", "json", "-o", path, "--", APP + "_buggy", "{pool}", "hello")
    equal(status, 1, f"the status of check ({err})")
    write(os.path.join(d, "compile_commands.json"), json.dumps([{"directory": os.getcwd(), "file": "examples/append_log.c",
                                                                "command": "cc -Iinclude -DFORGET_FLUSH -c examples/append_log.c"}]))
    return path


def commands_say(pmend, d):
    """fix and explore end with 3 and the package; doctor has them, too."""
    fails(run(pmend, "fix", "-p", d, buggy_report(pmend, d)), 3, "built without libclang", "apt-get install " + PACKAGES["llvm"])
    fails(run(pmend, "explore", "--", APP, "{pool}", "@@"), 3, "pmend was built without ", "apt-get install " + PACKAGES[PARTS[-1]])
    status, out, _ = run(pmend, "doctor", "--format", "json")
    checks = {c["name"]: c for c in json.loads(out)["checks"]}
    equal(status, 0, f"the status of doctor ({checks})")
    for name, part, state in (("libclang", "llvm", "missing"), ("z3", "z3", "missing"), ("decoder", "zydis", "limited")):
        if part in PARTS:
            equal((checks[name]["state"], checks[name]["todo"]), (state, f"apt-get install {PACKAGES[part]}, then build pmend again"))
    if "zydis" in PARTS:
        equal((checks["recovery"]["state"], checks["recovery"]["todo"]), ("limited", checks["decoder"]["todo"]))


def the_rest_works(pmend, d):
    """Crashes are explored: on whole images, where Zydis is needed to watch recovery. A correct program stays silent."""
    for name, want in ((APP, 0), (APP + "_buggy", 1)):
        path = os.path.join(d, "tested.json")
        status, _, err = run(pmend, "test", "--format", "json", "-o", path, "--recover", f"{APP} {{}}", "--", name, "{pool}", "hello")
        equal(status, want, f"the status of test ({err})")
        with open(path, encoding="utf-8") as f:
            report = json.load(f)
        equal(bool(report["bugs"]), bool(want))
        assert report["coverage"]["runs"] > 0, report["coverage"]
        if "zydis" in PARTS:
            contains(json.dumps(report["coverage"]), "built without Zydis")


def test_build():
    """In a copy of the build folder, so that only what differs is compiled. Afterwards, the parts are there again."""
    if IS_EMULATED or os.environ.get("PMEND"):
        raise Skip("it makes what this machine built in build/")
    if absent():
        raise Skip("the build in build/ is without some parts itself")
    need_pool()
    b = tempfile.mkdtemp(prefix="without-", dir="build")
    try:
        equal(run("cp", "-a", "build/obj", "build/libexec", "build/pmend", "build/without", b)[0], 0)
        shutil.rmtree(os.path.join(b, "obj/tests"), ignore_errors=True)
        pmend = os.path.join(os.path.abspath(b), "pmend")
        equal(told(make(b, "WITHOUT=" + " ".join(PARTS), "all")), {p: PACKAGES[p] for p in PARTS})
        libraries = {n for n in os.listdir(os.path.join(b, "libexec/pmend")) if n.startswith("libpmend_")}
        equal(libraries, {"libpmend_rt.so"})
        for name in ("pmend", "libexec/pmend/libpmend_rt.so"):
            needed = run("readelf", "-d", os.path.join(b, name))[1]
            assert "(NEEDED)" in needed and "Zydis" not in needed, needed
        with folder() as d:
            commands_say(pmend, d)
            the_rest_works(pmend, d)
            equal(told(make(b, "all")), {})
            equal(run(pmend, "fix", "-p", d, "-o", os.path.join(d, "fix.patch"), os.path.join(d, "r.json"))[0], 0)
    finally:
        shutil.rmtree(b)


def test_bare_folder():
    """A Debian on which none of the packages is installed that bring these parts."""
    suite = suite_of_folders("builds all of pmend in a folder of Debian")
    with folder() as d:
        to = os.path.join(d, "pmend")
        shutil.copytree(".", to, symlinks=True, ignore=lambda at, names: ["build", ".git"] if at == "." else [])
        script = """set -e
            cd pmend
            tools/apt-install $(tools/packages build | grep -vxF "$(tools/packages llvm z3 zydis)")
            ! ls /usr/include/z3.h /usr/include/Zydis /usr/lib/llvm-*/include 2>/dev/null
            make -j2
            make build/examples/append_log build/examples/append_log_buggy
            export PATH=$PWD/build:$PATH
            pmend doctor
            app=build/examples/append_log
            pmend test -q --recover "$app {}" -- $app {pool} hello
            pmend check -q --format json -o r.json -- ${app}_buggy {pool} hello || echo status of check $?
            echo '[]' >compile_commands.json
            pmend fix -p . r.json || echo status of fix $?
            pmend explore -- $app {pool} @@ || echo status of explore $?"""
        status, out, err = run("tools/on", suite, "--bare", to, "--", "sh", "-c", script, timeout=1000)
        equal(status, 0, (out + err)[-1500:])
        equal(told(out), {p: PACKAGES[p] for p in PARTS})
        for said in ("pmend can record and crash programs on this machine.", "status of check 1\n", "status of fix 3\n", "status of explore 3\n"):
            contains(out, said)
        contains(err, "built without libclang")


def test_headers_are_looked_for():
    """A compiler that finds no headers: they are not installed. Those of Zydis 3 are of no use."""
    def header(at, name):
        os.makedirs(os.path.dirname(os.path.join(at, name)), exist_ok=True)
        write(os.path.join(at, name), "")

    with folder() as d:
        asks = write(os.path.join(d, "asks.mk"), "asked:\n\t@echo '$(sort $(ABSENT))'\n")
        of_llvm = sorted({"llvm"} & {*absent()})  # looked for by its folder, not by the compiler
        header(os.path.join(d, "3"), "Zydis/Zydis.h")
        header(os.path.join(d, "4"), "Zydis/Zydis.h")
        header(os.path.join(d, "4"), "Zydis/Disassembler.h")
        header(os.path.join(d, "4"), "z3.h")
        bare = sorted({*PARTS} - {"llvm"} | {*of_llvm})
        for compiler, want in (("gcc", absent()), ("gcc -nostdinc", bare), (f"gcc -nostdinc -I'{d}/3'", bare), (f"gcc -nostdinc -I'{d}/4'", of_llvm)):
            status, out, err = run("make", "--no-print-directory", "-f", "tools/arch.mk", "-f", "tools/llvm.mk", "-f", "tools/parts.mk", "-f", asks, f"CC={compiler}", "asked")
            equal((status, out.split()), (0, want), err)


def test_unknown_part():
    status, _, err = run("make", "WITHOUT=gcc", "help")
    equal(status, 2)
    contains(err, f"pmend on {ARCH} has the parts {' '.join(PARTS)}, not gcc")
