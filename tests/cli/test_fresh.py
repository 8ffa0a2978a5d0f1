"""--fresh: a program is recorded as if its PM files had never been there. They are back afterwards, however that goes."""
import os
import shutil
import signal
import subprocess
import time

from cli import LONG, PMEND, POOL, contains, equal, events, fails, folder, need_pool, pmend, write

CONTENT = b"what the user had" * 4000  # longer than the program makes it
TIMES_NS = (1234567890_123456789, 1123456789_987654321)
MAPS = os.path.abspath("build/tests/cli/maps")


def old_pool(d, name="a pool"):
    path = write(os.path.join(d, name), CONTENT)
    os.chmod(path, 0o640)
    os.utime(path, ns=TIMES_NS)
    return path


def is_back(d, path, *others):
    """The file is as it was, and nothing else is in the folder than what is expected."""
    with open(path, "rb") as f:
        content = f.read()
    st = os.stat(path)
    equal((content == CONTENT, st.st_mode & 0o7777, st.st_mtime_ns), (True, 0o640, TIMES_NS[1]), "content, mode and time of the pool")
    equal(sorted(os.listdir(d)), sorted([os.path.basename(path), *others]), "what is in the folder")


def made_files(trace):
    return [(os.path.basename(e["file"]), bool(e["args"][2] & 1)) for e in events(trace) if e["kind"] == "file"]


def waits_for(condition, what):
    """For what another process does in its own time."""
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within a minute: {what}")
        time.sleep(0.01)


def test_put_back():
    """The program empties its pool before it maps it, or does not: it starts without it, and the user's is back."""
    need_pool()
    for program in (POOL, MAPS):
        with folder() as d:
            path, trace = old_pool(d), os.path.join(d, "t.pmt")
            equal(pmend("record", "-q", "--fresh", "-o", trace, "--", program, path), (0, "", ""), "the recording")
            equal(made_files(trace), [("a pool", True)], "the files of the trace")
            is_back(d, path, "t.pmt")


def test_made_anew():
    """The program removes its pool and makes it anew, or renames a new one over it: it never maps the old one, which is back all the same."""
    need_pool()
    for script in ('rm "$0"; exec "$1" "$0"', '"$1" "$0.new"; exec mv "$0.new" "$0"'):
        with folder() as d:
            path = old_pool(d)
            equal(pmend("record", "-q", "--fresh", "-o", os.path.join(d, "t.pmt"), "--", "/bin/sh", "-c", script, path, MAPS)[0], 0, "the status")
            is_back(d, path, "t.pmt")


def test_another_pmend():
    """What another pmend has moved aside is not there to be moved again: what lies in its place is no file of the user's."""
    need_pool()
    with folder() as d:
        path, aside = old_pool(d), f".a pool.pmend-fresh-{os.getpid()}"
        write(os.path.join(d, aside), b"the user's")
        fails(pmend("record", "-q", "--fresh", "-o", os.path.join(d, "t.pmt"), "--", MAPS, path), 3, "another pmend", str(os.getpid()))
        is_back(d, path, aside)


def test_output_is_no_pool():
    """Where the user sent the program's output: it is written once, and not copied."""
    need_pool()
    with folder() as d:
        path, log = old_pool(d), os.path.join(d, "log")
        with open(log, "wb") as f:
            script = 'echo written; exec "$1" "$0"'
            p = subprocess.run([PMEND, "record", "-q", "--fresh", "-o", os.path.join(d, "t.pmt"), "--", "/bin/sh", "-c", script, path, MAPS], stdout=f,
                               stderr=subprocess.PIPE, text=True, timeout=120)
        equal((p.returncode, p.stderr), (0, ""), "the recording")
        with open(log, encoding="utf-8") as f:
            equal(f.read(), "written\n" * 2, "the output: of a start that was ended at the pool, and of the recording")
        is_back(d, path, "log", "t.pmt")


def test_same_inode():
    """A file that the program only maps is moved, not copied: other names of it still mean it."""
    need_pool()
    with folder() as d:
        path = old_pool(d)
        before = os.stat(path)
        os.link(path, os.path.join(d, "another name"))
        equal(pmend("record", "-q", "--fresh", "-o", os.path.join(d, "t.pmt"), "--", MAPS, path)[0], 0, "the status")
        equal(os.stat(path).st_ino, before.st_ino, "the inode")
        is_back(d, path, "t.pmt", "another name")


def test_several():
    """Two old files, and a new one that the program makes before it comes to them; another file that it writes is not PM, and keeps what was written."""
    need_pool()
    with folder() as d:
        new, first, second = os.path.join(d, "new"), old_pool(d, "first"), old_pool(d, "second")
        log, trace = write(os.path.join(d, "log"), "before\n"), os.path.join(d, "t.pmt")
        script = 'echo run >>"$0"; echo run >>"$0.new"; exec "$@"'
        equal(pmend("record", "-q", "--fresh", "-o", trace, "--", "sh", "-c", script, log, MAPS, new, first, second), (0, "", ""), "the recording")
        equal(made_files(trace), [("new", True), ("first", True), ("second", True)], "the files of the trace")
        is_back(d, first, "new", "second", "log", "log.new", "t.pmt")
        is_back(d, second, "new", "first", "log", "log.new", "t.pmt")
        for name, want in (log, "before\nrun\n"), (log + ".new", "run\n"):
            with open(name) as f:
                equal(f.read(), want, f"what the last start of the program wrote to {name}, and no other")


def test_changed_before_it_is_mapped():
    """By chmod, and its content: mode, content, times, the inode and its other name are as they were."""
    need_pool()
    for script, programs in (('chmod 600 "$0"; exec "$1" "$0"', [POOL]), ('echo more >>"$0"; chmod 400 "$0"; exec "$1" "$0"', [MAPS])):
        for program in [POOL, MAPS] if LONG else programs:
            with folder() as d:
                path, other = old_pool(d), os.path.join(d, "another name")
                os.link(path, other)
                equal(pmend("record", "-q", "--fresh", "-o", os.path.join(d, "t.pmt"), "--", "/bin/sh", "-c", script, path, program)[0], 0, "the status")
                is_back(d, path, "another name", "t.pmt")
                equal((os.path.samefile(path, other), os.stat(path).st_nlink), (True, 2), "the other name is of the same file")


def test_made_anew_is_no_pool():
    """A file that the program removes and makes anew, but never maps, is the program's."""
    need_pool()
    with folder() as d:
        path, log = old_pool(d), write(os.path.join(d, "log"), "before\n")
        script = 'rm "$2"; echo run >>"$2"; exec "$1" "$0"'
        equal(pmend("record", "-q", "--fresh", "-o", os.path.join(d, "t.pmt"), "--", "/bin/sh", "-c", script, path, MAPS, log)[0], 0, "the status")
        is_back(d, path, "log", "t.pmt")
        with open(log) as f:
            equal(f.read(), "run\n", "what the program made")


def test_none():
    """Without a pool it is an ordinary recording."""
    need_pool()
    with folder() as d:
        path, trace = os.path.join(d, "a pool"), os.path.join(d, "t.pmt")
        equal(pmend("record", "-q", "--fresh", "-o", trace, "--", POOL, path), (0, "", ""), "the recording")
        equal(sorted(os.listdir(d)), ["a pool", "t.pmt"], "what is in the folder")


def test_all_commands():
    need_pool()
    with folder() as d:
        path = old_pool(d)
        for command in (["check"], ["check", "--platform", "all"], ["test"], ["crash", "--recover", f"{MAPS} -n {{}}"]):
            status, _, err = pmend(*command, "--fresh", "--", MAPS, path, cwd=d)
            if status not in (0, 1) or "held data before" in err:
                raise AssertionError(f"{command} ended with {status}: {err}")
            is_back(d, path)
        fails(pmend("check", "--fresh", "a.pmt"), 2, "--fresh applies only to recording a program")
        fails(pmend("crash", "--fresh", "a.pmt"), 2, "--fresh applies only to recording a program")


def test_program_fails():
    need_pool()
    with folder() as d:
        path, trace = old_pool(d), os.path.join(d, "t.pmt")
        for end in ("7", "segv"):
            status, _, err = pmend("record", "-q", "--fresh", "-o", trace, "--", POOL, path, end)
            equal(status, 3, "the status")
            contains(err, f"with --fresh, the program started without {path}")
            is_back(d, path, "t.pmt")


def tree(top):
    """All that a folder holds: kind, inode, time and content."""
    found = {}
    for where, folders, files in os.walk(top):
        for name in folders + files:
            path = os.path.join(where, name)
            st = os.lstat(path)
            content = os.readlink(path) if os.path.islink(path) else None if os.path.isdir(path) else open(path, "rb").read()
            found[os.path.relpath(path, top)] = (st.st_mode, st.st_ino, st.st_nlink, st.st_mtime_ns if not os.path.isdir(path) else 0, content)
    return found


def full_folder(d):
    """A folder with all that a program may not find in it."""
    data = os.path.join(d, "the data")
    os.makedirs(os.path.join(data, "below", "deeper"))
    for name in ("log", "below/table", "below/deeper/table"):
        write(os.path.join(data, name), CONTENT)
    os.link(os.path.join(data, "log"), os.path.join(data, "second name"))
    os.symlink("below/table", os.path.join(data, "link"))
    return data


def test_followed_folder():
    """A folder of --files is empty for the program, also when it is run again because of a pool, and holds afterwards what it held."""
    need_pool()
    script = 'test -z "$(ls -A "$0")" || exit 9; mkdir "$0/below"; echo new >"$0/log"; "$1" "$2"'
    with folder() as d:
        data, path, trace = full_folder(d), old_pool(d), os.path.join(d, "t.pmt")
        before = tree(data)
        command = ["--files", data, "-o", trace, "--", "sh", "-c", script, data, MAPS, path]
        equal(pmend("record", "-q", "--fresh", *command), (0, "", ""), "the recording")
        equal(tree(data), before, "what the folder holds")
        is_back(d, path, "t.pmt", "the data")
        equal(pmend("record", "-q", *command)[0], 3, "the status without --fresh")
        os.unlink(trace)
        fails(pmend("record", "-q", "--fresh", "--files", os.path.join(d, "none"), "-o", trace, "--", "true"), 3, "cannot find the folder")
        fails(pmend("record", "-q", "--fresh", "--files", ".", "--", "true", cwd=data), 3, "the trace would be in .,")
        equal(tree(data), before, "what the folder holds")
        # what recovery finds is what the program made
        write(os.path.join(d, "script"), b'test -z "$(ls -A "$1")" || exit 9; echo new >"$1/log"')
        status, _, err = pmend("crash", "-q", "--fresh", "--files", data, "--recover", "sh -c 'test ! -e \"$0\"/below' {dir}", "--", "sh", os.path.join(d, "script"), data, cwd=d)
        equal((status, tree(data)), (0, before), err)


def test_followed_folder_of_a_killed_recording():
    with folder() as d:
        data = full_folder(d)
        before = tree(data)
        for number in (signal.SIGTERM, signal.SIGKILL):
            p = subprocess.Popen([PMEND, "record", "-q", "--fresh", "--files", data, "-o", os.path.join(d, "t.pmt"), "--", "sh", "-c", 'echo new >"$0/new"; echo ready; read end', data],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.PIPE)
            equal(p.stdout.readline(), b"ready\n", "what the program says")
            equal(os.listdir(data), ["new"], "what the folder holds meanwhile")
            p.send_signal(number)
            p.communicate(timeout=60)
            waits_for(lambda: not [name for name in os.listdir(d) if "pmend-fresh" in name], "the folder holds what it held")
            equal(tree(data), before, f"what the folder holds after {number.name}")


def test_followed_folder_is_replaced():
    """The program removes the folder, or leaves a link under its name: what the link leads to stays as it is."""
    with folder() as d:
        data, other = full_folder(d), os.path.join(d, "other")
        os.mkdir(other)
        write(os.path.join(other, "kept"), CONTENT)
        before, modes = tree(data), os.stat(data).st_mode
        for script in ('echo new >"$0/log"; mv "$0" "$1"; ln -s "$2" "$0"', 'echo new >"$0/log"; rm -r "$0"', 'echo new >"$0/log"; mv "$0" "$1"; echo >"$0"', 'echo new >"$0/log"; chmod 0 "$0"'):
            moved = os.path.join(d, "moved")
            result = pmend("record", "-q", "--fresh", "--files", data, "-o", os.path.join(d, "t.pmt"), "--", "sh", "-c", script, data, moved, other)
            equal(result[0], 0, f"the status of {script} ({result[2]})")
            equal((tree(data), os.stat(data).st_mode), (before, modes), f"what the folder holds after {script}")
            equal(os.listdir(other), ["kept"], "what the other folder holds")
            equal([name for name in os.listdir(d) if "pmend-fresh" in name], [], "what is left")
            shutil.rmtree(moved, ignore_errors=True)


def test_followed_folder_around_the_current_one():
    """The program would begin in a folder that was moved away, among the user's files."""
    with folder() as d:
        data = full_folder(d)
        before = tree(data)
        for name in ("below", "below/deeper"):
            fails(pmend("record", "-q", "--fresh", "--files", data, "-o", os.path.join(d, "t.pmt"), "--", "sh", "-c", "echo new >table", cwd=os.path.join(data, name)), 3, "the current folder is below")
            equal(tree(data), before, "what the folder holds")


def start(d, path):
    """A recording, when the program has stored something."""
    p = subprocess.Popen([PMEND, "record", "-q", "--fresh", "-o", os.path.join(d, "t.pmt"), "--", POOL, path, "wait"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    equal(p.stdout.readline(), b"ready\n", "what the program says")
    equal(os.path.getsize(path), 8192, "the size of the new pool")
    return p


def test_interrupted():
    """By the signals that one ends programs with: the program has them, and the file is back when pmend has ended."""
    need_pool()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with folder() as d:
            path = old_pool(d)
            p = start(d, path)
            p.send_signal(number)
            p.communicate(timeout=60)
            equal(p.returncode, 3, "the status")
            is_back(d, path, "t.pmt")


def test_killed():
    """Nobody can prevent that, but somebody is left who puts the file back."""
    need_pool()
    with folder() as d:
        path = old_pool(d)
        p = start(d, path)
        p.kill()
        p.communicate(timeout=60)
        waits_for(lambda: os.path.getsize(path) == len(CONTENT), "the pool is back")
        is_back(d, path, "t.pmt")


def test_folder_is_removed():
    """The program removes the whole folder, and with it the name under which the pool was kept."""
    need_pool()
    with folder() as d:
        inner = os.path.join(d, "inner")
        os.mkdir(inner)
        path = old_pool(inner)
        script = 'if test -e "$1"; then exec "$2" "$1"; fi; rm -r "$0"; mkdir "$0"; "$2" "$1"'
        equal(pmend("record", "-q", "--fresh", "-o", os.path.join(d, "t.pmt"), "--", "sh", "-c", script, inner, path, MAPS)[0], 0, "the status")
        is_back(inner, path)


def test_note():
    """A pool with data is told of, an empty one is not; a program that stores nothing is told of even with -q."""
    need_pool()
    with folder() as d:
        path, trace = os.path.join(d, "a pool"), os.path.join(d, "t.pmt")
        write(path, bytes(8192))
        equal("held data before" in pmend("record", "-o", trace, "--", POOL, path)[2], False, "a note about an empty pool")
        contains(pmend("record", "-o", trace, "--", POOL, path)[2], f"{path} held data before the run; --fresh starts without it")
        contains(pmend("check", "--", POOL, path)[2], f"{path} held data before the run; --fresh starts without it")
        equal(pmend("check", "-q", "--", POOL, path)[2], "", "what is said with -q")
        for command in (["record", "-q", "-o", trace], ["check", "-q"]):
            status, _, err = pmend(*command, "--", MAPS, "-n", path)
            equal(status, 0, "the status")
            contains(err, "the program stored nothing to persistent memory")


def test_killed_before_mapping():
    """The program has emptied a file, and nobody knows yet whether it is PM: both are left."""
    need_pool()
    with folder() as d:
        path = old_pool(d)
        script = 'test -s "$0" || exit 9; : >"$0"; echo emptied; read -r line; exec "$1" "$0"'
        p = subprocess.Popen([PMEND, "record", "-q", "--fresh", "-o", os.path.join(d, "t.pmt"), "--", "sh", "-c", script, path, MAPS], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        equal(p.stdout.readline(), b"emptied\n", "what the program says")
        p.kill()
        p.communicate(timeout=60)
        kept = f".a pool.pmend-fresh-{p.pid}"
        waits_for(lambda: not os.path.exists(f"/proc/{p.pid}"), "pmend is gone")
        is_back(d, os.path.join(d, kept), "a pool", "t.pmt")
        equal(os.path.getsize(path), 0, "the size of what the program left")
