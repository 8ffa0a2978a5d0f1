/* Handles execve: the new program must load this library again. If it cannot (a static program, one
 * with set-user-ID, one of another architecture), it would see the user's own files. So the run
 * does not count. For a script, the interpreter decides. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "calls.h"

#define MAX_ENV 4096u
#define MAX_TEXT_BYTES (4ul << 20) /* room for arguments and environment that may be in PM */

/* The new program's path, arguments and environment, in our own memory, since the program's may be
 * in PM. */
struct given {
	const char *environment[MAX_ENV];
	const char *arguments[MAX_ENV];
	char path[ROOT_PATH_ROOM];
	char text[MAX_TEXT_BYTES];
};

/* "NAME=value" for the variables that every process of a run needs. */
static char g_preload[4096], g_region_env[4096];
/* makes all of them use the same variants of the C library's functions */
#define TUNABLES "GLIBC_TUNABLES"
static char g_tunables[4096];
/* for a run in a bundle, and for packing one */
static char g_root_env[4096], g_notes_env[4096], g_libraries[4096];
#define LIBRARIES "LD_LIBRARY_PATH"
/* Variables that tests set; "" for those that are not set. */
static char g_asked[][32] = { "PMEND_RUN_NO_PKEYS=1", "PMEND_RUN_NO_DISPATCH=1" };
#define NASKED (sizeof g_asked / sizeof g_asked[0])

static void keep(char *to, size_t room, const char *name)
{
	const char *value = environment_get(name);
	size_t n = strlen(name);

	to[0] = 0;
	if (!value || n + 1 + strlen(value) >= room)
		return;
	memcpy(to, name, n);
	to[n] = '=';
	strcpy(to + n + 1, value);
}

void exec_init(void)
{
	keep(g_preload, sizeof(g_preload), "LD_PRELOAD");
	keep(g_region_env, sizeof(g_region_env), RUN_ENV_REGION);
	keep(g_tunables, sizeof(g_tunables), TUNABLES);
	keep(g_root_env, sizeof(g_root_env), RUN_ENV_ROOT);
	keep(g_notes_env, sizeof(g_notes_env), RUN_ENV_NOTES);
	keep(g_libraries, sizeof(g_libraries), LIBRARIES);
	for (size_t i = 0; i < NASKED; i++) {
		char *value = strchr(g_asked[i], '=');

		*value = 0;
		if (environment_get(g_asked[i]))
			*value = '=';
		else
			g_asked[i][0] = 0;
	}
}

static long read_at(long fd, void *to, size_t n, uint64_t offset)
{
	return CALL4(SYS_pread64, fd, to, n, offset);
}

static bool is_dynamic_elf(long fd, const Elf64_Ehdr *h)
{
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_machine != arch_elf_machine)
		return false;
	for (uint32_t i = 0; i < h->e_phnum; i++) {
		Elf64_Phdr p;

		if (read_at(fd, &p, sizeof(p), h->e_phoff + (uint64_t)i * h->e_phentsize) !=
		    sizeof(p))
			return false;
		if (p.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static bool gains_rights(long fd)
{
	struct stat st;

	if (CALL2(SYS_fstat, fd, &st) != 0)
		return false;
	return (st.st_mode & S_ISUID && st.st_uid != (uid_t)CALL0(SYS_geteuid)) ||
	       (st.st_mode & S_ISGID && st.st_gid != (gid_t)CALL0(SYS_getegid));
}

/* Gives the path of the interpreter in a script's first line, cut out in place; NULL: there is
 * none. */
static char *interpreter(char *head)
{
	char *p = head + 2, *end;

	p += strspn(p, " \t");
	end = p + strcspn(p, " \t\n");
	*end = 0;
	return *p ? p : NULL;
}

/* Asks whether the file that would be executed can load this library. Closes `fd`. If the file
 * cannot be read, it returns true: execve will report the error. */
static bool can_preload(long fd)
{
	char head[256];

	for (int depth = 0; depth < 5 && !IS_ERROR(fd); depth++) {
		long n = read_at(fd, head, sizeof(head) - 1, 0);
		bool is_script = n > 2 && head[0] == '#' && head[1] == '!';
		bool is_ok = true;
		char *next;

		head[n > 0 ? n : 0] = 0;
		if (n >= (long)sizeof(Elf64_Ehdr) && memcmp(head, ELFMAG, SELFMAG) == 0)
			is_ok = is_dynamic_elf(fd, (const Elf64_Ehdr *)head) && !gains_rights(fd);
		CALL1(SYS_close, fd);
		if (!is_script)
			return is_ok;
		next = interpreter(head);
		if (!next)
			return true;
		fd = CALL4(SYS_openat, AT_FDCWD, next, O_RDONLY | O_CLOEXEC, 0);
	}
	return true;
}

static bool has_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* Asks whether the variable is ours. The program cannot give it another value. */
static bool is_ours(const char *entry)
{
	return has_prefix(entry, "LD_PRELOAD=") || has_prefix(entry, RUN_ENV_REGION "=") ||
	       has_prefix(entry, RUN_ENV_SERVER "=") || has_prefix(entry, RUN_ENV_NOTES "=") ||
	       has_prefix(entry, RUN_ENV_ROOT "=") ||
	       (g_root_env[0] && has_prefix(entry, LIBRARIES "="));
}

/* Copies a string to our memory at *at, which moves behind the copy. Returns `s` itself if nothing
 * can be in PM, or if the string cannot be read. */
static const char *text_of(struct given *g, size_t *at, const char *s)
{
	char *const copy = g->text + *at;
	const size_t room = sizeof(g->text) - *at;

	if (!g_is_lazy || !maps_any())
		return s;
	if (rt_copy_string(copy, (uint64_t)s, room)) {
		*at += strlen(copy) + 1;
		return copy;
	}
	if (room < MAX_TEXT_BYTES / 2)
		rt_unsound("very large arguments of execve");
	return s;
}

/* Replaces the list of arguments by a copy, if PM may contain parts of it. */
static void arguments(struct given *g, size_t *text, long *list)
{
	if (!g_is_lazy || !maps_any() || !*list)
		return;
	for (uint32_t n = 0; n < MAX_ENV; n++) {
		if (!rt_copy_in(&g->arguments[n], (uint64_t)*list + n * 8, 8))
			return;
		if (!g->arguments[n]) {
			*list = (long)g->arguments;
			return;
		}
		g->arguments[n] = text_of(g, text, g->arguments[n]);
	}
	rt_unsound("very many arguments of execve");
}

/* Makes the new environment, with the variables that we need. in_root: for a program in a bundle,
 * which uses the bundle's libraries. NULL: the environment is too large. */
static const char **environment(struct given *g, size_t *text, uint64_t given, bool in_root)
{
	const char **room = g->environment;
	bool has_tunables = false;
	uint32_t n = 0;
	char name[32];

	if (g_preload[0])
		room[n++] = g_preload;
	if (g_region_env[0])
		room[n++] = g_region_env;
	if (g_notes_env[0])
		room[n++] = g_notes_env;
	if (g_root_env[0])
		room[n++] = g_root_env;
	if (in_root && g_libraries[0])
		room[n++] = g_libraries;
	for (size_t i = 0; i < NASKED; i++)
		if (g_asked[i][0])
			room[n++] = g_asked[i];
	for (uint64_t i = 0; given; i++) {
		const char *entry;

		memset(name, 0, sizeof(name));
		if (!rt_copy_in(&entry, given + i * 8, 8) || !entry)
			break;
		if (n + 2 >= MAX_ENV)
			return NULL;
		for (size_t k = 0; k + 1 < sizeof(name) &&
				   rt_copy_in(&name[k], (uint64_t)entry + k, 1) && name[k];
		     k++)
			;
		if (!is_ours(name))
			room[n++] = text_of(g, text, entry);
		has_tunables |= has_prefix(name, TUNABLES "=");
	}
	if (g_tunables[0] && !has_tunables)
		room[n++] = g_tunables;
	room[n] = NULL;
	return room;
}

static __attribute__((noinline)) long open_target(long number, const long a[6])
{
	char path[4096];

	if (number == SYS_execveat) {
		if (!rt_copy_string(path, (uint64_t)a[1], sizeof(path)))
			return -EFAULT;
		root_note(RUN_NOTE_EXEC, a[0], path);
		if (!path[0] && a[4] & AT_EMPTY_PATH)
			return CALL3(SYS_fcntl, a[0], F_DUPFD_CLOEXEC, 0);
		return CALL4(SYS_openat, a[0], path, O_RDONLY | O_CLOEXEC, 0);
	}
	if (!rt_copy_string(path, (uint64_t)a[0], sizeof(path)))
		return -EFAULT;
	root_note(RUN_NOTE_EXEC, AT_FDCWD, path);
	return CALL4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

/* Replaces the path if it leads into a bundle, or may be in PM. */
static void target(struct given *g, size_t *text, long *path)
{
	if (rt_copy_string(g->path, (uint64_t)*path, sizeof(g->path)) && root_enter(g->path) &&
	    root_takes(g->path))
		*path = (long)g->path;
	else
		*path = (long)text_of(g, text, (const char *)*path);
}

long exec_call(long number, long a[6])
{
	/* number of the path's argument; the next two are arguments and environment */
	const int first = number == SYS_execve ? 0 : 1;
	struct given *g;
	size_t text = 0;
	long r, fd;
	bool in_root;

	if (number != SYS_execve && number != SYS_execveat)
		return CALL_PASS;
	if (root_is_changed())
		rt_unsound(CHANGED_ROOT);
	r = CALL6(SYS_mmap, 0, sizeof(*g), PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (IS_ERROR(r))
		return -ENOMEM;
	g = (struct given *)r;
	target(g, &text, &a[first]);
	fd = open_target(number, a);
	in_root = root_holds(fd);
	if (!can_preload(fd))
		rt_unsound("recovery starts a program that cannot be preloaded");
	arguments(g, &text, &a[first + 1]);
	a[first + 2] = (long)environment(g, &text, (uint64_t)a[first + 2], in_root);
	if (!a[first + 2])
		rt_unsound("a very large environment");
	/* the new program inherits the mask */
	actions_set_mask(*(const uint64_t *)&t_self.uc->uc_sigmask);
	r = rt_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	actions_set_mask(~0ul);
	CALL2(SYS_munmap, g, sizeof(*g));
	return r;
}
