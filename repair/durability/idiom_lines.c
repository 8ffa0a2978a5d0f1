/* The lines that flush a range and fence, in the idiom of a file. Where only lines can be flushed, a longer range takes a loop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repair/durability/internal.h"

static const char *fill(struct repair *r, const char *pattern, const char *addr, const char *len)
{
	char *out = NULL;
	size_t room = 0;
	FILE *f = open_memstream(&out, &room);
	const char *copy;

	while (*pattern) {
		if (strncmp(pattern, "{addr}", 6) == 0) {
			fputs(addr, f);
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

/* A loop over the lines of the range, where only lines can be flushed. */
static const char *line_loop(struct repair *r, const struct idiom *i, const struct range *range)
{
	return text_format(r->code, 
			   "for (const char *line = (const char *)((unsigned long)(%s) & ~63ul), *end = (const char *)(%s) + (%s); line < end; "
			   "line += 64)\n\t%s",
			   range->addr, range->addr, range->len, fill(r, i->line, "(void *)line", "64"));
}

const char **idiom_lines(struct repair *r, const struct idiom *given, const struct range *range, bool flush, bool fence, bool as_expression,
			 const char **why)
{
	const char **lines = arena_alloc(&r->code->arena, 3 * sizeof *lines);
	struct idiom some = *given, *i = &some;
	const char *addr = flush && range->is_volatile ? text_format(r->code, "(void *)%s", range->addr) : range->addr;
	size_t n = 0;
	bool by_line;

	*why = NULL;
	if (as_expression) {
		some.flush = given->flush_is_statement ? NULL : given->flush;
		some.persist = given->persist_is_statement ? NULL : given->persist;
		some.line = given->line_is_statement ? NULL : given->line;
		some.fence = given->fence_is_statement ? NULL : given->fence;
	}
	/* without a fence, a function that has one is more than is needed */
	by_line = flush && i->line && range->is_one_line && (i->prefers_line || !i->flush) && (i->prefers_line || !i->persist || !fence);
	if (flush && by_line) {
		lines[n++] = fill(r, i->line, addr, range->len);
	} else if (flush && i->persist && ((fence && i->prefers_persist) || !i->flush)) {
		lines[n++] = fill(r, i->persist, addr, range->len);
		fence = false;
	} else if (flush && i->flush) {
		lines[n++] = fill(r, i->flush, addr, range->len);
	} else if (flush && i->line) {
		lines[n++] = line_loop(r, i, range);
		if (as_expression)
			*why = "a flush of a range is not an expression here; say which function does it with --flush-call";
	} else if (flush) {
		*why = "this file shows no way to flush; say which with --flush-call and --fence-call";
	}
	if (fence && i->fence)
		lines[n++] = i->fence;
	else if (fence)
		*why = "this file shows no way to fence; say which with --fence-call";
	if (*why && as_expression && (given->flush || given->line || given->persist))
		*why = "the flush of this file is no expression; say which function does it with --flush-call and --fence-call";
	lines[n] = NULL;
	return *why ? NULL : lines;
}
