/* Hides bugs that match a suppression. A block has patterns for some keys of a bug, and hides the
 * bugs that match all of them. */
#include <fnmatch.h>
#include <string.h>

#include "report/suppress_internal.h"

/* Matches a glob. '*' also matches '/'; a backslash makes the next character literal. */
static bool glob(const char *pattern, const char *text)
{
	return text && fnmatch(pattern, text, 0) == 0;
}

/* Matches a glob with a path. A pattern without slash is compared with the file's name, another one
 * with the whole path. */
static bool glob_path(const char *pattern, const char *path)
{
	return path && glob(pattern, strchr(pattern, '/') ? path : path_base(path));
}

static bool function_match(const struct bug_frame *f, const char *pattern)
{
	return glob(pattern, f->function);
}

static bool file_match(const struct bug_frame *f, const char *pattern)
{
	return glob_path(pattern, f->file);
}

static bool library_match(const struct bug_frame *f, const char *pattern)
{
	return glob_path(pattern, f->object);
}

enum scope {
	SCOPE_KIND,
	SCOPE_ID,
	SCOPE_PLACE /* the shown frame and the library frames inside it */,
	SCOPE_CALLERS
};

static const struct key {
	const char *name;
	enum scope scope;
	bool (*match)(const struct bug_frame *f, const char *pattern);
} keys[] = {
	{ "kind", SCOPE_KIND, NULL },
	{ "function", SCOPE_PLACE, function_match },
	{ "file", SCOPE_PLACE, file_match },
	{ "library", SCOPE_PLACE, library_match },
	{ "caller", SCOPE_CALLERS, function_match },
	{ "id", SCOPE_ID, NULL },
};
_Static_assert(sizeof keys / sizeof keys[0] == SUPPRESS_NKEYS, "a block has a pattern for each");

size_t suppress_key_find(const char *name)
{
	size_t i = 0;

	while (i < SUPPRESS_NKEYS && strcmp(keys[i].name, name) != 0)
		i++;
	return i;
}

struct suppressions *suppressions_new(void)
{
	return xcalloc(1, sizeof(struct suppressions));
}

void suppressions_free(struct suppressions *s)
{
	if (!s)
		return;
	vec_release(&s->blocks);
	arena_release(&s->arena);
	free(s);
}

static bool frames_match(const struct key *key, const char *pattern, const struct bug *b)
{
	const struct bug_location *l = b->locations;
	const struct bug_frame *shown = bug_frame(b);
	size_t at, first, end, i;

	if (!shown)
		return false;
	at = (size_t)(shown - l->frames);
	first = key->scope == SCOPE_CALLERS ? at + 1 : 0;
	end = key->scope == SCOPE_CALLERS ? l->nframes : at + 1;
	for (i = first; i < end; i++)
		if (key->match(&l->frames[i], pattern))
			return true;
	return false;
}

static bool key_matches(const struct key *key, const char *pattern, const struct bug *b)
{
	switch (key->scope) {
	case SCOPE_KIND: return glob(pattern, b->kind);
	case SCOPE_ID: return strcmp(pattern, b->id) == 0;
	case SCOPE_PLACE:
	case SCOPE_CALLERS: return frames_match(key, pattern, b);
	}
	BUG("scope %d", (int)key->scope);
}

static bool block_matches_path(const struct block *block, const struct bug *b)
{
	size_t i;

	for (i = 0; i < SUPPRESS_NKEYS; i++)
		if (block->pattern[i] && !key_matches(&keys[i], block->pattern[i], b))
			return false;
	return true;
}

/* Does the block hide the bug? Only if it matches all call paths to the bug. */
static bool block_matches(const struct block *block, const struct bug *b)
{
	struct bug one = *b;

	if (b->npaths == 0)
		return block_matches_path(block, b);
	for (size_t i = 0; i < b->npaths; i++) {
		one.locations = b->paths[i].locations;
		one.nlocations = b->paths[i].nlocations;
		if (!block_matches_path(block, &one))
			return false;
	}
	return true;
}

/* Finds the first block that matches; NULL if none does. */
static struct block *block_find(const struct suppressions *s, const struct bug *b)
{
	size_t i;

	for (i = 0; i < s->blocks.n; i++)
		if (block_matches(&s->blocks.at[i], b))
			return &s->blocks.at[i];
	return NULL;
}

bool suppressions_match(const struct suppressions *s, const struct bug *b)
{
	return block_find(s, b) != NULL;
}

static bool hides(const void *context, const struct bug *b)
{
	struct block *block = block_find(context, b);

	if (block)
		block->nhidden++;
	return block != NULL;
}

void report_suppress(struct report *r, struct suppressions *s)
{
	size_t i;

	r->nsuppressed += report_filter(r, hides, s);
	for (i = 0; i < s->blocks.n; i++) {
		struct block *block = &s->blocks.at[i];

		if (block->nhidden)
			*vec_add(&r->suppressed) =
				(struct report_suppressed){ arena_text(&r->arena, block->path),
							    block->line, block->nhidden };
		block->nhidden = 0;
	}
}
