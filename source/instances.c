/* Remembers which objects are at which addresses. Objects (instances) of one type in one page form
 * a list, so a search looks only at the pages in which the object can begin. */
#include "source/instances.h"

enum { PAGE_BITS = 12, SEARCH_PAGES = 64, HOLDERS_MAX = 4096 };

static uint64_t page_key(uint32_t type, uint64_t page)
{
	return (((uint64_t)type + 1) << 52) ^ page;
}

void instances_release(struct instances *s)
{
	vec_release(&s->list);
	map_release(&s->pages);
	map_release(&s->words);
	vec_release(&s->holders);
}

static uint32_t first_of(const struct instances *s, uint32_t type, uint64_t page)
{
	return (uint32_t)((uintptr_t)map_get(&s->pages, page_key(type, page)) >> 1);
}

/* Sets the first instance of this type in the page. The lowest bit of the map's value is always
 * set, because a map cannot hold NULL. */
static void set_first(struct instances *s, uint32_t type, uint64_t page, uint32_t number)
{
	map_set(&s->pages, page_key(type, page), (void *)((uintptr_t)number << 1 | 1));
}

static uint32_t find_exact(const struct instances *s, uint32_t type, uint64_t start)
{
	uint32_t i = first_of(s, type, start >> PAGE_BITS);

	while (i && s->list.at[i - 1].start != start)
		i = s->list.at[i - 1].next;
	return i;
}

static uint32_t instance_new(struct instances *s, uint32_t type, const struct layout *layout,
			     uint64_t start, bool is_guess)
{
	uint64_t page = start >> PAGE_BITS;

	*vec_add(&s->list) = (struct instance){ .start = start,
						.type = type,
						.layout = layout,
						.is_guess = is_guess,
						.next = first_of(s, type, page) };
	set_first(s, type, page, (uint32_t)s->list.n);
	return (uint32_t)s->list.n - 1;
}

/* ---- structs inside structs ---- */

static bool holds_struct(const struct layout *l)
{
	for (size_t i = 0; i < l->nfields; i++) {
		const struct layout *part = l->fields[i].type;

		while (part->kind == LAYOUT_ARRAY && part->element)
			part = part->element;
		if (part->kind == LAYOUT_STRUCT || part->kind == LAYOUT_UNION)
			return true;
	}
	return false;
}

static void note_holder(struct instances *s, uint32_t number)
{
	if (s->holders.n < HOLDERS_MAX && holds_struct(s->list.at[number].layout))
		*vec_add(&s->holders) = number;
}

const struct instance *instances_holder(const struct instances *s, const struct layout *inner,
					uint64_t start)
{
	const struct instance *best = NULL;

	for (size_t i = 0; i < s->holders.n; i++) {
		const struct instance *n = &s->list.at[s->holders.at[i]];
		struct place p = { .root = n->layout,
				   .target = n->layout,
				   .extra_bytes = start - n->start };

		if (start < n->start || start - n->start >= n->layout->size_bytes ||
		    n->layout->size_bytes <= inner->size_bytes)
			continue;
		if ((!best || n->layout->size_bytes > best->layout->size_bytes) &&
		    place_reach(&p, inner))
			best = n;
	}
	return best;
}

uint32_t instances_add(struct instances *s, uint32_t type, const struct layout *layout,
		       uint64_t start)
{
	uint32_t i = find_exact(s, type, start);

	if (!i)
		i = instance_new(s, type, layout, start, false) + 1;
	else if (s->list.at[i - 1].is_guess)
		s->list.at[i - 1].is_guess = false;
	if (s->list.at[i - 1].nseen++ == 0)
		note_holder(s, i - 1);
	return i - 1;
}

const struct instance *instances_covering(const struct instances *s, uint32_t type,
					  const struct layout *layout, uint64_t addr)
{
	const uint64_t size = layout->size_bytes, low = addr >= size ? addr - size + 1 : 0;
	const struct instance *best = NULL;

	if (!size || size > (uint64_t)SEARCH_PAGES << PAGE_BITS)
		return NULL;
	for (uint64_t page = low >> PAGE_BITS; page <= addr >> PAGE_BITS; page++)
		for (uint32_t i = first_of(s, type, page); i; i = s->list.at[i - 1].next) {
			const struct instance *n = &s->list.at[i - 1];

			if (!n->is_guess && n->start >= low && n->start <= addr &&
			    (!best || n->nseen > best->nseen ||
			     (n->nseen == best->nseen && n < best)))
				best = n;
		}
	return best;
}

static uint64_t span_of(uint64_t stride, uint64_t count)
{
	uint64_t limit = (uint64_t)SEARCH_PAGES << PAGE_BITS;

	return count && (count - 1) * stride < limit ? (count - 1) * stride : limit;
}

/* Finds the instance that begins highest in the range, at a multiple of stride below its end. 0 if
 * there is none. */
static uint32_t find_between(const struct instances *s, uint32_t type, uint64_t low, uint64_t high,
			     uint64_t stride, bool with_guesses)
{
	for (uint64_t page = high >> PAGE_BITS;; page--) {
		uint32_t best = 0;

		for (uint32_t i = first_of(s, type, page); i; i = s->list.at[i - 1].next) {
			const struct instance *n = &s->list.at[i - 1];

			if (n->start >= low && n->start <= high &&
			    (high - n->start) % stride == 0 && n->is_guess == with_guesses &&
			    (!best || n->start > s->list.at[best - 1].start))
				best = i;
		}
		if (best || page <= low >> PAGE_BITS)
			return best;
	}
}

static void unlink_instance(struct instances *s, uint32_t number)
{
	struct instance *n = &s->list.at[number - 1];
	uint64_t page = n->start >> PAGE_BITS;
	uint32_t i = first_of(s, n->type, page);

	if (i == number) {
		set_first(s, n->type, page, n->next);
		return;
	}
	while (s->list.at[i - 1].next != number)
		i = s->list.at[i - 1].next;
	s->list.at[i - 1].next = n->next;
}

/* Moves an instance whose beginning was guessed to a lower beginning. */
static void move_down(struct instances *s, uint32_t number, uint64_t start)
{
	struct instance *n = &s->list.at[number - 1];

	unlink_instance(s, number);
	n->start = start;
	n->next = first_of(s, n->type, start >> PAGE_BITS);
	set_first(s, n->type, start >> PAGE_BITS, number);
}

bool instances_known(const struct instances *s, uint32_t type, uint64_t first, uint64_t stride,
		     uint64_t count, uint64_t *start)
{
	uint64_t span = span_of(stride, count);
	uint32_t i = find_between(s, type, first > span ? first - span : 0, first, stride, false);

	if (i)
		*start = s->list.at[i - 1].start;
	return i != 0;
}

uint32_t instances_place(struct instances *s, uint32_t type, const struct layout *layout,
			 uint64_t first, uint64_t stride, uint64_t count)
{
	uint64_t span = span_of(stride, count), low = first > span ? first - span : 0;
	uint32_t i = find_between(s, type, low, first, stride, false);

	if (!i)
		i = find_between(s, type, low, first, stride, true);
	if (!i && count) { /* without bounds, nothing says how far a guessed array reaches */
		i = find_between(s, type, first, first + span, stride, true);
		if (i)
			move_down(s, i, first);
	}
	return i ? i - 1 : instance_new(s, type, layout, first, true);
}

void instances_mark(struct instances *s, uint32_t instance, uint64_t addr, uint64_t size_bytes)
{
	for (uint64_t word = addr >> 3; word <= (addr + size_bytes - 1) >> 3; word++)
		map_set(&s->words, word, (void *)(uintptr_t)(instance + 1));
}

/* Marks words as unknown. (They stay in the map, because nothing can be removed from a map.) */
void instances_forget(struct instances *s, uint64_t addr, uint64_t size_bytes)
{
	for (uint64_t word = addr >> 3; word <= (addr + size_bytes - 1) >> 3; word++)
		if (map_get(&s->words, word))
			map_set(&s->words, word, (void *)(uintptr_t)UINT32_MAX);
}

const struct instance *instances_at(const struct instances *s, uint64_t addr)
{
	uint32_t i = (uint32_t)(uintptr_t)map_get(&s->words, addr >> 3);

	return i && i != UINT32_MAX ? &s->list.at[i - 1] : NULL;
}
