/* When are two findings one bug, when are they one call path to it, and what is a bug's id?
 *
 * key  kind, and for each location: role and the shown frame (what a library does inside is no
 *      situation of its own). A frame is function, file and line; without line, function and
 *      offset. What the shown line calls in its own object counts by name if it has no line: it may
 *      be the C library, linked in, or a part of the program that was compiled without -g.
 * path the same with all callers out to main, and for a store, its column: a line may have several,
 *      and each needs a fix of its own. A function that comes again was called recursively:
 *      everything between the two is left out. Where there is no line, the function alone counts
 *      for a caller.
 * id   a hash of kind, roles, the functions of the shown frames and those called in their objects,
 *      as above, and the text of the shown lines
 *      with its blanks squeezed; if the source cannot be read, the line relative to the function;
 *      if that is not known either, nothing of the line. No file names, no line numbers: edits
 *      elsewhere and other folders change nothing. Bugs that are equal in all that are numbered by
 *      their lines, and the number is hashed too.
 *
 * Limits: a change of the line itself or a renamed function makes a new id; of several equal bugs,
 * the first that is mended passes its id to the next. */
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

/* The frames that count, innermost first. */
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

/* Every finding gets a key, so stdio is too slow here. */
typedef VEC(char) buffer;

static void buffer_add(buffer *t, const char *s)
{
	size_t len = s ? strlen(s) : 0;

	vec_reserve(t, t->n + len + 1);
	if (len)
		memcpy(t->at + t->n, s, len);
	t->n += len;
}

/* Numbers have a fixed width: keys sort by line, also when all lines move. */
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

/* What was done for a lost store may differ from crash to crash: it says how to mend the bug, not
 * which it is. */
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

/* depth: how many frames of each location count. */
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
		/* NUL would end the text that is hashed. */
		putc(line[i] ? line[i] : '?', f);
		is_blank = false;
		is_begun = true;
	}
}

static void put_shown_line(FILE *f, struct report *r, const struct bug_frame *frame)
{
	/* Of a report that was read, the line as it was then. What was no UTF-8 is not kept. */
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

/* What the id is a hash of, without the ordinal. */
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
