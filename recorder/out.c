/* Writes the trace. The chunk in hand is a shared mapping of the file, so that a killed process loses nothing it had
 * encoded; blocks are allocated first, so that a full disk is an error here and not a SIGBUS. The trace file is opened
 * again when the program managed to close it. */
#include "rec.h"
#include "sys.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pmtrace_encode.h"

#define F_DUPFD_CLOEXEC 1030 /* what Valgrind's headers lack */
#define RLIMIT_FSIZE 1
#define LOCK_PATIENCE 100000 /* tries */
#define EOPNOTSUPP 95
#define ESTALE 116

ULong g_shared; /* nonzero: other processes may record too */

static struct pmt_header *g_header;
static struct pmt_file_slot *g_slots;
static UChar *g_window; /* the chunk in hand */
static struct pmt_chunk *g_chunk;
static ULong g_chunk_offset;
static UChar *g_pos, *g_full; /* next byte to write; beyond g_full, take a new chunk first */
static ULong g_inode;	      /* of the trace file */
static Bool g_is_dead;	      /* the trace cannot be written any more */
static UInt g_stream, g_chunk_number;
static ULong g_seq; /* of our last event */

static struct pmt_encoder g_enc;
static struct pmt_site_state *g_sites; /* by number; 0 stands for "before the first event" */
static UInt g_nsites, g_sites_cap;

static void out_fail(Int error)
{
	g_is_dead = True;
	if (g_header != NULL)
		g_header->error = error;
	VG_(umsg)("pmend: cannot write the trace %s (error %d); nothing is recorded from here on\n", clo_trace_file,
		  error);
	/* Encoders go on writing into memory of our own, which nobody reads. */
	sys_mmap(g_window, PMT_CHUNK_BYTES, VKI_PROT_READ | VKI_PROT_WRITE,
		 VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS | VKI_MAP_FIXED, -1, 0);
	g_pos = g_window + sizeof *g_chunk;
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
	g_chunk_offset = __atomic_fetch_add(&g_header->end, capacity, __ATOMIC_SEQ_CST);
	r = allocate_blocks(fd, g_chunk_offset, capacity);
	if (r >= 0)
		r = sys_mmap(g_window, capacity, VKI_PROT_READ | VKI_PROT_WRITE, VKI_MAP_SHARED | VKI_MAP_FIXED, fd,
			     g_chunk_offset);
	if (r < 0) {
		out_fail(-r);
		return;
	}
	g_chunk = (struct pmt_chunk *)g_window;
	*g_chunk = (struct pmt_chunk){
		.magic = PMT_CHUNK_MAGIC,
		.stream = g_stream,
		.capacity = capacity,
		.first_seq = g_seq + 1,
		.state = PMT_CHUNK_OPEN,
		.number = g_chunk_number++,
	};
	g_pos = g_window + sizeof *g_chunk;
	g_full = g_window + capacity - PMT_RECORD_MAX_BYTES;
}

/* Gives back the unused pages of the last chunk. */
static void chunk_trim(Int fd)
{
	g_chunk->capacity = VG_PGROUNDUP(sizeof *g_chunk + g_chunk->used);
	g_header->end = g_chunk_offset + g_chunk->capacity;
	sys_ftruncate(fd, g_header->end);
}

static void chunk_close(Bool is_last)
{
	Int fd;

	if (g_is_dead)
		return;
	g_chunk->hash = pmt_chunk_hash(g_chunk, g_chunk + 1);
	g_chunk->state = PMT_CHUNK_CLOSED;
	if (!is_last || g_shared) /* another process could take a chunk meanwhile */
		return;
	fd = open_trace();
	if (fd >= 0)
		chunk_trim(fd);
}

/* Where a record may be written: PMT_RECORD_MAX_BYTES are free there. */
static inline UChar *record_begin(void)
{
	if (UNLIKELY(g_pos > g_full)) {
		if (g_is_dead) {
			g_pos = g_window + sizeof *g_chunk;
		} else {
			chunk_close(False);
			chunk_open();
		}
	}
	return g_pos;
}

static inline void record_end(UChar *p)
{
	g_pos = p;
	__asm__ volatile("" ::: "memory"); /* the bytes first, then their count: a kill may come in between */
	g_chunk->used = (UInt)(p - (UChar *)(g_chunk + 1));
}

static inline UChar *event_begin(void)
{
	UChar *p = record_begin();
	ULong seq = g_shared ? __atomic_add_fetch(&g_header->seq, 1, __ATOMIC_SEQ_CST) : ++g_header->seq;

	if (UNLIKELY(seq != g_seq + 1))
		p = pmt_put_seq(p, seq - g_seq - 1);
	g_seq = seq;
	g_chunk->nevents++;
	return p;
}

void out_node(UInt parent, Bool is_signal, Addr pc)
{
	record_end(pmt_put_node(&g_enc, record_begin(), parent, is_signal, pc));
}

void out_site(UInt node, Addr pc, enum pmt_kind kind, UInt size_bytes)
{
	if (g_nsites + 1 >= g_sites_cap) {
		g_sites_cap = g_sites_cap ? 2 * g_sites_cap : 1024;
		g_sites = VG_(realloc)("pmend.sites", g_sites, g_sites_cap * sizeof *g_sites);
		if (g_nsites == 0)
			g_sites[0] = (struct pmt_site_state){ 0 };
	}
	g_sites[++g_nsites] = (struct pmt_site_state){ 0 };
	record_end(pmt_put_site(&g_enc, record_begin(), node, pc, kind, size_bytes));
}

void out_object(Addr va, SizeT len, ULong offset, const UChar *build_id, UInt build_id_len, const HChar *path)
{
	record_end(pmt_put_object(record_begin(), va, len, offset, build_id, build_id_len, path, VG_(strlen)(path)));
}

void out_object_gone(Addr va, SizeT len)
{
	record_end(pmt_put_object_gone(record_begin(), va, len));
}

static inline UInt event_site(struct code *c)
{
	UInt node = stack_node();

	if (UNLIKELY(clo_check_stacks))
		stack_check(c->pc);
	return LIKELY(c->node == node) ? c->site : code_site(c, node);
}

void out_store(struct code *c, ULong addr, const UChar *data)
{
	UInt site = event_site(c);
	struct pmt_site_state *s = &g_sites[site];
	UChar *head = event_begin(), *p;

	p = pmt_put_event(&g_enc, head, g_thread, site, &g_sites[g_enc.prev_site]);
	p = pmt_put_addr(&g_enc, head, p, s, addr, c->size_bytes);
	record_end(pmt_put_value(head, p, s, data, c->size_bytes));
}

void out_addr(struct code *c, ULong addr)
{
	UInt site = event_site(c);
	UChar *head = event_begin(), *p;

	p = pmt_put_event(&g_enc, head, g_thread, site, &g_sites[g_enc.prev_site]);
	record_end(pmt_put_addr(&g_enc, head, p, &g_sites[site], addr, c->size_bytes));
}

void out_plain(struct code *c)
{
	UInt site = event_site(c);
	UChar *p = event_begin();

	record_end(pmt_put_event(&g_enc, p, g_thread, site, &g_sites[g_enc.prev_site]));
}

static const struct {
	UChar carries, nargs;
} g_kinds[PMT_NKINDS] = {
#define X(number, NAME, name, carries, nargs) [number] = { carries, nargs },
	PMT_KINDS(X)
#undef X
};

void out_args(struct code *c, const ULong *args)
{
	UInt site = event_site(c);
	UChar *p = event_begin();

	p = pmt_put_event(&g_enc, p, g_thread, site, &g_sites[g_enc.prev_site]);
	for (UInt i = 0; i < g_kinds[c->kind].nargs; i++)
		p = pmt_put_number(p, args[i]);
	record_end(p);
}

void out_event(ThreadId tid, enum pmt_kind kind, ULong addr, const ULong *args, const void *blob, UInt blob_len)
{
	Bool has_thread = tid != VG_INVALID_THREADID && stack_thread_number(tid) != 0;
	struct code *c;
	UInt site, thread = 1;
	UChar *head, *p;

	if (has_thread)
		stack_run(tid);
	/* the thread is behind the instruction that called us */
	c = code_get(has_thread ? VG_(get_IP)(tid) - 1 : 0, kind, 0);
	site = code_site(c, has_thread ? stack_node() : 0);
	if (has_thread)
		thread = g_thread;
	head = event_begin();
	p = pmt_put_event(&g_enc, head, thread, site, &g_sites[g_enc.prev_site]);
	if (g_kinds[kind].carries & PMT_HAS_ADDR)
		p = pmt_put_addr(&g_enc, head, p, &g_sites[site], addr, 0);
	for (UInt i = 0; i < g_kinds[kind].nargs; i++)
		p = pmt_put_number(p, args[i]);
	if (g_kinds[kind].carries & PMT_HAS_BLOB)
		p = pmt_put_blob(p, blob, blob_len > PMT_PAGE_BYTES ? PMT_PAGE_BYTES : blob_len);
	record_end(p);
}

UInt out_file_find(ULong dev, ULong ino)
{
	UInt n = __atomic_load_n(&g_header->nfiles, __ATOMIC_SEQ_CST);

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
	i = __atomic_fetch_add(&g_header->nfiles, 1, __ATOMIC_SEQ_CST);
	if (i >= PMT_MAX_FILES) {
		g_header->nfiles = PMT_MAX_FILES;
		g_header->error = VKI_ENFILE;
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
	return g_header->nfiles != 0;
}

/* Processes that use locked instructions on the same memory: each is recorded before the next is performed. A process that
 * is killed in between must not stop the others for good. */
void out_lock(void)
{
	UInt me = VG_(getpid)();

	for (UInt i = 0; i < LOCK_PATIENCE; i++) {
		UInt nobody = 0;

		if (__atomic_compare_exchange_n(&g_header->lock, &nobody, me, False, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return;
		sys_yield();
	}
	g_header->lock = me;
}

void out_unlock(void)
{
	UInt me = VG_(getpid)();

	__atomic_compare_exchange_n(&g_header->lock, &me, 0, False, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

UInt out_bad_stack(void)
{
	return __atomic_add_fetch(&g_header->bad_stacks, 1, __ATOMIC_SEQ_CST);
}

UInt out_new_stream(void)
{
	g_shared = 1;
	return __atomic_fetch_add(&g_header->nstreams, 1, __ATOMIC_SEQ_CST);
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
		g_header->finished = 1;
	chunk_close(True);
}

void out_resume(void)
{
	if (g_is_dead)
		return;
	if (g_stream == 0)
		g_header->finished = 0;
	chunk_open();
}

/* The first process makes the header; one that was executed by a recorded process finds it there. */
static Bool map_header(Int fd)
{
	Bool is_first;
	struct vg_stat st;
	Long r;

	g_header = VG_(am_shadow_alloc)(PMT_HEADER_BYTES);
	g_slots = (struct pmt_file_slot *)(g_header + 1);
	if (VG_(fstat)(fd, &st) != 0)
		return False;
	is_first = st.size == 0;
	r = is_first ? allocate_blocks(fd, 0, PMT_HEADER_BYTES) : 0;
	if (r >= 0)
		r = sys_mmap(g_header, PMT_HEADER_BYTES, VKI_PROT_READ | VKI_PROT_WRITE,
			     VKI_MAP_SHARED | VKI_MAP_FIXED, fd, 0);
	if (r < 0) {
		VG_(umsg)("pmend: cannot map the trace file (error %ld)\n", (Word)-r);
		return False;
	}
	if (is_first)
		*g_header = (struct pmt_header){ .magic = PMT_MAGIC,
						 .version = PMT_VERSION,
						 .header_bytes = PMT_HEADER_BYTES,
						 .end = PMT_HEADER_BYTES };
	else if (VG_(memcmp)(g_header->magic, PMT_MAGIC, sizeof g_header->magic) != 0)
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
	g_chunk = (struct pmt_chunk *)g_window;
	g_stream = __atomic_fetch_add(&g_header->nstreams, 1, __ATOMIC_SEQ_CST);
	chunk_open();
	return True;
}
