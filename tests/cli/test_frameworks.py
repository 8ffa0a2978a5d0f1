"""examples/table, and cmake/: pmend in tests of CMake, Meson, GoogleTest and pytest. Each passes for the right program and fails for the one that forgets a flush, at its line."""
import os
import re
import shutil
import sys

from cli import PMEND, Skip, contains, equal, folder, need_pool, run, write

TREE = os.path.abspath(".")
PATH = f"{os.path.dirname(PMEND)}:{os.environ['PATH']}"
LOST = "row->key = key;"  # the first store that is not flushed


def need(*commands):
    need_pool()
    for command in commands:
        if not shutil.which(command):
            raise Skip(f"{command} is not installed")


def example(d):
    """A copy of the example, in a path with a space; gives it and the line of the bug."""
    to = os.path.join(d, "examples", "table")
    shutil.copytree("examples/table", to)
    shutil.copy("examples/flush.h", os.path.join(d, "examples"))
    with open(os.path.join(to, "table.c"), encoding="utf-8") as f:
        line, = [n for n, text in enumerate(f, 1) if LOST in text]
    return to, f"table.c:{line}: missing-flush"


def well(*args, **kw):
    status, out, err = run(*args, **kw)
    equal(status, 0, f"the status of {args[0]} {args[1]}: {(out + err)[-1500:]}")
    return out


def configured(source, build, *options):
    well("cmake", "-S", source, "-B", build, f"-Dpmend_DIR={TREE}/cmake", *options)
    well("cmake", "--build", build, "-j2", timeout=300)


def ctest(build, *options):
    status, out, err = run("ctest", "--output-on-failure", *options, cwd=build)
    return status, out + err


def test_cmake():
    """And GoogleTest, which it builds."""
    need("cmake", "ctest", "make", "c++")
    with folder() as d:
        source, place = example(d)
        build = os.path.join(d, "the build")
        with open(os.path.join(source, "CMakeLists.txt"), "a", encoding="utf-8") as f:
            f.write("""
add_executable(dies dies.c)
pmend_add_test(NAME words COMMAND sh -c "test \\"$1\\" = 'a;b' && \\"$0\\" \\"$2\\" put 1 10" $<TARGET_FILE:app> "a;b" {pool}
  RECOVER sh -c "test \\"$1\\" = 'it; $x' || exit 4; \\"$0\\" \\"$2\\" print" $<TARGET_FILE:app> "it; $x" {} OPTIONS --jobs 1 LABELS odd)
pmend_add_test(NAME failed COMMAND dies {pool} DUMP app {} print)
pmend_add_test(NAME usage COMMAND app {pool} put 1 10 OPTIONS --no-such-option)
""")
        write(os.path.join(source, "dies.c"), "int main(void) { return 7; }\n")
        configured(source, build)
        status, out = ctest(build, "-E", "failed|usage")
        equal(status, 0, out)
        contains(out, "tests passed, 0 tests failed out of " + ("3" if "gtest" in out else "2"))
        for name, says in (("failed", "7"), ("usage", "--no-such-option")):
            status, out = ctest(build, "-R", f"^{name}$")
            assert status != 0 and "***Failed" in out and says in out, (name, out)
        equal(re.findall(r"^  (\w+)$", run("ctest", "--print-labels", cwd=build)[1], re.M), ["odd", "pmend"])

        configured(source, build, "-DCMAKE_C_FLAGS=-DFORGET_FLUSH")
        for name in ("put", "gtest"):
            status, out = ctest(build, "-R", f"^{name}$")
            if name == "put":  # what replays read: each test has its own, wherever one stands
                replays = os.path.join(build, "pmend-put.pmt")
                assert os.path.exists(replays) and replays in out, out
            if name == "gtest" and "No tests were found" in out:
                raise Skip("libgtest-dev is not installed")
            assert status != 0, out
            contains(out, place)
        contains(out, "[  FAILED  ] TableOnPm.PutSurvivesCrashes")


def test_cmake_finds_it():
    """The version is pmend's; a newer one is not found; a tree that is not built says so."""
    need("cmake")
    with folder() as d:
        os.mkdir(os.path.join(d, "src"))

        def found(version, at):
            write(os.path.join(d, "src", "CMakeLists.txt"), f"""cmake_minimum_required(VERSION 3.16)
project(p NONE)
find_package(pmend {version} REQUIRED)
find_package(pmend {version} REQUIRED)
get_target_property(a pmend::pmend IMPORTED_LOCATION)
get_target_property(b pmend::annotations INTERFACE_INCLUDE_DIRECTORIES)
message(STATUS "found ${{pmend_VERSION}} ${{a}} ${{b}}.")
""")
            shutil.rmtree(os.path.join(d, "b"), ignore_errors=True)
            return run("cmake", "-S", os.path.join(d, "src"), "-B", os.path.join(d, "b"), f"-Dpmend_DIR={at}")

        version = re.search(r"\d+\.\d+\.\d+", run(PMEND, "--version")[1])[0]
        for wanted in ("", "0.1", version + " EXACT"):
            status, out, err = found(wanted, os.path.join(TREE, "cmake"))
            equal(status, 0, err)
            contains(out, f"found {version} {TREE}/build/pmend {TREE}/include.")
        for wanted in ("0.2", "1.0", "0.0.9"):
            status, _, err = found(wanted, os.path.join(TREE, "cmake"))
            assert status != 0 and f"version: {version}" in err, err
        shutil.copytree("cmake", os.path.join(d, "lib/cmake/pmend"))
        status, _, err = found("", os.path.join(d, "lib/cmake/pmend"))
        assert status != 0, err
        contains(" ".join(err.split()), "bin/pmend is not there")


def test_meson():
    need("meson", "ninja", "cc")
    with folder() as d:
        source, place = example(d)
        build = os.path.join(d, "the build")
        env = {"PATH": PATH}
        well("meson", "setup", f"-Dpmend_include={TREE}/include", source, build, env=env)

        def tested(*options):
            status, out, err = run("meson", "test", "--print-errorlogs", *options, cwd=build, env=env)
            return status, out + err

        for options in (), ("--setup", "pmend", "--suite", "pm"):
            status, out = tested(*options)
            equal(status, 0, out)
            contains(out, "1/1 put")
        well("meson", "configure", "-Dc_args=-DFORGET_FLUSH", cwd=build, env=env)
        for setup in ("pmend", "pmend_check"):
            status, out = tested("--setup", setup)
            assert status != 0, out
            contains(out, place)


def test_pytest():
    need("cc")
    python = next((p for p in ("/usr/bin/python3", sys.executable) if os.path.exists(p) and run(p, "-c", "import pytest")[0] == 0), None)
    if not python:
        raise Skip("python3-pytest is not installed")
    with folder() as d:
        source, place = example(d)
        for flags, fails in (((), False), (("-DFORGET_FLUSH",), True)):
            app = os.path.join(d, "app")
            well("cc", "-g", "-O1", *flags, f"-I{TREE}/include", "-o", app, os.path.join(source, "app.c"), os.path.join(source, "table.c"))
            status, out, err = run(python, "-m", "pytest", "-p", "no:cacheprovider", "-vv", "--basetemp", os.path.join(d, "pools"), "test_table.py",
                                   cwd=source, env={"APP": app, "PMEND": PMEND})
            equal(status, int(fails), out + err)
            contains(out, "1 failed" if fails else "1 passed")
            if fails:
                contains(out, f"('missing-flush', 'table.c', {place.split(':')[1]})")
