/* Unpacks a bundle into an empty folder. Folders on a path are created or opened without following
 * links, and links are created last, so nothing is ever written through a link. The bundle is
 * refused unless each file has the length and hash of the index. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zstd.h>

#include "bundle/bundle.h"

struct input {
	const struct bundle *bundle;
	uint64_t at;
	ZSTD_DCtx *zstd;
	char *in, *out;
	size_t in_bytes, out_bytes;
};

/* ---- folders ---- */

/* Opens the folder of a path below root, creating missing parts. Sets *name to the last part. -1
 * with errno. */
static int folder_open(int root, const char *path, const char **name)
{
	int fd = fcntl(root, F_DUPFD_CLOEXEC, 0);

	for (const char *slash; fd >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		char *part = strndup(path, (size_t)(slash - path));
		int next = -1;

		if (part && (mkdirat(fd, part, 0700) == 0 || errno == EEXIST))
			next = openat(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		free(part);
		close(fd);
		fd = next;
	}
	*name = path;
	return fd;
}

/* ---- contents ---- */

/* Decompresses one frame into fd. 1: the bytes are not those that the index promises. -1 with
 * errno. */
static int frame_read(struct input *in, const struct bundle_entry *e, int fd)
{
	uint64_t left_in = e->stored_bytes, left_out = e->len_bytes, at = in->at;
	size_t more = 1;

	ZSTD_DCtx_reset(in->zstd, ZSTD_reset_session_only);
	while (left_in > 0) {
		const size_t want = left_in < in->in_bytes ? (size_t)left_in : in->in_bytes;
		const ssize_t got = pread(in->bundle->fd, in->in, want, (off_t)at);
		ZSTD_inBuffer from = { in->in, got > 0 ? (size_t)got : 0, 0 };
		bool is_full = true;

		if (got < 0)
			return -1;
		if (got == 0)
			return 1;
		at += (uint64_t)got;
		left_in -= (uint64_t)got;
		while (from.pos < from.size || is_full) {
			ZSTD_outBuffer to = { in->out, in->out_bytes, 0 };

			if (more == 0 && from.pos < from.size)
				return 1; /* bytes after the end of the frame */
			more = more == 0 ? 0 : ZSTD_decompressStream(in->zstd, &to, &from);
			if (ZSTD_isError(more) || to.pos > left_out)
				return 1;
			left_out -= to.pos;
			is_full = to.pos == to.size;
			for (size_t done = 0; done < to.pos;) {
				const ssize_t n = write(fd, in->out + done, to.pos - done);

				if (n < 0 && errno != EINTR)
					return -1;
				done += n > 0 ? (size_t)n : 0;
			}
		}
	}
	return more == 0 && left_out == 0 ? 0 : 1;
}

static bool has_hash(int fd, const struct bundle_entry *e)
{
	void *bytes = e->len_bytes ? mmap(NULL, e->len_bytes, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
	uint8_t hash[SHA256_BYTES];

	if (bytes == MAP_FAILED)
		return false;
	sha256(bytes ? bytes : "", e->len_bytes, hash);
	if (bytes)
		munmap(bytes, e->len_bytes);
	return memcmp(hash, e->hash, sizeof hash) == 0;
}

static int file_unpack(struct input *in, const struct bundle_entry *e, int root, struct error *err)
{
	const struct timespec times[2] = { { .tv_sec = e->mtime_s }, { .tv_sec = e->mtime_s } };
	const char *name;
	int folder = folder_open(root, e->path, &name), fd = -1, result = -1, read = -1;

	if (folder >= 0)
		fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		read = frame_read(in, e, fd);
	if (read < 0)
		error_set(err,
			  "cannot unpack %s of %s: %s; set TMPDIR to a folder with more free space",
			  e->path, in->bundle->file, strerror(errno));
	else if (read > 0 || !has_hash(fd, e))
		error_set(err,
			  "%s is damaged: %s in it has changed. Copy it again, or pack it again",
			  in->bundle->file, e->path);
	else if (fchmod(fd, (e->mode & 0777) | 0600) < 0)
		error_set(err, "cannot unpack %s of %s: %s", e->path, in->bundle->file,
			  strerror(errno));
	else
		result = 0;
	if (result == 0)
		/* if it fails, the file has today's time, which does no harm */
		futimens(fd, times);
	in->at += e->stored_bytes;
	if (fd >= 0)
		close(fd);
	if (folder >= 0)
		close(folder);
	return result;
}

/* ---- links ---- */

/* Rewrites the target of a link as a path relative to the link's folder, so that the whole unpacked
 * folder can be moved. free() it. */
static char *relative_target(const char *path, const char *target)
{
	char *text = xstrdup(target), *longer;

	for (; (path = strchr(path, '/')); path++) {
		longer = xasprintf("../%s", text);
		free(text);
		text = longer;
	}
	return text;
}

static int link_make(int root, const char *path, const char *target, const struct bundle *b,
		     struct error *err)
{
	const char *name;
	char *text = relative_target(path, target);
	int folder = folder_open(root, path, &name),
	    result = folder < 0 ? -1 : symlinkat(text, folder, name);

	if (result < 0)
		error_set(err, "cannot unpack %s of %s: %s", path, b->file, strerror(errno));
	if (folder >= 0)
		close(folder);
	free(text);
	return result;
}

static int libraries_link(const struct bundle *b, int folder, struct error *err)
{
	for (size_t i = 0; i < b->libraries.n; i++) {
		char *path = xasprintf("lib/%s", b->libraries.at[i].name),
		     *target = xasprintf("root/%s", b->libraries.at[i].path);
		const int made = link_make(folder, path, target, b, err);

		free(path);
		free(target);
		if (made < 0)
			return -1;
	}
	return 0;
}

/* ---- the whole bundle ---- */

static int room_check(const struct bundle *b, const char *folder, struct error *err)
{
	struct statvfs fs;
	uint64_t need = 0;

	for (size_t i = 0; i < b->entries.n; i++)
		need += b->entries.at[i].len_bytes + 4096;
	if (statvfs(folder, &fs) < 0 || (uint64_t)fs.f_bavail * fs.f_frsize >= need)
		return 0;
	return error_set(
		err,
		"%s needs %llu MiB when it is unpacked, and %s has %llu; set TMPDIR to a folder with more free space",
		b->file, (unsigned long long)(need >> 20), folder,
		(unsigned long long)((uint64_t)fs.f_bavail * fs.f_frsize >> 20));
}

static int folder_make(int root, const char *path, const struct bundle *b, struct error *err)
{
	char *inside = xasprintf("%s/.", path);
	const char *name;
	int fd = folder_open(root, inside, &name);

	if (fd < 0)
		error_set(err, "cannot unpack %s of %s: %s", path, b->file, strerror(errno));
	else
		close(fd);
	free(inside);
	return fd < 0 ? -1 : 0;
}

static int entries_unpack(struct input *in, int root, struct error *err)
{
	const struct bundle *b = in->bundle;

	for (size_t i = 0; i < b->entries.n; i++) {
		const struct bundle_entry *e = &b->entries.at[i];

		if (e->kind == BUNDLE_FOLDER && folder_make(root, e->path, b, err) < 0)
			return -1;
		if (e->kind == BUNDLE_FILE && file_unpack(in, e, root, err) < 0)
			return -1;
	}
	if (*b->cwd && !bundle_find(b, b->cwd) && folder_make(root, b->cwd, b, err) < 0)
		return -1;
	for (size_t i = 0; i < b->entries.n; i++)
		if (b->entries.at[i].kind == BUNDLE_LINK &&
		    link_make(root, b->entries.at[i].path, b->entries.at[i].target, b, err) < 0)
			return -1;
	return 0;
}

int bundle_unpack(const struct bundle *b, const char *folder, struct error *err)
{
	struct input in = { .bundle = b,
			    .at = BUNDLE_HEADER_BYTES,
			    .zstd = ZSTD_createDCtx(),
			    .in_bytes = ZSTD_DStreamInSize(),
			    .out_bytes = ZSTD_DStreamOutSize() };
	int top = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), root = -1, result = -1;

	if (!in.zstd)
		alloc_die();
	in.in = xmalloc(in.in_bytes);
	in.out = xmalloc(in.out_bytes);
	if (top < 0 || mkdirat(top, "root", 0700) < 0 || mkdirat(top, "lib", 0700) < 0 ||
	    (root = openat(top, "root", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		error_set(err, "cannot unpack into %s: %s", folder, strerror(errno));
	else if (room_check(b, folder, err) == 0 && entries_unpack(&in, root, err) == 0)
		result = libraries_link(b, top, err);
	if (root >= 0)
		close(root);
	if (top >= 0)
		close(top);
	ZSTD_freeDCtx(in.zstd);
	free(in.in);
	free(in.out);
	return result;
}
