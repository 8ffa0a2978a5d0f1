/* Finds the executable code of the process, in which system calls are replaced. /proc/self/maps
 * lists the executable mappings; the section headers of the mapped file, if it has any, say which
 * parts are code. A shared mapping is not changed, because its file would change, too. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "internal.h"
#include "patch.h"

/* Symbols that the linker defines: where this library begins, and where its code ends. */
extern const char __ehdr_start[] __attribute__((visibility("hidden"))),
	etext[] __attribute__((visibility("hidden")));

struct mapping {
	struct patch_place place;
	uint64_t ino;
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

/* Reads a number and the character behind it. */
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
	struct patch_place *p = &m->place;
	int c;

	*p = (struct patch_place){ .start = next_number(l, 16, &c) };
	if (c < 0)
		return false;
	p->end = next_number(l, 16, &c);
	p->prot |= next_byte(l) == 'r' ? PROT_READ : 0;
	p->prot |= next_byte(l) == 'w' ? PROT_WRITE : 0;
	p->prot |= next_byte(l) == 'x' ? PROT_EXEC : 0;
	p->is_shared = next_byte(l) == 's';
	next_byte(l);
	p->offset = next_number(l, 16, &c);
	next_number(l, 16, &c);
	next_number(l, 16, &c); /* the device */
	m->ino = next_number(l, 10, &c);
	m->path[0] = 0;
	if (c != '\n')
		next_path(l, m->path);
	return true;
}

/* ---- replacing ---- */

bool patch_open(struct patch_place *p)
{
	if (p->is_shared)
		return false;
	if (!p->is_writable)
		p->is_writable = CALL3(SYS_mprotect, p->start, p->end - p->start,
				       p->prot | PROT_READ | PROT_WRITE) == 0;
	return p->is_writable;
}

#define MAX_CLOSED 256u
static uint64_t g_closed[MAX_CLOSED]; /* addresses of pages */
static uint32_t g_nclosed;

bool patch_is_closed(uint64_t addr)
{
	for (uint32_t i = 0; i < g_nclosed; i++)
		if (g_closed[i] == PAGE_DOWN(addr))
			return true;
	return false;
}

bool patch_close(struct patch_place *p, uint64_t addr)
{
	p->nclosed++;
	if (patch_is_closed(addr))
		return true;
	if (g_nclosed == MAX_CLOSED)
		return false;
	g_closed[g_nclosed++] = PAGE_DOWN(addr);
	return true;
}

/* Makes the pages of doubtful calls inaccessible for execution. Called last: opening and closing
 * the whole mapping would undo it. */
static bool close_pages(const struct patch_place *p)
{
	bool is_ok = true;

	for (uint32_t i = 0; p->nclosed && i < g_nclosed; i++)
		if (g_closed[i] >= p->start && g_closed[i] < p->end)
			is_ok &= CALL3(SYS_mprotect, g_closed[i], PAGE, PROT_READ) == 0;
	return is_ok;
}

/* Asks whether the address is readable. The kernel tests it: our fault handlers may not be
 * installed yet. */
static bool can_read(uint64_t at)
{
	const int no_such_thing = 99;

	return CALL4(SYS_rt_sigprocmask, no_such_thing, at, 0, 8) != -EFAULT;
}

/* Replaces calls in [from, to), or up to the end of the file, which may be before that of its
 * mapping. */
static bool replace(const struct patch_table *t, struct patch_place *p, uint64_t from, uint64_t to)
{
	uint64_t page = PAGE_DOWN(from);

	while (page < to && can_read(page))
		page += PAGE;
	if (page < to)
		to = page;
	return from >= to || t->replace(p, from, to);
}

/* ---- which parts of a mapping are code ---- */

/* Replaces the calls in the sections of the mapped file that are code. Returns 1: done; 0: no
 * sections are known; -1: some calls cannot be replaced. */
static int replace_sections(const struct patch_table *t, struct patch_place *p)
{
	const uint64_t last = p->offset + (p->end - p->start);
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)p->file;
	const Elf64_Shdr *list;
	int done = 0;

	if (!p->file || h->e_shentsize != sizeof *list || h->e_shoff > p->file_bytes ||
	    p->file_bytes - h->e_shoff < h->e_shnum * sizeof *list)
		return 0;
	list = (const Elf64_Shdr *)(p->file + h->e_shoff);
	for (uint32_t i = 0; i < h->e_shnum; i++) {
		const uint64_t from = list[i].sh_offset > p->offset ? list[i].sh_offset : p->offset;
		const uint64_t end = list[i].sh_offset + list[i].sh_size,
			       to = end < last ? end : last;

		if (!(list[i].sh_flags & SHF_EXECINSTR) || list[i].sh_type == SHT_NOBITS)
			continue;
		done = done ? done : 1;
		if (from < to &&
		    !replace(t, p, p->start + (from - p->offset), p->start + (to - p->offset)))
			done = -1;
	}
	return done;
}

/* Maps the file of the mapping m, if the file at that path is still the same one. */
static void file_open(struct mapping *m)
{
	const long fd = m->path[0] == '/'
				? CALL4(SYS_openat, AT_FDCWD, m->path, O_RDONLY | O_CLOEXEC, 0)
				: -1;
	struct stat st;
	long at;

	if (IS_ERROR(fd))
		return;
	if (CALL2(SYS_fstat, fd, &st) == 0 && st.st_ino == m->ino && S_ISREG(st.st_mode) &&
	    (size_t)st.st_size >= sizeof(Elf64_Ehdr)) {
		at = CALL6(SYS_mmap, 0, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (!IS_ERROR(at)) {
			m->place.file = (const uint8_t *)at;
			m->place.file_bytes = (uint64_t)st.st_size;
		}
	}
	CALL1(SYS_close, fd);
}

static void file_close(struct mapping *m)
{
	if (m->place.file)
		CALL2(SYS_munmap, m->place.file, m->place.file_bytes);
	m->place.file = NULL;
}

static bool patch_mapping(const struct patch_table *t, struct mapping *m)
{
	struct patch_place *p = &m->place;
	int done;

	if (!(p->prot & PROT_READ) &&
	    CALL3(SYS_mprotect, p->start, p->end - p->start, p->prot | PROT_READ) != 0)
		return false;
	file_open(m);
	if (p->file && memcmp(p->file, ELFMAG, SELFMAG) != 0)
		file_close(m);
	done = replace_sections(t, p);
	if (done == 0)
		done = replace(t, p, p->start, p->end) ? 1 : -1;
	file_close(m);
	if (p->is_writable) /* readable from now on, since gate_is_call() reads it */
		CALL3(SYS_mprotect, p->start, p->end - p->start, p->prot | PROT_READ);
	return close_pages(p) && done > 0;
}

bool patch_is_runtime(uint64_t pc)
{
	return pc - (uint64_t)__ehdr_start < (uint64_t)(etext - __ehdr_start);
}

/* Asks whether the mapping is of this library, or of a part of it, or the kernel's own page, which
 * every process has. */
static bool is_own(const struct patch_table *t, const struct patch_place *p)
{
	return (p->start < (uint64_t)etext && (uint64_t)__ehdr_start < p->end) || p->start >> 63 ||
	       (t->is_own && t->is_own(p->start));
}

static bool patch_next(const struct patch_table *t, struct mapping *m, bool is_new)
{
	if (!(m->place.prot & PROT_EXEC) || is_own(t, &m->place))
		return true;
	/* memory for data, or for code that changes later; a stack may be executable, too */
	if (m->place.prot & PROT_WRITE)
		return t->leaves_writable || !is_new;
	return patch_mapping(t, m);
}

static __attribute__((noinline)) bool patch_mappings(const struct patch_table *t, long fd,
						     uint64_t start, uint64_t end, bool is_new)
{
	struct mapping m;
	struct lines l = { .fd = fd };
	bool is_ok = true;

	while (next_mapping(&l, &m))
		if (m.place.start < end && start < m.place.end)
			is_ok &= patch_next(t, &m, is_new);
	return is_ok;
}

static bool patch(const struct patch_table *t, uint64_t start, uint64_t end, bool is_new)
{
	const long fd = CALL4(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	bool is_ok;

	if (IS_ERROR(fd))
		return false;
	is_ok = patch_mappings(t, fd, start, end, is_new);
	CALL1(SYS_close, fd);
	if (t->close)
		t->close();
	return is_ok;
}

bool patch_range(const struct patch_table *t, uint64_t start, uint64_t end)
{
	return patch(t, start, end, true);
}

/* ---- all of the process ---- */

static bool g_is_patched, g_is_whole;

/* Asks whether the process has several threads. Another thread may have blocked gate_signal; its
 * next call would kill the process. (A child of fork() has one thread.) */
static bool has_threads(void)
{
	struct stat st;

	/* a folder has two links, plus one per thread */
	return CALL4(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0) != 0 || st.st_nlink != 3;
}

bool patch_prepare(const struct patch_table *t)
{
	if (has_threads())
		return false;
	patch_arm(t);
	return true;
}

bool patch_arm(const struct patch_table *t)
{
	if (!g_is_patched)
		g_is_whole = patch(t, 0, ~0ul, false);
	g_is_patched = true;
	return g_is_whole;
}
