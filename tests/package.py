"""Installs a package of pmend, runs the tutorial with it, removes it, and looks for what is left. Runs in a bare folder of a Debian (tools/check-package)."""
import glob
import gzip
import os
import subprocess
import sys

import page

DOCS = "/usr/share/doc/pmend"
# What apt, dpkg and the loader keep for themselves, and what is not in a file system.
NOT_LOOKED_AT = ("/proc", "/sys", "/dev", "/tmp", "/root", "/run", "/var/lib/apt", "/var/lib/dpkg", "/var/cache", "/var/log", "/etc/ld.so.cache")


def files():
    found = set()
    for at, folders, names in os.walk("/"):
        folders[:] = [f for f in folders if os.path.join(at, f) not in NOT_LOOKED_AT]
        found.update(os.path.join(at, n) for n in names + folders if os.path.join(at, n) not in NOT_LOOKED_AT and n != "__pycache__" and not n.endswith(".pyc"))
    return found


def apt(*args):
    p = subprocess.run(["apt-get", "-q", "-y", *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if p.returncode:
        sys.exit(f"apt-get {' '.join(args)} ended with {p.returncode}:\n{p.stdout[-2000:]}")


def text_of(name):
    """dh_compress makes large pages smaller."""
    plain = os.path.join(DOCS, name)
    if os.path.exists(plain):
        return page.read(plain)
    with gzip.open(plain + ".gz", "rt", encoding="utf-8") as f:
        return f.read()


def run_doctor():
    p = subprocess.run(["pmend", "doctor"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if p.returncode or "pmend can record and crash programs on this machine." not in p.stdout:
        sys.exit(f"pmend doctor ended with {p.returncode}:\n{p.stdout}")


def run_tutorial():
    os.chdir(DOCS)  # where the examples are, as they are in the project's folder
    commands = page.parse(text_of("tutorial.md"))
    assert len(commands) > 10, "the tutorial has no commands"
    for c, got in page.run(commands):
        if page.normal(got) != page.normal(c.output):
            sys.exit(f"'{c.text}' prints\n{got}and not\n{c.output}")


def main():
    package, = glob.glob(sys.argv[1])
    # what pmend needs comes first: it stays, and brings files of its own
    fields = [subprocess.run(["dpkg-deb", "-f", package, field], stdout=subprocess.PIPE, text=True, check=True).stdout.strip() for field in ("Depends", "Recommends")]
    apt("satisfy", ", ".join(fields))
    before = files()
    apt("install", os.path.abspath(package))
    run_doctor()
    run_tutorial()
    apt("purge", "pmend")
    left = sorted(files() - before)
    if left:
        sys.exit("what is left:\n" + "\n".join(left))
    print("installed, the tutorial printed what it shows, removed: nothing is left")


main()
