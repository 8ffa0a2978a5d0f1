/* What is known of how the code base flushes: begins empty. Which file tells the way of a function
 * is put in here, as lower ones ask, too. */
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
