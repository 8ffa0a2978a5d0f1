/* Preloaded into pmend, and into nothing that it starts: lets one call fail, once. A call is known by what it asks for (KINDS) and by the functions of pmend that
 * led to it. PMEND_FAULT_TABLE is a file that all processes of pmend share: the nth call that is in it as wanted fails; without such, every call is noted there.
 * What the C library calls inside itself is not seen, such as the write() of a FILE. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unwind.h>

#define DEPTH 7 /* functions of pmend that tell one call from another */
#define NSITES 16384u

enum kind { KIND_MALLOC = 1, KIND_MMAP, KIND_WRITE, KIND_FORK, NKINDS };

/* run.py reads and writes this. */
struct site {
	uint32_t kind;
	uint32_t ncalls; /* of a wanted one: which of them fails */
	uint64_t frames[DEPTH]; /* offsets in pmend, innermost first */
};

struct table {
	uint32_t is_wanted; /* only site[0], which is to fail */
	uint32_t has_failed;
	uint32_t nsites;
	uint32_t lock;
	struct site site[NSITES];
};

static struct table *g_table; /* NULL: this is not pmend */
static uintptr_t g_base, g_end;
static __thread bool g_is_inside;

/* ---- which call ---- */

struct walk {
	struct site site;
	size_t n;
};

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *arg)
{
	uintptr_t pc = _Unwind_GetIP(context);
	struct walk *w = arg;

	if (pc >= g_base && pc < g_end)
		w->site.frames[w->n++] = pc - g_base;
	return w->n == DEPTH ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static bool is_same(const struct site *a, const struct site *b)
{
	return a->kind == b->kind && memcmp(a->frames, b->frames, sizeof a->frames) == 0;
}

static void note(const struct site *s)
{
	uint32_t i = 0;

	while (__atomic_exchange_n(&g_table->lock, 1, __ATOMIC_ACQUIRE))
		;
	while (i < g_table->nsites && !is_same(&g_table->site[i], s))
		i++;
	if (i < NSITES) {
		uint32_t ncalls = i < g_table->nsites ? g_table->site[i].ncalls : 0;

		g_table->site[i] = *s;
		g_table->site[i].ncalls = ncalls + 1;
	}
	if (i == g_table->nsites && i < NSITES)
		g_table->nsites++;
	__atomic_store_n(&g_table->lock, 0, __ATOMIC_RELEASE);
}

/* Is this call to fail? */
static bool fails(enum kind kind)
{
	struct walk w = { .site = { .kind = kind } };
	bool is = false;

	if (!g_table || g_is_inside || __atomic_load_n(&g_table->has_failed, __ATOMIC_RELAXED) ||
	    (g_table->is_wanted && g_table->site[0].kind != (uint32_t)kind))
		return false;
	g_is_inside = true;
	_Unwind_Backtrace(take_frame, &w);
	if (w.n == 0)
		; /* the C library's own, before main() or after it */
	else if (!g_table->is_wanted)
		note(&w.site);
	else if (is_same(&w.site, &g_table->site[0]) && __atomic_sub_fetch(&g_table->site[0].ncalls, 1, __ATOMIC_RELAXED) == 0)
		is = !__atomic_exchange_n(&g_table->has_failed, 1, __ATOMIC_RELAXED);
	g_is_inside = false;
	return is;
}

/* ---- the calls ---- */

/* cmd/memory.c has malloc() and its like, which call these. What they call in turn is not called by pmend: allocate with alignment. */
void *__libc_malloc(size_t len_bytes);
void *__libc_calloc(size_t n, size_t len_bytes);
void *__libc_realloc(void *p, size_t len_bytes);
void *__libc_memalign(size_t alignment, size_t len_bytes);
pid_t __fork(void);

static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

void *__libc_malloc(size_t len_bytes)
{
	return fails(KIND_MALLOC) ? no_memory() : __libc_memalign(16, len_bytes);
}

void *__libc_calloc(size_t n, size_t len_bytes)
{
	size_t all;
	void *p = __builtin_mul_overflow(n, len_bytes, &all) || fails(KIND_MALLOC) ? no_memory() : __libc_memalign(16, all);

	return p ? memset(p, 0, all) : NULL;
}

void *__libc_realloc(void *p, size_t len_bytes)
{
	size_t had_bytes = p ? malloc_usable_size(p) : 0;
	void *moved = fails(KIND_MALLOC) ? no_memory() : __libc_memalign(16, len_bytes);

	if (!moved)
		return NULL;
	memcpy(moved, p ? p : "", had_bytes < len_bytes ? had_bytes : len_bytes);
	free(p);
	return moved;
}

void *mmap(void *at, size_t len_bytes, int prot, int flags, int fd, off_t offset)
{
	return fails(KIND_MMAP) ? (no_memory(), MAP_FAILED) : (void *)syscall(SYS_mmap, at, len_bytes, prot, flags, fd, offset);
}

static bool disk_is_full(void)
{
	bool is = fails(KIND_WRITE);

	if (is)
		errno = ENOSPC;
	return is;
}

ssize_t write(int fd, const void *bytes, size_t len_bytes)
{
	return disk_is_full() ? -1 : syscall(SYS_write, fd, bytes, len_bytes);
}

ssize_t pwrite(int fd, const void *bytes, size_t len_bytes, off_t at)
{
	return disk_is_full() ? -1 : syscall(SYS_pwrite64, fd, bytes, len_bytes, at);
}

ssize_t writev(int fd, const struct iovec *v, int n)
{
	return disk_is_full() ? -1 : syscall(SYS_writev, fd, v, n);
}

static bool no_process(void)
{
	bool is = fails(KIND_FORK);

	if (is)
		errno = EAGAIN;
	return is;
}

pid_t fork(void)
{
	return no_process() ? -1 : __fork();
}

/* A function that returns twice into its caller's frame cannot be wrapped. Who calls vfork() executes a program or ends, so a copy does as well. */
pid_t vfork(void)
{
	return no_process() ? -1 : __fork();
}

/* pmend makes its guardians so. */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long a[6];
	va_list args;

	va_start(args, number);
	for (size_t i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_clone && no_process())
		return -1;
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- the beginning ---- */

static int find_pmend(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	g_base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			g_end = g_base + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	return 1; /* the program itself is the first */
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("PMEND_FAULT_TABLE");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	struct walk w = { .n = 0 };
	void *table;

	unsetenv("LD_PRELOAD");
	unsetenv("PMEND_FAULT_TABLE");
	if (fd < 0)
		return;
	table = mmap(NULL, sizeof *g_table, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	dl_iterate_phdr(find_pmend, NULL);
	_Unwind_Backtrace(take_frame, &w); /* what it loads is there from now on */
	g_table = table == MAP_FAILED ? NULL : table;
}
