"""Running a command on a terminal of its own."""
import fcntl
import os
import pty
import struct
import subprocess
import termios


def run_on_terminal(args, columns=80, cwd=None, env=None, on_output=None):
    """Gives the status and all that was written to the terminal, with its newlines as \\n. on_output: called with all bytes so far."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    p = subprocess.Popen([str(a) for a in args], stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, close_fds=True,
                         env=dict(os.environ, **env) if env else None)
    os.close(theirs)
    parts = []
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:  # the last writer closed it
            data = b""
        if not data:
            break
        parts.append(data)
        if on_output:
            on_output(b"".join(parts))
    os.close(ours)
    return p.wait(), b"".join(parts).decode(errors="replace").replace("\r\n", "\n")
