/* Knows the functions that fill the memory an argument points to. Variants of libc and of compilers
 * count as the function itself. */
#include "source/writers.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A name that ends in * stands for all names that begin so. */
static const struct writer {
	const char *name;
	int argument;
} writers[] = {
	{ "pmemobj_memcpy*", 1 },
	{ "pmemobj_memmove*", 1 },
	{ "pmemobj_memset*", 1 },
	{ "pmem_memcpy*", 0 },
	{ "pmem_memmove*", 0 },
	{ "pmem_memset*", 0 },
	{ "mem*", 0 },
	{ "wmem*", 0 },
	{ "str*", 0 },
	{ "stp*", 0 },
	{ "__builtin___*", 0 },
	{ "__builtin_mem*", 0 },
	{ "__builtin_st*", 0 },
	{ "__builtin_nontemporal_store", 1 },
	{ "__builtin_ia32_movnt*", 0 },
	{ "__sync_*", 0 },
	{ "__atomic_*", 0 },
	{ "_mm_store*", 0 },
	{ "_mm_stream_*", 0 },
	{ "_mm256_store*", 0 },
	{ "_mm256_stream_*", 0 },
	{ "_mm_maskmoveu*", 2 },
	{ "vst1*", 0 },
	{ "vst2*", 0 },
	{ "vst3*", 0 },
	{ "vst4*", 0 },
	{ "__builtin_neon_vst*", 0 },
	{ "__aarch64_cas*", 2 },
	{ "__aarch64_*", 1 },
	{ "bzero", 0 },
	{ "explicit_bzero", 0 },
	{ "bcopy", 1 },
	{ "sprintf", 0 },
	{ "snprintf", 0 },
	{ "vsprintf", 0 },
	{ "vsnprintf", 0 },
	{ "read", 1 },
	{ "pread*", 1 },
	{ "recv*", 1 },
	{ "fread", 0 },
	{ "fgets", 0 },
	{ "getrandom", 0 },
	{ "getline", 0 },
	{ "qsort*", 0 },
	{ "uuid_*", 0 },
};

/* Drops the underscores of names such as __memmove_avx_unaligned_erms. */
static const char *plain_name(const char *name)
{
	const char *plain = name;

	while (*plain == '_')
		plain++;
	return strncmp(plain, "mem", 3) == 0 || strncmp(plain, "str", 3) == 0 ||
			       strncmp(plain, "stp", 3) == 0
		       ? plain
		       : name;
}

int writer_argument(const char *name)
{
	name = name ? plain_name(name) : NULL;
	for (size_t i = 0; name && i < sizeof writers / sizeof writers[0]; i++) {
		size_t len = strlen(writers[i].name) - 1;
		bool is_start = writers[i].name[len] == '*';

		if (is_start ? strncmp(name, writers[i].name, len) == 0
			     : strcmp(name, writers[i].name) == 0)
			return writers[i].argument;
	}
	return -1;
}

int writer_source(const char *name)
{
	int to = writer_argument(name);

	if (to < 0 ||
	    !(strstr(name, "memcpy") || strstr(name, "memmove") || strstr(name, "mempcpy")))
		return -1;
	return to + 1;
}

int writer_length(const char *name)
{
	int to = writer_argument(name);

	return to >= 0 && (strstr(name, "memcpy") || strstr(name, "memmove") ||
			   strstr(name, "memset") || strstr(name, "mempcpy"))
		       ? to + 2
		       : -1;
}
