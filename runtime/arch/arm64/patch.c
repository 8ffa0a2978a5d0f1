/* Finds the system calls of executable memory and replaces them by `udf`, so that they end in SIGILL. Which memory that is, /proc/self/maps says; where there is code in it, the section
 * headers of its file, if it has any. Memory that is also writable is left alone: it holds data, and changes later. So are shared mappings, and the calls of rt_sigreturn, by which
 * unwinders know signal frames. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "gate.h"
#include "internal.h"

extern const char __ehdr_start[] __attribute__((visibility("hidden"))), etext[] __attribute__((visibility("hidden"))); /* the linker's */

#define NSECTIONS 16u /* that are read at once */

struct mapping {
	uint64_t start, end, offset, ino;
	int prot;
	bool is_shared;
	char path[PATH_MAX];
};

struct lines {
	long fd;
	uint32_t at, n;
	char bytes[1024];
};

/* ---- /proc/self/maps ---- */

static int next_byte(struct lines *l)
{
	if (l->at == l->n) {
		const long n = CALL3(SYS_read, l->fd, l->bytes, sizeof l->bytes);

		if (n <= 0)
			return -1;
		l->n = (uint32_t)n;
		l->at = 0;
	}
	return (unsigned char)l->bytes[l->at++];
}

/* A number, and what follows it. */
static uint64_t next_number(struct lines *l, uint32_t base, int *after)
{
	uint64_t v = 0;
	int c;

	while ((c = next_byte(l)) > ' ' && c != '-' && c != ':')
		v = v * base + (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	*after = c;
	return v;
}

static void next_path(struct lines *l, char *to)
{
	size_t n = 0;
	int c;

	while ((c = next_byte(l)) >= 0 && c != '\n')
		if (n + 1 < PATH_MAX && (n > 0 || c != ' '))
			to[n++] = (char)c;
	to[n] = 0;
}

static bool next_mapping(struct lines *l, struct mapping *m)
{
	int c;

	m->start = next_number(l, 16, &c);
	if (c < 0)
		return false;
	m->end = next_number(l, 16, &c);
	m->prot = 0;
	m->prot |= next_byte(l) == 'r' ? PROT_READ : 0;
	m->prot |= next_byte(l) == 'w' ? PROT_WRITE : 0;
	m->prot |= next_byte(l) == 'x' ? PROT_EXEC : 0;
	m->is_shared = next_byte(l) == 's';
	next_byte(l);
	m->offset = next_number(l, 16, &c);
	next_number(l, 16, &c);
	next_number(l, 16, &c); /* the device */
	m->ino = next_number(l, 10, &c);
	m->path[0] = 0;
	if (c != '\n')
		next_path(l, m->path);
	return true;
}

/* ---- replacing ---- */

/* One mapping, or code in it. */
struct place {
	const struct mapping *m;
	bool is_writable;
	bool is_ok;
};

static bool can_write(struct place *p)
{
	const struct mapping *m = p->m;

	if (m->is_shared)
		return false;
	if (!p->is_writable)
		p->is_writable = CALL3(SYS_mprotect, m->start, m->end - m->start, m->prot | PROT_READ | PROT_WRITE) == 0;
	return p->is_writable;
}

static void replace(struct place *p, uint32_t *word)
{
	const uint32_t slot = can_write(p) ? slots_make((uint64_t)word) : 0;

	if (!slot) {
		p->is_ok = false;
		return;
	}
	__atomic_store_n(word, slot, __ATOMIC_RELAXED); /* udf #slot */
	__builtin___clear_cache((char *)word, (char *)(word + 1));
}

/* The kernel tries: handlers of ours may not be there yet. */
static bool can_read(uint64_t at)
{
	const int no_such_thing = 99;

	return CALL4(SYS_rt_sigprocmask, no_such_thing, at, 0, 8) != -EFAULT;
}

static void replace_all(struct place *p, uint64_t from, uint64_t to)
{
	uint32_t *start = (uint32_t *)((from + 3) & ~3ul), *end = (uint32_t *)(to & ~3ul);
	bool has_literals;

	for (uint64_t page = PAGE_DOWN(from); page < to; page += PAGE) /* a file may end before its mapping does */
		if (!can_read(page)) {
			end = (uint32_t *)(page > from ? page : from);
			break;
		}
	has_literals = text_has_named_call(start, end);
	for (uint32_t *w = start; w < end; w++)
		if (*w == SVC && !(w > start && w[-1] == MOV_X8_SIGRETURN) && !(has_literals && text_is_literal(start, end, w)))
			replace(p, w);
}

/* ---- which parts of a mapping are code ---- */

static bool read_at(long fd, void *to, size_t n, uint64_t offset)
{
	return CALL4(SYS_pread64, fd, to, n, offset) == (long)n;
}

/* False: nothing is known of it. */
static bool replace_sections(struct place *p, long fd)
{
	const struct mapping *m = p->m;
	const uint64_t last = m->offset + (m->end - m->start);
	struct stat st;
	Elf64_Ehdr h;
	Elf64_Shdr list[NSECTIONS];
	bool has_code = false;

	if (CALL2(SYS_fstat, fd, &st) != 0 || st.st_ino != m->ino || !read_at(fd, &h, sizeof h, 0) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.e_shentsize != sizeof list[0])
		return false;
	for (uint32_t i = 0; i < h.e_shnum; i += NSECTIONS) {
		const uint32_t n = h.e_shnum - i < NSECTIONS ? h.e_shnum - i : NSECTIONS;

		if (!read_at(fd, list, n * sizeof list[0], h.e_shoff + (uint64_t)i * sizeof list[0]))
			return has_code;
		for (uint32_t k = 0; k < n; k++) {
			const uint64_t from = list[k].sh_offset > m->offset ? list[k].sh_offset : m->offset;
			const uint64_t end = list[k].sh_offset + list[k].sh_size, to = end < last ? end : last;

			if (!(list[k].sh_flags & SHF_EXECINSTR) || list[k].sh_type == SHT_NOBITS)
				continue;
			has_code = true;
			if (from < to)
				replace_all(p, m->start + (from - m->offset), m->start + (to - m->offset));
		}
	}
	return has_code;
}

static bool patch_mapping(const struct mapping *m)
{
	struct place p = { m, false, true };
	const long fd = m->path[0] == '/' ? CALL4(SYS_openat, AT_FDCWD, m->path, O_RDONLY | O_CLOEXEC, 0) : -1;
	bool is_done = false;

	if (!(m->prot & PROT_READ) && CALL3(SYS_mprotect, m->start, m->end - m->start, m->prot | PROT_READ) != 0)
		return false;
	if (!IS_ERROR(fd)) {
		is_done = replace_sections(&p, fd);
		CALL1(SYS_close, fd);
	}
	if (!is_done)
		replace_all(&p, m->start, m->end);
	if (p.is_writable) /* readable from now on: gate_is_call() looks at it */
		CALL3(SYS_mprotect, m->start, m->end - m->start, m->prot | PROT_READ);
	return p.is_ok;
}

/* This library, or a part of it, or slots elsewhere. */
static bool is_own(const struct mapping *m)
{
	return (m->start < (uint64_t)etext && (uint64_t)__ehdr_start < m->end) || slots_are_at(m->start);
}

static __attribute__((noinline)) bool patch_mappings(long fd, uint64_t start, uint64_t end)
{
	struct mapping m;
	struct lines l = { .fd = fd };
	bool is_ok = true;

	while (next_mapping(&l, &m))
		if (m.start < end && start < m.end && m.prot & PROT_EXEC && !(m.prot & PROT_WRITE) && !is_own(&m))
			is_ok &= patch_mapping(&m);
	return is_ok;
}

bool patch_range(uint64_t start, uint64_t end)
{
	const long fd = CALL4(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	bool is_ok;

	if (IS_ERROR(fd))
		return false;
	is_ok = patch_mappings(fd, start, end);
	CALL1(SYS_close, fd);
	slots_close();
	return is_ok;
}
