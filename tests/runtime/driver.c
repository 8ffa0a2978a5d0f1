/* Runs every test in several ways: with protection keys, if the processor has them, and without (but paths); and where the kernel refuses syscall user dispatch, if it has it. The
 * user's own pool must stay as it is.
 *
 *   build/tests/runtime/runtime [NAME]...     all tests, or those named
 *   runtime --read NAME                       as recovery */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine.h"
#include "pmend_run.h"
#include "run.h"

#define RUNTIME "build/libexec/pmend/libpmend_rt.so"
#define REGION_BYTES (1u << 20)
#define MAX_DECISIONS 64u

char **g_argv;
static char g_top[4096], g_folder[64];
static int g_nfailed;
static bool g_has_keys, g_has_dispatch;

static const struct test *const groups[] = { access_tests, insn_tests, wide_tests, call_tests, code_tests, path_tests, process_tests, signal_tests, machine_tests, cost_tests };

static void die(const char *what)
{
	printf("FAIL runtime: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- for readers ---- */

char *map_file(const char *path, int prot, int flags)
{
	int fd = open(path, O_RDWR);
	struct stat st;
	char *p;

	if (fd < 0 || fstat(fd, &st) < 0)
		die(path);
	p = mmap(NULL, (size_t)st.st_size, prot, flags, fd, 0);
	if (p == MAP_FAILED)
		die("mmap");
	close(fd);
	return p;
}

char *map_pool(void)
{
	return map_file("pool", PROT_READ | PROT_WRITE, MAP_SHARED);
}

/* ---- building ---- */

static void write_file(const char *path, char byte, size_t n)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *bytes = malloc(n);

	memset(bytes, byte, n);
	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		die(path);
	close(fd);
	free(bytes);
}

static void name_file(struct run_file *f, const char *name, bool exists)
{
	struct stat st;

	snprintf(f->image, sizeof(f->image), "%s/images/%s", g_folder, name);
	snprintf(f->name, sizeof(f->name), "%s", name);
	if (stat(".", &st) < 0)
		die("stat");
	f->folder_dev = st.st_dev;
	f->folder_ino = st.st_ino;
	if (!exists)
		return;
	if (stat(name, &st) < 0)
		die(name);
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	if (stat(f->image, &st) < 0)
		die(f->image);
	f->image_dev = st.st_dev;
	f->image_ino = st.st_ino;
}

static uint32_t count_stores(const struct line *l)
{
	uint32_t n = 0;

	while (n < 4 && l->stores[n].len_bytes)
		n++;
	return n;
}

/* Contents of one line into the region; its newest into the image. */
static size_t put_line(char *base, size_t at, struct run_line *r, const struct line *l, int image)
{
	uint32_t n = count_stores(l);
	char content[64] = { 0 };

	r->offset = l->offset;
	r->line_bytes = 64;
	r->ncontents = n + 1;
	r->contents = at;
	for (uint32_t i = 0; i <= n; i++) {
		memcpy(base + at, content, 64);
		at += 64;
		if (i < n)
			memcpy(content + l->stores[i].at, &l->stores[i].value, l->stores[i].len_bytes);
	}
	memcpy(r->watch, &l->watch, sizeof l->watch);
	r->left = at;
	*(uint64_t *)(base + at) = (2ul << n) - 1;
	if (image >= 0 && pwrite(image, content, 64, (off_t)l->offset) != 64)
		die("image");
	return at + 8;
}

static struct run_region *build(const struct test *t)
{
	char path[128];
	int fd = open("../region", O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct run_region *r;
	size_t at = sizeof(*r);
	int image;

	if (fd < 0 || ftruncate(fd, REGION_BYTES) < 0)
		die("region");
	r = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	r->magic = RUN_MAGIC;
	r->len_bytes = REGION_BYTES;
	r->flags = (t->flags & NOT_LAZY ? 0 : RUN_LAZY) | (t->flags & ALL_READS ? RUN_ALL_READS : 0);
	r->files = at;
	r->nfiles = t->flags & SECOND ? 2 : 1;
	name_file((struct run_file *)((char *)r + at), "pool", !(t->flags & ABSENT));
	if (t->flags & SECOND)
		name_file((struct run_file *)((char *)r + at) + 1, "other", true);
	at += 2 * sizeof(struct run_file);
	r->mappings = at;
	r->nmappings = 1;
	*(struct run_mapping *)((char *)r + at) = (struct run_mapping){ RECORDED_VA, POOL_BYTES, 0, 0, 0 };
	at += sizeof(struct run_mapping);
	r->decisions = at;
	r->decisions_room = MAX_DECISIONS;
	at += MAX_DECISIONS * sizeof(struct run_decision);
	r->lines = at;
	while (r->nlines < 5 && (t->lines[r->nlines].stores[0].len_bytes || t->lines[r->nlines].watch))
		r->nlines++;
	at += r->nlines * sizeof(struct run_line);
	snprintf(path, sizeof(path), "%s/images/pool", g_folder);
	image = open(path, O_RDWR);
	for (uint32_t i = 0; i < r->nlines; i++)
		at = put_line((char *)r, at, (struct run_line *)((char *)r + r->lines) + i, &t->lines[i], image);
	close(image);
	return r;
}

/* ---- running ---- */

struct way {
	const char *name;
	bool has_keys, has_dispatch;
	bool is_bad; /* the kernel opens keys at signals */
	bool has_shadow; /* it says that shadow stacks are on */
};

#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)

/* As a sandbox does. */
static void refuse_dispatch(void)
{
	struct sock_filter code[] = { FIELD(nr), UNLESS(SYS_prctl, 3), FIELD(args[0]), UNLESS(PR_SET_SYSCALL_USER_DISPATCH, 1),
				      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { sizeof code / sizeof code[0], code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(124);
}

/* Lets it run, and whenever a signal comes, opens all its protection keys, as some kernels did. */
static int trace_to_end(pid_t pid, bool opens)
{
	int status, nstops = 0;

	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		const int sig = WSTOPSIG(status), is_exec = nstops++ == 0;

		if (is_exec && ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACESECCOMP) < 0)
			die("ptrace");
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8)) {
			if (!machine_say_shadow(pid) || ptrace(PTRACE_CONT, pid, NULL, NULL) < 0)
				die("machine_say_shadow");
			continue;
		}
		if (opens && (sig == SIGSEGV || sig == SIGSYS) && !machine_open_keys(pid))
			die("machine_open_keys");
		if (ptrace(PTRACE_CONT, pid, NULL, (void *)(long)(is_exec ? 0 : sig)) < 0)
			die("ptrace");
	}
	return status;
}

static int run(const struct test *t, const struct way *way)
{
	char region[128], preload[4200], program[4200], output[128];
	char *argv[] = { program, "--read", (char *)t->name, NULL };
	pid_t pid;
	int status;

	snprintf(region, sizeof(region), "%s/region", g_folder);
	snprintf(output, sizeof(output), "%s/output", g_folder);
	snprintf(preload, sizeof(preload), "%s/%s", g_top, RUNTIME);
	snprintf(program, sizeof(program), "%s/build/tests/runtime/runtime", g_top);
	pid = fork();
	if (pid == 0) {
		int out = open(output, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);

		setpgid(0, 0);
		dup2(out, 1);
		close(out);
		alarm(30);
		setenv(RUN_ENV_REGION, region, 1);
		setenv("LD_PRELOAD", preload, 1);
		if (!way->has_keys && !way->is_bad)
			setenv("PMEND_RUN_NO_PKEYS", "1", 1);
		if (g_has_dispatch && !way->has_dispatch)
			refuse_dispatch();
		if (way->has_shadow && !machine_filter_shadow())
			_exit(124);
		if (way->is_bad || way->has_shadow)
			ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(program, argv);
		_exit(126);
	}
	if (way->is_bad || way->has_shadow)
		return trace_to_end(pid, way->is_bad);
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	kill(-pid, SIGKILL);
	return status;
}

static bool is_untouched(const char *path, char byte, size_t n)
{
	int fd = open(path, O_RDONLY);
	char c;
	size_t count = 0;
	FILE *f = fdopen(fd, "r");

	if (!f)
		return false;
	while (fread(&c, 1, 1, f) == 1)
		count += c == byte;
	fclose(f);
	return count == n;
}

static void decision_text(char *to, size_t room, uint32_t line, uint32_t at, uint64_t mask, uint32_t nvalues)
{
	snprintf(to, room, "line %u at %u mask %lx values %u", line, at, (unsigned long)mask, nvalues);
}

static bool has_expected(const struct test *t, const struct run_decision *d, uint32_t i)
{
	for (uint32_t k = 0; k < 12; k++) {
		const struct expected *e = &t->decisions[k];

		if (e->line == d->line && e->at == d->at && e->mask == d->mask && e->nvalues == d->nvalues &&
		    (k == i || t->flags & UNORDERED))
			return d->nframes > 0 && d->stack[0] != 0;
	}
	return false;
}

static const char *wrong_decision(const struct test *t, const struct run_region *r)
{
	static char text[256];
	const struct run_decision *d = (const struct run_decision *)((const char *)r + r->decisions);
	uint32_t n = 0;

	while (n < 12 && t->decisions[n].mask)
		n++;
	for (uint32_t i = 0; i < r->ndecisions || i < n; i++) {
		char is[100] = "nothing", wanted[100] = "nothing";

		if (i < r->ndecisions && i < n && has_expected(t, &d[i], i))
			continue;
		if (i < r->ndecisions)
			decision_text(is, sizeof(is), d[i].line, d[i].at, d[i].mask, d[i].nvalues);
		if (i < n)
			decision_text(wanted, sizeof(wanted), t->decisions[i].line, t->decisions[i].at, t->decisions[i].mask,
				      t->decisions[i].nvalues);
		snprintf(text, sizeof(text), "decision %u is %s, not %s", i, is, wanted);
		return text;
	}
	return NULL;
}

static const char *wrong_output(const struct test *t)
{
	static char text[2048];
	char is[900] = "";
	int fd = open("../output", O_RDONLY);
	ssize_t n = read(fd, is, sizeof(is) - 1);

	close(fd);
	is[n > 0 ? n : 0] = 0;
	if (strcmp(is, t->output ? t->output : "") == 0)
		return NULL;
	snprintf(text, sizeof(text), "output is \"%s\", not \"%s\"", is, t->output);
	return text;
}

static const char *wrong_end(const struct test *t, const struct run_region *r, int status)
{
	static char text[300];

	if (t->signal) {
		if (WIFSIGNALED(status) && WTERMSIG(status) == t->signal && (int)r->signal == t->signal && r->signal_nframes > 1)
			return NULL;
		snprintf(text, sizeof(text), "status %x, signal %u noted with %u frames", (unsigned)status, r->signal, r->signal_nframes);
		return text;
	}
	if (status == 0)
		return NULL;
	snprintf(text, sizeof(text), "status %x%s%s", (unsigned)status, r->is_unsound ? ", unsound: " : "", r->why_unsound);
	return text;
}

static const char *wrong_run(const struct test *t, const struct run_region *r, int status, const struct way *way)
{
	const char *unsound = t->unsound, *why;

	if (!way->has_keys && t->flags & NO_KEYS_UNSOUND)
		unsound = "threads without protection keys";
	if (way->has_shadow)
		unsound = "shadow stacks (CET) are on; turn them off by GLIBC_TUNABLES=";
	if (way->has_keys && t->flags & KEYS_UNSOUND)
		unsound = "a protection key is open that was closed";
	if (!way->has_dispatch && t->flags & NO_DISPATCH_UNSOUND)
		unsound = "executable memory in which system calls cannot be caught";
	if (!(t->flags & ABSENT) && !is_untouched("pool", 'u', POOL_BYTES))
		return "the user's own pool has changed";
	if (t->flags & ABSENT && access("pool", F_OK) == 0)
		return "the user's own pool was created";
	if (unsound)
		return r->is_unsound && strncmp(r->why_unsound, unsound, strlen(unsound)) == 0 ? NULL : "not found unsound";
	why = wrong_end(t, r, status);
	if (!why)
		why = wrong_output(t);
	return why ? why : wrong_decision(t, r);
}

static void clean(void)
{
	static const char *const names[] = { "user/pool", "user/other", "user/link", "user/hard", "user/folder/link", "images/pool", "images/other", "images/link",
					     "region", "output" };
	char path[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", g_folder, names[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/user/folder", g_folder);
	rmdir(path);
}

static void try(const struct test *t, const struct way *way)
{
	struct run_region *r;
	const char *why;
	char image[128];

	clean();
	snprintf(image, sizeof(image), "%s/images/pool", g_folder);
	if (!(t->flags & ABSENT)) {
		write_file("pool", 'u', POOL_BYTES);
		write_file(image, 0, POOL_BYTES);
	}
	if (t->flags & HARD_LINK && link("pool", "hard") < 0)
		die("link");
	if (t->flags & SECOND) {
		snprintf(image, sizeof(image), "%s/images/other", g_folder);
		write_file("other", 'u', 4096);
		write_file(image, 'o', 4096);
	}
	r = build(t);
	why = wrong_run(t, r, run(t, way), way);
	if (why)
		printf("FAIL runtime %s (%s): %s\n", t->name, way->name, why);
	else
		printf("ok runtime %s (%s)\n", t->name, way->name);
	fflush(stdout);
	g_nfailed += why != NULL;
	munmap(r, REGION_BYTES);
}

static bool is_wanted(const struct test *t, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], t->name) == 0)
			return true;
	return argc < 2 && !(t->flags & BY_NAME);
}

static bool can_run(const struct test *t)
{
	if (!machine_lack(t->flags))
		return true;
	printf("SKIP runtime %s: this processor has no %s\n", t->name, machine_lack(t->flags));
	return false;
}

static int read_as(const char *name)
{
	int status = 125;

	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++)
		for (const struct test *t = groups[g]; t->name; t++)
			if (strcmp(t->name, name) == 0) {
				status = t->reader();
				fflush(stdout);
				return status;
			}
	return status;
}

/* In all ways that this machine has. */
static void try_all(const struct test *t, bool is_about_paths)
{
	if (!g_has_dispatch && t->flags & CALLED_BY_OURS)
		return;
	if (g_has_keys)
		try(t, &(struct way){ "keys", true, g_has_dispatch, false, false });
	if (!g_has_keys || !is_about_paths) /* which keys have no part in */
		try(t, &(struct way){ "no keys", false, g_has_dispatch, false, false });
	if (t->flags & SHADOW)
		try(t, &(struct way){ "shadow stacks", g_has_keys, g_has_dispatch, false, true });
	if (g_has_keys && t->flags & BAD_KEYS)
		try(t, &(struct way){ "bad keys", false, g_has_dispatch, true, false });
	if (g_has_dispatch && !(t->flags & CALLED_BY_OURS))
		try(t, &(struct way){ "no dispatch", g_has_keys, false, false, false });
}

int main(int argc, char **argv)
{
	char path[80];

	g_argv = argv;
	setenv("LC_ALL", "C", 1); /* what cmp prints depends on it */
	if (argc == 3 && strcmp(argv[1], "--read") == 0)
		return read_as(argv[2]);
	if (argc == 2 && strcmp(argv[1], "cost") == 0)
		cost_native();
	g_has_keys = RUNTIME_KEYS && pkey_alloc(0, 0) >= 0;
	g_has_dispatch = RUNTIME_DISPATCH && prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0) == 0;
	strcpy(g_folder, "/dev/shm/pmend-runtime-XXXXXX");
	if (!getcwd(g_top, sizeof(g_top)) || !mkdtemp(g_folder))
		die("folder");
	snprintf(path, sizeof(path), "%s/images", g_folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/user", g_folder);
	mkdir(path, 0700);
	if (chdir(path) < 0)
		die(path);
	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++)
		for (const struct test *t = groups[g]; t->name; t++)
			if (is_wanted(t, argc, argv) && can_run(t))
				try_all(t, groups[g] == path_tests);
	clean();
	rmdir(path);
	snprintf(path, sizeof(path), "%s/images", g_folder);
	rmdir(path);
	rmdir(g_folder);
	return g_nfailed != 0;
}
