/* Writes the trace. The chunk in hand is a shared mapping of the file, so that a killed process loses nothing it had
 * encoded; blocks are allocated first, so that a full disk is an error here and not a SIGBUS. The trace file is opened
 * again when the program managed to close it. */
#include "valgrind/recorder/out/out.h"
#include "valgrind/common/sys.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"

#define F_DUPFD_CLOEXEC 1030 /* what Valgrind's headers lack */
#define RLIMIT_FSIZE 1
#define LOCK_PATIENCE 100000 /* tries */
#define EOPNOTSUPP 95
#define ESTALE 116

ULong g_shared; /* nonzero: other processes may record too */

static struct pmt_file_slot *g_slots;
static UChar *g_window; /* the chunk in hand */
static ULong g_chunk_offset;
static UInt g_full;	      /* when more of the chunk is used, the next record goes into a new one */
static ULong g_inode;	      /* of the trace file */
static Bool g_is_dead;	      /* the trace cannot be written any more */
static UInt g_stream, g_chunk_number;
static ULong g_seq; /* of our last event, when g_shared; else the header tells */

static struct pmt_site_state g_before; /* the first event */
struct out g_out = { .prev = &g_before };

static void out_fail(Int error)
{
	g_is_dead = True;
	if (g_out.header != NULL)
		g_out.header->error = error;
	VG_(umsg)("pmend: cannot write the trace %s (error %d); nothing is recorded from here on\n", clo_trace_file,
		  error);
	/* Encoders go on writing into memory of our own, which nobody reads. */
	sys_mmap(g_window, PMT_CHUNK_BYTES, VKI_PROT_READ | VKI_PROT_WRITE,
		 VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS | VKI_MAP_FIXED, -1, 0);
	g_out.chunk->used = 0;
	out_attend();
}

/* The trace's descriptor: kept where the program cannot close it, so that setuid and chroot do no harm. */
static Int open_trace(void)
{
	static Int g_fd = -1;
	struct vg_stat st;
	struct vki_rlimit limit;
	SysRes r;
	Long high;

	if (g_fd >= 0 && VG_(fstat)(g_fd, &st) == 0 && st.ino == g_inode)
		return g_fd;
	r = VG_(open)(clo_trace_file, VKI_O_RDWR | (g_inode ? 0 : VKI_O_CREAT), 0644);
	if (sr_isError(r))
		return -(Int)sr_Err(r);
	g_fd = sr_Res(r);
	if (VG_(fstat)(g_fd, &st) != 0 || (g_inode != 0 && st.ino != g_inode))
		return -ESTALE; /* somebody else's trace has the name now */
	g_inode = st.ino;
	/* Valgrind keeps the last few descriptors below the limit for itself */
	if (sys_getrlimit(VKI_RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 64) {
		high = sys_fcntl(g_fd, F_DUPFD_CLOEXEC, limit.rlim_cur - 4);
		if (high >= 0) {
			VG_(close)(g_fd);
			g_fd = high;
		}
	}
	return g_fd;
}

static Long write_zeros(Int fd, ULong offset, SizeT len)
{
	static const UChar zeros[PMT_PAGE_BYTES];
	Long r = sys_fallocate(fd, 0, offset, len);

	if (r != -EOPNOTSUPP && r != -VKI_ENOSYS)
		return r;
	for (SizeT i = 0; i < len; i += sizeof zeros) {
		r = sys_pwrite(fd, zeros, sizeof zeros, offset + i);
		if (r != (Long)sizeof zeros)
			return r < 0 ? r : -VKI_ENOSPC;
	}
	return 0;
}

/* The program's own limit on file sizes is not meant for the trace: beyond it comes a signal that kills. */
static Long allocate_blocks(Int fd, ULong offset, SizeT len)
{
	struct vki_rlimit limit, none;
	Long r;

	if (sys_getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur >= offset + len)
		return write_zeros(fd, offset, len);
	if (limit.rlim_max < offset + len)
		return -VKI_EFBIG;
	none = (struct vki_rlimit){ limit.rlim_max, limit.rlim_max };
	sys_setrlimit(RLIMIT_FSIZE, &none);
	r = write_zeros(fd, offset, len);
	sys_setrlimit(RLIMIT_FSIZE, &limit);
	return r;
}

static void chunk_open(void)
{
	Int fd = open_trace();
	UInt capacity;
	Long r;

	if (fd < 0) {
		out_fail(-fd);
		return;
	}
	/* most forked processes do little */
	capacity = g_stream > 0 && g_chunk_number == 0 ? PMT_FIRST_CHUNK_BYTES : PMT_CHUNK_BYTES;
	g_chunk_offset = __atomic_fetch_add(&g_out.header->end, capacity, __ATOMIC_SEQ_CST);
	r = allocate_blocks(fd, g_chunk_offset, capacity);
	if (r >= 0)
		r = sys_mmap(g_window, capacity, VKI_PROT_READ | VKI_PROT_WRITE, VKI_MAP_SHARED | VKI_MAP_FIXED, fd,
			     g_chunk_offset);
	if (r < 0) {
		out_fail(-r);
		return;
	}
	g_out.chunk = (struct pmt_chunk *)g_window;
	*g_out.chunk = (struct pmt_chunk){
		.magic = PMT_CHUNK_MAGIC,
		.stream = g_stream,
		.capacity = capacity,
		.first_seq = (g_shared ? g_seq : g_out.header->seq) + 1,
		.state = PMT_CHUNK_OPEN,
		.number = g_chunk_number++,
	};
	g_full = capacity - sizeof *g_out.chunk - PMT_RECORD_MAX_BYTES;
	out_attend();
}

/* Gives back the unused pages of the last chunk. */
static void chunk_trim(Int fd)
{
	g_out.chunk->capacity = VG_PGROUNDUP(sizeof *g_out.chunk + g_out.chunk->used);
	g_out.header->end = g_chunk_offset + g_out.chunk->capacity;
	sys_ftruncate(fd, g_out.header->end);
}

/* While we are alone, every number since the chunk began is an event of its own. */
static void count_events(void)
{
	if (!g_shared)
		g_out.chunk->nevents = g_out.header->seq + 1 - g_out.chunk->first_seq;
}

static void chunk_close(Bool is_last)
{
	Int fd;

	if (g_is_dead)
		return;
	count_events();
	g_out.chunk->hash = pmt_chunk_hash(g_out.chunk, g_out.chunk + 1);
	g_out.chunk->state = PMT_CHUNK_CLOSED;
	if (!is_last || g_shared) /* another process could take a chunk meanwhile */
		return;
	fd = open_trace();
	if (fd >= 0)
		chunk_trim(fd);
}

UChar *out_begin(void)
{
	if (UNLIKELY(g_out.chunk->used > g_full)) {
		if (g_is_dead) {
			g_out.chunk->used = 0;
		} else {
			chunk_close(False);
			chunk_open();
		}
	}
	return out_pos(g_out.chunk);
}

UChar *out_begin_event(void)
{
	UChar *p = out_begin();
	ULong seq;

	if (!g_shared) {
		g_out.header->seq++;
		return p;
	}
	seq = __atomic_add_fetch(&g_out.header->seq, 1, __ATOMIC_SEQ_CST);
	if (seq != g_seq + 1)
		p = pmt_put_seq(p, seq - g_seq - 1);
	g_seq = seq;
	g_out.chunk->nevents++;
	return p;
}

void out_end(const UChar *p)
{
	out_move(g_out.chunk, p);
	g_out.room = g_shared || g_is_dead || g_out.enc.thread != g_thread ? -1 : (Int)g_full;
}

void out_attend(void)
{
	g_out.room = -1;
}

void out_node(UInt parent, Bool is_signal, Addr pc)
{
	out_end(pmt_put_node(&g_out.enc, out_begin(), parent, is_signal, pc));
}

void out_site(UInt node, Addr pc, enum pmt_kind kind, UInt size_bytes)
{
	out_end(pmt_put_site(&g_out.enc, out_begin(), node, pc, kind, size_bytes));
}

void out_object(Addr va, SizeT len, ULong offset, const UChar *build_id, UInt build_id_len, const HChar *path)
{
	out_end(pmt_put_object(out_begin(), va, len, offset, build_id, build_id_len, path, VG_(strlen)(path)));
}

void out_object_gone(Addr va, SizeT len)
{
	out_end(pmt_put_object_gone(out_begin(), va, len));
}

UInt out_file_find(ULong dev, ULong ino)
{
	UInt n = __atomic_load_n(&g_out.header->nfiles, __ATOMIC_SEQ_CST);

	for (UInt i = 0; i < n && i < PMT_MAX_FILES; i++)
		if (g_slots[i].dev == dev && g_slots[i].ino == ino)
			return i + 1;
	return 0;
}

UInt out_file_id(ULong dev, ULong ino, Bool *is_new)
{
	UInt i = out_file_find(dev, ino);

	*is_new = False;
	if (i != 0)
		return i;
	i = __atomic_fetch_add(&g_out.header->nfiles, 1, __ATOMIC_SEQ_CST);
	if (i >= PMT_MAX_FILES) {
		g_out.header->nfiles = PMT_MAX_FILES;
		g_out.header->error = VKI_ENFILE;
		return 0;
	}
	g_slots[i] = (struct pmt_file_slot){ dev, ino, 0 };
	*is_new = True;
	return i + 1;
}

void out_file_forget(UInt file)
{
	g_slots[file - 1].dev = g_slots[file - 1].ino = 0;
}

uint64_t *out_file_size(UInt file)
{
	return &g_slots[file - 1].size_bytes;
}

Bool out_has_files(void)
{
	return g_out.header->nfiles != 0;
}

/* Processes that use locked instructions on the same memory: each is recorded before the next is performed. A process that
 * is killed in between must not stop the others for good. */
void out_lock(void)
{
	UInt me = VG_(getpid)();

	for (UInt i = 0; i < LOCK_PATIENCE; i++) {
		UInt nobody = 0;

		if (__atomic_compare_exchange_n(&g_out.header->lock, &nobody, me, False, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return;
		sys_yield();
	}
	g_out.header->lock = me;
}

void out_unlock(void)
{
	UInt me = VG_(getpid)();

	__atomic_compare_exchange_n(&g_out.header->lock, &me, 0, False, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

UInt out_bad_stack(void)
{
	return __atomic_add_fetch(&g_out.header->bad_stacks, 1, __ATOMIC_SEQ_CST);
}

UInt out_new_stream(void)
{
	if (!g_shared) {
		count_events();
		g_seq = g_out.header->seq;
		g_shared = 1;
		out_attend();
	}
	return __atomic_fetch_add(&g_out.header->nstreams, 1, __ATOMIC_SEQ_CST);
}

void out_fork_child(UInt stream)
{
	g_stream = stream;
	g_chunk_number = 0;
	if (!g_is_dead)
		chunk_open();
}

void out_close(void)
{
	if (g_stream == 0 && !g_is_dead)
		g_out.header->finished = 1;
	chunk_close(True);
}

void out_resume(void)
{
	if (g_is_dead)
		return;
	if (g_stream == 0)
		g_out.header->finished = 0;
	chunk_open();
}

/* The first process makes the header; one that was executed by a recorded process finds it there. */
static Bool map_header(Int fd)
{
	Bool is_first;
	struct vg_stat st;
	Long r;

	g_out.header = VG_(am_shadow_alloc)(PMT_HEADER_BYTES);
	g_slots = (struct pmt_file_slot *)(g_out.header + 1);
	if (VG_(fstat)(fd, &st) != 0)
		return False;
	is_first = st.size == 0;
	r = is_first ? allocate_blocks(fd, 0, PMT_HEADER_BYTES) : 0;
	if (r >= 0)
		r = sys_mmap(g_out.header, PMT_HEADER_BYTES, VKI_PROT_READ | VKI_PROT_WRITE,
			     VKI_MAP_SHARED | VKI_MAP_FIXED, fd, 0);
	if (r < 0) {
		VG_(umsg)("pmend: cannot map the trace file (error %ld)\n", (Word)-r);
		return False;
	}
	if (is_first)
		*g_out.header = (struct pmt_header){ .magic = PMT_MAGIC,
						 .version = PMT_VERSION,
						 .header_bytes = PMT_HEADER_BYTES,
						 .end = PMT_HEADER_BYTES };
	else if (VG_(memcmp)(g_out.header->magic, PMT_MAGIC, sizeof g_out.header->magic) != 0)
		return False;
	g_shared = !is_first;
	return True;
}

Bool out_open(void)
{
	Int fd = open_trace();
	Bool ok;

	if (fd < 0) {
		VG_(umsg)("pmend: cannot open the trace file %s (error %d)\n", clo_trace_file, -fd);
		return False;
	}
	ok = map_header(fd);
	if (!ok)
		return False;
	g_window = VG_(am_shadow_alloc)(PMT_CHUNK_BYTES);
	g_out.chunk = (struct pmt_chunk *)g_window;
	g_stream = __atomic_fetch_add(&g_out.header->nstreams, 1, __ATOMIC_SEQ_CST);
	chunk_open();
	return True;
}
