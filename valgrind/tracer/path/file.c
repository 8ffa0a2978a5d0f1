/* Writes the path file: records go into a buffer, which is written when it is full. A forked
 * process writes none. */
#include "valgrind/tracer/path/core.h"
#include "valgrind/tracer/path/path_internal.h"

#include "pub_tool_libcfile.h"

#define BUFFER_BYTES (256u << 10)

static Int g_fd = -1;
static UChar g_buffer[BUFFER_BYTES];
static UInt g_used;

void path_flush(void)
{
	if (g_fd >= 0 && g_used)
		VG_(write)(g_fd, g_buffer, g_used);
	g_used = 0;
}

static void write_buffered(const void *p, SizeT len)
{
	const UChar *from = p;

	while (len) {
		SizeT n = len < BUFFER_BYTES - g_used ? len : BUFFER_BYTES - g_used;

		VG_(memcpy)(g_buffer + g_used, from, n);
		g_used += n;
		from += n;
		len -= n;
		if (g_used == BUFFER_BYTES)
			path_flush();
	}
}

void path_record(struct pmp_record r, const void *bytes, SizeT nbytes)
{
	static const UChar zeros[8];

	if (g_fd < 0)
		return;
	r.nbytes = nbytes;
	write_buffered(&r, sizeof r);
	write_buffered(bytes, nbytes);
	write_buffered(zeros, PMP_PAD(nbytes) - nbytes);
}

Bool path_is_open(void)
{
	return g_fd >= 0;
}

Bool path_open(const HChar *file)
{
	struct pmp_header h = { .version = PMP_VERSION, .record_bytes = sizeof(struct pmp_record) };
	SysRes r = VG_(open)(file, VKI_O_WRONLY | VKI_O_CREAT | VKI_O_TRUNC, 0644);
	Int high;

	if (sr_isError(r))
		return False;
	g_fd = sr_Res(r);
	high = VG_(safe_fd)(g_fd); /* to a number that the program cannot close */
	if (high >= 0)
		g_fd = high;
	VG_(memcpy)(h.magic, PMP_MAGIC, sizeof h.magic); /* the magic has no final NUL */
	write_buffered(&h, sizeof h);
	return True;
}

/* Closes the file in a forked process, whose path is another one. */
void path_fork_child(void)
{
	if (g_fd >= 0)
		VG_(close)(g_fd);
	g_fd = -1;
	g_used = 0;
}
