/* Creates and frees what is known of how the code base flushes. The pointer `way_of` lets lower
 * files of this folder call way_function.c, which is above them. */
#include "repair/idiom/idiom.h"

#include <stdlib.h>

#include "repair/idiom/internal.h"

void idiom_new(struct repair *r)
{
	r->idioms = xcalloc(1, sizeof *r->idioms);
	r->idioms->way_of = way_of_function;
}

void idiom_free(struct repair *r)
{
	map_release(&r->idioms->functions);
	map_release(&r->idioms->searched);
	vec_release(&r->idioms->pointed);
	vec_release(&r->idioms->does);
	vec_release(&r->idioms->ways);
	for (size_t i = 0; i < r->idioms->patterns.n; i++) {
		vec_release(&r->idioms->patterns.at[i]->list);
		free(r->idioms->patterns.at[i]);
	}
	vec_release(&r->idioms->patterns);
	free(r->idioms);
}
