/* Reads what /proc says about processes, with nothing but system calls. The list of processes grows
 * in memory from mmap(). */
#include "serve/processes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "serve/call.h"

#define ENTRIES_BYTES 8192u
#define ROOM_FIRST 1024u
#define STATUS_BYTES 4096u

struct entry { /* as the kernel writes it (getdents64(2)) */
	uint64_t ino;
	int64_t off;
	uint16_t len_bytes;
	uint8_t type;
	char name[];
};

/* ---- text ---- */

static char *put_text(char *to, const char *text)
{
	while (*text)
		*to++ = *text++;
	*to = 0;
	return to;
}

static char *put_number(char *to, uint32_t n)
{
	char digits[12], *at = digits + sizeof digits - 1;

	*at = 0;
	do
		*--at = (char)('0' + n % 10);
	while (n /= 10);
	return put_text(to, at);
}

/* Parses a number that ends at the end of the text or at a space; -1 if it is none. */
static int64_t get_number(const char *text)
{
	int64_t n = 0;
	const char *c = text;

	for (; *c >= '0' && *c <= '9'; c++)
		n = n * 10 + (*c - '0');
	return c > text && (*c == 0 || *c == ' ') ? n : -1;
}

/* Writes /proc/PID/NAME; pid 0 is the calling process. */
static void process_path(char path[64], pid_t pid, const char *name)
{
	char *at = put_text(path, "/proc/");

	at = pid ? put_number(at, (uint32_t)pid) : put_text(at, "self");
	put_text(put_text(at, "/"), name);
}

/* ---- files ---- */

long process_read(const char *path, char *buf, size_t room)
{
	long fd = SERVE_CALL4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? -1 : SERVE_CALL3(SYS_read, fd, buf, room - 1);

	if (fd >= 0)
		SERVE_CALL1(SYS_close, fd);
	buf[n > 0 ? n : 0] = 0;
	return n;
}

long process_count_folders(const char *path, uid_t *uid)
{
	struct stat st;

	if (SERVE_CALL4(SYS_newfstatat, AT_FDCWD, path, &st, 0) != 0)
		return -1;
	if (uid)
		*uid = st.st_uid;
	return (long)st.st_nlink - 2;
}

/* Gives a field of /proc/PID/stat as a number. proc(5) numbers the fields; `number` is 3 or more,
 * because the name, field 2, may contain anything. -1 if there is no such field. */
static int64_t stat_field(pid_t pid, uint32_t number)
{
	char path[64], text[1024];
	const char *at = text, *end = NULL;

	process_path(path, pid, "stat");
	if (process_read(path, text, sizeof text) <= 0)
		return -1;
	for (; *at; at++)
		if (*at == ')')
			end = at;
	if (!end || !end[1])
		return -1;
	for (at = end + 2; number > 3 && *at; at++)
		number -= *at == ' ';
	return get_number(at);
}

/* Gives the text after the prefix; NULL if the text does not begin with the prefix. */
static const char *after_prefix(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix)
		text++, prefix++;
	return *prefix ? NULL : text;
}

uint64_t process_status_bytes(pid_t pid, const char *name)
{
	char path[64], text[STATUS_BYTES];
	const char *at = text, *value = NULL;

	process_path(path, pid, "status");
	if (process_read(path, text, sizeof text) <= 0)
		return 0;
	while (*at && !(value = after_prefix(at, name))) {
		while (*at && *at != '\n')
			at++;
		at += *at == '\n';
	}
	while (value && (*value == ' ' || *value == '\t'))
		value++;
	return value && get_number(value) > 0 ? (uint64_t)get_number(value) * 1024 : 0;
}

bool process_environ_has(pid_t pid, const char *bytes, size_t len_bytes)
{
	char path[64], text[8192];
	size_t n = 0;
	bool is_found = false;
	long fd, got = 0;

	process_path(path, pid, "environ");
	fd = SERVE_CALL4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0 || len_bytes > sizeof text / 2)
		return false;
	while (!is_found && (got = SERVE_CALL3(SYS_read, fd, text + n, sizeof text - n)) > 0) {
		size_t from = 0;

		n += (size_t)got;
		for (; !is_found && from + len_bytes <= n; from++) {
			size_t k = 0;

			while (k < len_bytes && text[from + k] == bytes[k])
				k++;
			is_found = k == len_bytes;
		}
		for (size_t i = 0; from + i < n; i++) /* the next piece may complete what is left */
			text[i] = text[from + i];
		n -= from;
	}
	SERVE_CALL1(SYS_close, fd);
	return is_found;
}

/* ---- the list ---- */

static bool processes_grow(struct processes *p)
{
	const size_t bytes = p->room * sizeof *p->at,
		     more = bytes ? 2 * bytes : ROOM_FIRST * sizeof *p->at;
	long at = p->at ? SERVE_CALL4(SYS_mremap, p->at, bytes, more, MREMAP_MAYMOVE)
			: SERVE_CALL6(SYS_mmap, 0, more, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at < 0 && at > -4096)
		return false;
	p->at = (struct process *)at;
	p->room = more / sizeof *p->at;
	return true;
}

static bool processes_add(struct processes *p, const char *name)
{
	int64_t pid = get_number(name);

	if (pid <= 0)
		return true;
	if (p->n == p->room && !processes_grow(p))
		return false;
	p->at[p->n++] =
		(struct process){ .pid = (pid_t)pid, .parent = (pid_t)stat_field((pid_t)pid, 4) };
	return true;
}

void processes_init(struct processes *p)
{
	char entries[ENTRIES_BYTES] __attribute__((aligned(8)));
	long n, fd = SERVE_CALL4(SYS_openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC,
				 0);
	bool has_room = true;

	*p = (struct processes){ 0 };
	while (fd >= 0 && has_room &&
	       (n = SERVE_CALL3(SYS_getdents64, fd, entries, sizeof entries)) > 0) {
		for (long at = 0; has_room && at < n;
		     at += ((struct entry *)(entries + at))->len_bytes)
			has_room = processes_add(p, ((struct entry *)(entries + at))->name);
	}
	if (fd >= 0)
		SERVE_CALL1(SYS_close, fd);
}

void processes_release(struct processes *p)
{
	if (p->at)
		SERVE_CALL2(SYS_munmap, p->at, p->room * sizeof *p->at);
	*p = (struct processes){ 0 };
}

static bool is_child_of_marked(const struct processes *p, const struct process *child)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->at[i].is_marked && p->at[i].pid == child->parent)
			return true;
	return false;
}

void processes_mark_descendants(struct processes *p, pid_t of)
{
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = 0; i < p->n; i++) {
			struct process *one = &p->at[i];

			if (one->is_marked || one->pid == of)
				continue;
			if ((of && one->parent == of) || is_child_of_marked(p, one))
				one->is_marked = again = true;
		}
	}
}

uint64_t processes_count_threads(uid_t uid)
{
	struct processes all;
	uint64_t nthreads = 0;

	processes_init(&all);
	for (size_t i = 0; i < all.n; i++) {
		char path[64];
		uid_t owner;
		long n;

		process_path(path, all.at[i].pid, "task");
		n = process_count_folders(path, &owner);
		if (n > 0 && owner == uid)
			nthreads += (uint64_t)n;
	}
	processes_release(&all);
	return nthreads;
}
