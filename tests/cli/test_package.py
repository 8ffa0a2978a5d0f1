"""make install and make uninstall. The Debian package is tried by tools/check-package."""
import glob
import os
import shutil

from cli import ARCH, Skip, contains, equal, folder, need_pool, run, write
from missing import IS_EMULATED


def make(*args, timeout=600):
    if IS_EMULATED or os.environ.get("PMEND"):
        raise Skip("make installs what this machine built in build/")
    need_pool()
    status, out, err = run("make", "--no-print-directory", *args, timeout=timeout)
    equal(status, 0, f"make {args[0]}: {(out + err)[-500:]}")
    return out


def files_below(d):
    return {os.path.relpath(os.path.join(at, n), d) for at, _, names in os.walk(d) for n in names}


def everything_below(d):
    return {os.path.relpath(os.path.join(at, n), d) for at, folders, names in os.walk(d) for n in folders + names}


def finds_itself(d, at):
    """CMake finds what is installed where it is now, also through a link, as /lib is one to /usr/lib."""
    if not shutil.which("cmake"):
        return
    os.symlink(os.path.join(at, "lib"), os.path.join(d, "lib"))
    os.mkdir(os.path.join(d, "src"))
    write(os.path.join(d, "src/CMakeLists.txt"), """cmake_minimum_required(VERSION 3.16)
project(p NONE)
find_package(pmend REQUIRED)
get_target_property(a pmend::pmend IMPORTED_LOCATION)
get_target_property(b pmend::annotations INTERFACE_INCLUDE_DIRECTORIES)
message(STATUS "found ${a} ${b}.")
""")
    for option in (f"-Dpmend_ROOT={at}", f"-Dpmend_DIR={d}/lib/cmake/pmend"):
        shutil.rmtree(os.path.join(d, "b"), ignore_errors=True)
        status, out, err = run("cmake", "-S", os.path.join(d, "src"), "-B", os.path.join(d, "b"), option)
        equal(status, 0, err)
        contains(out, f"found {os.path.realpath(at)}/bin/pmend {os.path.realpath(at)}/include.")


def test_install_and_uninstall():
    """What is installed works where it is, and uninstall removes exactly that: what others put beside it stays, also folders of theirs that are empty."""
    with folder() as d:
        root = os.path.join(d, "root")
        others = {"bin/other", "share/doc/pmend/notes.txt", "share/man/man1/other.1", "share/bash-completion/completions/other", "libexec/other"}
        for name in others:
            os.makedirs(os.path.join(root, "opt/p", os.path.dirname(name)), exist_ok=True)
            write(os.path.join(root, "opt/p", name), "mine")
        for name in ("include", "share/fish/vendor_completions.d", "share/zsh/site-functions/theirs", "share/pkgconfig", "lib"):
            os.makedirs(os.path.join(root, "opt/p", name))
        before = everything_below(root)
        make("install", f"DESTDIR={root}", "PREFIX=/opt/p")
        at = os.path.join(root, "opt/p")
        installed = files_below(at) - others - {"libexec/pmend/folders"}
        for name in ("bin/pmend", "include/pmend.h", "include/pmend_oracle.h", "share/man/man1/pmend.1", "share/doc/pmend/crash.md",
                     "share/doc/pmend/README.md", "share/doc/pmend/examples/notes.c", "share/doc/pmend/examples/table/table.c",
                     "lib/cmake/pmend/pmendConfig.cmake", "lib/cmake/pmend/pmendConfigVersion.cmake", "share/pkgconfig/pmend.pc", "share/bash-completion/completions/pmend",
                     "share/zsh/site-functions/_pmend", "share/fish/vendor_completions.d/pmend.fish", f"libexec/pmend/pmend-{ARCH}-linux",
                     "libexec/pmend/libpmend_rt.so", "libexec/pmend/default.supp"):
            assert name in installed, (name, sorted(installed))
        assert len([n for n in installed if n.startswith("share/man/man1/pmend-")]) == len(glob.glob("docs/pmend-*.1.md"))
        status, out, err = run(os.path.join(at, "bin/pmend"), "doctor", "--format", "json", cwd=d)
        equal(status, 0, out + err)
        contains(out, f'"{os.path.realpath(at)}/libexec/pmend/pmend-{ARCH}-linux"')
        finds_itself(d, at)
        make("install", f"DESTDIR={root}", "PREFIX=/opt/p")  # once more: the first one's folders are still its own
        write(os.path.join(at, "share/later"), "mine")
        make("uninstall", f"DESTDIR={root}", "PREFIX=/opt/p")
        equal(everything_below(root), before | {"opt/p/share/later"}, "what is left")
        make("uninstall", f"DESTDIR={root}", "PREFIX=/opt/p")
        equal(everything_below(root), before | {"opt/p/share/later"}, "what is left after nothing was to be done")


def test_pkg_config():
    if not shutil.which("pkg-config"):
        raise Skip("pkg-config is not installed")
    with folder() as d:
        prefix = os.path.join(os.path.realpath(d).replace(" ", "-") + "-pc")
        try:
            make("install", f"PREFIX={prefix}")
            env = {"PKG_CONFIG_PATH": os.path.join(prefix, "share/pkgconfig")}
            status, flags, err = run("pkg-config", "--cflags", "pmend", env=env)
            equal((status, flags.split()), (0, [f"-I{prefix}/include"]), err)
            source = write(os.path.join(d, "a.c"), "#include <pmend.h>\nint main(void) { PMEND_FAILURE_POINT(); return 0; }\n")
            equal(run("gcc", *flags.split(), "-o", os.path.join(d, "a"), source)[0], 0, "the compiler's status")
            make("uninstall", f"PREFIX={prefix}")
            assert not os.path.exists(prefix), f"what is left of what was not there before: {everything_below(prefix)}"
        finally:
            shutil.rmtree(prefix, ignore_errors=True)
