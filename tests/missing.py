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
def missing():
    """Reasons, by group or GROUP/TEST."""
    parts = [line for part in absent() for line in lines_of(f"missing-{part}.txt")]
    return dict([*lines_of(f"missing-{ARCH}.txt"), *parts, *(lines_of("emulated.txt") if IS_EMULATED else ())])


def is_named(what, group, test):
    of, _, pattern = what.partition("/")
    return of == group and pattern and (fnmatch.fnmatchcase(test, pattern) or test.startswith((pattern + "_", pattern + ".")))


def why_not(group, test):
    """The reason to leave out a test, if there is one. A line names a test, a pattern of names, or what they begin with: GROUP/ported is GROUP/ported_flag, too. A line that
    begins with + names tests that run in spite of the others."""
    if any(is_named(what[1:], group, test) for what in missing() if what.startswith("+")):
        return None
    return next((reason for what, reason in missing().items() if is_named(what, group, test)), None)
