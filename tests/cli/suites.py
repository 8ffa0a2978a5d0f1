"""Tests that build in folders of another Debian (tools/on)."""
import os

from cli import Skip, run
from missing import IS_EMULATED


def suite_of_folders(cost):
    """The suite to try it on; skips the test where it would take too long, or no folder can be made."""
    if not os.environ.get("LONG"):
        raise Skip(f"{cost}; LONG=1 runs it")
    if IS_EMULATED or os.environ.get("PMEND"):
        raise Skip("an emulated machine makes no folders")
    suite = os.environ.get("SUITE") or run("tools/on", "--other")[1].strip()
    status, _, err = run("tools/on", suite, "--check")
    if status == 77:
        raise Skip(err.strip())
    return suite
