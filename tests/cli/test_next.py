"""make check-next never fails for want of rights or of packages: it is skipped, with the reason."""
import os
import shutil

from cli import Skip, contains, equal, folder, run, write
from missing import IS_EMULATED


def skipped(d, commands=(), apt=""):
    """The reason for which all is skipped. commands: (name, script) in place of this machine's. apt: what is added to its settings."""
    for name, script in commands:
        os.chmod(write(os.path.join(d, name), f"#!/bin/sh\n{script}\n"), 0o755)
    env = {"PATH": f"{d}:{os.environ['PATH']}", "PMEND_SUITES": os.path.join(d, "suites"), "APT_CONFIG": write(os.path.join(d, "apt.conf"), apt)}
    status, out, err = run("tools/check-suites", "--short", "trixie", env=env, timeout=300)
    equal((status, out.splitlines()[-1]), (0, "0 passed, 0 failed, 1 skipped"), out + err)
    contains(out, "SKIP trixie: tools/on trixie: skipped: ")
    return out


def test_without_rights():
    if IS_EMULATED or not shutil.which("apt-get"):
        raise Skip("needs a Debian that is not emulated")
    with folder() as d:
        contains(skipped(d, [("id", "echo 1000")]), "mounts of its own need root")
        is_root = os.getuid() == 0
        for name in ("unshare", "mount"):
            with folder() as other:
                out = skipped(other, [(name, "exit 1")])
                assert not is_root or "lets nobody have mounts" in out, out


def test_without_archive():
    """No archive is known, or nobody answers there."""
    if IS_EMULATED or not shutil.which("apt-get"):
        raise Skip("needs a Debian that is not emulated")
    with folder() as d:
        skipped(d, apt='Dir::Etc::sourcelist "/dev/null"; Dir::Etc::sourceparts "/dev/null";\n')
    with folder() as d:
        skipped(d, [("mmdebstrap", "echo 'E: nobody answers' >&2; exit 1")])
