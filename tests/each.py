"""What the groups' run.py share: tests are chosen by name, run one after the other, and each says in one line how it ends.
With TIMES=1 in the environment each also says how much processor time it took, which does not depend on who else uses the machine."""
import fnmatch
import os
import sys
import time

from missing import why_not


class Skip(Exception):
    """This test cannot run here; the text says why."""


def choose(names, words):
    """Those of names that the words mean, all without words. A word is a name, the beginning of names, or a pattern."""
    meant = set()
    for word in words:
        found = {n for n in names if n == word} or {n for n in names if n.startswith(word) or fnmatch.fnmatchcase(n, word)}
        if not found:
            sys.exit(f"no test is called {word!r}; there are:\n  " + "\n  ".join(names))
        meant |= found
    return [n for n in names if n in meant or not words]


def cpu_s():
    """Of this process and of all that it waited for."""
    return sum(os.times()[:4])


def run_each(group, tests, prefix=""):
    """tests: (name, function), already chosen. What a function gives is said besides. Returns the exit status."""
    passed = failed = skipped = 0
    for name, function in tests:
        start, begin = cpu_s(), time.monotonic()
        try:
            if reason := why_not(group, name):
                raise Skip(reason)
            besides = function()
            passed += 1
            print(f"ok {prefix}{name}" + (f" ({besides})" if besides else ""), flush=True)
        except Skip as e:
            skipped += 1
            print(f"SKIP {prefix}{name}: {e}", flush=True)
        except Exception as e:  # any exception is this test's failure, not the end of the others
            failed += 1
            print(f"FAIL {prefix}{name}: {type(e).__name__}: {e}", flush=True)
        if os.environ.get("TIMES"):
            print(f"# {cpu_s() - start:.2f} s of CPU, {time.monotonic() - begin:.1f} s in all", flush=True)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0
