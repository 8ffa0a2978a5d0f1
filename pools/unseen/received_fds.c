/* Receives descriptors of PM files through a socket that the recorder inherits. A file whose
 * descriptor did not come is opened by name when it is needed. */
#include "pools/unseen/received_fds.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/vec.h"

#define MAX_KEPT 512 /* most users may have 1024 descriptors */

struct kept {
	int ours, theirs;
	VEC(int) fds; /* by file number; -1 if none came */
	unsigned n;
};

struct kept *kept_new(int from_fd)
{
	struct kept *k;
	int pair[2], theirs;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return NULL;
	theirs = fcntl(pair[1], F_DUPFD, from_fd); /* without close-on-exec, so it is inherited */
	close(pair[1]);
	if (theirs < 0) {
		close(pair[0]);
		return NULL;
	}
	k = xcalloc(1, sizeof *k);
	k->ours = pair[0];
	k->theirs = theirs;
	return k;
}

int kept_socket(const struct kept *k, uint64_t *inode)
{
	struct stat st;

	*inode = fstat(k->theirs, &st) < 0 ? 0 : (uint64_t)st.st_ino;
	return k->theirs;
}

static void keep_descriptor(struct kept *k, uint32_t file, int fd)
{
	if (file >= 1u << 20 || k->n == MAX_KEPT) {
		close(fd);
		return;
	}
	while (k->fds.n <= file)
		*vec_add(&k->fds) = -1;
	if (k->fds.at[file] >= 0)
		close(k->fds.at[file]);
	else
		k->n++;
	k->fds.at[file] = fd;
}

void kept_receive(struct kept *k)
{
	for (;;) {
		uint32_t file = 0;
		union {
			struct cmsghdr header;
			char bytes[CMSG_SPACE(sizeof(int))];
		} control;
		struct iovec iov = { &file, sizeof file };
		struct msghdr m = { .msg_iov = &iov,
				    .msg_iovlen = 1,
				    .msg_control = &control,
				    .msg_controllen = sizeof control };
		ssize_t n = recvmsg(k->ours, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		const struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&m);
		int fd;

		if (n <= 0)
			return;
		if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
		    c->cmsg_len != CMSG_LEN(sizeof fd))
			continue;
		memcpy(&fd, CMSG_DATA(c), sizeof fd);
		keep_descriptor(k, file, fd);
	}
}

uint32_t kept_n(const struct kept *k)
{
	return (uint32_t)k->fds.n;
}

int kept_fd(struct kept *k, uint32_t file)
{
	return file < k->fds.n ? k->fds.at[file] : -1;
}

void kept_free(struct kept *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->fds.n; i++)
		if (k->fds.at[i] >= 0)
			close(k->fds.at[i]);
	vec_release(&k->fds);
	close(k->ours);
	close(k->theirs);
	free(k);
}
