/* Records what the program writes to descriptors: a write to a PM file changes PM; a write to
 * standard output or a socket is an acknowledgement. Input from standard input or a socket is
 * recorded as requests, one per line if there are lines. Offsets are computed after the call, when
 * the file's position has moved. */
#include "valgrind/recorder/kernel/writes.h"

#include "valgrind/common/sys.h"
#include "valgrind/recorder/kernel/into.h"
#include "valgrind/recorder/out/chunk.h"
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/pm/pm.h"

#include "pub_tool_libcfile.h"
#include "pub_tool_vkiscnums.h"

/* Valgrind's headers lack these */
#define O_DSYNC_BIT 010000 /* O_SYNC contains this bit */
#define RWF_DSYNC 0x2
#define RWF_SYNC 0x4
#define RWF_APPEND 0x10

/* Asks whether the descriptor is the given standard descriptor, or a socket. */
static Bool is_outside(Int fd, Int standard)
{
	struct vg_stat st;

	return shared_has_files() &&
	       (fd == standard || (VG_(fstat)(fd, &st) == 0 && VKI_S_ISSOCK(st.mode)));
}

/* Input that was read and not written to the trace yet. */
struct input {
	ThreadId tid;
	ULong args[2];     /* of the event for the last line; 0 bytes: no line has ended */
	ULong begun_bytes; /* length of the line that has not ended */
};

/* Handles a part of the input. Each line is an event; a line that has only begun belongs to the one
 * before. */
static void input_part(struct input *in, const UChar *data, SizeT n)
{
	for (SizeT i = 0; i < n; i++) {
		in->begun_bytes++;
		if (data[i] != '\n')
			continue;
		if (in->args[1] > 0)
			emit_event(in->tid, PMT_INPUT, 0, in->args, NULL, 0);
		in->args[1] = in->begun_bytes;
		in->begun_bytes = 0;
	}
}

static void after_input(ThreadId tid, Int fd, const struct vki_iovec *iov, SizeT count, SizeT n)
{
	struct input in = { .tid = tid, .args = { fd, 0 } };

	if (n == 0 || !is_outside(fd, 0))
		return;
	for (SizeT i = 0; i < count && n > 0; i++) {
		SizeT part = iov[i].iov_len < n ? iov[i].iov_len : n;

		input_part(&in, iov[i].iov_base, part);
		n -= part;
	}
	in.args[1] += in.begun_bytes;
	emit_event(tid, PMT_INPUT, 0, in.args, NULL, 0);
}

/* Records input from n bytes that were read into a buffer of `available` bytes. n may be larger
 * than the buffer: MSG_TRUNC. */
static void after_plain_input(ThreadId tid, Int fd, void *data, SizeT available, SizeT n)
{
	const struct vki_iovec iov = { .iov_base = data, .iov_len = available };

	after_input(tid, fd, &iov, 1, n);
}

static void after_output(ThreadId tid, Int fd, const void *data, SizeT available, SizeT n)
{
	ULong args[2] = { fd, n };
	UInt shown = n < available ? n : available;

	if (is_outside(fd, 1))
		emit_event(tid, PMT_OUTPUT, 0, args, data,
			   shown < PMT_OUTPUT_BYTES ? shown : PMT_OUTPUT_BYTES);
}

static void after_vector_output(ThreadId tid, Int fd, const struct vki_iovec *iov, SizeT count,
				SizeT n)
{
	UChar data[PMT_OUTPUT_BYTES];
	SizeT filled = 0;

	/* only the first n bytes were read; the memory behind may be invalid */
	for (SizeT i = 0; i < count && filled < sizeof data && filled < n; i++) {
		SizeT room = n < sizeof data ? n - filled : sizeof data - filled;
		SizeT part = iov[i].iov_len < room ? iov[i].iov_len : room;

		VG_(memcpy)(data + filled, iov[i].iov_base, part);
		filled += part;
	}
	after_output(tid, fd, data, filled, n);
}

Bool writes_sync(Int fd, ULong rwf)
{
	return (rwf & (RWF_DSYNC | RWF_SYNC)) || (sys_fcntl(fd, 3 /* F_GETFL */, 0) & O_DSYNC_BIT);
}

/* Records a write of n bytes. If the descriptor or the call asks for it, the kernel has synced the
 * pages of these bytes, so they are durable. */
static void after_write(ThreadId tid, Int fd, ULong offset, SizeT n, ULong rwf)
{
	ULong args[2] = { n, 4 /* MS_SYNC */ };

	if (n == 0)
		return;
	if (g_shared)
		shared_lock(); /* keeps the stores of one call together */
	pm_file_written(tid, fd, offset, n);
	emit_event(tid, PMT_WRITE, PMT_ADDR(pm_file_of_fd(fd), offset), args, NULL, 0);
	if (g_shared)
		shared_unlock();
	if (writes_sync(fd, rwf))
		emit_event(tid, PMT_MSYNC, PMT_ADDR(pm_file_of_fd(fd), offset), args, NULL, 0);
}

/* Handles a write of n bytes at an offset to something that is no PM file: the memory of a process,
 * or a file beside a pool. */
static void after_other_write(ThreadId tid, Int fd, ULong offset, SizeT n, ULong rwf)
{
	if (into_written(tid, fd, offset, n))
		return;
	beside_written(tid, fd);
	pm_gone_changed(tid, fd);
	made_written(fd, writes_sync(fd, rwf));
}

/* Handles a write of n bytes at the file's position, which has moved since. */
static void after_write_at_position(ThreadId tid, Int fd, SizeT n, ULong rwf)
{
	if (pm_file_of_fd(fd) != 0)
		after_write(tid, fd, VG_(lseek)(fd, 0, VKI_SEEK_CUR) - n, n, rwf);
	else
		after_other_write(tid, fd, VG_(lseek)(fd, 0, VKI_SEEK_CUR) - n, n, rwf);
}

/* Handles a write of n bytes at an offset, unless the descriptor or the call says that it is
 * appended. */
void writes_at(ThreadId tid, Int fd, ULong offset, SizeT n, ULong rwf)
{
	struct vg_stat st;

	if (pm_file_of_fd(fd) == 0) {
		after_other_write(tid, fd, offset, n, rwf);
		return;
	}
	if (((rwf & RWF_APPEND) || (sys_fcntl(fd, 3 /* F_GETFL */, 0) & VKI_O_APPEND)) &&
	    VG_(fstat)(fd, &st) == 0)
		offset = st.size - n;
	after_write(tid, fd, offset, n, rwf);
}

void writes_after(ThreadId tid, UInt number, UWord *args, UWord n)
{
	switch (number) {
	case __NR_read:
	case __NR_recvfrom: after_plain_input(tid, args[0], (void *)args[1], args[2], n); break;
	case __NR_readv:
		after_input(tid, args[0], (const struct vki_iovec *)args[1], args[2], n);
		break;
	case __NR_recvmsg: {
		const struct vki_msghdr *m = (const struct vki_msghdr *)args[1];

		after_input(tid, args[0], m->msg_iov, m->msg_iovlen, n);
		break;
	}
	case __NR_write:
		after_write_at_position(tid, args[0], n, 0);
		after_output(tid, args[0], (const void *)args[1], args[2], n);
		break;
	case __NR_writev:
		after_write_at_position(tid, args[0], n, 0);
		after_vector_output(tid, args[0], (const struct vki_iovec *)args[1], args[2], n);
		break;
	case __NR_pwrite64:
	case __NR_pwritev: writes_at(tid, args[0], args[3], n, 0); break;
	case __NR_pwritev2:
		if ((Long)args[3] == -1)
			after_write_at_position(tid, args[0], n, args[5]);
		else
			writes_at(tid, args[0], args[3], n, args[5]);
		break;
	case __NR_sendto: after_output(tid, args[0], (const void *)args[1], args[2], n); break;
	case __NR_sendmsg: {
		const struct vki_msghdr *m = (const struct vki_msghdr *)args[1];

		after_vector_output(tid, args[0], m->msg_iov, m->msg_iovlen, n);
		break;
	}
	case __NR_sendfile: after_write_at_position(tid, args[0], n, 0); break;
	case __NR_copy_file_range:
	case __NR_splice:
		/* an explicit offset has moved by now, like a position */
		if (args[3] != 0)
			writes_at(tid, args[2], *(const ULong *)args[3] - n, n, 0);
		else
			after_write_at_position(tid, args[2], n, 0);
		break;
	default: break;
	}
}
