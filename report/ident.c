/* Decides when two findings are one bug, when they are one call path to it, and what a bug's id is.
 *
 * key   The kind, and for each location its role and its shown frame. (What a library does inside
 *       does not count.) A frame counts by function, file and line; without line, by function and
 *       offset. A function without lines that the shown line calls in its own object counts by
 *       name: it may be the C library, linked in, or a part of the program compiled without -g.
 * path  The same with all callers out to main, and for a store, its column: a line may have several
 *       stores, and each needs a fix of its own. If a function occurs twice, the call was
 *       recursive, and all frames between the two are left out. A caller without line counts by
 *       its function.
 * id    A hash of a text such as "missing-flush", "@store", "update", "=n->value = v;", "#0": the
 *       kind, and for each location its role, the function of its shown frame (and the one that
 *       it calls, as above), and the shown line with its blanks squeezed. If the source cannot be
 *       read, "+3", the line relative to the function, takes the place of the line; if that is
 *       unknown, too, nothing does. File names and line numbers do not count, so edits elsewhere
 *       and other folders do not change an id. "#0" counts bugs that are equal in all that, in
 *       the order of their lines.
 *
 * Limits: a change of the line itself or of the function's name makes a new id. If the first of
 * several equal bugs is fixed, the next one gets its id. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "report/internal.h"
#include "util/str.h"

static bool function_equal(const struct bug_frame *a, const struct bug_frame *b)
{
	if (!a->function || !b->function)
		return !a->function && !b->function && a->offset == b->offset &&
		       str_same(a->object, b->object);
	return str_same(a->function, b->function) && str_same(a->file, b->file);
}

typedef VEC(const struct bug_frame *) call_path;

/* Lists the frames that count for a call path, innermost first. */
static void call_path_fill(call_path *p, const struct bug_location *l)
{
	size_t i, k;

	p->n = 0;
	for (i = l->shown < l->nframes ? l->shown : 0; i < l->nframes; i++) {
		for (k = 0; k < p->n && !function_equal(p->at[k], &l->frames[i]); k++)
			;
		if (k < p->n)
			p->n = k + 1;
		else
			*vec_add(p) = &l->frames[i];
		if (l->frames[i].function && strcmp(l->frames[i].function, "main") == 0)
			break;
	}
}

/* every finding needs a key, and stdio was too slow for it */
typedef VEC(char) buffer;

static void buffer_add(buffer *t, const char *s)
{
	size_t len = s ? strlen(s) : 0;

	vec_reserve(t, t->n + len + 1);
	if (len)
		memcpy(t->at + t->n, s, len);
	t->n += len;
}

/* Appends a number with a fixed width, so that keys sort by line number, also if all lines move. */
static void buffer_add_number(buffer *t, uint64_t n)
{
	char digits[17];
	int i;

	for (i = 15; i >= 0; i--, n >>= 4)
		digits[i] = "0123456789abcdef"[n & 15];
	digits[16] = '\0';
	buffer_add(t, digits);
}

static void key_frame(buffer *t, const struct bug_frame *frame, bool is_shown)
{
	bool has_offset = !frame->line && (is_shown || !frame->function);

	buffer_add(t, "\n");
	buffer_add(t, frame->function);
	if (frame->line || has_offset) {
		buffer_add(t, "\t");
		buffer_add(t, frame->line ? frame->file : frame->object);
		buffer_add(t, has_offset ? "\t+" : "\t");
		buffer_add_number(t, has_offset ? frame->offset : frame->line);
	}
}

/* Does location i take part in the key? What the program did for a lost store (flush, fence) does
 * not: it may differ from crash to crash. */
static bool is_identifying(const struct bug *b, size_t i)
{
	const char *first = b->locations[0].role, *role = b->locations[i].role;

	return !(first && role && strcmp(first, "lost") == 0 &&
		 (strcmp(role, "flush") == 0 || strcmp(role, "fence") == 0));
}

static bool is_store(const char *role)
{
	return role && (strcmp(role, "store") == 0 || strcmp(role, "lost") == 0);
}

/* Makes the key of a bug; free() it. depth: how many frames of each location take part. */
static char *key_of(const struct bug *b, size_t depth)
{
	call_path p = { 0 };
	buffer t = { 0 };
	size_t i, k;

	vec_reserve(&t, 512);
	buffer_add(&t, b->kind);
	for (i = 0; i < b->nlocations; i++) {
		const char *called = bug_location_called(&b->locations[i]);

		if (!is_identifying(b, i))
			continue;
		buffer_add(&t, "\n@");
		buffer_add(&t, b->locations[i].role);
		call_path_fill(&p, &b->locations[i]);
		for (k = 0; k < p.n && k < depth; k++)
			key_frame(&t, p.at[k], k == 0);
		buffer_add(&t, called ? "\n>" : NULL);
		buffer_add(&t, called);
		if (depth > 1 && p.n && is_store(b->locations[i].role)) {
			buffer_add(&t, "\n:");
			buffer_add_number(&t, p.at[0]->column);
		}
	}
	t.at[t.n] = '\0';
	vec_release(&p);
	return t.at;
}

char *ident_key(const struct bug *b)
{
	return key_of(b, 1);
}

char *ident_path_key(const struct bug *b)
{
	return key_of(b, SIZE_MAX);
}

char *ident_functions(const struct bug *b)
{
	call_path p = { 0 };
	buffer t = { 0 };

	vec_reserve(&t, 512);
	for (size_t i = 0; i < b->nlocations; i++) {
		if (!is_identifying(b, i))
			continue;
		buffer_add(&t, "\n@");
		call_path_fill(&p, &b->locations[i]);
		for (size_t k = 0; k < p.n; k++) {
			buffer_add(&t, "\n");
			buffer_add(&t, p.at[k]->function);
		}
	}
	t.at[t.n] = '\0';
	vec_release(&p);
	return t.at;
}

static void put_squeezed(FILE *f, const char *line, size_t len)
{
	size_t i;
	bool is_blank = false, is_begun = false;

	for (i = 0; i < len; i++) {
		if (isspace((unsigned char)line[i])) {
			is_blank = is_begun;
			continue;
		}
		if (is_blank)
			putc(' ', f);
		/* a NUL would end the text that is hashed */
		putc(line[i] ? line[i] : '?', f);
		is_blank = false;
		is_begun = true;
	}
}

static void put_shown_line(FILE *f, struct report *r, const struct bug_frame *frame)
{
	/* A report that was read has the line's text of that time. Text that was not UTF-8 was not
	 * kept. */
	const bool has_text = frame->text && !strstr(frame->text, "\xef\xbf\xbd");
	size_t len = has_text ? strlen(frame->text) : 0;
	const char *line = has_text ? frame->text
			   : frame->file && frame->line
				   ? source_line(r->sources, frame->file, frame->line, &len)
				   : NULL;

	if (line) {
		fputs("\n=", f);
		put_squeezed(f, line, len);
	} else if (frame->line && frame->function_line && frame->line >= frame->function_line) {
		fprintf(f, "\n+%" PRIu32, frame->line - frame->function_line);
	} else if (!frame->function) {
		fprintf(f, "\n+0x%" PRIx64, frame->offset);
	}
}

/* Makes the text whose hash is the bug's id, without the number that tells equal bugs apart; free()
 * it. */
static char *ident_text(struct report *r, const struct bug *b)
{
	char *text;
	size_t len, i;
	const struct bug_frame *shown;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		alloc_die();
	fputs(b->kind, f);
	for (i = 0; i < b->nlocations; i++) {
		if (!is_identifying(b, i))
			continue;
		fprintf(f, "\n@%s", b->locations[i].role ? b->locations[i].role : "");
		shown = bug_location_frame(&b->locations[i]);
		if (!shown)
			continue;
		fprintf(f, "\n%s", shown->function ? shown->function : path_base(shown->object));
		if (bug_location_called(&b->locations[i]))
			fprintf(f, "\n>%s", bug_location_called(&b->locations[i]));
		put_shown_line(f, r, shown);
	}
	fclose(f);
	return text;
}

struct ident {
	char *text;
	struct report_entry *entry;
};

static int ident_compare(const void *left, const void *right)
{
	const struct ident *a = left, *b = right;
	int c = strcmp(a->text, b->text);

	return c ? c : strcmp(a->entry->key, b->entry->key);
}

void ident_assign(struct report *r)
{
	struct ident *list = xcalloc(r->bugs.n, sizeof *list);
	size_t i, ordinal = 0;

	for (i = 0; i < r->bugs.n; i++)
		list[i] = (struct ident){ ident_text(r, &r->bugs.at[i]->bug), r->bugs.at[i] };
	if (r->bugs.n)
		qsort(list, r->bugs.n, sizeof *list, ident_compare);
	for (i = 0; i < r->bugs.n; i++) {
		char *numbered;

		ordinal = i && strcmp(list[i].text, list[i - 1].text) == 0 ? ordinal + 1 : 0;
		numbered = xasprintf("%s\n#%zu", list[i].text, ordinal);
		snprintf(list[i].entry->bug.id, sizeof list[i].entry->bug.id, "%016" PRIx64,
			 hash_text(numbered));
		free(numbered);
	}
	for (i = 0; i < r->bugs.n; i++)
		free(list[i].text);
	free(list);
}
