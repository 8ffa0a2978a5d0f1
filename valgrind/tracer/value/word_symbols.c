/* Numbers the symbols that stand for lengths and values of words. What the program computes from a
 * length is followed, except an address: `s + strlen(s)` is where the word ends, and the solver
 * could do nothing with a condition on that. */
#include "valgrind/tracer/value/word_symbols.h"

#define WORDS_MAX 256
#define DEPTH_MAX 16
#define ADDRESS_MIN 0x10000 /* nothing is mapped below */
#define ADDRESS_MAX (1ULL << 48)

static Bool g_is_length[WORDS_MAX];
static UInt g_nwords;
static ULong g_input_bytes;

Long words_add(ULong input_bytes, Bool is_length)
{
	if (g_nwords == WORDS_MAX)
		return -1;
	g_input_bytes = input_bytes;
	g_is_length[g_nwords] = is_length;
	return (Long)(input_bytes + WORD_BYTES * g_nwords++);
}

/* Asks whether the expression is computed from a length. It looks at the first non-constant operand
 * only. */
static Bool is_of_length(UInt id)
{
	for (UInt depth = 0; id != 0 && depth < DEPTH_MAX; depth++) {
		const struct expr *e = expr_at(g_pool, id);

		if (e->op == EXPR_INPUT)
			return e->k >= g_input_bytes &&
			       g_is_length[(e->k - g_input_bytes) / WORD_BYTES];
		id = expr_nargs(e->op) == 0 ? 0
					    : e->arg[expr_nargs(e->op) > 1 &&
						     expr_at(g_pool, e->arg[0])->op == EXPR_CONST];
	}
	return False;
}

static Bool is_base(struct val v)
{
	return v.id == 0 && v.v >= ADDRESS_MIN && v.v < ADDRESS_MAX;
}

Bool words_is_address(struct val a, struct val b)
{
	return g_nwords &&
	       ((is_base(a) && is_of_length(b.id)) || (is_base(b) && is_of_length(a.id)));
}
