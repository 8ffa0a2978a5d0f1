/* Writes the index of a bundle as JSON, and reads it. Reading checks everything, so users of an
 * index can rely on its paths, on the order of entries, and on links that lead to entries. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/bundle.h"

#define PATH_MAX_BYTES 4000u
#define PART_MAX_BYTES 255u

static const char *const kinds[] = {
	[BUNDLE_FILE] = "file", [BUNDLE_FOLDER] = "folder", [BUNDLE_LINK] = "link"
};
#define NKINDS (sizeof kinds / sizeof *kinds)

/* ---- memory ---- */

void bundle_init(struct bundle *b)
{
	*b = (struct bundle){ .fd = -1 };
}

bool is_bundle_name(const char *name)
{
	const size_t len = strlen(name);

	return len > 4 && strcmp(name + len - 4, ".pmb") == 0;
}

static int compare(const void *key, const void *entry)
{
	return strcmp(key, ((const struct bundle_entry *)entry)->path);
}

const struct bundle_entry *bundle_find(const struct bundle *b, const char *path)
{
	return b->entries.n
		       ? bsearch(path, b->entries.at, b->entries.n, sizeof *b->entries.at, compare)
		       : NULL;
}

/* Asks whether the path is UTF-8 without control characters. */
static bool is_text(const char *path)
{
	json_t *text = json_string(path);
	const bool is_utf8 = text != NULL;

	json_decref(text);
	for (; *path; path++)
		if ((unsigned char)*path < ' ' || *path == 0x7f)
			return false;
	return is_utf8;
}

bool bundle_takes_variable(const char *entry)
{
	static const char *const taken[] = { "PATH=", "LANG=", "LANGUAGE=", "LC_", "TZ=", "PMEM" };

	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		if (strncmp(entry, taken[i], strlen(taken[i])) == 0 &&
		    strncmp(entry, "PMEND", 5) != 0)
			return strchr(entry, '=') != NULL;
	return false;
}

bool bundle_path_is_good(const char *path)
{
	if (!*path || strlen(path) > PATH_MAX_BYTES)
		return false;
	if (!is_text(path))
		return false;
	for (const char *end; *path; path = *end ? end + 1 : end) {
		const size_t n = (size_t)((end = strchrnul(path, '/')) - path);

		if (n == 0 || n > PART_MAX_BYTES || (n == 1 && path[0] == '.') ||
		    (n == 2 && path[0] == '.' && path[1] == '.') || (*end && !end[1]))
			return false;
	}
	return true;
}

/* ---- writing ---- */

void bundle_hash_text(const uint8_t hash[SHA256_BYTES], char text[2 * SHA256_BYTES + 1])
{
	for (size_t i = 0; i < SHA256_BYTES; i++)
		sprintf(text + 2 * i, "%02x", hash[i]);
}

static json_t *words_json(char *const *words, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(list, json_string(words[i])) < 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static json_t *entry_json(const struct bundle_entry *e)
{
	char hash[2 * SHA256_BYTES + 1];

	switch (e->kind) {
	case BUNDLE_FILE:
		bundle_hash_text(e->hash, hash);
		return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:s}", "path", e->path, "kind",
				 kinds[e->kind], "mode", (json_int_t)e->mode, "mtime",
				 (json_int_t)e->mtime_s, "bytes", (json_int_t)e->len_bytes,
				 "stored", (json_int_t)e->stored_bytes, "sha256", hash);
	case BUNDLE_FOLDER: return json_pack("{s:s, s:s}", "path", e->path, "kind", kinds[e->kind]);
	case BUNDLE_LINK:
		return json_pack("{s:s, s:s, s:s}", "path", e->path, "kind", kinds[e->kind],
				 "target", e->target);
	}
	return NULL;
}

char *bundle_index_text(const struct bundle *b)
{
	json_t *libraries = json_array(), *entries = json_array(), *top;
	bool is_fine = true;
	char *text = NULL;

	for (size_t i = 0; i < b->libraries.n; i++)
		is_fine &=
			json_array_append_new(libraries, json_pack("{s:s, s:s}", "name",
								   b->libraries.at[i].name, "path",
								   b->libraries.at[i].path)) == 0;
	for (size_t i = 0; i < b->entries.n; i++)
		is_fine &= json_array_append_new(entries, entry_json(&b->entries.at[i])) == 0;
	top = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "pmend", b->version,
			"arch", b->arch, "cwd", b->cwd, "trace", b->trace, "options",
			words_json(b->options.at, b->options.n), "environment",
			words_json(b->environment.at, b->environment.n), "lacks",
			words_json(b->lacks.at, b->lacks.n), "libraries", libraries, "entries",
			entries);
	if (top && is_fine)
		text = json_dumps(top, JSON_COMPACT);
	json_decref(top);
	return text;
}

/* ---- reading ---- */

static int index_error(struct error *err, const char *what)
{
	return error_set(err, "its index is invalid: %s", what);
}

/* Gives the text of a key; NULL if there is none. */
static char *text_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	const char *s = json_string_value(v);

	return s && strlen(s) == json_string_length(v) ? xstrdup(s) : NULL;
}

static char *path_of(const json_t *o, const char *key)
{
	char *path = text_of(o, key);

	if (path && bundle_path_is_good(path))
		return path;
	free(path);
	return NULL;
}

typedef VEC(char *) word_vec;

/* Appends the words of a list; false if it is no list of words. */
static bool words_of(const json_t *top, const char *key, char ***at, size_t *n, size_t *room)
{
	const json_t *list = json_object_get(top, key), *v;
	word_vec words = { *at, *n, *room };
	bool is_fine = json_is_array(list);
	size_t i;

	json_array_foreach(list, i, v)
	{
		const char *s = json_string_value(v);

		is_fine &= s && strlen(s) == json_string_length(v);
		*vec_add(&words) = xstrdup(s ? s : "");
	}
	*at = words.at;
	*n = words.n;
	*room = words.room;
	return is_fine;
}
#define WORDS_OF(top, key, vec) words_of(top, key, &(vec)->at, &(vec)->n, &(vec)->room)

static bool number_of(const json_t *o, const char *key, uint64_t max, uint64_t *n)
{
	const json_t *v = json_object_get(o, key);
	const json_int_t i = json_integer_value(v);

	*n = (uint64_t)i;
	return json_is_integer(v) && i >= 0 && *n <= max;
}

static bool hash_of(const json_t *o, uint8_t hash[SHA256_BYTES])
{
	const char *text = json_string_value(json_object_get(o, "sha256"));

	if (!text || strlen(text) != 2 * SHA256_BYTES ||
	    strspn(text, "0123456789abcdef") != 2 * SHA256_BYTES)
		return false;
	for (size_t i = 0; i < SHA256_BYTES; i++) {
		const char digits[] = { text[2 * i], text[2 * i + 1], 0 };

		hash[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return true;
}

static bool file_of(struct bundle_entry *e, const json_t *o)
{
	uint64_t mode = 0, mtime = 0;
	const bool is_fine =
		number_of(o, "mode", 0777, &mode) && number_of(o, "mtime", INT64_MAX, &mtime) &&
		number_of(o, "bytes", (uint64_t)1 << 48, &e->len_bytes) &&
		number_of(o, "stored", (uint64_t)1 << 48, &e->stored_bytes) && hash_of(o, e->hash);

	e->mode = (uint32_t)mode;
	e->mtime_s = (int64_t)mtime;
	return is_fine;
}

static int entry_read(struct bundle *b, const json_t *o, struct error *err)
{
	const char *kind = json_string_value(json_object_get(o, "kind"));
	struct bundle_entry e = { .path = path_of(o, "path"), .target = path_of(o, "target") };
	const struct bundle_entry *last = b->entries.n ? &b->entries.at[b->entries.n - 1] : NULL;
	size_t k = 0;

	while (k < NKINDS && (!kind || strcmp(kind, kinds[k]) != 0))
		k++;
	e.kind = (enum bundle_kind)k;
	*vec_add(&b->entries) = e;
	last = b->entries.n > 1 ? &b->entries.at[b->entries.n - 2] : NULL;
	if (!e.path)
		return index_error(err, "a path would leave the folder");
	if (k == NKINDS || (e.kind == BUNDLE_LINK) != (e.target != NULL))
		return index_error(err, e.path);
	if (e.kind == BUNDLE_FILE && !file_of(&b->entries.at[b->entries.n - 1], o))
		return index_error(err, e.path);
	if (last && strcmp(last->path, e.path) >= 0)
		return index_error(err, "its entries are not in order");
	return 0;
}

/* Asks whether a parent of the path is a file or a link in the bundle, and not a folder. */
static bool is_below_other(const struct bundle *b, const char *path)
{
	char *copy = xstrdup(path), *slash;
	bool is_below = false;

	while (!is_below && (slash = strrchr(copy, '/'))) {
		const struct bundle_entry *e;

		*slash = 0;
		e = bundle_find(b, copy);
		is_below = e && e->kind != BUNDLE_FOLDER;
	}
	free(copy);
	return is_below;
}

static int entries_read(struct bundle *b, const json_t *top, struct error *err)
{
	const json_t *list = json_object_get(top, "entries"), *o;
	const struct bundle_entry *trace;
	size_t i;

	if (!json_is_array(list))
		return index_error(err, "it lists no files");
	json_array_foreach(list, i, o) if (entry_read(b, o, err) < 0) return -1;
	for (i = 0; i < b->entries.n; i++)
		if (is_below_other(b, b->entries.at[i].path))
			return index_error(err, "a path leads through a file or a link");
	trace = bundle_find(b, b->trace);
	return trace && trace->kind == BUNDLE_FILE ? 0 : index_error(err, "it has no trace");
}

static int libraries_read(struct bundle *b, const json_t *top, struct error *err)
{
	const json_t *list = json_object_get(top, "libraries"), *o;
	size_t i;

	if (!json_is_array(list))
		return index_error(err, "it lists no libraries");
	json_array_foreach(list, i, o)
	{
		struct bundle_library *l = vec_add(&b->libraries);

		*l = (struct bundle_library){ path_of(o, "name"), path_of(o, "path") };
		if (!l->name || !l->path || strchr(l->name, '/'))
			return index_error(err, "the name of a library");
	}
	return 0;
}

static int top_read(struct bundle *b, const json_t *top, struct error *err)
{
	b->version = text_of(top, "pmend");
	b->arch = text_of(top, "arch");
	b->cwd = text_of(top, "cwd");
	b->trace = path_of(top, "trace");
	if (!b->version || !b->arch || !b->trace || !b->cwd ||
	    (*b->cwd && !bundle_path_is_good(b->cwd)))
		return index_error(err, "it does not say what it is");
	if (!WORDS_OF(top, "options", &b->options) ||
	    !WORDS_OF(top, "environment", &b->environment) || !WORDS_OF(top, "lacks", &b->lacks))
		return index_error(err, "words");
	for (size_t i = 0; i < b->environment.n; i++)
		if (!bundle_takes_variable(b->environment.at[i]))
			return index_error(err, "an environment variable");
	return libraries_read(b, top, err) < 0 || entries_read(b, top, err) < 0 ? -1 : 0;
}

int bundle_index_read(struct bundle *b, const char *text, size_t len_bytes, struct error *err)
{
	json_t *top = json_loadb(text, len_bytes, JSON_REJECT_DUPLICATES, NULL);
	int result = top ? top_read(b, top, err) : index_error(err, "it is no JSON");

	json_decref(top);
	return result;
}
