/* Finds the sites of a trace inside pmemobj_create() and similar functions, by the functions'
 * names. Sites without PMDK on their stack are not looked up. */
#include "crash/setup/pool_making.h"

#include "source/locate.h"
#include "trace/owner.h"

static bool has_pmdk(const struct trace_site *site)
{
	if (owner_of_site(site) == OWNER_PMDK)
		return true;
	for (const struct trace_node *node = site->node; node; node = node->parent)
		if (node->object && owner_of_object(node->object->path) == OWNER_PMDK)
			return true;
	return false;
}

void pool_making_find(struct plan *p)
{
	struct locator *l = locator_new(p->trace, NULL);
	const struct frame *list;

	p->making.n = 0;
	for (size_t i = 0; i < p->sites.n; i++) {
		const struct trace_site *site = p->sites.at[i];
		size_t n = site && has_pmdk(site) ? locate_stack(l, site, &list) : 0;

		*vec_add(&p->making) = n > 0 && locate_makes_pool(list, n);
	}
	locator_free(l);
}
