/* Detects by inotify whether a program without the runtime opens an image. The runtime itself knows
 * more: it also sees accesses to files that do not exist. */
#include <errno.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "crash/run/runner_internal.h"

#define EVENTS (IN_OPEN | IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO)

int opens_watch(const struct image_files *images)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	for (size_t i = 0; fd >= 0 && i < images->folders.n; i++)
		if (inotify_add_watch(fd, images->folders.at[i].image, EVENTS) < 0) {
			close(fd);
			fd = -1;
		}
	return fd;
}

bool opens_end(int fd)
{
	_Alignas(struct inotify_event) char room[4096];
	bool has_opened = false;
	ssize_t n;

	while ((n = read(fd, room, sizeof room)) > 0 || (n < 0 && errno == EINTR))
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *ev = (const struct inotify_event *)(room + at);

			has_opened |= !(ev->mask & IN_ISDIR);
			at += (ssize_t)(sizeof *ev + ev->len);
		}
	close(fd);
	return has_opened;
}
