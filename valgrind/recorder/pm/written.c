/* Records what the kernel writes to PM, through a mapping or through the file, as stores of up to
 * one line each, with the bytes that are there afterwards. */
#include "valgrind/common/sys.h"
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/place/stack.h"
#include "valgrind/recorder/pm/pm_internal.h"

#include "pub_tool_machine.h"

static void written_line(ThreadId tid, ULong addr, const UChar *data, UInt len)
{
	struct code *c = code_get(VG_(get_IP)(tid) - 1, PMT_STORE_SYS, len);

	emit_place(c);
	emit_store(c, addr, data);
}

static void written(ThreadId tid, ULong addr, const UChar *data, SizeT len)
{
	while (len > 0) {
		SizeT n = PMT_LINE_BYTES - addr % PMT_LINE_BYTES;

		if (n > len)
			n = len;
		written_line(tid, addr, data, n);
		addr += n;
		data += n;
		len -= n;
	}
}

static void written_part(Addr va, ULong addr, SizeT len, void *arg)
{
	written(*(ThreadId *)arg, addr, (const UChar *)va, len);
}

void pm_written(ThreadId tid, Addr va, SizeT len)
{
	if (ranges_are_none())
		return;
	stack_run(tid);
	pm_each(va, len, written_part, &tid);
}

/* Records a written range of the file. It reads the bytes through our own descriptor. */
static void written_from(ThreadId tid, UInt file, Int own, ULong offset, SizeT len)
{
	static UChar page[PMT_PAGE_BYTES];

	stack_run(tid);
	while (len > 0) {
		/* a cache line becomes one event */
		SizeT room = sizeof page - offset % sizeof page;
		Long n = sys_pread(own, page, len < room ? len : room, offset);

		if (n <= 0)
			break;
		written(tid, PMT_ADDR(file, offset), page, n);
		offset += n;
		len -= n;
	}
}

static void cannot_read(ThreadId tid)
{
	emit_event(tid, PMT_INCOMPLETE, 0, NULL, "a written file cannot be read", 29);
}

void pm_file_written(ThreadId tid, Int fd, ULong offset, SizeT len)
{
	UInt file = pm_file_of_fd(fd);
	Int own;

	if (file == 0)
		return;
	if (offset + len > *shared_file_size(file))
		pm_file_resized(tid, file, offset + len);
	own = kept_open(file, fd); /* the program's descriptor may be write-only */
	if (own < 0) {
		cannot_read(tid);
		return;
	}
	written_from(tid, file, own, offset, len);
	kept_close(file, own);
}

/* Records a write to a file that some process has mapped, perhaps not this one. */
void pm_inode_written(ThreadId tid, ULong dev, ULong ino, const HChar *path, ULong offset,
		      SizeT len)
{
	UInt file = shared_file_find(dev, ino);
	Int own = file != 0 ? kept_find(file) : -1;
	SysRes r;

	if (file == 0)
		return;
	if (own >= 0) {
		written_from(tid, file, own, offset, len);
		return;
	}
	r = VG_(open)(path, VKI_O_RDONLY, 0);
	if (sr_isError(r)) {
		cannot_read(tid);
		return;
	}
	if (shared_file_find(dev, ino) == pm_file_of_fd(sr_Res(r)))
		written_from(tid, file, sr_Res(r), offset, len);
	else
		cannot_read(tid);
	VG_(close)(sr_Res(r));
}
