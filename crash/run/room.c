/* Chooses the folder for images: one in memory with enough space. This is TMPDIR if it is in
 * memory, else /dev/shm, else TMPDIR anyway. */
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "crash/run/runner_internal.h"

#define ROOM_BYTES (64u << 20) /* less is not worth using */
#define SPARE_BYTES (1u << 20) /* runs differ a little */

uint64_t room_bytes(const char *folder)
{
	struct statvfs v;

	return access(folder, W_OK | X_OK) == 0 && statvfs(folder, &v) == 0
		       ? (uint64_t)v.f_bavail * v.f_frsize
		       : 0;
}

static bool is_memory(const char *folder)
{
	struct statfs s;

	return statfs(folder, &s) == 0 && s.f_type == TMPFS_MAGIC;
}

const char *room_choose(uint64_t need_bytes)
{
	const char *tmp = getenv("TMPDIR"), *list[2] = { "/dev/shm", NULL }, *most;
	const uint64_t need = need_bytes > ROOM_BYTES ? need_bytes : ROOM_BYTES;

	if (!tmp || !*tmp)
		tmp = "/tmp";
	list[1] = tmp;
	if (is_memory(tmp)) {
		list[0] = tmp;
		list[1] = "/dev/shm";
	}
	for (int i = 0; i < 2; i++)
		if (room_bytes(list[i]) >= need)
			return list[i];
	most = room_bytes(list[0]) > room_bytes(list[1]) ? list[0] : list[1];
	return room_bytes(most) >= ROOM_BYTES ? most : tmp;
}

static uint64_t file_bytes(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

uint64_t runner_room_bytes(const struct runner *r)
{
	uint64_t all = file_bytes(r->region.fd);

	for (size_t i = 0; i < r->images.files.n; i++)
		all += file_bytes(r->images.files.at[i].fd);
	return all + all / 4 + SPARE_BYTES;
}

const char *runner_room(uint64_t need_bytes, uint64_t *has_bytes)
{
	const char *folder = room_choose(need_bytes);

	*has_bytes = room_bytes(folder);
	return folder;
}
