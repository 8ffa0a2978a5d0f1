"""What is not tested here, and why. tests/missing-ARCH.txt: what pmend does not have on this architecture; tests/missing-PART.txt: what it does not have without a part
(llvm, z3, zydis) that the build is without. tests/emulated.txt: what an emulated machine is too
slow for (tools/guest says that it is one, by PMEND_EMULATED=1); real machines of either architecture run all of that."""
import fnmatch
import functools
import os
import platform

HERE = os.path.dirname(os.path.abspath(__file__))
ARCH = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
IS_EMULATED = os.environ.get("PMEND_EMULATED") == "1"


def lines_of(name):
    """(what, reason) of each line of a list; a list that is not there is empty."""
    path = os.path.join(HERE, name)
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                yield tuple(line.strip().split(": ", 1))


def absent():
    """Parts that this build is without (tools/parts.mk)."""
    path = os.path.join(HERE, "../build/without")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return f.read().split()


@functools.cache
def lists():
    """Reasons, by group or GROUP/TEST, one dictionary for each list that holds here."""
    names = [f"missing-{ARCH}.txt", *(f"missing-{part}.txt" for part in absent()), *(["emulated.txt"] if IS_EMULATED else [])]
    return [dict(lines_of(name)) for name in names]


def missing():
    """All of them."""
    return {what: reason for one in lists() for what, reason in one.items()}


def is_named(what, group, test):
    of, _, pattern = what.partition("/")
    return of == group and pattern and (fnmatch.fnmatchcase(test, pattern) or test.startswith((pattern + "_", pattern + ".")))


def why_not(group, test):
    """The reason to leave out a test, if there is one. A line names a test, a pattern of names, or what they begin with: GROUP/ported is GROUP/ported_flag, too. A line that
    begins with + names tests that run in spite of the other lines of its list, not of another list."""
    for one in lists():
        if not any(is_named(what[1:], group, test) for what in one if what.startswith("+")):
            reason = next((reason for what, reason in one.items() if is_named(what, group, test)), None)
            if reason:
                return reason
    return None
