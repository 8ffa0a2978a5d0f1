/* Reads and writes suppression files: blocks of "key: pattern" lines. A bug is hidden if it matches
 * all lines of a block.
 *
 *   # statistics are rebuilt at open
 *   {
 *   kind: missing-flush*
 *   function: stats_*
 *   file: stats.c
 *   }
 *
 * A comment is a line of its own, since names of C++ functions may hold any character. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "report/suppress_internal.h"

/* ---- reading ---- */

struct parser {
	struct suppressions *s;
	const char *path;
	/* block_line: the line on which the open block began; 0: no block is open */
	unsigned line, block_line;
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
	i = suppress_key_find(name);
	if (i == SUPPRESS_NKEYS)
		return wrong(p, "unknown key '%.80s' (there are: " SUPPRESS_KEY_NAMES ")", name);
	if (!*pattern)
		return wrong(p, "'%s' needs a pattern", name);
	if (p->block.pattern[i])
		return wrong(p, "'%s' is given twice; write two blocks to hide either one", name);
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
		p->block = (struct block){ .path = arena_text(&p->s->arena, p->path),
					   .line = p->line };
		p->is_empty = true;
		return 0;
	}
	if (strcmp(text, "{") == 0)
		return wrong(p, "the block that begins at line %u is not closed with '}'",
			     p->block_line);
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

/* ---- writing ---- */

/* Writes a pattern that matches exactly this text. Bytes that cannot stand in a line become '?'. */
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
			put_pattern(f, "library",
				    !frame->file && frame->object ? path_base(frame->object)
								  : NULL);
		}
		fprintf(f,
			"\t# without the next line, the block hides all like this one\n\tid: %s\n}\n",
			b->id);
	}
}
