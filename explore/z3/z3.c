/* Implements the solver of solver.h with Z3. Each expression becomes a Z3 bit-vector once. A query
 * is pushed, solved and popped, so Z3 keeps what it learned about shared parts. A query that runs
 * out of time is unknown, never unsatisfiable. */
#include <stdio.h>
#include <z3.h>

#include "explore/path/solver.h"
#include "util/vec.h"

struct solver {
	const struct expr_pool *pool;
	Z3_context z;
	Z3_solver solver;
	VEC(Z3_ast) asts; /* by expression number; NULL until it is translated */
	VEC(uint32_t) todo, inputs;
	VEC(uint32_t) seen; /* by expression number: the last query that contains it */
	uint32_t query;
};

static void ignore(Z3_context z, Z3_error_code code)
{
	(void)z, (void)code; /* results are checked where it matters */
}

static struct solver *z3_open(const struct expr_pool *pool, unsigned timeout_ms)
{
	struct solver *s = xcalloc(1, sizeof *s);
	Z3_config config = Z3_mk_config();
	Z3_params params;

	s->pool = pool;
	s->z = Z3_mk_context(config);
	Z3_del_config(config);
	Z3_set_error_handler(s->z, ignore);
	s->solver = Z3_mk_solver_for_logic(s->z, Z3_mk_string_symbol(s->z, "QF_BV"));
	Z3_solver_inc_ref(s->z, s->solver);
	params = Z3_mk_params(s->z);
	Z3_params_inc_ref(s->z, params);
	Z3_params_set_uint(s->z, params, Z3_mk_string_symbol(s->z, "timeout"), timeout_ms);
	Z3_params_set_uint(s->z, params, Z3_mk_string_symbol(s->z, "random_seed"), 1);
	Z3_solver_set_params(s->z, s->solver, params);
	Z3_params_dec_ref(s->z, params);
	return s;
}

static void z3_close(struct solver *s)
{
	Z3_solver_dec_ref(s->z, s->solver);
	Z3_del_context(s->z);
	vec_release(&s->asts);
	vec_release(&s->todo);
	vec_release(&s->inputs);
	vec_release(&s->seen);
	free(s);
}

/* ---- expressions ---- */

static Z3_ast number(struct solver *s, uint64_t value, unsigned width)
{
	return Z3_mk_unsigned_int64(s->z, value, Z3_mk_bv_sort(s->z, width));
}

static Z3_ast bit(struct solver *s, Z3_ast boolean)
{
	return Z3_mk_ite(s->z, boolean, number(s, 1, 1), number(s, 0, 1));
}

/* Makes a table lookup: a tree of choices by the bits of the index, highest first. Where the lower
 * bits make no difference, they are not tested. */
static Z3_ast table(struct solver *s, const uint64_t *entries, unsigned nbits, Z3_ast index,
		    unsigned width)
{
	unsigned n = 1u << nbits, i;
	Z3_ast high, low;

	for (i = 1; i < n && ((entries[i] ^ entries[0]) & expr_mask(width)) == 0; i++)
		;
	if (i == n)
		return number(s, entries[0] & expr_mask(width), width);
	low = table(s, entries, nbits - 1, index, width);
	high = table(s, entries + n / 2, nbits - 1, index, width);
	return Z3_mk_ite(
		s->z,
		Z3_mk_eq(s->z, Z3_mk_extract(s->z, nbits - 1, nbits - 1, index), number(s, 1, 1)),
		high, low);
}

static Z3_ast count_zeros(struct solver *s, Z3_ast a, unsigned width, bool from_top)
{
	Z3_ast r = number(s, width, width);

	/* the deciding bit comes last */
	for (unsigned i = 0; i < width; i++) {
		unsigned at = from_top ? i : width - 1 - i;

		r = Z3_mk_ite(s->z, Z3_mk_eq(s->z, Z3_mk_extract(s->z, at, at, a), number(s, 1, 1)),
			      number(s, width - 1 - i, width), r);
	}
	return r;
}

static Z3_ast count_ones(struct solver *s, Z3_ast a, unsigned width)
{
	Z3_ast r = number(s, 0, width);

	for (unsigned i = 0; i < width; i++) {
		Z3_ast b = Z3_mk_extract(s->z, i, i, a);

		r = Z3_mk_bvadd(s->z, r, width > 1 ? Z3_mk_zero_ext(s->z, width - 1, b) : b);
	}
	return r;
}

static Z3_ast high_half(struct solver *s, Z3_ast a, Z3_ast b, unsigned width, bool is_signed)
{
	Z3_ast x = is_signed ? Z3_mk_sign_ext(s->z, width, a) : Z3_mk_zero_ext(s->z, width, a);
	Z3_ast y = is_signed ? Z3_mk_sign_ext(s->z, width, b) : Z3_mk_zero_ext(s->z, width, b);

	return Z3_mk_extract(s->z, 2 * width - 1, width, Z3_mk_bvmul(s->z, x, y));
}

static Z3_ast input(struct solver *s, uint64_t index)
{
	char name[32];

	snprintf(name, sizeof name, "i%llu", (unsigned long long)index);
	return Z3_mk_const(s->z, Z3_mk_string_symbol(s->z, name), Z3_mk_bv_sort(s->z, 8));
}

static Z3_ast translate(struct solver *s, const struct expr *e)
{
	Z3_ast a = e->arg[0] ? s->asts.at[e->arg[0]] : NULL,
	       b = e->arg[1] ? s->asts.at[e->arg[1]] : NULL;
	unsigned wide = e->arg[0] ? expr_at(s->pool, e->arg[0])->width : 0;
	Z3_context z = s->z;

	switch ((enum expr_op)e->op) {
	case EXPR_NONE:
	case EXPR_OPS: break;
	case EXPR_CONST: return number(s, e->k, e->width);
	case EXPR_INPUT: return input(s, e->k);
	case EXPR_TABLE: return table(s, expr_table_at(s->pool, (uint32_t)e->k), 8, a, e->width);
	case EXPR_NOT: return Z3_mk_bvnot(z, a);
	case EXPR_NEG: return Z3_mk_bvneg(z, a);
	case EXPR_CLZ: return count_zeros(s, a, wide, true);
	case EXPR_CTZ: return count_zeros(s, a, wide, false);
	case EXPR_POPCNT: return count_ones(s, a, wide);
	case EXPR_ZEXT: return Z3_mk_zero_ext(z, e->width - wide, a);
	case EXPR_SEXT: return Z3_mk_sign_ext(z, e->width - wide, a);
	case EXPR_EXTRACT:
		return Z3_mk_extract(z, (unsigned)e->k + e->width - 1, (unsigned)e->k, a);
	case EXPR_ADD: return Z3_mk_bvadd(z, a, b);
	case EXPR_SUB: return Z3_mk_bvsub(z, a, b);
	case EXPR_MUL: return Z3_mk_bvmul(z, a, b);
	case EXPR_UMULH: return high_half(s, a, b, wide, false);
	case EXPR_SMULH: return high_half(s, a, b, wide, true);
	case EXPR_UDIV: return Z3_mk_bvudiv(z, a, b);
	case EXPR_SDIV: return Z3_mk_bvsdiv(z, a, b);
	case EXPR_UREM: return Z3_mk_bvurem(z, a, b);
	case EXPR_SREM: return Z3_mk_bvsrem(z, a, b);
	case EXPR_AND: return Z3_mk_bvand(z, a, b);
	case EXPR_OR: return Z3_mk_bvor(z, a, b);
	case EXPR_XOR: return Z3_mk_bvxor(z, a, b);
	case EXPR_SHL: return Z3_mk_bvshl(z, a, b);
	case EXPR_LSHR: return Z3_mk_bvlshr(z, a, b);
	case EXPR_ASHR: return Z3_mk_bvashr(z, a, b);
	case EXPR_EQ: return bit(s, Z3_mk_eq(z, a, b));
	case EXPR_ULT: return bit(s, Z3_mk_bvult(z, a, b));
	case EXPR_ULE: return bit(s, Z3_mk_bvule(z, a, b));
	case EXPR_SLT: return bit(s, Z3_mk_bvslt(z, a, b));
	case EXPR_SLE: return bit(s, Z3_mk_bvsle(z, a, b));
	case EXPR_CONCAT: return Z3_mk_concat(z, a, b);
	case EXPR_ITE:
		return Z3_mk_ite(z, Z3_mk_eq(z, a, number(s, 1, 1)), b, s->asts.at[e->arg[2]]);
	}
	BUG("operation %u", e->op);
}

static void grow(struct solver *s, uint32_t n)
{
	vec_reserve(&s->asts, n + 1);
	vec_reserve(&s->seen, n + 1);
	for (; s->asts.n <= n; s->asts.n++) {
		s->asts.at[s->asts.n] = NULL;
		s->seen.at[s->asts.n] = 0;
	}
}

/* Translates an expression, operands first and without recursion, because chains may be long. Notes
 * the inputs that the query uses. */
static Z3_ast ast(struct solver *s, uint32_t root)
{
	s->todo.n = 0;
	*vec_add(&s->todo) = root;
	while (s->todo.n) {
		uint32_t id = s->todo.at[s->todo.n - 1];
		const struct expr *e = expr_at(s->pool, id);
		size_t before = s->todo.n;

		for (unsigned i = 0; i < expr_nargs(e->op) && s->seen.at[id] != s->query; i++)
			if (s->seen.at[e->arg[i]] != s->query)
				*vec_add(&s->todo) = e->arg[i];
		if (s->todo.n > before)
			continue;
		s->todo.n--;
		if (s->seen.at[id] == s->query)
			continue;
		s->seen.at[id] = s->query;
		if (e->op == EXPR_INPUT)
			*vec_add(&s->inputs) = id;
		if (!s->asts.at[id])
			s->asts.at[id] = translate(s, e);
	}
	return s->asts.at[root];
}

/* ---- queries ---- */

static void model_read(struct solver *s, solver_assign assign, void *arg)
{
	Z3_model model = Z3_solver_get_model(s->z, s->solver);
	unsigned value;
	Z3_ast v;

	if (!model)
		return;
	Z3_model_inc_ref(s->z, model);
	for (size_t i = 0; i < s->inputs.n; i++) {
		uint32_t id = s->inputs.at[i];

		if (Z3_model_eval(s->z, model, s->asts.at[id], true, &v) &&
		    Z3_get_numeral_uint(s->z, v, &value))
			assign(arg, expr_at(s->pool, id)->k, (uint8_t)value);
	}
	Z3_model_dec_ref(s->z, model);
}

static void query_begin(struct solver *s)
{
	grow(s, expr_count(s->pool));
	s->query++;
	s->inputs.n = 0;
	Z3_solver_push(s->z, s->solver);
}

static Z3_ast condition(struct solver *s, const struct solver_term *t)
{
	return Z3_mk_eq(s->z, ast(s, t->id), number(s, t->is_true, 1));
}

static enum solver_answer answer(struct solver *s, Z3_lbool found, solver_assign assign, void *arg)
{
	if (found == Z3_L_TRUE)
		model_read(s, assign, arg);
	return found == Z3_L_TRUE ? SOLVER_YES : found == Z3_L_FALSE ? SOLVER_NO : SOLVER_UNKNOWN;
}

static enum solver_answer z3_ask(struct solver *s, const struct solver_term *terms, size_t n,
				 solver_assign assign, void *arg)
{
	enum solver_answer a;

	query_begin(s);
	for (size_t i = 0; i < n; i++)
		Z3_solver_assert(s->z, s->solver, condition(s, &terms[i]));
	a = answer(s, Z3_solver_check(s->z, s->solver), assign, arg);
	Z3_solver_pop(s->z, s->solver, 1);
	return a;
}

#define ROUNDS_MAX 8

/* Removes what is in the unsatisfiable core from the list. False if nothing is. */
static bool core_remove(struct solver *s, Z3_ast *list, unsigned *n)
{
	Z3_ast_vector core = Z3_solver_get_unsat_core(s->z, s->solver);
	unsigned kept = 0, before = *n;

	Z3_ast_vector_inc_ref(s->z, core);
	for (unsigned i = 0; i < *n; i++) {
		bool is_in = false;

		for (unsigned k = 0; k < Z3_ast_vector_size(s->z, core) && !is_in; k++)
			is_in = Z3_is_eq_ast(s->z, list[i], Z3_ast_vector_get(s->z, core, k));
		if (!is_in)
			list[kept++] = list[i];
	}
	Z3_ast_vector_dec_ref(s->z, core);
	*n = kept;
	return kept < before;
}

/* Solves with optional terms: each is implied by a fresh name, and the names are assumed. Names in
 * an unsatisfiable core are dropped, and the query is repeated. */
static enum solver_answer z3_ask_most(struct solver *s, const struct solver_term *terms,
				      size_t nmust, size_t n, solver_assign assign, void *arg)
{
	Z3_ast *names = xcalloc(n + 1, sizeof *names);
	enum solver_answer a;
	unsigned nnames = 0;
	Z3_lbool found;

	query_begin(s);
	for (size_t i = 0; i < n; i++) {
		Z3_ast c = condition(s, &terms[i]);

		if (i >= nmust) {
			names[nnames] = Z3_mk_fresh_const(s->z, "may", Z3_mk_bool_sort(s->z));
			c = Z3_mk_implies(s->z, names[nnames++], c);
		}
		Z3_solver_assert(s->z, s->solver, c);
	}
	for (unsigned round = 0;; round++) {
		found = Z3_solver_check_assumptions(s->z, s->solver, nnames, names);
		if (found != Z3_L_FALSE || round == ROUNDS_MAX || !core_remove(s, names, &nnames))
			break;
	}
	a = answer(s, found, assign, arg);
	Z3_solver_pop(s->z, s->solver, 1);
	free(names);
	return a;
}

__attribute__((visibility("default"))) extern const struct solver_api pmend_solver;
const struct solver_api pmend_solver = {
	.open = z3_open, .close = z3_close, .ask = z3_ask, .ask_most = z3_ask_most
};
