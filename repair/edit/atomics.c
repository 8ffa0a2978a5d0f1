/* Recognises calls of std::atomic<T> that store. The functions are in the compiler's headers, so
 * the store is attributed to the call; it writes to the object itself. */
#include <string.h>

#include "repair/edit/internal.h"

static bool is_writer(const char *name)
{
	static const char *const writers[] = { "store",
					       "exchange",
					       "fetch_add",
					       "fetch_sub",
					       "fetch_and",
					       "fetch_or",
					       "fetch_xor",
					       "compare_exchange_weak",
					       "compare_exchange_strong",
					       "test_and_set",
					       "clear",
					       "operator=",
					       "operator++",
					       "operator--",
					       "operator+=",
					       "operator-=",
					       "operator&=",
					       "operator|=",
					       "operator^=" };

	for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
		if (strcmp(name, writers[i]) == 0)
			return true;
	return false;
}

const struct source_node *atomic_object(const struct source_node *call)
{
	const struct source_node *object =
		call->kind == SOURCE_CALL && call->name && is_writer(call->name) ? call->child
										 : NULL;

	/* o.store(…): the callee is a member of the object */
	if (object && strncmp(call->name, "operator", 8) != 0)
		object = object->kind == SOURCE_MEMBER ? object->child : NULL;
	return object && object->type && strstr(object->type, "atomic") &&
			       !node_is_own_variable(object)
		       ? object
		       : NULL;
}
