/* Writes text and numbers to a page. Text is escaped; control characters and characters that
 * reverse the direction of writing become visible. */
#include "report/html/html.h"
#include "util/str.h"

#include <inttypes.h>
#include <string.h>

void put_text(const struct page *p, const char *s)
{
	if (s)
		escape_html(p->f, s, strlen(s));
}

size_t cut_at(const char *s, size_t max_bytes)
{
	size_t len = strnlen(s, max_bytes + 1);

	if (len <= max_bytes)
		return len;
	for (len = max_bytes; len > 0 && ((unsigned char)s[len] & 0xc0) == 0x80; len--)
		;
	return len;
}

static void put_left_out(const struct page *p, const char *rest)
{
	if (*rest)
		fprintf(p->f, "<span class=\"cut\">… %zu bytes more</span>", strlen(rest));
}

void put_cut(const struct page *p, const char *s, size_t max_bytes)
{
	size_t len = s ? cut_at(s, max_bytes) : 0;

	if (!s)
		return;
	escape_html(p->f, s, len);
	put_left_out(p, s + len);
}

void put_short(const struct page *p, const char *s, size_t max_bytes)
{
	size_t len = s ? cut_at(s, max_bytes) : 0;

	if (!s)
		return;
	escape_html(p->f, s, len);
	if (s[len])
		fputs("…", p->f);
}

void put_lines(const struct page *p, const char *s, size_t max_bytes)
{
	const char *end = s + cut_at(s, max_bytes), *line = s, *stop;

	for (; line < end; line = stop + 1) {
		stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop ? stop : end;
		escape_html(p->f, line, (size_t)(stop - line));
		if (stop < end)
			putc('\n', p->f);
	}
	put_left_out(p, end);
}

void put_path(const struct page *p, const char *path)
{
	if (path)
		put_cut(p, path_below(path, p->cwd), NAME_SHOWN_BYTES);
}

void put_place(const struct page *p, const struct bug_frame *frame)
{
	if (frame && frame->file && frame->line) {
		put_path(p, frame->file);
		fprintf(p->f, ":%" PRIu32, frame->line);
	} else if (frame && frame->object) {
		put_path(p, frame->object);
		fprintf(p->f, "+0x%" PRIx64, frame->offset);
	} else {
		fputs("unknown place", p->f);
	}
}

/* Writes a number in groups of three digits, with non-breaking spaces. */
void put_count_of(const struct page *p, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof digits, "%" PRIu64, n);

	for (int i = 0; i < len; i++) {
		putc(digits[i], p->f);
		if (i + 1 < len && (len - i - 1) % 3 == 0 && len > 4)
			fputs("&#8239;", p->f);
	}
}

void put_plural(const struct page *p, uint64_t n, const char *one, const char *many)
{
	put_count_of(p, n);
	fprintf(p->f, " %s", n == 1 ? one : many);
}

/* For each role of a location, its words and its colour. */
static const struct {
	const char *role, *text, *class;
} roles[] = {
	{ "store", "store", "bad" },
	{ "lost", "store, lost in the crash \xe2\x9c\x98", "lost" },
	{ "survived", "store, survived the crash \xe2\x9c\x94", "kept" },
	{ "flush", "flush", "neutral" },
	{ "fence", "fence", "neutral" },
	{ "read", "recovery reads this", "read" },
	{ "load", "another thread reads it", "read" },
	{ "persisted", "that thread makes this durable", "kept" },
	{ "unlock", "the lock is given back here", "neutral" },
	{ "reads-loss", "recovery reads what is left without the lost store", "read" },
	{ "tx", "transaction", "neutral" },
	{ "acknowledged", "output: the program says it is done", "kept" },
	{ "crash", "the crash comes here", "lost" },
	{ "created", "the pool is created here", "neutral" },
	{ "resized", "it gets its size here", "neutral" },
	{ "initialised", "from this store on, recovery copes", "kept" },
	{ "died", "recovery ends here", "read" },
	{ "recovery", "recovery ends here", "read" },
	{ "assert", "assertion", "neutral" },
	{ "declared", "declared here", "neutral" },
	{ "commit", "commit variable is set", "neutral" },
	{ "commit-before", "commit variable was set before", "neutral" },
	{ "allocation", "allocation", "neutral" },
	{ NULL, NULL, NULL },
};

const char *role_text(const char *role)
{
	size_t i = 0;

	while (role && roles[i].role && strcmp(roles[i].role, role) != 0)
		i++;
	return !role ? "place" : roles[i].role ? roles[i].text : role;
}

const char *role_class(const char *role)
{
	size_t i = 0;

	while (role && roles[i].role && strcmp(roles[i].role, role) != 0)
		i++;
	return role && roles[i].role ? roles[i].class : "neutral";
}

void put_anchor(const struct page *p, const struct bug *b)
{
	size_t nbefore = 0;

	for (size_t i = 0; p->r->tests.n && report_bug(p->r, i) != b; i++)
		nbefore += strcmp(report_bug(p->r, i)->id, b->id) == 0;
	fprintf(p->f, "bug-%s", b->id);
	if (nbefore)
		fprintf(p->f, "-%zu", nbefore + 1);
}
