"""make install, make uninstall, and the Debian package."""
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


def test_install_and_uninstall():
    """What is installed works where it is, and uninstall removes exactly that: what others put beside it stays."""
    with folder() as d:
        root = os.path.join(d, "root")
        others = {"bin/other", "share/doc/pmend/notes.txt", "share/man/man1/other.1", "share/bash-completion/completions/other", "libexec/other"}
        for name in others:
            os.makedirs(os.path.join(root, "opt/p", os.path.dirname(name)), exist_ok=True)
            write(os.path.join(root, "opt/p", name), "mine")
        make("install", f"DESTDIR={root}", "PREFIX=/opt/p")
        at = os.path.join(root, "opt/p")
        installed = files_below(at) - others
        for name in ("bin/pmend", "include/pmend.h", "include/pmend_oracle.h", "share/man/man1/pmend.1", "share/doc/pmend/crash.md",
                     "share/doc/pmend/README.md", "share/pkgconfig/pmend.pc", "share/bash-completion/completions/pmend",
                     "share/zsh/site-functions/_pmend", "share/fish/vendor_completions.d/pmend.fish", f"libexec/pmend/pmend-{ARCH}-linux",
                     "libexec/pmend/libpmend_rt.so", "libexec/pmend/default.supp"):
            assert name in installed, (name, sorted(installed))
        assert len([n for n in installed if n.startswith("share/man/man1/pmend-")]) == len(glob.glob("docs/pmend-*.1.md"))
        status, out, err = run(os.path.join(at, "bin/pmend"), "doctor", "--format", "json", cwd=d)
        equal(status, 0, out + err)
        contains(out, f'"{os.path.realpath(at)}/libexec/pmend/pmend-{ARCH}-linux"')
        make("uninstall", f"DESTDIR={root}", "PREFIX=/opt/p")
        equal(files_below(at), others, "what is left")
        assert not os.path.exists(os.path.join(at, "libexec/pmend")), "the folder that was pmend's own is still there"


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
        finally:
            shutil.rmtree(prefix, ignore_errors=True)


def test_debian_package():
    """Made, without a word of lintian, and installed in a root that has nothing but Debian's base and what the package depends on."""
    if not os.environ.get("LONG"):
        raise Skip("takes two minutes and Debian's mirror; LONG=1 runs it")
    if not shutil.which("mmdebstrap") or os.geteuid() != 0:
        raise Skip("a clean root needs mmdebstrap, and root")
    out = make("deb")
    assert not [line for line in out.splitlines() if line[:2] in ("E:", "W:")], out
    package, = glob.glob("build/deb/*.deb")
    sources = "/etc/apt/sources.list.d/debian.sources"
    script = ('chroot "$1" sh -ec "pmend doctor; pmend --version; test -s /usr/share/zsh/vendor-completions/_pmend; '
              'apt-get -q -y purge pmend >/dev/null; ! test -e /usr/libexec/pmend; ! test -e /usr/bin/pmend; echo gone"')
    status, out, err = run("mmdebstrap", "--quiet", "--variant=apt", "--format=null", '--aptopt=APT::Install-Recommends "false"',
                           f"--include={os.path.abspath(package)}", "--hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount",
                           f"--customize-hook={script}", "bookworm", "/dev/null", sources if os.path.exists(sources) else "/etc/apt/sources.list", timeout=900)
    equal(status, 0, f"the clean root: {(out + err)[-800:]}")
    contains(out + err, "pmend can record and crash programs on this machine.")
    contains(out + err, "\ngone\n")
