"""Running a command on a terminal of its own."""
import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading

END = b"\0the command has ended\0"


def run_on_terminal(args, columns=80, cwd=None, env=None, on_output=None):
    """Gives the status and all that was written to the terminal, with its newlines as \\n. on_output: called with all bytes so far.

    The end is told by a mark that is written after the command's last byte. To wait for the last writer to close the terminal is not enough: Linux may
    report that before it gives the last bytes to the reader."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    p = subprocess.Popen([str(a) for a in args], stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, close_fds=True,
                         env=dict(os.environ, **env) if env else None)

    def mark_the_end():
        p.wait()
        os.write(theirs, END)

    waiting = threading.Thread(target=mark_the_end, daemon=True)
    waiting.start()
    text = b""
    while END not in text:
        text += os.read(ours, 65536)
        if on_output:
            on_output(text.partition(END)[0])
    waiting.join()
    os.close(theirs)
    os.close(ours)
    return p.returncode, text.partition(END)[0].decode(errors="replace").replace("\r\n", "\n")
