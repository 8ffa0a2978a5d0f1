/* Knows the functions of libraries and of the compiler that flush or fence, and what a function's
 * name promises. */
#include <string.h>

#include "repair/idiom/idiom.h"

static const struct known {
	const char *name;
	unsigned does;
} known[] = {
	{ "_mm_clwb", DOES_FLUSH },
	{ "_mm_clflushopt", DOES_FLUSH },
	{ "_mm_clflush", DOES_FLUSH },
	{ "__builtin_ia32_clwb", DOES_FLUSH },
	{ "__builtin_ia32_clflushopt", DOES_FLUSH },
	{ "__builtin_ia32_clflush", DOES_FLUSH },
	{ "_mm_sfence", DOES_FENCE },
	{ "_mm_mfence", DOES_FENCE },
	{ "__builtin_ia32_sfence", DOES_FENCE },
	{ "__builtin_ia32_mfence", DOES_FENCE },
	{ "pmem_flush", DOES_FLUSH },
	{ "pmem_deep_flush", DOES_FLUSH },
	{ "pmem_drain", DOES_FENCE },
	{ "pmem_deep_drain", DOES_FENCE },
	{ "pmem_persist", DOES_FLUSH | DOES_FENCE },
	{ "pmem_deep_persist", DOES_FLUSH | DOES_FENCE },
	{ "pmem_msync", DOES_FLUSH | DOES_FENCE },
	{ "pmemobj_flush", DOES_FLUSH },
	{ "pmemobj_drain", DOES_FENCE },
	{ "pmemobj_persist", DOES_FLUSH | DOES_FENCE },
	{ NULL, 0 },
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
