/* Writes the lines of code that flush a range and fence, in the idiom of a file. If the file can
 * only flush single lines, a longer range gets a loop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repair/idiom/idiom.h"

static const char *fill(struct repair *r, const char *pattern, const char *addr, const char *len)
{
	char *out = NULL;
	size_t room = 0;
	FILE *f = open_memstream(&out, &room);
	const char *copy, *begin = pattern;

	while (*pattern) {
		if (strncmp(pattern, "{addr}", 6) == 0) {
			bool is_cast = pattern > begin && pattern[-1] == ')' && addr[0] != '&';

			fputs(is_cast ? text_wrapped(r->code, addr) : addr, f);
			pattern += 6;
		} else if (strncmp(pattern, "{len}", 5) == 0) {
			fputs(len, f);
			pattern += 5;
		} else {
			fputc(*pattern++, f);
		}
	}
	fclose(f);
	copy = text_copy(r->code, out, strlen(out));
	free(out);
	return copy;
}

/* Writes a loop over the lines of the range. */
static const char *line_loop(struct repair *r, const struct idiom *i, const struct range *range)
{
	return text_format(
		r->code,
		"for (const char *line = (const char *)((unsigned long)(%s) & ~63ul), *end = (const char *)(%s) + (%s); line < end; "
		"line += 64)\n\t%s",
		range->addr, range->addr, range->len, fill(r, i->line.call, "(void *)line", "64"));
}

static void add(struct idiom_line *lines, size_t *n, const char *text, const char *guard)
{
	lines[(*n)++] = (struct idiom_line){ .text = text, .guard = guard };
}

/* Returns the idiom without the calls that cannot be used in an expression. */
static struct idiom expressions_of(const struct idiom *given)
{
	struct idiom i = *given;
	struct idiom_call *const calls[] = { &i.flush, &i.persist, &i.line, &i.fence };

	for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++)
		if (calls[k]->is_statement || calls[k]->guard)
			*calls[k] = (struct idiom_call){ 0 };
	return i;
}

const struct idiom_line *idiom_lines(struct repair *r, const struct idiom *given,
				     const struct range *range, bool flush, bool fence,
				     bool as_expression, const char **why)
{
	struct idiom_line *lines = arena_alloc(&r->code->arena, 3 * sizeof *lines);
	const struct idiom i = as_expression ? expressions_of(given) : *given;
	const char *addr = flush && range->is_volatile
				   ? text_format(r->code, "(void *)%s", range->addr)
				   : range->addr;
	bool by_line =
		flush && i.line.call && range->is_one_line && (i.prefers_line || !i.flush.call);
	/* If no fence is needed, a function that also fences does more than necessary. */
	bool persists = flush && i.persist.call &&
			((fence && i.prefers_persist &&
			  (i.persist.uses > 0 || !(by_line && i.prefers_line))) ||
			 (!fence && i.needs_persist) ||
			 (!i.flush.call && !by_line && !(i.line.call && !fence)));
	/* Objects that flush in their destructor are used only if they are the file's most frequent
	 * way, or its only one. */
	bool by_scope = flush && !as_expression && i.scope.call &&
			(!fence || i.scope.does & DOES_FENCE) &&
			(i.scope.uses > i.persist.uses + i.flush.uses + i.line.uses ||
			 !(i.persist.call || i.flush.call || i.line.call));
	size_t n = 0;

	*why = NULL;
	if (by_scope) {
		add(lines, &n, fill(r, i.scope.call, addr, range->len), NULL);
		lines[0].is_scope = true;
		fence = false;
	} else if (persists) {
		add(lines, &n, fill(r, i.persist.call, addr, range->len), i.persist.guard);
		fence = false;
	} else if (by_line) {
		add(lines, &n, fill(r, i.line.call, addr, range->len), i.line.guard);
	} else if (flush && i.flush.call) {
		add(lines, &n, fill(r, i.flush.call, addr, range->len), i.flush.guard);
	} else if (flush && i.line.call) {
		add(lines, &n, line_loop(r, &i, range), i.line.guard);
		if (as_expression)
			*why = "a flush of a range is not an expression here; say which function does it with --flush-call";
	} else if (flush && r->options->is_page_cache) {
		*why = "this file shows no way to sync what is stored: no helper for a range, no msync of the object, no fsync of the mapped file; say which call does it with --flush-call";
	} else if (flush) {
		*why = "this file shows no way to flush; say which with --flush-call and --fence-call";
	}
	fence &= !r->options->is_page_cache; /* msync waits by itself */
	if (fence && i.fence.call)
		add(lines, &n, i.fence.call, i.fence.guard);
	else if (fence)
		*why = "this file shows no way to fence; say which with --fence-call";
	if (*why && as_expression && (given->flush.call || given->line.call || given->persist.call))
		*why = "the flush of this file is no expression; say which function does it with --flush-call and --fence-call";
	lines[n] = (struct idiom_line){ 0 };
	return *why ? NULL : lines;
}
