/* Compares three dumps line by line. Lines of the found dump that both others have, in the same
 * order, connect the three; the lines in between are a difference. If very many lines differ, they
 * are one difference. */
#include "account/dump_diff.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#define LISTED 8u /* largest number of differences */
/* lines that are matched freely; more are matched only at equal beginnings and ends */
#define LINES_MAX ((size_t)2000)
#define PIECE_BYTES 200u /* bytes of one dump in a difference */
#define PIECE_BEFORE 40u /* of these, bytes before the first one that differs */
#define EXCERPT_BYTES 4096u
#define EXCERPT_BEFORE 3u /* lines */

enum which { BEFORE, AFTER, FOUND, DUMPS };

struct line {
	const char *at;
	size_t len_bytes;
};

typedef VEC(struct line) lines;

static void split(lines *l, const char *text)
{
	while (text && *text) {
		size_t n = strcspn(text, "\n");

		*vec_add(l) = (struct line){ text, n };
		text += n + (text[n] == '\n');
	}
}

static bool same(const struct line *a, const struct line *b)
{
	return a->len_bytes == b->len_bytes && memcmp(a->at, b->at, a->len_bytes) == 0;
}

/* ---- which lines are the same ---- */

/* Finds the longest common subsequence of lines found[from…fend) and other[ofrom…oend): match[i] is
 * the other's line plus 1. */
static void match_middle(const lines *found, size_t from, size_t fend, const lines *other,
			 size_t ofrom, size_t oend, size_t *match)
{
	const size_t n = fend - from, m = oend - ofrom, row = m + 1;
	uint16_t *longest;

	if (n == 0 || m == 0 || n > LINES_MAX || m > LINES_MAX)
		return;
	/* row i, column k: length for the lines from i and k on */
	longest = xcalloc((n + 1) * row, sizeof *longest);
	for (size_t i = n; i-- > 0;)
		for (size_t k = m; k-- > 0;) {
			const uint16_t down = longest[(i + 1) * row + k],
				       right = longest[i * row + k + 1];

			if (same(&found->at[from + i], &other->at[ofrom + k]))
				longest[i * row + k] =
					(uint16_t)(longest[(i + 1) * row + k + 1] + 1);
			else
				longest[i * row + k] = down > right ? down : right;
		}
	for (size_t i = 0, k = 0; i < n && k < m;)
		if (same(&found->at[from + i], &other->at[ofrom + k])) {
			match[from + i++] = ofrom + k++ + 1;
		} else if (longest[(i + 1) * row + k] >= longest[i * row + k + 1]) {
			i++;
		} else {
			k++;
		}
	free(longest);
}

static void match_lines(const lines *found, const lines *other, size_t *match)
{
	size_t from = 0, fend = found->n, oend = other->n;

	for (; from < fend && from < oend && same(&found->at[from], &other->at[from]); from++)
		match[from] = from + 1;
	for (; fend > from && oend > from && same(&found->at[fend - 1], &other->at[oend - 1]);
	     fend--, oend--)
		match[fend - 1] = oend;
	match_middle(found, from, fend, other, from, oend, match);
}

/* ---- differences ---- */

struct comparing {
	lines lines[DUMPS];
	bool is_known[DUMPS];
	size_t *match[DUMPS]; /* by line of the found dump; unused for the found dump itself */
	size_t next[DUMPS];   /* the first line that is not handled yet */
	struct dump_diff *out;
};

static bool is_continued(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Joins some lines to one text, without the first `skip` bytes, and shortens it. NULL: there are no
 * lines. */
static char *piece(const lines *l, size_t from, size_t to, size_t skip)
{
	const char *at, *end;
	size_t n;

	if (from >= to)
		return NULL;
	at = l->at[from].at;
	end = l->at[to - 1].at + l->at[to - 1].len_bytes;
	if (skip > (size_t)(end - at))
		skip = (size_t)(end - at);
	while (skip > 0 && skip < (size_t)(end - at) && is_continued(at[skip]))
		skip--;
	n = (size_t)(end - at) - skip;
	if (n > PIECE_BYTES)
		for (n = PIECE_BYTES; n > 0 && is_continued(at[skip + n]);)
			n--;
	return xasprintf("%s%.*s%s", skip ? "…" : "", (int)n, at + skip,
			 skip + n < (size_t)(end - at) ? "…" : "");
}

/* Gives how many bytes at the beginning of the pieces are left out, because they are many and the
 * same. */
static size_t same_beginning(const struct comparing *c, const size_t *end)
{
	const char *first = NULL;
	size_t n = SIZE_MAX;

	for (int w = 0; w < DUMPS; w++) {
		const lines *l = &c->lines[w];
		const char *at;
		size_t len, k = 0;

		if (c->next[w] >= end[w])
			continue;
		at = l->at[c->next[w]].at;
		len = (size_t)(l->at[end[w] - 1].at + l->at[end[w] - 1].len_bytes - at);
		if (first)
			while (k < len && k < n && at[k] == first[k])
				k++;
		n = first ? k : len;
		first = first ? first : at;
	}
	return n != SIZE_MAX && n > PIECE_BEFORE ? n - PIECE_BEFORE : 0;
}

/* Adds a difference: all lines up to `end` (not included) differ. */
static void add_difference(struct comparing *c, const size_t *end)
{
	const size_t skip = same_beginning(c, end);
	struct dump_diff *d = c->out;
	bool is_any = false;

	for (int w = 0; w < DUMPS; w++)
		is_any |= c->next[w] < end[w];
	if (!is_any)
		return;
	if (d->ndifferences++ == 0)
		memcpy(d->first_line, c->next, sizeof d->first_line);
	if (d->list.n == LISTED)
		return;
	*vec_add(&d->list) = (struct bug_difference){
		.line = (uint32_t)c->next[FOUND] + 1,
		.before = piece(&c->lines[BEFORE], c->next[BEFORE], end[BEFORE], skip),
		.after = piece(&c->lines[AFTER], c->next[AFTER], end[AFTER], skip),
		.found = piece(&c->lines[FOUND], c->next[FOUND], end[FOUND], skip)
	};
}

/* Is the line of the found dump in all other known dumps? Then *where gets its line numbers. */
static bool is_in_all(const struct comparing *c, size_t line, size_t *where)
{
	for (int w = 0; w < FOUND; w++) {
		if (c->is_known[w] && !c->match[w][line])
			return false;
		where[w] = c->is_known[w] ? c->match[w][line] - 1 : 0;
	}
	where[FOUND] = line;
	return true;
}

void dump_diff_make(struct dump_diff *d, const char *before, const char *after, const char *found)
{
	const char *const texts[DUMPS] = { before, after, found };
	struct comparing c = { .out = d };
	size_t where[DUMPS];

	*d = (struct dump_diff){ 0 };
	for (int w = 0; w < DUMPS; w++) {
		split(&c.lines[w], texts[w]);
		c.is_known[w] = texts[w] != NULL;
	}
	for (int w = 0; w < FOUND; w++) {
		c.match[w] = xcalloc(c.lines[FOUND].n + 1, sizeof *c.match[w]);
		match_lines(&c.lines[FOUND], &c.lines[w], c.match[w]);
	}
	for (size_t i = 0; i < c.lines[FOUND].n && (before || after); i++) {
		if (!is_in_all(&c, i, where))
			continue;
		add_difference(&c, where);
		for (int w = 0; w < DUMPS; w++)
			c.next[w] = where[w] + c.is_known[w];
	}
	for (int w = 0; w < DUMPS; w++)
		where[w] = c.lines[w].n;
	if (before || after)
		add_difference(&c, where);
	for (int w = 0; w < DUMPS; w++) {
		vec_release(&c.lines[w]);
		free(c.match[w]);
	}
}

void dump_diff_release(struct dump_diff *d)
{
	for (size_t i = 0; i < d->list.n; i++) {
		free((char *)d->list.at[i].before);
		free((char *)d->list.at[i].after);
		free((char *)d->list.at[i].found);
	}
	vec_release(&d->list);
}

char *dump_diff_excerpt(const char *text, size_t line)
{
	const size_t len = strlen(text);
	const char *at = text;
	size_t n = EXCERPT_BYTES;
	char left_before[64] = "", left_after[64] = "";

	if (len <= EXCERPT_BYTES)
		return xstrdup(text);
	for (size_t skip = line > EXCERPT_BEFORE ? line - EXCERPT_BEFORE : 0; skip > 0; skip--) {
		const char *end = strchr(at, '\n');

		if (!end)
			break;
		at = end + 1;
	}
	if (n > len - (size_t)(at - text))
		n = len - (size_t)(at - text);
	while (n > 0 && is_continued(at[n]))
		n--;
	if (at > text)
		snprintf(left_before, sizeof left_before, "[... %zu bytes left out ...]\n",
			 (size_t)(at - text));
	if (at[n])
		snprintf(left_after, sizeof left_after, "\n[... %zu bytes left out ...]\n",
			 len - n - (size_t)(at - text));
	return xasprintf("%s%.*s%s", left_before, (int)n, at, left_after);
}
