/* Keeps the header of the trace, which all recorded processes map. The header gives files their
 * numbers, and keeps the locked instructions of several processes in order. */
#include "valgrind/common/sys.h"
#include "valgrind/recorder/out/chunk.h"
#include "valgrind/recorder/out/shared.h"

#include "pub_tool_libcproc.h"

#define LOCK_PATIENCE 100000 /* number of tries */
#define GONE (1ULL << 63)    /* a bit in a device's number: the file has no name any more */

static struct pmt_file_slot *slots(void)
{
	return (struct pmt_file_slot *)(g_out.header + 1);
}

UInt shared_file_find(ULong dev, ULong ino)
{
	UInt n = __atomic_load_n(&g_out.header->nfiles, __ATOMIC_SEQ_CST);

	for (UInt i = 0; i < n && i < PMT_MAX_FILES; i++)
		if (slots()[i].dev == dev && slots()[i].ino == ino)
			return i + 1;
	return 0;
}

UInt shared_file_id(ULong dev, ULong ino, Bool *is_new)
{
	UInt i = shared_file_find(dev, ino);

	*is_new = False;
	if (i != 0)
		return i;
	i = __atomic_fetch_add(&g_out.header->nfiles, 1, __ATOMIC_SEQ_CST);
	if (i >= PMT_MAX_FILES) {
		g_out.header->nfiles = PMT_MAX_FILES;
		g_out.header->error = VKI_ENFILE;
		return 0;
	}
	slots()[i] = (struct pmt_file_slot){ dev, ino, 0 };
	*is_new = True;
	return i + 1;
}

void shared_file_forget(UInt file)
{
	slots()[file - 1].dev |= GONE;
}

UInt shared_file_gone(ULong dev, ULong ino)
{
	return shared_file_find(dev | GONE, ino);
}

uint64_t *shared_file_size(UInt file)
{
	return &slots()[file - 1].size_bytes;
}

/* Asks whether all file numbers are used. Then recording stops at the next file. */
Bool shared_is_full(void)
{
	return g_out.header->nfiles >= PMT_MAX_FILES;
}

Bool shared_has_files(void)
{
	return g_out.header->nfiles != 0;
}

/* Locks out other processes, so that a locked instruction of each is recorded before the next is
 * executed. A process that is killed meanwhile does not block the others forever. */
void shared_lock(void)
{
	UInt me = VG_(getpid)();

	for (UInt i = 0; i < LOCK_PATIENCE; i++) {
		UInt nobody = 0;

		if (__atomic_compare_exchange_n(&g_out.header->lock, &nobody, me, False,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return;
		sys_yield();
	}
	g_out.header->lock = me;
}

void shared_unlock(void)
{
	UInt me = VG_(getpid)();

	__atomic_compare_exchange_n(&g_out.header->lock, &me, 0, False, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
}

UInt shared_bad_stack(void)
{
	return __atomic_add_fetch(&g_out.header->bad_stacks, 1, __ATOMIC_SEQ_CST);
}
