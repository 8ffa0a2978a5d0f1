/* Moves PM files out of the way and puts them back. A file is renamed in its folder, to .NAME.pmend-fresh-PID, and renamed back, so that content, owner,
 * mode and times stay. One that the program is about to change before it maps it is copied to that name instead, for who knows whether it will be mapped.
 * A guardian, a process in a session of its own, knows of each file before it is moved, and puts all back when the other end of its socket is closed: at
 * the end, and when we are killed. Only if the guardian is killed, too, does a file keep its other name. */
#include "session/fresh.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/trace.h"
#include "util/alloc.h"
#include "util/vec.h"

#define MESSAGE_BYTES 16384u
#define RUNS_MAX 256u /* of one program: more files than that are out of the way by then */
#define SOCKET_FD 3

struct moved {
	char *path, *aside;
	bool is_copy; /* and the file itself is where it was */
	int fd;	      /* the guardian's: if the program removes the folder, the content is still there. -1 elsewhere */
};
typedef VEC(struct moved) moved_files;

struct fresh {
	moved_files files;
	VEC(char *) touched; /* what the recorder need not stop at any more, as it calls it */
	int socket;
	unsigned nruns;
	bool stops;
};

/* ---- the guardian ---- */

/* All but holes. */
static int copy_data(int in, int out, off_t size_bytes)
{
	off_t at = 0, end;

	while (at < size_bytes && (at = lseek(in, at, SEEK_DATA)) >= 0) {
		end = lseek(in, at, SEEK_HOLE);
		if (end < 0 || lseek(out, at, SEEK_SET) < 0)
			return -1;
		while (at < end)
			if (sendfile(out, in, &at, (size_t)(end - at)) <= 0)
				return -1;
	}
	return at < 0 && errno != ENXIO ? -1 : ftruncate(out, size_bytes);
}

/* Content, mode, owner and times of an open file, under another name. */
static int copy_to(int in, const char *path)
{
	int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), result = -1;
	struct stat st;

	if (out >= 0 && fstat(in, &st) == 0 && copy_data(in, out, st.st_size) == 0) {
		if (fchown(out, st.st_uid, st.st_gid) == 0 || geteuid() != 0)
			result = fchmod(out, st.st_mode & 07777);
		if (futimens(out, (struct timespec[]){ st.st_atim, st.st_mtim }) < 0)
			result = -1;
	}
	if (out >= 0 && close(out) < 0)
		result = -1;
	return result;
}

/* Its own name may be gone, with all of its folder: then what it held is written anew. */
static int put_back(const struct moved *m)
{
	struct stat st;

	if (rename(m->aside, m->path) == 0)
		return 0;
	if (errno != ENOENT)
		return -1;
	if (m->fd < 0 || fstat(m->fd, &st) < 0)
		return 0; /* it was never moved */
	return st.st_nlink > 0 && access(m->path, F_OK) == 0 ? 0 : copy_to(m->fd, m->path);
}

static void guardian_end(const moved_files *files, int socket)
{
	char failed[MESSAGE_BYTES] = "";

	for (size_t i = files->n; i--;)
		if (put_back(&files->at[i]) < 0)
			snprintf(failed, sizeof failed, "cannot put %s back: %s; it is called %s now", files->at[i].path, strerror(errno),
				 files->at[i].aside);
	send(socket, failed, strlen(failed) + 1, MSG_NOSIGNAL);
}

enum { MESSAGE_MOVE = 'm', MESSAGE_FORGET = 'f', MESSAGE_END = 'e' };

static void guardian_note(moved_files *files, const char *message)
{
	const char *path = message + 1;
	struct moved *m;

	if (message[0] == MESSAGE_FORGET) {
		for (size_t i = 0; i < files->n; i++)
			if (strcmp(files->at[i].path, path) == 0) {
				unlink(files->at[i].aside);
				files->at[i] = files->at[--files->n];
			}
		return;
	}
	m = vec_add(files);
	*m = (struct moved){ .path = xstrdup(path), .aside = xstrdup(path + strlen(path) + 1) };
	m->fd = open(m->aside, O_RDONLY | O_CLOEXEC | O_NOFOLLOW); /* a copy; else it is not moved yet */
	if (m->fd < 0)
		m->fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

/* A message is a letter and strings: the names of a file that is to be moved; that of one to forget; none: the end. Each has an answer. */
static void guardian_serve(int socket)
{
	moved_files files = { 0 };
	char message[MESSAGE_BYTES + 1];
	ssize_t n;

	while ((n = recv(socket, message, MESSAGE_BYTES, 0)) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		if (message[0] == MESSAGE_END)
			break;
		message[n] = 0;
		guardian_note(&files, message);
		send(socket, "", 1, MSG_NOSIGNAL);
	}
	guardian_end(&files, socket);
	_exit(0);
}

_Noreturn static void guardian_main(int socket)
{
	int null;

	setsid();
	prctl(PR_SET_NAME, "pmend-fresh");
	for (int i = 1; i < 32; i++) /* those for the terminal's group are not for us */
		if (i != SIGCHLD)
			signal(i, SIG_IGN);
	if (socket != SOCKET_FD)
		dup2(socket, SOCKET_FD);
	syscall(SYS_close_range, SOCKET_FD + 1u, ~0u, 0u);
	null = open("/dev/null", O_RDWR);
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	if (null > SOCKET_FD)
		close(null);
	if (chdir("/") == 0)
		guardian_serve(SOCKET_FD);
	_exit(1);
}

/* Not a child of ours: whoever waits for all children of a recording must not wait for it. */
static int guardian_start(struct error *err)
{
	int ends[2], status;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_set(err, "socketpair: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		pid = fork();
		if (pid == 0)
			guardian_main(ends[1]);
		_exit(pid < 0);
	}
	close(ends[1]);
	if (pid > 0 && waitpid(pid, &status, 0) == pid && status == 0)
		return ends[0];
	close(ends[0]);
	return error_set(err, "cannot start a process that puts files back: %s", strerror(errno));
}

struct fresh *fresh_begin(struct error *err)
{
	struct fresh *f = xcalloc(1, sizeof *f);

	f->stops = true;
	f->socket = guardian_start(err);
	if (f->socket >= 0)
		return f;
	free(f);
	return NULL;
}

/* ---- which file ---- */

bool fresh_stops(const struct fresh *f)
{
	return f->stops;
}

bool fresh_touchable(const struct fresh *f, size_t i, const char **path)
{
	*path = i < f->touched.n ? f->touched.at[i] : NULL;
	return *path != NULL;
}

struct made {
	char *path;
	uint64_t dev, ino;
};

/* Where a recording ended, and which PM files it had made by then. */
struct stop {
	char *mapped, *touched; /* a file that was mapped; one that is to be changed. Both NULL: it did not end early */
	VEC(struct made) made;
};

static void stop_release(struct stop *s)
{
	for (size_t i = 0; i < s->made.n; i++)
		free(s->made.at[i].path);
	vec_release(&s->made);
	free(s->mapped);
	free(s->touched);
}

static int stop_read(struct stop *s, const char *trace, struct error *err)
{
	struct trace_event ev;
	struct trace *t;

	*s = (struct stop){ 0 };
	if (trace_open(&t, trace, err) < 0)
		return -1;
	while (trace_next(t, &ev)) {
		char *path;

		if (ev.kind != PMT_FILE || ev.arg[2] & (PMT_FILE_MEMORY | PMT_FILE_DEVICE))
			continue;
		path = xasprintf("%.*s", (int)ev.data_len, (const char *)ev.data);
		if (ev.arg[2] & PMT_FILE_CREATED)
			*vec_add(&s->made) = (struct made){ path, ev.arg[3], ev.arg[4] };
		else if (!s->mapped)
			s->mapped = path;
		else
			free(path);
	}
	if (trace_meta(t, "touched"))
		s->touched = xstrdup(trace_meta(t, "touched"));
	trace_close(t);
	return 0;
}

/* The program that was ended did not find them, and the next is not to find them either. */
static void remove_made(const struct stop *s)
{
	struct stat st;

	for (size_t i = 0; i < s->made.n; i++)
		if (lstat(s->made.at[i].path, &st) == 0 && st.st_dev == s->made.at[i].dev && st.st_ino == s->made.at[i].ino)
			unlink(s->made.at[i].path);
}

static char *name_aside(const char *path)
{
	const char *slash = strrchr(path, '/');

	return xasprintf("%.*s.%s.pmend-fresh-%d", (int)(slash + 1 - path), path, slash + 1, (int)getpid());
}

static int guardian_tell(struct fresh *f, int what, const struct moved *m, struct error *err)
{
	char message[MESSAGE_BYTES], answer;
	int n = snprintf(message, sizeof message, "%c%s%c%s", what, m->path, 0, m->aside);

	if (n >= (int)sizeof message)
		return error_set(err, "--fresh: the name of %s is too long", m->path);
	if (send(f->socket, message, (size_t)n + 1, MSG_NOSIGNAL) < 0 || recv(f->socket, &answer, 1, 0) != 1)
		return error_set(err, "--fresh: the process that puts files back is gone");
	return 0;
}

static struct moved *find_moved(struct fresh *f, const char *path)
{
	for (size_t i = 0; i < f->files.n; i++)
		if (strcmp(f->files.at[i].path, path) == 0)
			return &f->files.at[i];
	return NULL;
}

/* The program removes all that is in the folder: the guardian still has it open. */
static bool is_aside(const struct fresh *f, const char *path)
{
	for (size_t i = 0; i < f->files.n; i++)
		if (strcmp(f->files.at[i].aside, path) == 0)
			return true;
	return false;
}

static void moved_release(struct moved *m)
{
	free(m->path);
	free(m->aside);
}

static int copy_aside(const struct moved *m)
{
	int in = open(m->path, O_RDONLY | O_CLOEXEC), result = in < 0 ? -1 : copy_to(in, m->aside);

	if (in >= 0)
		close(in);
	return result;
}

/* The guardian knows first: whatever happens in between, there is nothing to put back, or it is put back. A copy is there before it knows. */
static int move_aside(struct fresh *f, const char *path, bool is_copy, struct error *err)
{
	struct moved m = { .path = xstrdup(path), .aside = name_aside(path), .is_copy = is_copy, .fd = -1 };
	int result = -1;

	if (access(m.aside, F_OK) == 0) {
		error_set(err, "--fresh: cannot move %s out of the way: its other name, %s, is taken", m.path, m.aside);
	} else if (is_copy && copy_aside(&m) < 0) {
		error_set(err, "--fresh: cannot copy %s, which the program is about to change: %s", m.path, strerror(errno));
		unlink(m.aside);
	} else if (guardian_tell(f, MESSAGE_MOVE, &m, err) == 0) {
		result = is_copy ? 0 : rename(m.path, m.aside);
		if (result < 0)
			error_set(err, "--fresh: cannot move %s out of the way: %s", m.path, strerror(errno));
	}
	if (result < 0)
		moved_release(&m);
	else
		*vec_add(&f->files) = m;
	return result;
}

/* It is PM: the run begins without it. What the program made of one that was copied goes. One that is there again after it was moved is made by
 * another program of the run, whose files the recorder does not know: then it is as it should be. */
static int clear_mapped(struct fresh *f, const char *path, struct error *err)
{
	struct moved *m = find_moved(f, path);

	if (!m)
		return move_aside(f, path, false, err);
	if (!m->is_copy)
		f->stops = false;
	m->is_copy = false;
	return unlink(path) == 0 ? 0 : error_set(err, "--fresh: cannot remove %s: %s", path, strerror(errno));
}

/* It may be PM, or not: it stays, and a copy of it is kept until that is known. */
static int save_touched(struct fresh *f, const char *touched, struct error *err)
{
	char *path = realpath(touched, NULL);
	int result = 0;

	if (path && !find_moved(f, path) && !is_aside(f, path))
		result = move_aside(f, path, true, err);
	*vec_add(&f->touched) = xstrdup(touched);
	free(path);
	return result;
}

int fresh_clear(struct fresh *f, const char *trace, struct error *err)
{
	struct stop s;
	int result = 0;

	if (!f->stops)
		return 0;
	if (stop_read(&s, trace, err) < 0)
		return -1;
	if (s.mapped || s.touched) {
		remove_made(&s);
		if (++f->nruns > RUNS_MAX)
			result = error_set(err, "--fresh: the program uses %s and more files than that; name the pool with --pm", s.mapped ? s.mapped : s.touched);
		else
			result = s.mapped ? clear_mapped(f, s.mapped, err) : save_touched(f, s.touched, err);
		if (result == 0)
			result = 1;
	}
	stop_release(&s);
	return result;
}

const char *fresh_first(const struct fresh *f)
{
	for (size_t i = 0; i < f->files.n; i++)
		if (!f->files.at[i].is_copy)
			return f->files.at[i].path;
	return NULL;
}

/* ---- the end ---- */

int fresh_end(struct fresh *f, struct error *err)
{
	char answer[MESSAGE_BYTES];
	int result = 0;
	ssize_t n;

	if (!f)
		return 0;
	for (size_t i = 0; i < f->files.n; i++)
		if (f->files.at[i].is_copy)
			guardian_tell(f, MESSAGE_FORGET, &f->files.at[i], err); /* it was not PM: what the program did to it stays */
	send(f->socket, (char[]){ MESSAGE_END }, 1, MSG_NOSIGNAL);
	n = recv(f->socket, answer, sizeof answer, 0);
	if (n <= 0 && f->files.n > 0)
		result = error_set(err, "the process that puts files back is gone; %s is called %s now", f->files.at[0].path, f->files.at[0].aside);
	else if (n > 0 && answer[0])
		result = error_set(err, "%.*s", (int)n, answer);
	close(f->socket);
	for (size_t i = 0; i < f->files.n; i++)
		moved_release(&f->files.at[i]);
	for (size_t i = 0; i < f->touched.n; i++)
		free(f->touched.at[i]);
	vec_release(&f->touched);
	vec_release(&f->files);
	free(f);
	return result;
}
