/* Marks where the input enters the program. The input is an array of bytes; each source stands for
 * a part of it, from INDEX on:
 *
 *	--sym-file=INDEX:LEN:PATH     what is read from or mapped of this file, through any
 *	                              descriptor (also standard input)
 *	--sym-arg=INDEX:LEN:N         the program's N-th argument with its NUL
 *	--sym-env=INDEX:LEN:NAME      an environment variable
 *	--sym-socket=INDEX:LEN:PORT   what it receives on connections to its TCP port
 *
 * Limits: data that another process passes on (a pipe, shared memory) is not followed; the bytes of
 * several connections are taken one after the other. */
#include "valgrind/tracer/sources.h"

#include "valgrind/tracer/path/core.h"
#include "valgrind/tracer/value/memory.h"

#include "pub_tool_libcfile.h"
#include "pub_tool_machine.h"
#include "pub_tool_vkiscnums.h"

#define MSG_PEEK 2

enum source_kind { SOURCE_FILE, SOURCE_ARG, SOURCE_ENV, SOURCE_SOCKET, SOURCE_KINDS };

static struct source {
	enum source_kind kind;
	ULong index, len_bytes;
	const HChar *what;
	ULong dev, ino;   /* of the file */
	ULong number;     /* of the argument, or the port */
	ULong used_bytes; /* bytes of a socket that were received so far */
} g_sources[32];
static UInt g_nsources;

ULong sources_end(void)
{
	ULong end = 0;

	for (UInt i = 0; i < g_nsources; i++)
		if (g_sources[i].index + g_sources[i].len_bytes > end)
			end = g_sources[i].index + g_sources[i].len_bytes;
	return end;
}

Bool sources_option(const HChar *arg)
{
	static const HChar *const names[SOURCE_KINDS] = {
		[SOURCE_FILE] = "--sym-file=",
		[SOURCE_ARG] = "--sym-arg=",
		[SOURCE_ENV] = "--sym-env=",
		[SOURCE_SOCKET] = "--sym-socket=",
	};
	struct source *s = &g_sources[g_nsources];
	struct vg_stat st;
	HChar *end;

	for (UInt i = 0; i < SOURCE_KINDS; i++) {
		SizeT n = VG_(strlen)(names[i]);

		if (VG_(strncmp)(arg, names[i], n) != 0)
			continue;
		if (g_nsources == sizeof g_sources / sizeof *g_sources)
			return False;
		*s = (struct source){ .kind = i };
		s->index = VG_(strtoull10)(arg + n, &end);
		if (*end != ':')
			return False;
		s->len_bytes = VG_(strtoull10)(end + 1, &end);
		if (*end != ':')
			return False;
		s->what = end + 1;
		s->number = VG_(strtoull10)(s->what, &end);
		if (i == SOURCE_FILE) {
			if (sr_isError(VG_(stat)(s->what, &st)))
				return False;
			s->dev = st.dev;
			s->ino = st.ino;
		}
		g_nsources++;
		return True;
	}
	return False;
}

/* Makes memory symbolic with the bytes of a source from an offset on; what lies beyond the source's
 * length stays concrete. */
static void bring_in(struct source *s, ULong offset, Addr a, SizeT len)
{
	if (offset >= s->len_bytes)
		return;
	mem_input(a, len < s->len_bytes - offset ? len : s->len_bytes - offset, s->index + offset);
}

/* ---- arguments and environment ---- */

static void string_bring_in(struct source *s, HChar *text)
{
	bring_in(s, 0, (Addr)text, VG_(strlen)(text) + 1);
}

void sources_startup(ThreadId tid)
{
	Addr *sp = (Addr *)VG_(get_SP)(tid);
	HChar **argv = (HChar **)(sp + 1), **env = argv + *sp + 1;

	for (UInt i = 0; i < g_nsources; i++) {
		struct source *s = &g_sources[i];
		SizeT n = VG_(strlen)(s->what);

		if (s->kind == SOURCE_ARG && s->number < *sp)
			string_bring_in(s, argv[s->number]);
		for (HChar **e = env; s->kind == SOURCE_ENV && *e; e++)
			if (VG_(strncmp)(*e, s->what, n) == 0 && (*e)[n] == '=')
				string_bring_in(s, *e + n + 1);
	}
}

/* ---- files and sockets ---- */

static Int port_of(Int fd)
{
	union {
		struct vki_sockaddr any;
		struct vki_sockaddr_in in; /* IPv6 has the port at the same place */
		UChar room[128];
	} name;
	Int len = sizeof name;

	if (VG_(getsockname)(fd, &name.any, &len) != 0)
		return -1;
	if (name.any.sa_family != VKI_AF_INET && name.any.sa_family != VKI_AF_INET6)
		return -1;
	return (name.in.sin_port & 0xff) << 8 | name.in.sin_port >> 8;
}

static struct source *source_of(Int fd)
{
	Bool has_sockets = False;
	struct vg_stat st;
	Int port;

	if (VG_(fstat)(fd, &st) != 0)
		return NULL;
	for (UInt i = 0; i < g_nsources; i++) {
		if (g_sources[i].kind == SOURCE_FILE && g_sources[i].dev == st.dev &&
		    g_sources[i].ino == st.ino)
			return &g_sources[i];
		has_sockets |= g_sources[i].kind == SOURCE_SOCKET;
	}
	port = has_sockets && VKI_S_ISSOCK(st.mode) ? port_of(fd) : -1;
	for (UInt i = 0; i < g_nsources; i++)
		if (g_sources[i].kind == SOURCE_SOCKET && g_sources[i].number == (ULong)port)
			return &g_sources[i];
	return NULL;
}

/* Handles n bytes that were read in sequence into several buffers. */
static void buffers_read(Int fd, const struct vki_iovec *v, UWord nv, ULong n, Long offset)
{
	struct source *s = source_of(fd);

	if (!s)
		return;
	if (s->kind == SOURCE_SOCKET) {
		offset = s->used_bytes;
		s->used_bytes += n;
	} else if (offset < 0) {
		offset = VG_(lseek)(fd, 0, VKI_SEEK_CUR) - n;
	}
	for (UWord i = 0; i < nv && n; i++) {
		SizeT part = v[i].iov_len < n ? v[i].iov_len : n;

		bring_in(s, offset, (Addr)v[i].iov_base, part);
		offset += part;
		n -= part;
	}
}

static void buffer_read(Int fd, UWord a, ULong n, Long offset)
{
	struct vki_iovec v = { (void *)a, n };

	buffers_read(fd, &v, 1, n, offset);
}

static void mapped(Int fd, Addr a, SizeT len, ULong offset)
{
	struct source *s = fd >= 0 ? source_of(fd) : NULL;

	if (s && s->kind == SOURCE_FILE)
		bring_in(s, offset, a, len);
}

void sources_after(ThreadId tid, UInt number, UWord *args, UInt nargs, SysRes result)
{
	UWord n;

	if (sr_isError(result) || g_nsources == 0)
		return;
	n = sr_Res(result);
	switch (number) {
	case __NR_read: buffer_read(args[0], args[1], n, -1); break;
	case __NR_pread64: buffer_read(args[0], args[1], n, args[3]); break;
	case __NR_readv: buffers_read(args[0], (struct vki_iovec *)args[1], args[2], n, -1); break;
	case __NR_preadv:
		buffers_read(args[0], (struct vki_iovec *)args[1], args[2], n, args[3]);
		break;
	case __NR_recvfrom:
		if (!(args[3] & MSG_PEEK)) /* the same bytes will be received again */
			buffer_read(args[0], args[1], n, -1);
		break;
	case __NR_recvmsg: {
		struct vki_msghdr *m = (struct vki_msghdr *)args[1];

		buffers_read(args[0], m->msg_iov, m->msg_iovlen, n, -1);
		break;
	}
	case __NR_mmap: mapped(args[4], n, args[1], args[5]); break;
	default: break;
	}
}
