/* Says what functions without a body do with pointers: a table, and the constraints for each row. A
 * function that is not in the table may do anything with its arguments. */
#include <string.h>
#include <sys/mman.h>

#include "source/alias/internal.h"

enum effect {
	NOTHING,
	GIVES_HEAP,    /* returns new or static memory of a library, which is not persistent */
	GIVES_PM,      /* returns a mapping of a file */
	GIVES_PMDK,    /* returns memory in a pool of libpmemobj */
	GIVES_MAPPING, /* mmap: its flags decide */
	GIVES_FIRST,   /* returns its first argument */
	GIVES_SECOND,
	COPIES, /* memcpy: copies content, and returns its first argument */
	REALLOCATES,
	STORES_HEAP, /* stores a pointer to new memory: *first = malloc() */
	STORES_END,  /* stores a pointer into the first argument: *second = first + n */
	CALLS_FIRST,
	CALLS_THIRD, /* calls the third with the fourth */
	SORTS,       /* calls the fourth with elements of the first */
	/* calls the fifth with the first and with elements of the second, one of which it
	 * returns */
	SEARCHES,
};

/* A name may have one '*', which stands for any text. The first row that matches counts. */
static const struct external {
	const char *name;
	enum effect effect;
} externals[] = {
	{ "malloc", GIVES_HEAP },
	{ "calloc", GIVES_HEAP },
	{ "aligned_alloc", GIVES_HEAP },
	{ "memalign", GIVES_HEAP },
	{ "valloc", GIVES_HEAP },
	{ "strdup", GIVES_HEAP },
	{ "strndup", GIVES_HEAP },
	{ "_Zn*", GIVES_HEAP },
	{ "fopen*", GIVES_HEAP },
	{ "fdopen", GIVES_HEAP },
	{ "popen", GIVES_HEAP },
	{ "tmpfile*", GIVES_HEAP },
	{ "opendir", GIVES_HEAP },
	{ "readdir*", GIVES_HEAP },
	{ "getenv", GIVES_HEAP },
	{ "localtime", GIVES_HEAP },
	{ "gmtime", GIVES_HEAP },
	{ "strerror", GIVES_HEAP },
	{ "setlocale", GIVES_HEAP },
	{ "ttyname", GIVES_HEAP },
	{ "__errno_location", GIVES_HEAP },
	{ "__ctype_*", GIVES_HEAP },
	{ "pthread_getspecific", GIVES_HEAP },
	{ "fmemopen", GIVES_HEAP },
	{ "posix_memalign", STORES_HEAP },
	{ "asprintf", STORES_HEAP },
	{ "vasprintf", STORES_HEAP },
	{ "__asprintf_chk", STORES_HEAP },
	{ "getline", STORES_HEAP },
	{ "open_memstream", STORES_HEAP },
	{ "realloc", REALLOCATES },
	{ "reallocarray", REALLOCATES },
	{ "mmap", GIVES_MAPPING },
	{ "mmap64", GIVES_MAPPING },
	{ "mremap", GIVES_FIRST },
	{ "pmem_map_file", GIVES_PM },
	{ "pmem2_map_get_address", GIVES_PM },
	{ "pmemlog_*", GIVES_PM },
	{ "pmemblk_*", GIVES_PM },
	{ "memkind_*", GIVES_HEAP },
	{ "pmem_mem*", COPIES },
	{ "pmemobj_mem*", COPIES },
	{ "pmem_*", NOTHING },
	{ "pmemobj_create", GIVES_PMDK },
	{ "pmemobj_open", GIVES_PMDK },
	{ "pmemobj_direct*", GIVES_PMDK },
	{ "pmemobj_pool_by_*", GIVES_PMDK },
	{ "pmemobj_tx_*", NOTHING },
	{ "pmemobj_volatile*", GIVES_PMDK },
	{ "pmemobj_*", NOTHING },
	{ "memcpy", COPIES },
	{ "memmove", COPIES },
	{ "mempcpy", COPIES },
	{ "__memcpy_chk", COPIES },
	{ "__memmove_chk", COPIES },
	{ "llvm.memcpy.*", COPIES },
	{ "llvm.memmove.*", COPIES },
	{ "memset", GIVES_FIRST },
	{ "__memset_chk", GIVES_FIRST },
	{ "strcpy", GIVES_FIRST },
	{ "strncpy", GIVES_FIRST },
	{ "stpcpy", GIVES_FIRST },
	{ "strcat", GIVES_FIRST },
	{ "strncat", GIVES_FIRST },
	{ "__str*_chk", GIVES_FIRST },
	{ "strchr*", GIVES_FIRST },
	{ "strrchr", GIVES_FIRST },
	{ "strstr", GIVES_FIRST },
	{ "strpbrk", GIVES_FIRST },
	{ "memchr", GIVES_FIRST },
	{ "memrchr", GIVES_FIRST },
	{ "memmem", GIVES_FIRST },
	{ "strtok", GIVES_FIRST },
	{ "strtok_r", GIVES_FIRST },
	{ "fgets", GIVES_FIRST },
	{ "basename", GIVES_FIRST },
	{ "dirname", GIVES_FIRST },
	{ "realpath", GIVES_SECOND },
	{ "getcwd", GIVES_FIRST },
	{ "inet_ntop", GIVES_FIRST },
	{ "llvm.launder.*", GIVES_FIRST },
	{ "strto*", STORES_END },
	{ "__isoc23_strto*", STORES_END },
	{ "atexit", CALLS_FIRST },
	{ "pthread_once", NOTHING },
	{ "pthread_create", CALLS_THIRD },
	{ "thrd_create", CALLS_THIRD },
	{ "qsort", SORTS },
	{ "bsearch", SEARCHES },
	{ "signal", NOTHING },
	{ "llvm.*", NOTHING },
	{ "_mm_*", NOTHING },
	{ "pthread_*", NOTHING },
	{ "printf", NOTHING },
	{ "fprintf", NOTHING },
	{ "sprintf", NOTHING },
	{ "snprintf", NOTHING },
	{ "dprintf", NOTHING },
	{ "vprintf", NOTHING },
	{ "vfprintf", NOTHING },
	{ "vsnprintf", NOTHING },
	{ "__*printf_chk", NOTHING },
	{ "puts", NOTHING },
	{ "fputs", NOTHING },
	{ "putchar", NOTHING },
	{ "putc", NOTHING },
	{ "fputc", NOTHING },
	{ "perror", NOTHING },
	{ "scanf", NOTHING },
	{ "sscanf", NOTHING },
	{ "__isoc*", NOTHING },
	{ "fread", NOTHING },
	{ "fwrite", NOTHING },
	{ "fclose", NOTHING },
	{ "fflush", NOTHING },
	{ "fseek*", NOTHING },
	{ "getc*", NOTHING },
	{ "fgetc", NOTHING },
	{ "free", NOTHING },
	{ "munmap", NOTHING },
	{ "msync", NOTHING },
	{ "mprotect", NOTHING },
	{ "madvise", NOTHING },
	{ "open*", NOTHING },
	{ "close*", NOTHING },
	{ "read*", NOTHING },
	{ "write*", NOTHING },
	{ "pread*", NOTHING },
	{ "pwrite*", NOTHING },
	{ "lseek*", NOTHING },
	{ "ftruncate*", NOTHING },
	{ "truncate*", NOTHING },
	{ "posix_fallocate*", NOTHING },
	{ "fallocate*", NOTHING },
	{ "f*sync", NOTHING },
	{ "stat*", NOTHING },
	{ "fstat*", NOTHING },
	{ "lstat*", NOTHING },
	{ "unlink*", NOTHING },
	{ "access", NOTHING },
	{ "rename", NOTHING },
	{ "strlen", NOTHING },
	{ "strnlen", NOTHING },
	{ "strcmp", NOTHING },
	{ "strncmp", NOTHING },
	{ "strcasecmp", NOTHING },
	{ "memcmp", NOTHING },
	{ "strspn", NOTHING },
	{ "strcspn", NOTHING },
	{ "bzero", NOTHING },
	{ "ato*", NOTHING },
	{ "exit", NOTHING },
	{ "_exit", NOTHING },
	{ "abort", NOTHING },
	{ "__assert_fail", NOTHING },
	{ "err*", NOTHING },
	{ "warn*", NOTHING },
	{ "time", NOTHING },
	{ "clock*", NOTHING },
	{ "gettimeofday", NOTHING },
	{ "nanosleep", NOTHING },
	{ "usleep", NOTHING },
	{ "sleep", NOTHING },
	{ "sig*", NOTHING },
	{ "fork", NOTHING },
	{ "wait*", NOTHING },
	{ "kill", NOTHING },
	{ "getopt*", NOTHING },
	{ "_setjmp", NOTHING },
	{ "setjmp", NOTHING },
	{ "__sigsetjmp", NOTHING },
	{ "longjmp", NOTHING },
	{ "rand*", NOTHING },
	{ "srand*", NOTHING },
	{ "sysconf", NOTHING },
	{ "getpid", NOTHING },
	{ "sched_*", NOTHING },
};

static bool matches(const char *pattern, const char *name)
{
	const char *star = strchr(pattern, '*');
	size_t len = star ? (size_t)(star - pattern) : 0, rest = star ? strlen(star + 1) : 0,
	       n = strlen(name);

	if (!star)
		return strcmp(pattern, name) == 0;
	return n >= len + rest && strncmp(pattern, name, len) == 0 &&
	       strcmp(name + n - rest, star + 1) == 0;
}

static const struct external *find_external(const char *name)
{
	for (size_t i = 0; i < sizeof externals / sizeof externals[0]; i++)
		if (matches(externals[i].name, name))
			return &externals[i];
	return NULL;
}

bool external_is_store(const char *name)
{
	const struct external *e = find_external(name);

	return e &&
	       (e->effect == COPIES || strstr(name, "memset") || strncmp(name, "str", 3) == 0 ||
		strncmp(name, "stpcpy", 6) == 0 || strstr(name, "sprintf") ||
		strstr(name, "snprintf") || strcmp(name, "bzero") == 0);
}

/* Makes a node that points to a new object. */
static uint32_t new_object_node(struct alias *a, enum solve_kind kind, const char *name)
{
	uint32_t node = solver_node(a->solver);

	solver_point(a->solver, node,
		     solver_location(a->solver, solver_object(a->solver, kind, name), 0));
	return node;
}

static uint32_t pmdk(struct alias *a)
{
	uint32_t node = solver_node(a->solver);

	if (!a->pmdk) {
		a->pmdk = solver_object(a->solver, SOLVE_PM, "pmemobj");
		solver_flatten(a->solver, a->pmdk);
	}
	solver_point(a->solver, node, solver_location(a->solver, a->pmdk, 0));
	return node;
}

static enum solve_kind mapping_kind(const struct call *c)
{
	if (c->is_anonymous || (c->flags >= 0 && !(c->flags & MAP_SHARED)))
		return SOLVE_HEAP;
	return c->flags >= 0 ? SOLVE_PM : SOLVE_UNKNOWN;
}

static uint32_t argument(const struct call *c, size_t i)
{
	return i < c->nargs ? c->args[i] : 0;
}

/* Adds a call that a library function makes of a function that it was given, such as qsort() of its
 * comparison function. */
static void call_back(struct alias *a, const char *name, uint32_t function, uint32_t first,
		      uint32_t second)
{
	struct call c = { .name = name, .nargs = 2, .flags = -1, .is_called_back = true };

	c.args = arena_alloc(&a->arena, 2 * sizeof *c.args);
	c.args[0] = first;
	c.args[1] = second;
	*vec_add(&a->calls) = c;
	solver_call(a->solver, function, (uint32_t)a->calls.n - 1);
}

static void do_anything(struct alias *a, const struct call *c)
{
	uint32_t all = new_object_node(a, SOLVE_UNKNOWN, c->name);

	for (size_t i = 0; i < c->nargs; i++)
		solver_copy(a->solver, all, c->args[i]);
	for (size_t i = 0; i < c->nargs; i++) {
		solver_store(a->solver, c->args[i], all);
		if (c->args[i] && !c->is_called_back)
			call_back(a, c->name, c->args[i], all, all);
	}
	solver_copy(a->solver, c->result, all);
}

void external_apply(struct alias *a, uint32_t call, const char *name)
{
	const struct external *e = find_external(name);
	const struct call c = a->calls.at[call];
	uint32_t first = argument(&c, 0), second = argument(&c, 1);
	struct solver *s = a->solver;

	if (!e) {
		do_anything(a, &c);
		return;
	}
	switch (e->effect) {
	case NOTHING: break;
	case GIVES_HEAP: solver_copy(s, c.result, new_object_node(a, SOLVE_HEAP, c.name)); break;
	case GIVES_PM:
		solver_copy(s, c.result, c.result ? new_object_node(a, SOLVE_PM, c.name) : 0);
		break;
	case GIVES_PMDK: solver_copy(s, c.result, pmdk(a)); break;
	case GIVES_MAPPING:
		solver_copy(s, c.result, new_object_node(a, mapping_kind(&c), c.name));
		break;
	case GIVES_FIRST: solver_copy(s, c.result, first); break;
	case GIVES_SECOND: solver_copy(s, c.result, second); break;
	case COPIES:
		solver_duplicate(s, first, second);
		solver_copy(s, c.result, first);
		break;
	case REALLOCATES:
		second = new_object_node(a, SOLVE_HEAP, c.name);
		solver_duplicate(s, second, first);
		solver_copy(s, c.result, second);
		break;
	case STORES_HEAP: solver_store(s, first, new_object_node(a, SOLVE_HEAP, c.name)); break;
	case STORES_END: solver_store(s, second, first); break;
	case CALLS_FIRST: call_back(a, c.name, first, 0, 0); break;
	case CALLS_THIRD: call_back(a, c.name, argument(&c, 2), argument(&c, 3), 0); break;
	case SORTS: call_back(a, c.name, argument(&c, 3), first, first); break;
	case SEARCHES:
		call_back(a, c.name, argument(&c, 4), first, second);
		solver_copy(s, c.result, second);
		break;
	}
}
