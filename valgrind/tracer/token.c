/* Reports words of the input that were compared with a word of another length. Flipping branches
 * cannot make these equal: the word's end was decided earlier, by the code that split the input,
 * and the separator is usually overwritten. So `pmend explore` learns both words and may replace
 * one by the other (explore/path/token.h). */
#include "valgrind/tracer/token.h"

#include "valgrind/tracer/path/path.h"
#include "valgrind/tracer/sources.h"
#include "valgrind/tracer/value/memory.h"
#include "valgrind/tracer/value/word_symbols.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_machine.h"

#define TOKEN_BYTES_MAX 64

/* Gives the number, from 1, of the input byte from which the memory byte is computed; 0 if it is
 * computed from none or several. */
static ULong source_of(Addr a)
{
	UInt id = mem_is_symbolic(a, 1) ? mem_get(a, 1, *(const UChar *)a).id : 0;

	while (id != 0) {
		const struct expr *e = expr_at(g_pool, id);
		UInt only = 0;

		if (e->op == EXPR_INPUT)
			return e->k + 1;
		for (UInt i = 0; i < expr_nargs(e->op); i++) {
			if (expr_at(g_pool, e->arg[i])->op == EXPR_CONST || e->arg[i] == only)
				continue;
			if (only != 0)
				return 0;
			only = e->arg[i];
		}
		id = only;
	}
	return 0;
}

static Bool can_read(Addr a)
{
	return VG_(am_is_valid_for_client)(a, 1, VKI_PROT_READ);
}

/* Gives the string's length, at most max; -1 if the length depends on the input, or the string is
 * not readable. */
static Int constant_length(Addr a, ULong max)
{
	Int n = 0;

	for (; (ULong)n < max && can_read(a + n); n++) {
		if (mem_is_symbolic(a + n, 1) || n == TOKEN_BYTES_MAX)
			return -1;
		if (*(const UChar *)(a + n) == '\0')
			return n;
	}
	return (ULong)n == max ? n : -1;
}

/* Counts how many bytes from a on are consecutive bytes of the input. */
static UInt word_length(Addr a, ULong from, ULong max)
{
	UInt n = 0;

	while (n < max && n < TOKEN_BYTES_MAX && can_read(a + n) &&
	       *(const UChar *)(a + n) != '\0' && source_of(a + n) == from + n)
		n++;
	return n;
}

/* Reports a comparison in which `word` comes from the input and `wanted` does not. */
static void one_side(Addr pc, Addr word, Addr wanted, ULong max)
{
	Int wanted_bytes = constant_length(wanted, max);
	ULong from;
	UInt n;

	if (wanted_bytes <= 0 || !can_read(word))
		return;
	from = source_of(word);
	/* an empty word, of which only the end is there */
	if (from == 0 && *(const UChar *)word == '\0' && can_read(word + 1)) {
		from = source_of(word + 1);
		from -= from != 0;
	}
	if (from == 0)
		return;
	n = word_length(word, from, max);
	if (n != (UInt)wanted_bytes)
		path_token(pc, from - 1, n, (const UChar *)wanted, wanted_bytes);
}

void token_compared(ThreadId tid, Addr a, Addr b, ULong max)
{
	Addr pc = VG_(get_IP)(tid);

	one_side(pc, a, b, max);
	one_side(pc, b, a, max);
}

/* Asks whether bytes of the input decide where the word ends, and not a NUL that the program wrote
 * there. Then the solver can change these bytes. */
static Bool has_own_end(Addr end)
{
	return !can_read(end) || mem_is_symbolic(end, 1) || *(const UChar *)end != '\0';
}

void token_measured(UInt kind, Addr word, ULong nbytes, Addr result)
{
	ULong from = can_read(word) ? source_of(word) : 0;
	Long at;

	if (from == 0 && nbytes == 0 && can_read(word + 1)) { /* an empty word, as in one_side() */
		from = source_of(word + 1);
		from -= from != 0;
	}
	if (from == 0 || nbytes > TOKEN_BYTES_MAX || word_length(word, from, nbytes) != nbytes)
		return;
	if (kind == PMP_WORD_LENGTH && has_own_end(word + nbytes))
		return;
	at = words_add(sources_end(), kind == PMP_WORD_LENGTH);
	if (at >= 0) {
		path_word(kind, at, from - 1, nbytes, *(const ULong *)result);
		mem_input(result, WORD_BYTES, at);
	}
}
