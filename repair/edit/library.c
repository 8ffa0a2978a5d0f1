/* Knows where library calls store, whose code is not parsed: functions of the C library, of the
 * compiler, of PMDK, and of the C++ standard library. They store only to their own memory and to
 * their arguments, and do not call the program. Every other call of unknown code may store
 * anywhere. */
#include <string.h>

#include "repair/edit/internal.h"
#include "source/source.h"

/* A name that ends in '*' stands for all names with that beginning. Missing on purpose: functions
 * that call a function they are given (qsort, bsearch, pthread_once, ftw), and those that store
 * through one of many arguments (scanf). */
/* clang-format off */
static const char *const known[] = {
	/* memory and strings; what they write to is in writers.c */
	"malloc", "calloc", "realloc", "reallocarray", "free", "aligned_alloc", "posix_memalign",
	"memalign", "malloc_usable_size", "mem*", "str*", "stpcpy", "stpncpy", "bzero", "bcmp",
	"index", "rindex", "ato*", "abs", "labs", "llabs", "is*", "tolower", "toupper",
	"__ctype_*", "htonl", "htons", "ntohl", "ntohs", "rand", "rand_r", "srand", "random",
	"srandom", "drand48", "lrand48", "ffs*", "floor", "ceil", "sqrt", "pow", "log", "log2",
	"exp", "fabs", "round", "lround",
	/* files */
	"printf", "fprintf", "dprintf", "vprintf", "vfprintf", "sprintf", "snprintf", "vsprintf",
	"vsnprintf", "asprintf", "vasprintf", "puts", "fputs", "putchar", "putc", "fputc",
	"perror", "fopen*", "fdopen", "freopen", "fclose", "fflush", "fread", "fwrite", "fseek*",
	"ftell*", "rewind", "feof", "ferror", "clearerr", "fileno", "fgets", "fgetc", "getc",
	"getchar", "ungetc", "getline", "getdelim", "setvbuf", "setbuf", "open", "open64",
	"openat", "creat", "close", "read", "readv", "pread*", "write", "writev", "pwrite*",
	"lseek*", "ftruncate*", "truncate*", "posix_fallocate*", "fallocate*", "fsync",
	"fdatasync", "sync", "syncfs", "sync_file_range", "msync", "mmap*", "mremap", "munmap",
	"mprotect", "madvise", "mlock", "munlock", "stat", "stat64", "fstat*", "lstat*", "access",
	"unlink*", "rename*", "remove", "mkdir", "rmdir", "opendir", "readdir*", "closedir",
	"link", "symlink", "chmod", "fchmod", "chdir", "getcwd", "dup", "dup2", "pipe", "fcntl",
	"flock", "isatty", "send", "sendto", "sendmsg", "recv", "recvfrom", "socket", "bind",
	"listen", "accept*", "connect", "shutdown", "select", "poll", "epoll_wait", "epoll_ctl",
	/* processes, time, threads */
	"exit", "_exit", "_Exit", "abort", "__assert_fail", "__assert", "err", "errx", "warn",
	"warnx", "error", "getenv", "setenv", "getpid", "getppid", "gettid", "getuid", "geteuid",
	"fork", "wait", "waitpid", "kill", "raise", "time", "clock*", "gettimeofday", "nanosleep",
	"usleep", "sleep", "sched_yield", "sysconf", "getpagesize", "getopt*", "__errno_location",
	"localtime*", "gmtime*", "mktime", "strftime", "pthread_mutex_*", "pthread_rwlock_*",
	"pthread_spin_*", "pthread_cond_*", "pthread_self", "pthread_equal", "pthread_getspecific",
	"sem_*", "mtx_*", "getrandom", "_mm_*", "_tzcnt_*", "_lzcnt_*", "_pext_*", "_pdep_*",
	"__rdtsc*", "__builtin_*", "__atomic_*", "__sync_*", "atomic_*", "__c11_atomic_*",
	/* PMDK */
	"pmem_*", "pmem2_*", "pmemobj_direct*", "pmemobj_oid", "pmemobj_pool_by_*",
	"pmemobj_persist", "pmemobj_flush", "pmemobj_drain", "pmemobj_mem*", "pmemobj_type_num",
	"pmemobj_root_size", "pmemobj_alloc_usable_size", "pmemobj_errormsg", "pmemobj_tx_stage",
	"pmemobj_tx_add_*", "pmemobj_tx_xadd_*", "pmemobj_mutex_*", "pmemobj_rwlock_*",
	"pmemobj_next", "pmemobj_first",
};
/* clang-format on */

static bool is_known(const char *name)
{
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		size_t len = strlen(known[i]);

		if (known[i][len - 1] == '*' ? strncmp(name, known[i], len - 1) == 0
					     : strcmp(name, known[i]) == 0)
			return true;
	}
	return false;
}

/* Returns the name or member that is called; NULL: the call has no written name, as that of a
 * constructor or operator of C++. */
static const struct source_node *callee_of(const struct source_node *call)
{
	const struct source_node *n = call->child ? source_bare(call->child) : NULL;

	if (n && n->kind == SOURCE_UNARY && n->op[0] == '*' && n->child)
		n = source_bare(n->child);
	return n && (n->kind == SOURCE_NAME || n->kind == SOURCE_MEMBER) && n->name && call->name &&
			       strcmp(n->name, call->name) == 0
		       ? n
		       : NULL;
}

/* Asks whether the call goes through a pointer, by the type of what is called: a function has the
 * type "void (int)", a pointer "void (*)(int)" or the name of a type. */
bool call_is_by_pointer(const struct source_unit *u, const struct source_node *call)
{
	const struct source_node *n = callee_of(call);

	if (!call->name)
		return !u->is_cplusplus ||
		       (call->child && source_bare(call->child)->kind != SOURCE_EXPR);
	if (strcmp(call->name, "operator()") == 0)
		return true; /* std::function, a lambda */
	if (!n)
		return !u->is_cplusplus;
	if (n->kind == SOURCE_NAME && n->is_local)
		return true;
	return n->type && n->type[0] && n->type[0] != '<' &&
	       (strstr(n->type, "(*") || !strchr(n->type, '('));
}

/* Asks whether the call is of a virtual method. Any virtual method of this name counts, whatever
 * the object's class. */
bool call_is_virtual(const struct source_unit *u, const struct source_node *call)
{
	for (size_t i = 0; u->is_cplusplus && call->name && i < u->nfunctions; i++)
		if (u->functions[i].is_virtual && strcmp(u->functions[i].name, call->name) == 0)
			return true;
	return false;
}

static bool is_callable(const struct source_unit *u, const struct source_node *arg)
{
	const struct source_node *n = source_bare(arg);

	if (n->kind == SOURCE_UNARY && n->op[0] == '&' && n->child)
		n = source_bare(n->child);
	if (n->kind == SOURCE_LAMBDA || (n->type && strchr(n->type, '(')))
		return true;
	return n->kind == SOURCE_NAME && n->name && function_named(u, n->name);
}

static bool takes_callable(const struct source_unit *u, const struct source_node *call)
{
	for (const struct source_node *a = call->child ? call->child->next : NULL; a; a = a->next)
		if (is_callable(u, a))
			return true;
	return false;
}

bool call_is_of_library(const struct source_unit *u, const struct source_node *call)
{
	bool is_of_cplusplus = false;

	if (!call->name || call_is_by_pointer(u, call))
		return false;
	for (size_t i = 0; i < u->nfunctions; i++) {
		if (strcmp(u->functions[i].name, call->name) != 0)
			continue;
		if (!u->functions[i].is_system)
			return false; /* a function of the program */
		is_of_cplusplus |= strstr(u->functions[i].file, "/c++/") != NULL;
	}
	return is_known(call->name) || (is_of_cplusplus && !takes_callable(u, call));
}

/* Asks whether the call is of a constructor, conversion or operator that the compiler makes,
 * because nobody declared one. */
bool call_is_made_by_compiler(const struct source_unit *u, const struct source_node *call)
{
	if (!u->is_cplusplus || call_is_by_pointer(u, call) || callee_of(call))
		return false;
	for (size_t i = 0; call->name && i < u->nfunctions; i++)
		if (!u->functions[i].is_system && strcmp(u->functions[i].name, call->name) == 0)
			return false;
	return true;
}

bool call_is_output(const struct source_node *call)
{
	static const char *const names[] = { "write",   "pwrite", "writev",  "send", "sendto",
					     "sendmsg", "printf", "vprintf", "puts", "putchar",
					     "fprintf", "fputs",  "fputc",   "putc", "fwrite",
					     "dprintf", "fflush" };
	const struct source_node *arg = call->child ? call->child->next : NULL;

	for (; arg; arg = arg->next)
		if (arg->name && strcmp(arg->name, "stderr") == 0)
			return false;
	for (size_t i = 0; call->name && i < sizeof names / sizeof names[0]; i++)
		if (strcmp(call->name, names[i]) == 0)
			return true;
	return false;
}
