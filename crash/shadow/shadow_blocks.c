/* Keeps the blocks that an allocator gave out uninitialised, until all of their bytes were stored
 * to. Blocks are in the order of their allocation; those that are completely initialised are
 * dropped. */
#include "crash/shadow/shadow_internal.h"

#include <string.h>

#define BLOCKS_MAX 65536u
#define BLOCK_LINES_MAX 64u /* lines of a block that are looked at */

void shadow_blocks_add(struct shadow *s, const struct trace_event *ev, bool is_trusted)
{
	if (s->blocks.n == BLOCKS_MAX) {
		s->blocks.n -= BLOCKS_MAX / 2;
		memmove(s->blocks.at, s->blocks.at + BLOCKS_MAX / 2,
			s->blocks.n * sizeof *s->blocks.at);
	}
	s->has_blocks = true;
	*vec_add(&s->blocks) = (struct shadow_block){ ev->addr,
						      ev->arg[0],
						      { ev->seq, ev->site, is_trusted, false } };
}

bool shadow_has_blocks(const struct shadow *s)
{
	return s->has_blocks;
}

static bool is_given(const struct shadow *s, const struct shadow_block *b, uint64_t addr)
{
	return addr - b->addr < b->len_bytes && shadow_byte(s, addr).last.seq < b->given.seq;
}

const struct shadow_block *shadow_uninitialised(const struct shadow *s, uint64_t addr)
{
	for (size_t i = s->blocks.n; i-- > 0;)
		if (addr - s->blocks.at[i].addr < s->blocks.at[i].len_bytes)
			return is_given(s, &s->blocks.at[i], addr) ? &s->blocks.at[i] : NULL;
	return NULL;
}

/* Calls the function for the uninitialised lines of a block; returns how many there were. */
static size_t tell_block(const struct shadow *s, const struct shadow_block *b, size_t max_lines,
			 void (*f)(uint64_t addr, uint64_t mask, void *arg), void *arg)
{
	uint64_t line = b->addr / SHADOW_LINE * SHADOW_LINE;
	size_t n = 0;

	for (size_t k = 0; k < BLOCK_LINES_MAX && line < b->addr + b->len_bytes && n < max_lines;
	     k++, line += SHADOW_LINE) {
		uint64_t mask = 0;

		for (uint64_t i = 0; i < SHADOW_LINE; i++)
			mask |= (uint64_t)is_given(s, b, line + i) << i;
		if (!mask)
			continue;
		f(line, mask, arg);
		n++;
	}
	return n;
}

void shadow_each_uninitialised(struct shadow *s, uint64_t since_seq, size_t max_lines,
			       void (*f)(uint64_t addr, uint64_t mask, void *arg), void *arg)
{
	size_t total = 0, to = s->blocks.n, i = s->blocks.n, n;

	while (i > 0 && total < max_lines && s->blocks.at[i - 1].given.seq >= since_seq) {
		n = tell_block(s, &s->blocks.at[--i], max_lines - total, f, arg);
		total += n;
		/* kept blocks move to the end; a large block may have more lines than were looked
		 * at */
		if (n > 0 || s->blocks.at[i].len_bytes > BLOCK_LINES_MAX * SHADOW_LINE)
			s->blocks.at[--to] = s->blocks.at[i];
	}
	if (to > i) {
		memmove(s->blocks.at + i, s->blocks.at + to,
			(s->blocks.n - to) * sizeof *s->blocks.at);
		s->blocks.n -= to - i;
	}
}
