"""The processes that a test run has started, whoever their parents are now: they have its folder in their environment, as TMPDIR. Other runs may be at work
on the machine, with the same programs."""
import contextlib
import os
import select
import time


def own_processes(folder):
    """Command lines by number."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as env, open(f"/proc/{pid}/cmdline", "rb") as f:
            if folder.encode() in env.read():
                found[int(pid)] = f.read().replace(b"\0", b" ").decode(errors="replace")
    return found


def wait_for_ends(folder, before, seconds):
    """Until all but those before have ended; gives the command lines of those that have not in this time, which only bounds how long a failure takes."""
    end = time.monotonic() + seconds
    while left := {pid: words for pid, words in own_processes(folder).items() if pid not in before}:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                fd = os.pidfd_open(pid)
                has_ended = select.select([fd], [], [], max(0, end - time.monotonic()))[0]
                os.close(fd)
                if not has_ended:
                    return left
    return left
