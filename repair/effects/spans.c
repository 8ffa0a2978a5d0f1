/* Compares ranges of bytes: whether two may share a line or a byte, and whether one is certainly
 * inside the other. Ranges with different roots may still be the same memory, unless they are in
 * structures of different types. */
#include <stdlib.h>
#include <string.h>

#include "repair/effects/flow.h"

enum { LINE_BYTES = 64 };

static bool is_same_root(const struct value *a, const struct value *b)
{
	return a->is_known && b->is_known && a->root && b->root && strcmp(a->root, b->root) == 0;
}

/* Asks whether inner's root begins with outer's: "x+i*8" is inside "x". */
static bool is_inside_root(const struct value *inner, const struct value *outer)
{
	size_t len = inner->root && outer->root ? strlen(outer->root) : 0;

	return len && strncmp(inner->root, outer->root, len) == 0 &&
	       (inner->root[len] == 0 || inner->root[len] == '+');
}

bool span_is_same_base(const struct span *a, const struct span *b)
{
	return is_inside_root(&a->addr, &b->addr) || is_inside_root(&b->addr, &a->addr);
}

static bool is_number(const struct value *v)
{
	return v->is_known && !v->root && !v->is_least;
}

static uint32_t block_of(const struct value *v)
{
	return v->align_bytes > LINE_BYTES ? LINE_BYTES : v->align_bytes ? v->align_bytes : 1;
}

static int64_t floor_to(int64_t at, uint32_t block)
{
	return at >= 0 ? at / block : -((-at + block - 1) / block);
}

/* Finds the offset of the byte behind the range; false: unknown. */
static bool end_of(const struct span *s, int64_t *end)
{
	*end = s->addr.offset + (is_number(&s->len) ? s->len.offset : s->max_bytes);
	return is_number(&s->len) || s->max_bytes;
}

/* Asks whether two ranges share a line. They must have the same root. */
static bool shares_line(const struct span *a, const struct span *b)
{
	uint32_t block =
		block_of(&a->addr) > block_of(&b->addr) ? block_of(&a->addr) : block_of(&b->addr);
	int64_t slack = LINE_BYTES / block - 1, end;
	int64_t a_first = floor_to(a->addr.offset, block),
		b_first = floor_to(b->addr.offset, block);

	if (end_of(a, &end) && floor_to(end - 1, block) + slack < b_first)
		return false;
	return !end_of(b, &end) || floor_to(end - 1, block) + slack >= a_first;
}

/* Asks whether the range of an array's element may share a line with the other range. An element
 * cannot be before its array. */
static bool element_may_hit(const struct span *element, const struct span *other)
{
	struct span from = *element;

	if (element->addr.root[strlen(other->addr.root) + 1] != '{')
		return true;
	from.addr = other->addr;
	from.addr.offset = element->addr.offset;
	from.len.is_known = false;
	from.max_bytes = 0;
	return shares_line(&from, other);
}

bool span_may_hit(const struct span *stored, const struct span *range)
{
	if (!stored->addr.is_known || !range->addr.is_known)
		return true;
	if (is_same_root(&stored->addr, &range->addr))
		return shares_line(stored, range);
	if (is_inside_root(&stored->addr, &range->addr))
		return element_may_hit(stored, range);
	if (is_inside_root(&range->addr, &stored->addr))
		return element_may_hit(range, stored);
	if (!stored->type || !range->type || strcmp(stored->type, range->type) == 0)
		return true;
	/* different structures: only the larger one may contain the other */
	return !is_number(&range->len) || range->len.offset >= stored->object_bytes;
}

/* Asks whether the element of an array is behind a range that ends before the array begins. */
static bool is_behind(const struct span *element, const struct span *other)
{
	int64_t end;

	return element->addr.is_known && other->addr.is_known &&
	       is_inside_root(&element->addr, &other->addr) &&
	       !is_same_root(&element->addr, &other->addr) &&
	       element->addr.root[strlen(other->addr.root) + 1] == '{' && end_of(other, &end) &&
	       end <= element->addr.offset;
}

bool span_may_overlap(const struct span *stored, const struct span *range)
{
	int64_t end;

	if (is_behind(stored, range) || is_behind(range, stored))
		return false;
	if (!is_same_root(&stored->addr, &range->addr))
		return span_may_hit(stored, range);
	return !((end_of(stored, &end) && end <= range->addr.offset) ||
		 (end_of(range, &end) && end <= stored->addr.offset));
}

bool span_is_in_line(const struct span *s, const struct value *addr)
{
	uint32_t block = block_of(addr) > block_of(&s->addr) ? block_of(addr) : block_of(&s->addr);

	return is_same_root(&s->addr, addr) && is_number(&s->len) && s->len.offset > 0 &&
	       floor_to(s->addr.offset, block) ==
		       floor_to(s->addr.offset + s->len.offset - 1, block) &&
	       floor_to(s->addr.offset, block) == floor_to(addr->offset, block);
}

bool span_is_within(const struct span *s, const struct span *range)
{
	int64_t skipped = s->addr.offset - range->addr.offset;

	if (!is_same_root(&s->addr, &range->addr))
		return false;
	if (span_is_in_line(s, &range->addr))
		return true;
	if (is_number(&range->len) && range->len.offset == 1 && skipped == 0 &&
	    is_number(&s->len) && s->len.offset <= LINE_BYTES)
		/* a flush of one line for this address is taken to cover an object of at most a
		 * line */
		return true;
	if (skipped >= 0 && s->max_bytes && range->len.is_known &&
	    skipped + s->max_bytes <= range->len.offset)
		return true;
	if (skipped < 0 || !s->len.is_known || s->len.is_least || !range->len.is_known)
		return false;
	if (s->len.root && (!range->len.root || strcmp(s->len.root, range->len.root) != 0))
		return false;
	/* a length that is no number is not negative */
	return skipped + s->len.offset <= range->len.offset;
}

bool spans_cover(const struct span *clean, size_t n, const struct span *range)
{
	int64_t at = range->addr.offset, end = at + range->len.offset;
	bool has_moved = true;

	for (size_t i = 0; i < n; i++)
		if (span_is_within(range, &clean[i]))
			return true;
	if (!is_number(&range->len))
		return false;
	while (at < end && has_moved) {
		has_moved = false;
		for (size_t i = 0; i < n; i++)
			if (is_same_root(&clean[i].addr, &range->addr) &&
			    is_number(&clean[i].len) && clean[i].addr.offset <= at &&
			    clean[i].addr.offset + clean[i].len.offset > at) {
				at = clean[i].addr.offset + clean[i].len.offset;
				has_moved = true;
			}
	}
	return at >= end;
}
