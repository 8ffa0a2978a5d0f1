/* No file makes the reader of bundles crash, hang, or write outside of the folder into which it unpacks. An input is the index of a bundle, as text, and after its first NUL the contents of
 * files: hashes, lengths and frames are made to fit by the harness, where the input does not say otherwise, so that unpacking is reached. The first byte says whether they are, and
 * whether bytes of the bundle are changed afterwards. */
#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "bundle/bundle.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/sample.h"
#include "util/tempdir.h"

enum { MENDS = 1, CHANGES = 2 };

#define PART_BYTES 16 /* of the contents, for each file */
#define MARK "outside"

struct made {
	uint8_t *bytes;
	size_t n;
};

static void add(struct made *m, const void *bytes, size_t n)
{
	m->bytes = realloc(m->bytes, m->n + n + 1);
	memcpy(m->bytes + m->n, bytes, n);
	m->n += n;
}

static void add_frame(struct made *m, const void *bytes, size_t n)
{
	const size_t room = ZSTD_compressBound(n);
	char *frame = malloc(room);
	const size_t stored = ZSTD_compress(frame, room, bytes, n, 1);

	add(m, frame, stored);
	free(frame);
}

/* Lengths and hash of one entry become those of its contents. */
static void mend_entry(json_t *e, struct made *contents, const uint8_t *part, size_t n)
{
	const size_t before = contents->n;
	uint8_t hash[SHA256_BYTES];
	char text[2 * SHA256_BYTES + 1];

	if (!json_is_object(e) || !json_is_string(json_object_get(e, "sha256")))
		return;
	add_frame(contents, part, n);
	sha256(part, n, hash);
	for (size_t i = 0; i < sizeof hash; i++)
		sprintf(text + 2 * i, "%02x", hash[i]);
	json_object_set_new(e, "sha256", json_string(text));
	json_object_set_new(e, "bytes", json_integer((json_int_t)n));
	json_object_set_new(e, "stored", json_integer((json_int_t)(contents->n - before)));
}

/* The index with all that fits; NULL: it is no JSON. */
static char *mend(const char *text, size_t len, const uint8_t *data, size_t n, struct made *contents)
{
	json_t *top = json_loadb(text, len, 0, NULL), *e;
	size_t i, at = 0;
	char *mended;

	json_array_foreach (json_object_get(top, "entries"), i, e) {
		const size_t part = n - at < PART_BYTES ? n - at : PART_BYTES;

		mend_entry(e, contents, data + at, part);
		at += part;
	}
	mended = top ? json_dumps(top, JSON_COMPACT) : NULL;
	json_decref(top);
	return mended;
}

static void put(uint8_t *to, uint64_t n, size_t bytes)
{
	n = htole64(n);
	memcpy(to, &n, bytes);
}

static struct made make(const uint8_t *data, size_t size, unsigned how)
{
	const uint8_t *end = memchr(data, 0, size), *rest = end ? end + 1 : data + size;
	const size_t len = end ? (size_t)(end - data) : size, nrest = (size_t)(data + size - rest);
	uint8_t header[BUNDLE_HEADER_BYTES] = { 0 };
	struct made m = { 0 };
	char *mended;
	size_t at;

	add(&m, header, sizeof header);
	mended = how & MENDS ? mend((const char *)data, len, rest, nrest, &m) : NULL;
	if (!mended)
		add(&m, rest, nrest);
	at = m.n;
	add_frame(&m, mended ? mended : (const char *)data, mended ? strlen(mended) : len);
	memcpy(header, BUNDLE_MAGIC, 8);
	put(header + 8, BUNDLE_VERSION, 4);
	put(header + 16, at, 8);
	put(header + 24, m.n - at, 8);
	put(header + 32, mended ? strlen(mended) : len, 8);
	sha256(m.bytes + at, m.n - at, header + 40);
	memcpy(m.bytes, header, sizeof header);
	free(mended);
	if (how & CHANGES && nrest > 0)
		m.bytes[(rest[0] * 251u + size) % m.n] ^= (uint8_t)(1 + nrest % 255);
	return m;
}

/* Only one folder lies there, and the mark beside it is as it was. */
static void expect_inside(const char *folder)
{
	char path[4200], text[16] = "";
	DIR *d = opendir(folder);
	struct dirent *e;
	int fd, n = 0;

	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	FUZZ_EXPECT(n == 2);
	snprintf(path, sizeof path, "%s/mark", folder);
	fd = open(path, O_RDONLY | O_NOFOLLOW);
	FUZZ_EXPECT(fd >= 0 && read(fd, text, sizeof text) == (ssize_t)strlen(MARK) && strcmp(text, MARK) == 0);
	close(fd);
}

static void unpack(const struct bundle *b)
{
	const char *tmp = getenv("TMPDIR");
	char folder[4096], inside[4110], mark[4110];
	struct error err = { "" };
	int fd;

	snprintf(folder, sizeof folder, "%s/bundle-XXXXXX", tmp ? tmp : "/tmp");
	FUZZ_EXPECT(mkdtemp(folder));
	snprintf(inside, sizeof inside, "%s/inside", folder);
	snprintf(mark, sizeof mark, "%s/mark", folder);
	fd = open(mark, O_WRONLY | O_CREAT | O_EXCL, 0600);
	FUZZ_EXPECT(mkdir(inside, 0700) == 0 && write(fd, MARK, strlen(MARK)) == (ssize_t)strlen(MARK));
	close(fd);
	if (bundle_unpack(b, inside, &err) < 0 || bundle_adapt(b, inside, &err) < 0)
		FUZZ_EXPECT(err.msg[0]);
	expect_inside(folder);
	tree_remove(folder);
}

static void bundle_run(const uint8_t *data, size_t size)
{
	struct error err = { "" };
	struct bundle b;
	struct made m;
	char path[64];
	int fd;

	if (size < 1)
		return;
	m = make(data + 1, size - 1, data[0]);
	fd = memory_file(m.bytes, m.n, path);
	free(m.bytes);
	if (bundle_open(&b, path, &err) == 0) {
		unpack(&b);
		bundle_release(&b);
	} else {
		FUZZ_EXPECT(err.msg[0]);
	}
	close(fd);
}

const struct fuzz_target fuzz_bundle = { .name = "bundle", .flags = "-max_len=2048", .run = bundle_run };
