/* Reserves a name on this machine by binding an abstract socket to it: the kernel frees it when the
 * process ends, and no file is left behind. Other machines are not seen, even if they share a file
 * system. If sockets cannot be created, nothing is reserved. */
#include "explore/session/reservations.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/hash.h"

int reservations_add(struct reservations *h, const char *what, struct error *err)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int n = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "pmend-explore-%016" PRIx64,
			 hash_text(what));

	if (fd < 0)
		return 0;
	if (bind(fd, (struct sockaddr *)&name,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) == 0) {
		*vec_add(&h->fds) = fd;
		return 0;
	}
	close(fd);
	if (errno != EADDRINUSE)
		return 0;
	return error_set(
		err,
		"another exploration on this machine uses %s; give each exploration its own; for a pool, write {pool} in the command line",
		what);
}

void reservations_release(struct reservations *h)
{
	for (size_t i = 0; i < h->fds.n; i++)
		close(h->fds.at[i]);
	vec_release(&h->fds);
}
