/* Reads from the META events of a trace the contents of files beside the pool. A content comes in
 * several parts, in hexadecimal; if a part is missing, the content counts as unknown. */
#include "crash/states/beside.h"
#include "trace/trace.h"
#include "util/values.h"

#include <string.h>

/* more than the recorder keeps; a larger length comes from a damaged trace */
#define FILE_BYTES_MAX (1u << 20)

static struct beside_file *find(struct beside *b, const char *path)
{
	struct beside_file *f;

	for (size_t i = 0; i < b->files.n; i++)
		if (strcmp(b->files.at[i].path, path) == 0)
			return &b->files.at[i];
	f = vec_add(&b->files);
	*f = (struct beside_file){ .path = xstrdup(path) };
	return f;
}

/* The content that is being read; its parts come in the next events. */
struct reading {
	struct beside *b;
	size_t file; /* index plus 1; 0: no content is being read */
	uint64_t at; /* number of bytes read so far */
};

/* Ends the content that is being read. It counts as unknown if parts are missing. */
static void content_end(struct reading *r)
{
	struct beside_file *f = r->file ? &r->b->files.at[r->file - 1] : NULL;
	struct beside_version *v = f ? &f->versions.at[f->versions.n - 1] : NULL;

	if (v && v->what == BESIDE_CONTENT && r->at != v->len_bytes)
		v->what = BESIDE_UNKNOWN;
	r->file = 0;
}

/* Begins a version of a file; value is "STATE:PATH". */
static void version_add(struct reading *r, uint64_t seq, const char *value)
{
	const char *path = strchr(value, ':');
	struct beside_version v = { .seq = seq, .what = BESIDE_CONTENT };
	struct beside_file *f;
	char *end;

	content_end(r);
	if (!path)
		return;
	v.len_bytes = strtoull(value, &end, 10);
	if (*value == 'a')
		v.what = BESIDE_ABSENT;
	else if (end != path || end == value || v.len_bytes > FILE_BYTES_MAX)
		v.what = BESIDE_UNKNOWN;
	if (v.what == BESIDE_CONTENT)
		v.bytes = xcalloc(v.len_bytes / IMAGE_PAGE_BYTES + 1, IMAGE_PAGE_BYTES);
	f = find(r->b, path + 1);
	*vec_add(&f->versions) = v;
	r->file = (size_t)(f - r->b->files.at) + 1;
	r->at = 0;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void part_add(struct reading *r, const char *hex)
{
	struct beside_file *f = r->file ? &r->b->files.at[r->file - 1] : NULL;
	struct beside_version *v = f ? &f->versions.at[f->versions.n - 1] : NULL;

	for (; v && v->what == BESIDE_CONTENT && digit(hex[0]) >= 0 && digit(hex[1]) >= 0 &&
	       r->at < v->len_bytes;
	     hex += 2)
		v->bytes[r->at++] = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
}

/* Gives the text after this key; NULL if the text begins with another key. */
static const char *value_of(const char *text, const char *key)
{
	const size_t n = strlen(key);

	return strncmp(text, key, n) == 0 && text[n] == '=' ? text + n + 1 : NULL;
}

static void event_read(struct reading *r, uint64_t seq, const char *text)
{
	const char *value;

	if ((value = value_of(text, "beside")))
		find(r->b, value)->is_written = true;
	else if ((value = value_of(text, "beside-old")))
		version_add(r, 0, value);
	else if ((value = value_of(text, "beside-new")))
		version_add(r, seq, value);
	else if ((value = value_of(text, "beside-part")))
		part_add(r, value);
}

static void file_release(struct beside_file *f)
{
	for (size_t i = 0; i < f->versions.n; i++)
		free(f->versions.at[i].bytes);
	vec_release(&f->versions);
	free(f->path);
}

/* Drops PM files, and files that were only removed. */
static void keep_written(struct beside *b, const struct trace *t, const char *const *paths)
{
	size_t n = 0;

	for (size_t i = 0; i < b->files.n; i++)
		if (n < BESIDE_MAX && b->files.at[i].is_written &&
		    !trace_has_file(t, b->files.at[i].path) &&
		    !words_name(paths, b->files.at[i].path))
			b->files.at[n++] = b->files.at[i];
		else
			file_release(&b->files.at[i]);
	b->files.n = n;
}

void beside_read(struct beside *b, const struct trace *t, const char *const *paths)
{
	struct reading r = { .b = b };
	struct trace_event ev;
	struct trace *cursor;

	if (!trace_meta(t, "beside"))
		return;
	cursor = trace_cursor(t);
	while (trace_next(cursor, &ev))
		if (ev.kind == PMT_META) {
			char *text = xasprintf("%.*s", (int)ev.data_len, (const char *)ev.data);

			event_read(&r, ev.seq, text);
			free(text);
		}
	content_end(&r);
	keep_written(b, cursor, paths);
	trace_close(cursor);
}

void beside_release(struct beside *b)
{
	for (size_t i = 0; i < b->files.n; i++)
		file_release(&b->files.at[i]);
	vec_release(&b->files);
}

const struct beside_version *beside_at(const struct beside_file *f, enum beside_time time,
				       uint64_t seq)
{
	static const struct beside_version unknown = { .what = BESIDE_UNKNOWN },
					   absent = { .what = BESIDE_ABSENT };
	const struct beside_version *v = &unknown;

	if (time == BESIDE_NEVER)
		return &absent;
	for (size_t i = 0; i < f->versions.n; i++) {
		const struct beside_version *next = &f->versions.at[i];

		if (next->seq == 0 || time == BESIDE_END ||
		    (time == BESIDE_CRASH && next->seq < seq))
			v = next;
	}
	return v;
}

void beside_image(struct crash_image *with, const struct crash_image *im, const struct beside *b,
		  const struct beside_version *const *versions)
{
	*with = (struct crash_image){ .version = im->version };
	for (size_t i = 0; i < im->files.n; i++)
		*vec_add(&with->files) = im->files.at[i];
	for (size_t i = 0; i < b->files.n; i++) {
		const struct beside_version *v = versions[i];
		const uint64_t npages =
			v->what == BESIDE_CONTENT
				? (v->len_bytes + IMAGE_PAGE_BYTES - 1) / IMAGE_PAGE_BYTES
				: 0;
		struct crash_file f = { .path = b->files.at[i].path,
					.bytes = v->bytes,
					.room = npages * IMAGE_PAGE_BYTES,
					.size_bytes = npages ? v->len_bytes : 0,
					.exists = v->what == BESIDE_CONTENT,
					.version = 1 };

		f.touched = xcalloc(npages / 64 + 1, sizeof *f.touched);
		f.changed = xcalloc(npages / 64 + 1, sizeof *f.changed);
		for (uint64_t p = 0; p < npages; p++)
			f.touched[p / 64] |= (uint64_t)1 << p % 64;
		*vec_add(&with->files) = f;
	}
}

void beside_image_release(struct crash_image *with, const struct crash_image *im)
{
	for (size_t i = im->files.n; i < with->files.n; i++) {
		free(with->files.at[i].touched);
		free(with->files.at[i].changed);
	}
	vec_release(&with->files);
}
