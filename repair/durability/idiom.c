/* What functions do, flush or fence: told by the body, if there is one, else by the name. Inline assembly that is not known does what its function's name says. */
#include <string.h>

#include "repair/durability/internal.h"

static const struct known {
	const char *name;
	unsigned does;
} known[] = {
	{ "_mm_clwb", DOES_FLUSH },    { "_mm_clflushopt", DOES_FLUSH }, { "_mm_clflush", DOES_FLUSH }, { "pmem_flush", DOES_FLUSH },
	{ "pmem_deep_flush", DOES_FLUSH }, { "pmemobj_flush", DOES_FLUSH }, { "_mm_sfence", DOES_FENCE }, { "_mm_mfence", DOES_FENCE },
	{ "pmem_drain", DOES_FENCE },  { "pmemobj_drain", DOES_FENCE },	 { "pmem_persist", DOES_FLUSH | DOES_FENCE },
	{ "pmemobj_persist", DOES_FLUSH | DOES_FENCE }, { "pmem_msync", DOES_FLUSH | DOES_FENCE }, { NULL, 0 },
};

unsigned idiom_known(const char *name)
{
	for (const struct known *k = known; k->name; k++)
		if (strcmp(k->name, name) == 0)
			return k->does;
	return 0;
}

static bool has_word(const char *name, const char *word)
{
	size_t len = strlen(word);

	for (; *name; name++)
		if (strncasecmp(name, word, len) == 0)
			return true;
	return false;
}

unsigned idiom_name(const char *name)
{
	if (has_word(name, "persist"))
		return DOES_FLUSH | DOES_FENCE;
	if (has_word(name, "flush") || has_word(name, "clwb"))
		return DOES_FLUSH;
	return has_word(name, "fence") || has_word(name, "drain") ? DOES_FENCE : 0;
}

bool idiom_is_flush(const char *name)
{
	return (idiom_name(name) | idiom_known(name)) & DOES_FLUSH;
}

unsigned idiom_body(const struct source_unit *u, const struct source_function *f, int depth)
{
	unsigned does = 0, by_asm;
	const char *flush;

	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		const struct source_function *callee = n->kind == SOURCE_CALL && n->name ? function_named(u, n->name) : NULL;

		if (n->kind == SOURCE_CALL && n->name)
			does |= idiom_known(n->name);
		if (callee && depth < 3)
			does |= idiom_body(u, callee, depth + 1);
		if (n->kind == SOURCE_ASM)
			does |= idiom_asm(u, n, &by_asm, &flush) ? by_asm : idiom_name(f->name);
		if (node_is_assignment(n) && n->child && n->child->kind != SOURCE_NAME)
			does |= DOES_STORE;
	}
	return does;
}

/* A function that is made to flush or fence, and does not merely have that in its name. */
bool idiom_is_helper(const struct source_unit *u, const struct source_function *f)
{
	return idiom_name(f->name) && !(idiom_body(u, f, 0) & DOES_STORE);
}
