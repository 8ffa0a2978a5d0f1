/* The tracer's operations against Valgrind's: expressions are made once of symbolic operands and evaluated on many random inputs. Condition codes are compared
 * with VEX's own helper functions, operations of the intermediate representation with what their names say (libvex_ir.h). PMEND_TEST_TURNS: how many
 * inputs for each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "libvex.h"
#include "valgrind/tracer/value/flags.h"
#include "valgrind/tracer/value/ops.h"
#include "valgrind/tracer/value/word_symbols.h"
#include "util/alloc.h"

#define TURNS 40
#define OPERAND_BYTES 32

/* ---- what the tracer's files need besides ---- */

void *VG_(memset)(void *s, Int c, SizeT n);
void *VG_(memset)(void *s, Int c, SizeT n)
{
	return memset(s, c, n);
}

Int VG_(strcmp)(const HChar *a, const HChar *b)
{
	return strcmp(a, b);
}

/* ---- random inputs, and the values of expressions on them ---- */

static uint8_t input[4 * OPERAND_BYTES];
static uint64_t *values;
static uint64_t random_state = 1;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dULL >> 16;
}

/* Values at the edges are as likely as others; operands are often equal. */
static void input_make(void)
{
	static const uint8_t edges[] = { 0, 1, 0x7f, 0x80, 0xff };
	uint64_t kind = next_random() % 4;

	for (size_t i = 0; i < sizeof input; i++)
		input[i] = kind == 0 ? (uint8_t)next_random() : kind == 1 ? edges[next_random() % 5] : i % 8 ? edges[kind == 2 ? 0 : 4] : (uint8_t)next_random();
	if (next_random() % 8 == 0)
		memcpy(input + OPERAND_BYTES, input, OPERAND_BYTES);
}

/* Operands have smaller numbers than what is made of them. */
static void values_compute(void)
{
	for (uint32_t id = 1; id <= expr_count(g_pool); id++) {
		const struct expr *e = expr_at(g_pool, id);
		uint64_t args[3] = { 0 };

		for (unsigned i = 0; i < expr_nargs(e->op); i++)
			args[i] = values[e->arg[i]];
		values[id] = e->op == EXPR_INPUT ? input[e->k] : expr_compute(g_pool, e, args);
	}
}

static uint64_t value_of(struct val v)
{
	return v.id ? values[v.id] : v.v;
}

static void pool_begin(void)
{
	g_pool = expr_pool_new((struct expr_memory){ xmalloc, free });
}

static void pool_end(void)
{
	free(values);
	values = NULL;
	expr_pool_free(g_pool);
}

static void values_begin(void)
{
	values = xcalloc(expr_count(g_pool) + 1, sizeof *values);
}

/* The operand of that number: so many bits from the input. */
static struct wide operand(unsigned number, unsigned bits)
{
	struct wide w = { 0 };

	for (unsigned p = 0; p < (bits + 63) / 64; p++) {
		struct val v = val_const(0);

		for (unsigned i = 0; i < 8; i++) {
			struct val byte = expr_input(g_pool, number * OPERAND_BYTES + 8 * p + i, 0);

			v = i ? expr_concat(g_pool, 8, byte, 8 * i, v) : byte;
		}
		w.part[p] = bits < 64 ? expr_extract(g_pool, 64, v, 0, bits) : v;
	}
	return w;
}

static uint64_t operand_part(unsigned number, unsigned part)
{
	uint64_t v;

	memcpy(&v, input + number * OPERAND_BYTES + 8 * part, 8);
	return v;
}

static unsigned turns(void)
{
	const char *n = getenv("PMEND_TEST_TURNS");

	return n ? (unsigned)atoi(n) : TURNS;
}

/* ---- condition codes ---- */

ULong amd64g_calculate_condition(ULong cond, ULong op, ULong dep1, ULong dep2, ULong ndep);
ULong amd64g_calculate_rflags_all(ULong op, ULong dep1, ULong dep2, ULong ndep);
ULong amd64g_calculate_rflags_c(ULong op, ULong dep1, ULong dep2, ULong ndep);

#define OPS_END 61 /* adcx and adox, from there on, are not done */
#define RFLAGS 0x8d5ULL

static void flags_check(UInt op)
{
	struct val r[18], args[5] = { val_const(0), val_const(op), operand(0, 64).part[0], operand(1, 64).part[0], val_const(0) };

	args[4] = expr_binary(g_pool, EXPR_AND, 64, operand(2, 64).part[0], val_const(RFLAGS));
	for (unsigned cond = 0; cond < 16; cond++) {
		args[0] = val_const(cond);
		assert_true(flags_apply("amd64g_calculate_condition", args, &r[cond]));
	}
	assert_true(flags_apply("amd64g_calculate_rflags_all", args + 1, &r[16]) && flags_apply("amd64g_calculate_rflags_c", args + 1, &r[17]));
	values_begin();
	for (unsigned t = 0; t < turns(); t++) {
		ULong dep1, dep2, ndep;

		input_make();
		values_compute();
		dep1 = operand_part(0, 0);
		dep2 = operand_part(1, 0);
		ndep = operand_part(2, 0) & RFLAGS;
		for (unsigned cond = 0; cond < 16; cond++)
			if (value_of(r[cond]) != amd64g_calculate_condition(cond, op, dep1, dep2, ndep))
				fail_msg("condition %u after operation %u on %llx, %llx, %llx", cond, op, dep1, dep2, ndep);
		if ((value_of(r[16]) & RFLAGS) != (amd64g_calculate_rflags_all(op, dep1, dep2, ndep) & RFLAGS))
			fail_msg("flags of operation %u on %llx, %llx, %llx", op, dep1, dep2, ndep);
		assert_int_equal(value_of(r[17]), amd64g_calculate_rflags_c(op, dep1, dep2, ndep) & 1);
	}
}

static void test_flags(void **state)
{
	(void)state;
	for (UInt op = 0; op < OPS_END; op++) {
		pool_begin();
		flags_check(op);
		pool_end();
	}
}

/* ---- operations ---- */

#include "vex_reference.h"

/* Evaluates one on many inputs. False: nobody says what it does. */
static bool op_check(IROp op, const char *name)
{
	struct reference ref;
	struct wide args[2] = { 0 }, result;
	unsigned nshown = 0;

	if (!reference_parse(name, &ref))
		return false;
	for (unsigned i = 0; i < ref.nargs; i++)
		args[i] = i == 1 && ref.second_is_constant ? (struct wide){ { val_const(24), val_const(0x0f0e0d0c0b0a0908ULL) } } : operand(i, ref.bits[i]);
	if (ref.is_division) /* by 0 the machine traps; and the quotient has to fit */
		args[1].part[0] = expr_binary(g_pool, EXPR_OR, ref.bits[1], args[1].part[0], val_const(1));
	if (ref.is_shift) /* by more, the machine does what it likes */
		args[1].part[0] = expr_binary(g_pool, EXPR_AND, 8, args[1].part[0], val_const(ref.lane - 1));
	if (!op_apply(op, args, &result))
		return ref.is_partial;
	values_begin();
	for (unsigned t = 0; t < turns(); t++) {
		uint64_t x[2][PARTS] = { 0 }, expected[PARTS] = { 0 };

		input_make();
		values_compute();
		for (unsigned i = 0; i < ref.nargs; i++)
			for (unsigned p = 0; p < PARTS; p++)
				x[i][p] = value_of(args[i].part[p]);
		if (!reference_compute(&ref, x[0], x[1], expected))
			continue;
		nshown++;
		for (unsigned p = 0; p < PARTS; p++)
			if (value_of(result.part[p]) != expected[p])
				fail_msg("%s, part %u: %llx, not %llx, on %llx %llx", name, p, (unsigned long long)value_of(result.part[p]),
					 (unsigned long long)expected[p], (unsigned long long)x[0][p], (unsigned long long)x[1][p]);
	}
	return nshown > turns() / 8;
}

static char printed[64];
static size_t nprinted;

static void print_note(const HChar *bytes, SizeT n)
{
	for (SizeT i = 0; i < n && nprinted + 1 < sizeof printed; i++)
		printed[nprinted++] = bytes[i];
	printed[nprinted] = '\0';
}

__attribute__((noreturn)) static void vex_failed(void)
{
	abort();
}

static void test_operations(void **state)
{
	VexControl control;
	unsigned n = 0;

	(void)state;
	LibVEX_default_VexControl(&control);
	LibVEX_Init(vex_failed, print_note, 0, &control);
	for (IROp op = Iop_INVALID + 1; op < Iop_LAST; op++) {
		bool is_shown;

		if (!op_is_known(op))
			continue;
		nprinted = 0;
		ppIROp(op);
		pool_begin();
		is_shown = op_check(op, printed);
		pool_end();
		if (!is_shown)
			fail_msg("nothing is known of %s", printed);
		n++;
	}
	print_message("%u operations\n", n);
	assert_true(n > 200);
}

static struct val symbol(Long at)
{
	struct val v = expr_input(g_pool, (ULong)at, 5);

	for (unsigned b = 1; b < WORD_BYTES; b++)
		v = expr_concat(g_pool, 8, expr_input(g_pool, (ULong)at + b, 0), 8 * b, v);
	return v;
}

static struct val add(struct val a, struct val b)
{
	const struct wide args[2] = { { .part = { a } }, { .part = { b } } };
	struct wide result;

	assert_true(op_apply(Iop_Add64, args, &result));
	return result.part[0];
}

/* The length of a word, added to an address, is where the word ends; anything else that is made of it, and of a number, is followed. */
static void test_lengths(void **state)
{
	const struct val address = val_const(0x7ffc12345678);
	struct val length, number, sum;

	(void)state;
	pool_begin();
	number = symbol(words_add(24, False));
	length = symbol(words_add(24, True));
	sum = add(address, length);
	assert_true(sum.id == 0 && sum.v == address.v + 5);
	sum = add(add(length, val_const(1)), address);
	assert_true(sum.id == 0 && sum.v == address.v + 6);
	assert_true(add(length, val_const(UINT64_MAX)).id != 0); /* one less */
	assert_true(add(length, val_const(3)).id != 0);
	assert_true(add(length, number).id != 0);
	assert_true(add(address, number).id != 0);
	assert_true(add(address, symbol(8)).id != 0); /* bytes of the input */
	pool_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_flags), cmocka_unit_test(test_operations), cmocka_unit_test(test_lengths) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
