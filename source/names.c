/* Gives each different string a number, in the order in which strings come, so numbers are the same
 * in every run. */
#include "source/names.h"

#include <string.h>

#include "util/hash.h"

uint32_t names_add(struct names *n, const char *text)
{
	uint64_t h = hash_text(text);
	uintptr_t i;

	for (; (i = (uintptr_t)map_get(&n->numbers, h)) != 0; h++)
		if (strcmp(n->list.at[i - 1], text) == 0)
			return (uint32_t)i - 1;
	*vec_add(&n->list) = arena_text(&n->arena, text);
	map_set(&n->numbers, h, (void *)(uintptr_t)n->list.n);
	return (uint32_t)n->list.n - 1;
}

void names_release(struct names *n)
{
	arena_release(&n->arena);
	vec_release(&n->list);
	map_release(&n->numbers);
}
