/* Suppression files: blocks of "key: pattern" lines, all of which must hold for a bug to be hidden.
 *
 *	# statistics are rebuilt at open
 *	{
 *		kind: missing-flush*
 *		function: stats_*
 *		file: stats.c
 *	}
 *
 * A comment is a line of its own, since names of C++ functions may hold any sign. */
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <string.h>

#include "report/filter.h"
#include "report/internal.h"

/* Patterns are globs, in which '*' matches '/' too; a backslash takes a sign literally. */
static bool glob(const char *pattern, const char *text)
{
	return text && fnmatch(pattern, text, 0) == 0;
}

/* A pattern without slash is about the name, any other about the whole path. */
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

enum scope { SCOPE_KIND, SCOPE_ID, SCOPE_PLACE /* the shown frame and library code inside it */, SCOPE_CALLERS };

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
#define NKEYS (sizeof keys / sizeof keys[0])
#define KEY_NAMES "kind, function, file, library, caller, id"

struct block {
	const char *pattern[NKEYS]; /* NULL: does not matter */
	const char *path;
	unsigned line;
	size_t nhidden; /* by report_suppress() */
};

struct suppressions {
	struct arena arena;
	VEC(struct block) blocks;
};

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

static bool block_matches(const struct block *block, const struct bug *b)
{
	size_t i;

	for (i = 0; i < NKEYS; i++)
		if (block->pattern[i] && !key_matches(&keys[i], block->pattern[i], b))
			return false;
	return true;
}

/* The first that matches, NULL if none does. */
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
			*vec_add(&r->suppressed) = (struct report_suppressed){
				arena_text(&r->arena, block->path), block->line, block->nhidden
			};
		block->nhidden = 0;
	}
}

struct parser {
	struct suppressions *s;
	const char *path;
	unsigned line, block_line; /* block_line: where the open block began, 0 if none is open */
	struct block block;
	bool is_empty;
	struct error *err;
};

__attribute__((format(printf, 2, 3))) static int wrong(struct parser *p, const char *fmt, ...)
{
	char what[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	return error_set(p->err, "%s:%u: %s", p->path, p->line, what);
}

#define BLANKS " \t\r\n\v\f"

static char *trim(char *s)
{
	char *end = s + strlen(s);

	while (end > s && strchr(BLANKS, end[-1]))
		*--end = '\0';
	return s + strspn(s, BLANKS);
}

static int parse_pattern(struct parser *p, char *text)
{
	char *colon = strchr(text, ':'), *name = text, *pattern;
	size_t i;

	if (!colon)
		return wrong(p, "expected 'KEY: PATTERN' or '}', not '%.80s'", text);
	*colon = '\0';
	name = trim(name);
	pattern = trim(colon + 1);
	for (i = 0; i < NKEYS && strcmp(keys[i].name, name) != 0; i++)
		;
	if (i == NKEYS)
		return wrong(p, "unknown key '%.80s' (there are: " KEY_NAMES ")", name);
	if (!*pattern)
		return wrong(p, "'%s' needs a pattern", name);
	if (p->block.pattern[i])
		return wrong(p, "'%s' is given twice; write two blocks to hide either", name);
	p->block.pattern[i] = arena_text(&p->s->arena, pattern);
	p->is_empty = false;
	return 0;
}

static int parse_line(struct parser *p, char *text)
{
	if (!*text || *text == '#')
		return 0;
	if (!p->block_line) {
		if (strcmp(text, "{") != 0)
			return wrong(p, "expected '{' to begin a block, not '%.80s'", text);
		p->block_line = p->line;
		p->block = (struct block){ .path = arena_text(&p->s->arena, p->path), .line = p->line };
		p->is_empty = true;
		return 0;
	}
	if (strcmp(text, "{") == 0)
		return wrong(p, "the block that begins at line %u is not closed with '}'", p->block_line);
	if (strcmp(text, "}") != 0)
		return parse_pattern(p, text);
	if (p->is_empty)
		return wrong(p, "an empty block would hide everything; 'kind: *' says so");
	*vec_add(&p->s->blocks) = p->block;
	p->block_line = 0;
	return 0;
}

int suppressions_load(struct suppressions *s, const char *path, struct error *err)
{
	struct parser p = { .s = s, .path = path, .err = err };
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t len;
	int result = -1;

	if (!f)
		return error_set(err, "cannot open %s: %s", path, strerror(errno));
	while ((len = getline(&text, &room, f)) >= 0) {
		p.line++;
		if (strlen(text) != (size_t)len) {
			wrong(&p, "a NUL byte: this is not a text file");
			goto out;
		}
		if (parse_line(&p, trim(text)) < 0)
			goto out;
	}
	if (ferror(f)) {
		error_set(err, "cannot read %s: %s", path, strerror(errno));
		goto out;
	}
	if (p.block_line) {
		wrong(&p, "the block that begins at line %u is not closed with '}'", p.block_line);
		goto out;
	}
	result = 0;
out:
	free(text);
	fclose(f);
	return result;
}

/* A pattern that matches just this text; what a line cannot hold becomes '?'. */
static void put_pattern(FILE *f, const char *key, const char *text)
{
	size_t i, len = text ? strlen(text) : 0;

	if (!len)
		return;
	fprintf(f, "\t%s: ", key);
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c == 0x7f || (c == ' ' && (i == 0 || i == len - 1))) {
			putc('?', f);
			continue;
		}
		if (strchr("*?[\\", c))
			putc('\\', f);
		putc(c, f);
	}
	putc('\n', f);
}

void suppressions_generate(FILE *f, const struct report *r)
{
	size_t i;

	for (i = 0; i < report_nbugs(r); i++) {
		const struct bug *b = report_bug(r, i);
		const struct bug_frame *frame = bug_frame(b);

		fputs("# ", f);
		escape_text(f, b->message, strlen(b->message));
		fputs("\n{\n", f);
		put_pattern(f, "kind", b->kind);
		if (frame) {
			put_pattern(f, "function", frame->function);
			put_pattern(f, "file", frame->file ? path_base(frame->file) : NULL);
			put_pattern(f, "library", !frame->file && frame->object ? path_base(frame->object) : NULL);
		}
		fprintf(f, "\t# without the next line, the block hides all like this one\n\tid: %s\n}\n", b->id);
	}
}
