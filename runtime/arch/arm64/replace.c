/* Replaces the system calls in code by `udf`, so that they end in SIGILL. Calls of rt_sigreturn
 * stay, since unwinders recognise signal frames by them. */
#include "gate.h"
#include "patch.h"

static bool replace_call(struct patch_place *p, uint32_t *word)
{
	const uint32_t slot = patch_open(p) ? slots_make((uint64_t)word) : 0;

	if (!slot)
		return false;
	__atomic_store_n(word, slot, __ATOMIC_RELAXED); /* udf #slot */
	__builtin___clear_cache((char *)word, (char *)(word + 1));
	return true;
}

static bool replace_calls(struct patch_place *p, uint64_t from, uint64_t to)
{
	uint32_t *start = (uint32_t *)((from + 3) & ~3ul), *end = (uint32_t *)(to & ~3ul);
	const bool has_literals = text_has_named_call(start, end);
	bool is_ok = true;

	for (uint32_t *w = start; w < end; w++)
		if (*w == SVC && !(w > start && w[-1] == MOV_X8_SIGRETURN) &&
		    !(has_literals && text_is_literal(start, end, w)))
			is_ok &= replace_call(p, w);
	return is_ok;
}

const struct patch_table calls_table = { .replace = replace_calls,
					 .is_own = slots_are_at,
					 .close = slots_close,
					 .leaves_writable = true };
