/* Prints what a64/ makes of instruction words, one in hexadecimal per line of standard input, for run.py to compare. Vectors have 32 bytes. */
#include <inttypes.h>
#include <stdio.h>

#include "a64/a64.h"

#define VECTOR_BYTES 32u
#define CLEAR_BYTES 64u

static const char *const kinds[] = { "other", "load", "store", "load-exclusive", "store-exclusive", "atomic", "prefetch", "flush", "clear" };
static const char *const files[] = { "general", "vector", "scalable", "predicate" };
static const char *const modes[] = { "offset", "pre", "post", "index", "literal" };

static void print_registers(const struct a64 *a)
{
	for (unsigned i = 0; i < a->nregs; i++) {
		unsigned r = a->file == A64_GENERAL || (!a->is_structure && i > 0) ? (i ? a->rt2 : a->rt) : (a->rt + i) % 32;

		printf("%s%u", i ? "," : " regs=", r);
	}
}

static void print_address(const struct a64 *a)
{
	int64_t offset = a->is_vector_multiple ? a->offset * a64_bytes(a, VECTOR_BYTES, CLEAR_BYTES) : a->offset;

	printf(" %s", modes[a->mode]);
	if (a->mode != A64_LITERAL)
		printf(" base=%u", a->rn);
	if (a->has_index)
		printf(" index=%u,%u,%u", a->rm, a->extend, a->shift);
	else
		printf(" offset=%" PRId64, offset);
}

int main(void)
{
	uint32_t word;

	while (scanf("%" SCNx32, &word) == 1) {
		struct a64 a;

		a64_decode(&a, word);
		printf("%s", kinds[a.kind]);
		if (a.kind != A64_OTHER && a.kind != A64_FLUSH && a.kind != A64_CLEAR)
			print_address(&a);
		if (a.kind == A64_FLUSH || a.kind == A64_CLEAR)
			printf(" base=%u", a.rn);
		if (a64_bytes(&a, VECTOR_BYTES, CLEAR_BYTES))
			printf(" bytes=%u", a64_bytes(&a, VECTOR_BYTES, CLEAR_BYTES));
		if (a.nregs)
			printf(" %s", files[a.file]);
		print_registers(&a);
		if (a.kind == A64_STORE_EXCLUSIVE || a.kind == A64_ATOMIC)
			printf(" rs=%u", a.rs);
		if (a.file == A64_GENERAL && a.kind == A64_LOAD)
			printf(" to=%u", a.to_bytes);
		if (a.element_bytes)
			printf(" element=%u,%u pg=%u", a.each_bytes, a.element_bytes, a.pg);
		printf("%s%s%s%s\n", a.is_signed ? " signed" : "", a.is_hinted ? " hinted" : "", a.acquires ? " acquires" : "", a.releases ? " releases" : "");
	}
	return 0;
}
