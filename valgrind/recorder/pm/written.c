/* What the kernel writes to PM, into a mapping or by way of the file: stores of up to one line each, with the bytes that are there afterwards. */
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

void pm_file_written(ThreadId tid, Int fd, ULong offset, SizeT len)
{
	static UChar page[PMT_PAGE_BYTES];
	UInt file = pm_file_of_fd(fd);
	HChar link[64];
	SysRes r;
	Int own;

	if (file == 0)
		return;
	if (offset + len > *shared_file_size(file))
		pm_file_resized(tid, file, offset + len);
	VG_(sprintf)(link, "/proc/self/fd/%d", fd); /* the program's descriptor may be write-only */
	r = VG_(open)(link, VKI_O_RDONLY, 0);
	if (sr_isError(r)) {
		emit_event(tid, PMT_INCOMPLETE, 0, NULL, "a written file cannot be read", 29);
		return;
	}
	own = sr_Res(r);
	stack_run(tid);
	while (len > 0) {
		SizeT room = sizeof page - offset % sizeof page; /* a cache line is told at once */
		Long n = sys_pread(own, page, len < room ? len : room, offset);

		if (n <= 0)
			break;
		written(tid, PMT_ADDR(file, offset), page, n);
		offset += n;
		len -= n;
	}
	VG_(close)(own);
}
