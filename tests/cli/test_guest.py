"""tools/guest takes a suite, and a cross build takes the LLVM of the machine that it builds for. No machine is started."""
import os
import re
import shutil

from cli import ARCH, Skip, contains, equal, folder, run, write
from missing import IS_EMULATED

OTHER = {"amd64": "arm64", "arm64": "amd64"}[ARCH]
HEADERS = "include"  # of an LLVM, not of ours
SUITES = ("bookworm", "trixie", "sid")


def own_suite():
    with open("/etc/os-release", encoding="utf-8") as f:
        found = re.search(r"^VERSION_CODENAME=(\w+)", f.read(), re.M)
    return found and found[1]


def need_debian():
    if IS_EMULATED or not shutil.which("dpkg") or own_suite() not in SUITES:
        raise Skip("needs a Debian that is not emulated")


def path(d, *args, **env):
    status, out, err = run("tools/guest", *args, "path", env={"PMEND_GUEST": d, "PMEND_SUITE": "", **env})
    equal((status, err), (0, ""))
    return os.path.relpath(out.strip(), d)


def test_a_root_per_suite():
    need_debian()
    with folder() as d:
        usual = path(d, OTHER)
        assert re.fullmatch(rf"{OTHER}-\d+/root", usual), usual
        equal(path(d, "--suite", own_suite(), OTHER), usual)
        for suite in SUITES:
            found = path(d, "--suite", suite, OTHER)
            equal(path(d, OTHER, PMEND_SUITE=suite), found)
            assert found == usual or re.fullmatch(rf"{OTHER}-{suite}-\d+/root", found), found
        equal(path(d, "--suite", own_suite(), OTHER, PMEND_SUITE="sid"), usual)
        status, _, err = run("tools/guest", "--suite", "woody", OTHER, "path")
        equal(status, 2)
        contains(err, "SUITE is bookworm, trixie or sid, not 'woody'")


def values(*args, env=None):
    """What the Makefile makes of them: build folder, suite, LLVM."""
    with folder() as d:
        asks = write(os.path.join(d, "asks.mk"), "asked:\n\t@echo '$(B)|$(PMEND_SUITE)|$(LLVM)|$(LLVM_HOME)|$(LLVM_RESOURCES)'\n")
        status, out, err = run("make", "--no-print-directory", "-f", "tools/arch.mk", "-f", "tools/llvm.mk", "-f", asks, *args, "asked", env=env)
    equal(status, 0, err)
    return out.strip().split("|")


def llvm_folder(root, number, resources, but=()):
    for name in (f"{HEADERS}/clang-c/Index.h", f"{HEADERS}/llvm-c/Core.h", f"lib/libclang-{number}.so", f"lib/libLLVM-{number}.so", "bin/clang",
                 f"lib/clang/{resources}/include/stddef.h"):
        at = os.path.join(root, f"usr/lib/llvm-{number}", name)
        os.makedirs(os.path.dirname(at), exist_ok=True)
        if name not in but:
            write(at, "")


def test_cross_build_takes_the_other_machines_llvm():
    """The newest that is whole; nothing of it can be run here. In another suite's root, there is another LLVM."""
    need_debian()
    other = "bookworm" if own_suite() != "bookworm" else "trixie"
    with folder() as d:
        base = os.path.realpath(d).replace(" ", "-") + "-roots"  # make knows no names with spaces
        env = {"PMEND_GUEST": base, "PMEND_SUITE": ""}
        roots = [os.path.join(base, path(base, *suite, OTHER)) for suite in ((), ("--suite", other))]
        try:
            llvm_folder(roots[0], 13, "13.0.1")  # too old
            llvm_folder(roots[0], 14, "14.0.6")
            llvm_folder(roots[0], 15, "15.0.6", but=["bin/clang"])
            llvm_folder(roots[1], 19, "19")
            llvm_folder(roots[1], 21, "21", but=[f"{HEADERS}/llvm-c/Core.h"])
            equal(values(f"ARCH={OTHER}", env=env), [f"build/{OTHER}", "", "14", "/usr/lib/llvm-14", f"{roots[0]}/usr/lib/llvm-14/lib/clang/14.0.6"])
            equal(values(f"ARCH={OTHER}", f"SUITE={other}", env=env),
                  [f"build/{OTHER}-{other}", other, "19", "/usr/lib/llvm-19", f"{roots[1]}/usr/lib/llvm-19/lib/clang/19"])
            equal(values(f"ARCH={OTHER}", f"SUITE={own_suite()}", env=env)[0], f"build/{OTHER}")
            shutil.rmtree(os.path.join(roots[1], "usr/lib/llvm-19"))
            equal(values(f"ARCH={OTHER}", f"SUITE={other}", env=env)[2], "", "LLVM where none is whole")
        finally:
            shutil.rmtree(base)
