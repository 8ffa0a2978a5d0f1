/* Records writes and syncs that io_submit gives to the kernel. A write through the page cache is
 * complete when io_submit returns; a direct one when io_getevents reports it. Reads are not handled
 * here: Valgrind reports them at io_getevents. A program that reads the completion ring itself is
 * not seen. */
#include "valgrind/recorder/kernel/async.h"

#include "valgrind/common/sys.h"
#include "valgrind/recorder/kernel/writes.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/pm/pm.h"

#include "pub_tool_aspacemgr.h"

/* Valgrind's headers lack these */
enum { IOCB_PWRITE = 1, IOCB_FSYNC = 2, IOCB_FDSYNC = 3, IOCB_PWRITEV = 8 };

#define F_GETFL 3
/* which bit is which depends on the processor; a descriptor that is written is no directory */
#define O_DIRECT_OR_DIRECTORY (040000 | 0200000)

static Bool is_direct(Int fd)
{
	return (sys_fcntl(fd, F_GETFL, 0) & O_DIRECT_OR_DIRECTORY) != 0;
}

/* Counts the bytes that the request writes. */
static SizeT write_bytes(const struct vki_iocb *cb)
{
	const struct vki_iovec *iov = (const struct vki_iovec *)(Addr)cb->aio_buf;
	SizeT n = 0;

	if (cb->aio_lio_opcode == IOCB_PWRITE)
		return cb->aio_nbytes;
	for (SizeT i = 0; i < cb->aio_nbytes; i++)
		n += iov[i].iov_len;
	return n;
}

static Bool is_write(const struct vki_iocb *cb)
{
	return cb->aio_lio_opcode == IOCB_PWRITE || cb->aio_lio_opcode == IOCB_PWRITEV;
}

static void submitted(ThreadId tid, const struct vki_iocb *cb)
{
	if (is_write(cb) && !is_direct(cb->aio_fildes))
		writes_at(tid, cb->aio_fildes, cb->aio_offset, write_bytes(cb), 0);
}

static void completed(ThreadId tid, const struct vki_iocb *cb, Long result)
{
	ULong file[1] = { pm_file_of_fd(cb->aio_fildes) };

	if (file[0] == 0 || result < 0)
		return;
	if (is_write(cb) && is_direct(cb->aio_fildes))
		writes_at(tid, cb->aio_fildes, cb->aio_offset, result, 0);
	else if (cb->aio_lio_opcode == IOCB_FSYNC || cb->aio_lio_opcode == IOCB_FDSYNC)
		emit_event(tid, cb->aio_lio_opcode == IOCB_FSYNC ? PMT_FSYNC : PMT_FDATASYNC, 0,
			   file, NULL, 0);
}

void async_after(ThreadId tid, UInt number, const UWord *args, UWord n)
{
	const struct vki_io_event *events = (const struct vki_io_event *)args[3];
	const struct vki_iocb *const *list = (const struct vki_iocb *const *)args[2];

	if (number == __NR_io_submit)
		for (UWord i = 0; i < n; i++)
			submitted(tid, list[i]);
	if (number != __NR_io_getevents && number != __NR_io_pgetevents)
		return;
	for (UWord i = 0; i < n; i++) {
		const struct vki_iocb *cb = (const struct vki_iocb *)(Addr)events[i].obj;

		/* the program may have freed its memory */
		if (VG_(am_is_valid_for_client)((Addr)cb, sizeof *cb, VKI_PROT_READ))
			completed(tid, cb, events[i].result);
	}
}
