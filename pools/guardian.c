/* Restores files when another process ends, however it ends. The guardian waits at a socket in a
 * session of its own. It learns of each file before anything happens to it and keeps it open, so
 * the content survives even if the file's whole folder is removed. */
#include "pools/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pools/entries.h"
#include "util/alloc.h"
#include "util/vec.h"

#define MESSAGE_BYTES 16384u
#define SOCKET_FD 3
enum { GUARDIAN_END = 'e' };

struct kept {
	char *path, *aside;
	enum guardian_message what;
	int fd;
	struct stat before;
};
typedef VEC(struct kept) kept_files;

/* Copies the data of a file, and keeps its holes. */
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

/* Copies content, mode, owner and times of an open file into another. */
static int copy_all(int in, int out)
{
	struct stat st;
	int result = -1;

	if (fstat(in, &st) < 0 || ftruncate(out, 0) < 0 || copy_data(in, out, st.st_size) < 0)
		return -1;
	if (fchown(out, st.st_uid, st.st_gid) == 0 || geteuid() != 0)
		result = fchmod(out, st.st_mode & 07777);
	if (futimens(out, (struct timespec[]){ st.st_atim, st.st_mtim }) < 0)
		result = -1;
	return result;
}

/* Copies content, mode, owner and times of an open file to a path. */
int guardian_copy(int in, const char *path)
{
	int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600),
	    result = out < 0 ? -1 : copy_all(in, out);

	if (out >= 0 && close(out) < 0)
		result = -1;
	return result;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

int guardian_rewind(const char *copy, const char *path, const struct stat *before)
{
	struct stat now;
	const bool is_there = lstat(path, &now) == 0;
	int in, out = -1, result = -1;

	if (is_there && is_same(&now, before) && now.st_mode == before->st_mode &&
	    now.st_uid == before->st_uid && now.st_gid == before->st_gid)
		return 0;
	in = open(copy, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (in < 0)
		return -1;
	if (is_there && now.st_dev == before->st_dev && now.st_ino == before->st_ino) {
		/* its mode may forbid writing */
		if (chmod(path, (now.st_mode & 07777) | S_IWUSR) == 0)
			out = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
		if (out >= 0)
			result = copy_all(in, out);
		if (out >= 0 && close(out) < 0)
			result = -1;
		/* the program removed or replaced the file */
	} else if (unlink(path) == 0 || errno == ENOENT) {
		result = guardian_copy(in, path) < 0 ? -1 : 1;
	}
	close(in);
	return result;
}

/* Moves a file back. If its other name is gone, with the folder, the content is written anew from
 * the open descriptor. */
static int put_back(const struct kept *k)
{
	struct stat st;

	if (rename(k->aside, k->path) == 0)
		return 0;
	if (errno != ENOENT)
		return -1;
	if (k->fd < 0 || fstat(k->fd, &st) < 0)
		return 0; /* it was never moved */
	return st.st_nlink > 0 && access(k->path, F_OK) == 0 ? 0 : guardian_copy(k->fd, k->path);
}

/* Drops the copy of a file of which it is not known whether it must be restored. If pmend ended
 * normally, it need not be: the program changed it, as programs do. Otherwise the copy is kept if
 * the file has changed. */
static void drop_copy(const struct kept *k, bool is_in_order)
{
	struct stat now;

	if (is_in_order || (stat(k->path, &now) == 0 && is_same(&now, &k->before)))
		unlink(k->aside);
}

/* Makes the folder again if the program removed it, or left something else under its name: a link
 * may lead to a folder of the user's, which must stay as it is. */
static int renew_folder(const struct kept *k)
{
	struct stat now;

	if (lstat(k->path, &now) == 0 && !S_ISDIR(now.st_mode) && unlink(k->path) < 0)
		return -1;
	return mkdir(k->path, 0700) < 0 && errno != EEXIST ? -1 : 0;
}

/* Moves the content of a folder back. */
static int put_back_entries(const struct kept *k)
{
	struct error ignored;

	/* its mode may forbid it */
	if (k->what == GUARDIAN_EMPTIED && (renew_folder(k) < 0 || chmod(k->path, 0700) < 0 ||
					    entries_erase(k->path, &ignored) < 0))
		return -1;
	if (entries_move(k->aside, k->path, &ignored) < 0 || rmdir(k->aside) < 0)
		return -1;
	if (k->what == GUARDIAN_EMPTIED && k->fd >= 0 &&
	    (chown(k->path, k->before.st_uid, k->before.st_gid) == 0 || geteuid() != 0))
		chmod(k->path, k->before.st_mode & 07777);
	return 0;
}

/* Restores a file or folder. -1: it is still what `aside` names. */
static int restore(const struct kept *k, bool is_in_order)
{
	switch (k->what) {
	case GUARDIAN_MOVE: return put_back(k);
	case GUARDIAN_COPY: drop_copy(k, is_in_order); return 0;
	case GUARDIAN_FOLDER:
	case GUARDIAN_EMPTIED: return put_back_entries(k);
	}
	return 0;
}

static void serve_end(const kept_files *files, int socket, bool is_in_order)
{
	char failed[MESSAGE_BYTES] = "";

	for (size_t i = files->n; i--;) {
		const struct kept *k = &files->at[i];

		if (restore(k, is_in_order) < 0)
			snprintf(failed, sizeof failed,
				 "cannot restore %s: %s; it is now called %s", k->path,
				 strerror(errno), k->aside);
	}
	send(socket, failed, strlen(failed) + 1, MSG_NOSIGNAL);
}

static void note_kept(kept_files *files, char what, const char *path, const char *aside)
{
	struct kept *k;

	for (size_t i = 0; i < files->n; i++)
		if (strcmp(files->at[i].path, path) == 0) { /* what was begun is now complete */
			k = &files->at[i];
			k->what = (enum guardian_message)what;
			close(k->fd);
			k->fd = open(aside, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
			return;
		}
	k = vec_add(files);
	*k = (struct kept){ .path = xstrdup(path),
			    .aside = xstrdup(aside),
			    .what = (enum guardian_message)what };
	k->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (k->fd >= 0)
		fstat(k->fd, &k->before);
}

/* Serves messages: a letter and, except for the last one, two strings. Each is answered. */
static void serve_messages(int socket)
{
	kept_files files = { 0 };
	char message[MESSAGE_BYTES + 2];
	bool is_in_order = false;
	ssize_t n;

	while (!is_in_order &&
	       ((n = recv(socket, message, MESSAGE_BYTES, 0)) > 0 || (n < 0 && errno == EINTR))) {
		if (n < 0)
			continue;
		is_in_order = message[0] == GUARDIAN_END;
		if (is_in_order)
			break;
		message[n] = message[n + 1] = 0;
		note_kept(&files, message[0], message + 1, message + 1 + strlen(message + 1) + 1);
		send(socket, "", 1, MSG_NOSIGNAL);
	}
	serve_end(&files, socket, is_in_order);
	_exit(0);
}

_Noreturn static void guardian_main(int socket)
{
	int null;

	setsid();
	prctl(PR_SET_NAME, "pmend-fresh");
	for (int i = 1; i < 32; i++) /* signals to the terminal's process group must not end it */
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
		serve_messages(SOCKET_FD);
	_exit(1);
}

/* Starts the guardian as a grandchild, because code that waits for all children of a recording must
 * not wait for it. */
int guardian_start(struct error *err)
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
	return error_set(err, "cannot start the process that restores files: %s", strerror(errno));
}

/* ---- called by pmend ---- */

int guardian_tell(int guardian, enum guardian_message what, const char *path, const char *aside,
		  struct error *err)
{
	char message[MESSAGE_BYTES], answer;
	int n = snprintf(message, sizeof message, "%c%s%c%s", what, path, 0, aside);

	if (n >= (int)sizeof message)
		return error_set(err, "the name of %s is too long", path);
	if (send(guardian, message, (size_t)n + 1, MSG_NOSIGNAL) < 0 ||
	    recv(guardian, &answer, 1, 0) != 1)
		return error_set(err, "the process that restores files is gone");
	return 0;
}

int guardian_end(int guardian, bool is_in_order, struct error *err)
{
	char answer[MESSAGE_BYTES];
	ssize_t n;

	if (is_in_order)
		send(guardian, (char[]){ GUARDIAN_END }, 1, MSG_NOSIGNAL);
	else
		shutdown(guardian, SHUT_WR); /* as if pmend was killed */
	n = recv(guardian, answer, sizeof answer, 0);
	close(guardian);
	if (n <= 0)
		return error_set(err, "the process that restores files is gone");
	return answer[0] ? error_set(err, "%.*s", (int)n, answer) : 0;
}
