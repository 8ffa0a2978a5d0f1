"""A disk whose writes are in a log: a loop device on a file of FUSE, which this process serves.

Each request is logged before it is answered: a write when it comes ('w') and when it has ended ('e'), a flush
('f', with what had ended when it came). So what a crash can leave on a disk with a cache can be put together
from the log: what had ended before the last flush that ended is there, of the rest any part.

A write can be held back: then it is in the log, but does not end until release()."""
import ctypes
import fcntl
import os
import stat
import struct
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
LOOP_CTL_GET_FREE, LOOP_CONFIGURE, LOOP_CLR_FD = 0x4C82, 0x4C0A, 0x4C01
LO_AUTOCLEAR, LO_DIRECT = 4, 16
ENOSYS = 38
ROOT_INODE = 1


def mount(source, target, kind, options="", flags=0):
    if LIBC.mount(source.encode(), target.encode(), kind.encode(), flags, options.encode()) < 0:
        e = ctypes.get_errno()
        raise OSError(e, "mount: " + os.strerror(e))


def umount(target, flags=0):
    if LIBC.umount2(target.encode(), flags) < 0:
        e = ctypes.get_errno()
        raise OSError(e, "umount %s: %s" % (target, os.strerror(e)))


def loop_attach(path, is_direct=False):
    """Gives the path of a loop device on the file, which goes away with its last user, and a descriptor that is one."""
    backing = os.open(path, os.O_RDWR)
    control = os.open("/dev/loop-control", os.O_RDWR)
    try:
        for _ in range(50):
            n = fcntl.ioctl(control, LOOP_CTL_GET_FREE)
            if not os.path.exists("/dev/loop%d" % n):
                os.mknod("/dev/loop%d" % n, stat.S_IFBLK | 0o600, os.makedev(7, n))
            fd = os.open("/dev/loop%d" % n, os.O_RDWR)
            info = struct.pack("QQQQQIIII", 0, 0, 0, 0, 0, 0, 0, 0, LO_AUTOCLEAR | (LO_DIRECT if is_direct else 0)) + bytes(64 + 64 + 32 + 16)
            config = struct.pack("II", backing, 4096 if is_direct else 512) + info + bytes(64)
            try:
                fcntl.ioctl(fd, LOOP_CONFIGURE, config)
                return "/dev/loop%d" % n, fd
            except OSError as e:
                os.close(fd)
                if e.errno != 16:
                    raise
        raise OSError("no free loop device")
    finally:
        os.close(backing)
        os.close(control)


class Device:
    """The served file. is_held(offset, data) says which writes to hold back."""

    def __init__(self, image, place):
        self.image = bytearray(image)
        self.log = []
        self.lock = threading.Condition()
        self.is_held = None
        self.held = []
        self.place = place
        open(place, "w").close()
        self.fd = os.open("/dev/fuse", os.O_RDWR)
        mount("witness", place, "fuse.witness", "fd=%d,rootmode=100000,user_id=0,group_id=0,max_read=131072" % self.fd)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def reply(self, unique, data=b"", error=0):
        try:
            os.write(self.fd, struct.pack("IiQ", 16 + len(data), -error, unique) + data)
        except OSError:
            pass

    def attr(self):
        n = len(self.image)
        return struct.pack("QII", 3600, 0, 0) + struct.pack("QQQQQQIIIIIIIIII", ROOT_INODE, n, n // 512, 0, 0, 0, 0, 0, 0,
                                                           stat.S_IFREG | 0o600, 1, 0, 0, 0, 4096, 0)

    def release(self):
        with self.lock:
            self.is_held = None
            held, self.held = self.held, []
        for unique, index, size in held:
            self.ended(unique, index, size)

    def ended(self, unique, index, size):
        with self.lock:
            self.log.append(("e", index))
            self.lock.notify_all()
        self.reply(unique, struct.pack("II", size, 0))

    def serve(self):
        while True:
            try:
                request = os.read(self.fd, 1 << 21)
            except OSError as e:
                if e.errno in (4, 2):
                    continue
                return
            _, op, unique = struct.unpack_from("IIQ", request)
            body = request[40:]
            if op == 26:
                _, _, readahead, flags = struct.unpack_from("IIII", body)
                # FUSE_ASYNC_READ, FUSE_BIG_WRITES, FUSE_ASYNC_DIO
                self.reply(unique, struct.pack("IIIIHHIIHHI", 7, 31, readahead, flags & (1 | 32 | 1 << 15), 64, 48, 1 << 20, 1, 0, 0, 0) + bytes(28))
            elif op in (3, 4):
                self.reply(unique, self.attr())
            elif op == 14:
                self.reply(unique, struct.pack("QII", 1, 0, 0))
            elif op == 15:
                _, offset, size = struct.unpack_from("QQI", body)
                self.reply(unique, bytes(self.image[offset:offset + size]))
            elif op == 16:
                _, offset, size = struct.unpack_from("QQI", body)
                data = body[40:40 + size]
                with self.lock:
                    self.image[offset:offset + size] = data
                    self.log.append(("w", offset, data))
                    index = len(self.log) - 1
                    is_held = self.is_held and self.is_held(offset, data)
                    if is_held:
                        self.held.append((unique, index, size))
                    self.lock.notify_all()
                if not is_held:
                    self.ended(unique, index, size)
            elif op == 20:
                with self.lock:
                    self.log.append(("f",))
                self.reply(unique)
            elif op in (25, 18):
                self.reply(unique)
            elif op in (2, 36, 42):
                pass
            else:
                self.reply(unique, error=ENOSYS)

    def mark(self):
        with self.lock:
            return len(self.log)

    def close(self):
        umount(self.place, 2)
        os.close(self.fd)
        os.unlink(self.place)
