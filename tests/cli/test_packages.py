"""tools/packages.txt is the only list of Debian packages; tools/apt-install installs them, and waits while another program does."""
import fcntl
import os
import re
import shutil
import subprocess

from cli import ARCH, Skip, contains, equal, folder, run, write

LIST = "tools/packages.txt"
SHOWN = {"build", "run", "recommend", "suggest", "test", "browser", "deb", "llvm", "z3", "zydis"}  # README's table has rows with one of these words


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def rows():
    """(package, words, why) of each line; why is None where it is the line above's."""
    for line in text_of(LIST).splitlines():
        if line and not line.startswith("#"):
            package, words, why = line.split(None, 2)
            yield package, set(words.split(",")), None if why == '"' else why


def printed(*args):
    status, out, err = run("tools/packages", *args)
    equal((status, err), (0, ""))
    return out.split()


def test_words():
    every = list(rows())
    assert len({p for p, _, _ in every}) == len(every), "a package is listed twice"
    explained = set(re.findall(r"\b[a-z0-9]+\b", " ".join(l for l in text_of(LIST).splitlines() if l.startswith("#"))))
    for package, words, _ in every:
        assert words <= explained, (package, words - explained)
    equal(printed("--arch", "arm64", "zydis"), [])
    equal(printed("--arch", "amd64", "zydis"), ["libzydis-dev"])
    equal(printed("zydis"), ["libzydis-dev"] if ARCH == "amd64" else [])
    equal(printed("z3", "slurm"), ["libz3-dev", "slurmctld", "slurmd", "slurm-client", "munge"])
    for wrong in ((), ("--arch", "mips", "build")):
        equal(run("tools/packages", *wrong)[0], 2)


def test_readme():
    table = []
    for package, words, why in rows():
        name = package + (" (amd64 only)" if "amd64" in words else "")
        if why is None:
            table[-1][0].append(name)
        else:
            table.append(([name], words, why))
    got = re.findall(r"^\| Debian package \| for \|\n\|---\|---\|\n((?:\|.*\n)+)", text_of("README.md"), re.M)
    for rows_of, is_for_use in zip(got, (True, False), strict=True):
        wanted = [f"| {', '.join(names)} | {why} |" for names, words, why in table if words & SHOWN and ("build" in words) == is_for_use]
        equal(rows_of.splitlines(), wanted, "README.md's table of packages " + ("to build and use pmend" if is_for_use else "for the tests"))


def test_debian_control():
    control = text_of("debian/control")

    def field(name):
        found = re.search(rf"^{name}: ((?:.*\n)(?:^ .*\n)*)", control, re.M)[1]
        return {w.strip() for w in found.replace("\n", " ").split(",")} - {""}

    def wanted(word):
        return {p + (" [amd64]" if "amd64" in words else "") for p, words, _ in rows() if word in words}
    equal({p for p in field("Build-Depends") if not p.startswith("debhelper-compat")}, wanted("build"))
    for name, word in (("Depends", "run"), ("Recommends", "recommend"), ("Suggests", "suggest")):
        equal({p for p in field(name) if not p.startswith("${")}, wanted(word), name)


def test_no_other_list():
    """Makefiles, scripts and the Containerfile name no package that the list has, except by its words."""
    if not shutil.which("git") or not os.path.exists(".git"):
        raise Skip("git and a clone say which files there are")
    status, out, err = run("git", "ls-files", "-z", "Makefile", "*.mk", "tools", ".ci")
    if status != 0:
        raise Skip(f"git refuses: {err}")
    names = [p for p, _, _ in rows() if "-" in p or p.startswith("lib")]
    pattern = re.compile(r"(?<![\w/.-])(" + "|".join(map(re.escape, names)) + r")(?![\w.-])")
    numbered = re.compile(r"\b(?:lib)?(?:clang|llvm|libstdc\+\+|gcc|g\+\+|z3|asan|ubsan)(?:-rt|-common)?-?\d+(?:-dev)?\b(?!/)")
    for path in sorted(set(out.split("\0")) - {"", LIST}):
        for number, line in enumerate(text_of(path).splitlines(), 1):
            if not line.lstrip().startswith("#"):
                found = pattern.search(line) or ("lib/" not in line and numbered.search(line))
                assert not found, f"{path}:{number} names {found[0]}"


def apt_root(d):
    """A root folder in which apt knows no package; gives the environment for it."""
    for sub in ("var/lib/dpkg", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "etc/apt/apt.conf.d", "etc/apt/preferences.d"):
        os.makedirs(os.path.join(d, sub))
    write(os.path.join(d, "var/lib/dpkg/status"), "")
    write(os.path.join(d, "etc/apt/sources.list"), "")
    return {"APT_CONFIG": write(os.path.join(d, "apt.conf"), f'Dir "{d}";\nDir::State::status "{d}/var/lib/dpkg/status";\n')}


def test_knows_what_is_installed():
    """By its name, or by the name of one that stands for it; not what was removed, and not what only looks alike."""
    if not shutil.which("dpkg-query"):
        raise Skip("needs dpkg-query")
    package = "Package: {}\nStatus: {}\nArchitecture: all\nMaintainer: x\nVersion: 1\nDescription: x\n{}\n"
    with folder() as d:
        os.makedirs(os.path.join(d, "info"))
        write(os.path.join(d, "status"), package.format("libone4t64", "install ok installed", "Provides: libone4 (= 1), one-abi\n")
              + package.format("two", "install ok installed", "") + package.format("gone", "deinstall ok config-files", "Provides: three\n"))
        write(os.path.join(d, "apt-get"), "#!/bin/sh\nexit 1\n")
        os.chmod(os.path.join(d, "apt-get"), 0o755)
        write(os.path.join(d, "sudo"), "#!/bin/sh\nexit 1\n")
        os.chmod(os.path.join(d, "sudo"), 0o755)
        env = {"DPKG_ADMINDIR": d, "PATH": f"{d}:{os.environ['PATH']}"}
        equal(run("tools/apt-install", "two", "libone4", "one-abi", "libone4t64", env=env), (0, "", ""))
        for name in ("gone", "three", "tw", "wo", "libone", "one"):
            status, _, err = run("tools/apt-install", "two", name, env=env)
            equal(status, 1, name)
            contains(err, f"apt-get install {name}\n")


def test_waits_for_a_lock():
    """Somebody installs packages at the same time. The lock is given back when apt-install says that it waits, and then it goes on."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Skip("needs apt-get, and root")
    for lock in ("var/lib/dpkg/lock-frontend", "var/lib/apt/lists/lock"):
        with folder() as d:
            env = dict(os.environ, **apt_root(d))
            with open(os.path.join(d, lock), "w", encoding="utf-8") as held:
                fcntl.lockf(held, fcntl.LOCK_EX)
                p = subprocess.Popen(["tools/apt-install", "pmend-no-such-package"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
                equal(p.stdout.readline(), "installing (this can take minutes): pmend-no-such-package\n")
                said = p.stdout.readline()
                fcntl.lockf(held, fcntl.LOCK_UN)
            out, err = p.communicate(timeout=120)
            contains(said, "waiting for another program that installs packages: ")
            contains(said, os.path.join(d, lock))
            equal((out, p.returncode), ("", 1))
            contains(err, "Unable to locate package pmend-no-such-package\n")
            contains(err, "as root: apt-get install pmend-no-such-package\n")
