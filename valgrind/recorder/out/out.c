/* Writes the trace, chunk by chunk. The present chunk is a shared mapping of the file, so a killed
 * process loses nothing that it has encoded. Its blocks are allocated first, so a full disk is an
 * error here and not a SIGBUS. A full chunk is copied to the end of the file, and the next one
 * begins in the same memory, because each new page would cost a page fault. */
#include "valgrind/common/sys.h"
#include "valgrind/common/memory.h"
#include "valgrind/recorder/out/chunk.h"
#include "valgrind/recorder/out/options.h"
#include "valgrind/recorder/out/trace_file.h"

#include "pub_tool_libcfile.h"

ULong g_shared;

static UChar *g_window; /* the present chunk */
static ULong g_chunk_offset;
/* when the chunk is filled beyond this, the next record needs a new one */
static UInt g_full;
static Bool g_is_dead; /* the trace cannot be written any more */
static UInt g_stream, g_chunk_number;
static ULong g_seq; /* of our last event if g_shared; otherwise the header has it */

static struct pmt_site_state g_before; /* before the first event */
struct out g_out = { .prev = &g_before };

static void out_fail(Int error)
{
	g_is_dead = True;
	if (g_out.header != NULL)
		g_out.header->error = error;
	VG_(umsg)
	("pmend: cannot write the trace %s (error %d); nothing is recorded from now on\n",
	 clo_trace_file, error);
	/* from now on, encoders write into private memory that nobody reads */
	sys_mmap(g_window, PMT_CHUNK_BYTES, VKI_PROT_READ | VKI_PROT_WRITE,
		 VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS | VKI_MAP_FIXED, -1, 0);
	g_out.chunk->used = 0;
	out_attend();
}

static ULong next_seq(void)
{
	return (g_shared ? g_seq : g_out.header->seq) + 1;
}

static void chunk_open(void)
{
	Int fd = trace_file_open();
	UInt capacity;
	Long r;

	if (fd < 0) {
		out_fail(-fd);
		return;
	}
	/* most forked processes do little */
	capacity = g_stream > 0 && g_chunk_number == 0 ? PMT_FIRST_CHUNK_BYTES : PMT_CHUNK_BYTES;
	g_chunk_offset = __atomic_fetch_add(&g_out.header->end, capacity, __ATOMIC_SEQ_CST);
	r = trace_file_write(fd, g_chunk_offset, NULL, capacity);
	if (r >= 0)
		r = sys_mmap(g_window, capacity, VKI_PROT_READ | VKI_PROT_WRITE,
			     VKI_MAP_SHARED | VKI_MAP_FIXED, fd, g_chunk_offset);
	if (r < 0) {
		out_fail(-r);
		return;
	}
	g_out.chunk = (struct pmt_chunk *)g_window;
	*g_out.chunk = (struct pmt_chunk){
		.magic = PMT_CHUNK_MAGIC,
		.stream = g_stream,
		.capacity = capacity,
		.first_seq = next_seq(),
		.state = PMT_CHUNK_OPEN,
		.number = g_chunk_number++,
	};
	g_full = capacity - sizeof *g_out.chunk - PMT_RECORD_MAX_BYTES;
	out_attend();
}

/* Gives the size of the chunk in bytes, rounded up to pages. */
static UInt chunk_pages(void)
{
	return VG_PGROUNDUP(sizeof *g_out.chunk + g_out.chunk->used);
}

/* Frees the unused pages of the last chunk. */
static void chunk_trim(Int fd)
{
	g_out.chunk->capacity = chunk_pages();
	g_out.header->end = g_chunk_offset + g_out.chunk->capacity;
	sys_ftruncate(fd, g_out.header->end);
}

/* Counts the events of the chunk. While only one process records, these are all event numbers since
 * the chunk's beginning. */
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
	g_out.chunk->hash = pmt_chunk_hash(PMT_VERSION, g_out.chunk, g_out.chunk + 1);
	g_out.chunk->state = PMT_CHUNK_CLOSED;
	/* another process may have added a chunk meanwhile */
	if (!is_last || g_shared || g_chunk_offset + g_out.chunk->capacity != g_out.header->end)
		return;
	fd = trace_file_open();
	if (fd >= 0)
		chunk_trim(fd);
}

/* Closes the chunk in a copy, which it writes to the end of the file. While only one process
 * records, the end moves only after the copy is complete. */
static Long chunk_copy(void)
{
	struct pmt_chunk copy;
	Int fd = trace_file_open();
	ULong offset;
	Long r;

	if (fd < 0)
		return fd;
	count_events();
	copy = *g_out.chunk;
	copy.capacity = chunk_pages();
	copy.hash = pmt_chunk_hash(PMT_VERSION, &copy, g_out.chunk + 1);
	copy.state = PMT_CHUNK_CLOSED;
	offset = g_shared ? __atomic_fetch_add(&g_out.header->end, copy.capacity, __ATOMIC_SEQ_CST)
			  : g_out.header->end;
	r = trace_file_write(fd, offset + sizeof copy, g_out.chunk + 1,
			     copy.capacity - sizeof copy);
	if (r >= 0)
		r = trace_file_write(fd, offset, &copy, sizeof copy);
	if (r >= 0 && !g_shared)
		g_out.header->end = offset + copy.capacity;
	return r;
}

/* Begins the next chunk. The present chunk stays open until it gets its new number. If the process
 * is killed before that, two chunks have the same number; the later one in the file counts. */
static void chunk_next(void)
{
	struct pmt_chunk *c = g_out.chunk;
	Long r;

	if (c->capacity < PMT_CHUNK_BYTES) { /* a small first chunk */
		chunk_close(False);
		chunk_open();
		return;
	}
	r = chunk_copy();
	if (r < 0) {
		chunk_close(False);
		out_fail(-r);
		return;
	}
	c->used = 0;
	c->nevents = 0;
	c->first_seq = next_seq();
	__asm__ volatile("" ::: "memory");
	c->number = g_chunk_number++;
}

/* Gives the place for a record; PMT_RECORD_MAX_BYTES are free there. */
static UChar *out_begin(void)
{
	if (UNLIKELY(g_out.chunk->used > g_full)) {
		if (g_is_dead)
			g_out.chunk->used = 0;
		else
			chunk_next();
	}
	return out_pos(g_out.chunk);
}

UChar *out_begin_event(void)
{
	UChar *p;
	ULong seq;

	if (UNLIKELY(g_out.before != NULL))
		g_out.before();
	p = out_begin();
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
	g_out.room =
		g_shared || g_is_dead || g_out.before != NULL || g_out.enc.thread != g_out.thread
			? -1
			: (Int)g_full;
}

void out_attend(void)
{
	g_out.room = -1;
}

void out_thread(UInt number)
{
	g_out.thread = number;
	out_attend();
}

void out_node(UInt parent, Bool is_signal, Addr pc)
{
	out_end(pmt_put_node(&g_out.enc, out_begin(), parent, is_signal, pc));
}

void out_site(UInt node, Addr pc, enum pmt_kind kind, UInt size_bytes)
{
	out_end(pmt_put_site(&g_out.enc, out_begin(), node, pc, kind, size_bytes));
}

void out_object(Addr va, SizeT len, ULong offset, const UChar *build_id, UInt build_id_len,
		const HChar *path)
{
	out_end(pmt_put_object(out_begin(), va, len, offset, build_id, build_id_len, path,
			       VG_(strlen)(path)));
}

void out_object_gone(Addr va, SizeT len)
{
	out_end(pmt_put_object_gone(out_begin(), va, len));
}

UInt out_stream(void)
{
	return g_stream;
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
	if (g_out.before != NULL)
		g_out.before();
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

#define EDQUOT 122 /* Valgrind's headers lack it */

/* Says in words what an error number means, for those that users meet. */
static const HChar *error_text(Word number)
{
	static HChar other[32];

	switch (number) {
	case VKI_ENOSPC: return "the disk is full";
	case EDQUOT: return "the disk quota is used up";
	default: VG_(snprintf)(other, sizeof other, "error %ld", number); return other;
	}
}

/* Maps the header. The first process makes it; a program that a recorded process executes finds
 * it. */
static Bool map_header(Int fd)
{
	Bool is_first;
	struct vg_stat st;
	Long r;

	g_out.header = memory_alloc(PMT_HEADER_BYTES);
	if (VG_(fstat)(fd, &st) != 0)
		return False;
	is_first = st.size == 0;
	r = is_first ? trace_file_write(fd, 0, NULL, PMT_HEADER_BYTES) : 0;
	if (r >= 0)
		r = sys_mmap(g_out.header, PMT_HEADER_BYTES, VKI_PROT_READ | VKI_PROT_WRITE,
			     VKI_MAP_SHARED | VKI_MAP_FIXED, fd, 0);
	if (r < 0) {
		VG_(umsg)
		("pmend: cannot write the trace %s: %s\n", clo_trace_file, error_text((Word)-r));
		return False;
	}
	if (is_first) {
		*g_out.header = (struct pmt_header){ .version = PMT_VERSION,
						     .header_bytes = PMT_HEADER_BYTES,
						     .end = PMT_HEADER_BYTES };
		/* without the terminating NUL */
		VG_(memcpy)(g_out.header->magic, PMT_MAGIC, sizeof g_out.header->magic);
	} else if (VG_(memcmp)(g_out.header->magic, PMT_MAGIC, sizeof g_out.header->magic) != 0)
		return False;
	g_shared = !is_first;
	return True;
}

Bool out_open(void)
{
	Int fd = trace_file_open();
	Bool ok;

	if (fd < 0) {
		VG_(umsg)("pmend: cannot open the trace file %s (error %d)\n", clo_trace_file, -fd);
		return False;
	}
	ok = map_header(fd);
	if (!ok)
		return False;
	g_window = memory_alloc(PMT_CHUNK_BYTES);
	g_out.chunk = (struct pmt_chunk *)g_window;
	g_stream = __atomic_fetch_add(&g_out.header->nstreams, 1, __ATOMIC_SEQ_CST);
	chunk_open();
	return True;
}
