/* Runs the steps of a block beside the machine, on expressions. Constants are folded, so every
 * value, symbolic or not, is known here: leaves get the machine's values, and everything else
 * follows from them. For example, `add eax, [mem]` has the steps GET eax (leaf), LOAD mem (leaf),
 * OP Add32, PUT eax. */
#include "valgrind/tracer/shadow/shadow.h"

#include "valgrind/tracer/path/path.h"
#include "valgrind/tracer/shadow/table.h"
#include "valgrind/tracer/value/bounds.h"
#include "valgrind/tracer/value/counts.h"
#include "valgrind/tracer/value/memory.h"
#include "valgrind/tracer/value/ops.h"
#include "valgrind/tracer/value/options.h"
#include "valgrind/tracer/value/registers.h"

ULong g_noted[TMPS][PARTS];
struct wide g_tmps[TMPS];
ULong g_progress;

static Addr g_pc;

/* ---- operands ---- */

static ULong mask_part(ULong mask, UInt i)
{
	ULong v = 0;

	for (UInt b = 0; b < 8; b++)
		if (mask >> (8 * i + b) & 1)
			v |= 0xffULL << 8 * b;
	return v;
}

static struct wide operand(const struct step *s, UInt i)
{
	const struct step_arg *a = &s->arg[i];
	struct wide w = { 0 };

	if (a->tmp != NO_TMP)
		return g_tmps[a->tmp];
	if (!a->is_mask)
		w.part[0] = val_const(a->k);
	for (UInt p = 0; a->is_mask && p < PARTS; p++)
		w.part[p] = val_const(mask_part(a->k, p));
	return w;
}

static struct val scalar(const struct step *s, UInt i)
{
	const struct step_arg *a = &s->arg[i];

	return a->tmp != NO_TMP ? g_tmps[a->tmp].part[0] : val_const(a->k);
}

static UInt nparts(UInt bits)
{
	return bits <= 64 ? 1 : bits / 64;
}

static UInt part_bits(UInt bits)
{
	return bits <= 64 ? bits : 64;
}

static struct wide noted(const struct step *s)
{
	struct wide w = { 0 };

	for (UInt i = 0; i < nparts(s->bits); i++)
		w.part[i] = val_const(g_noted[s->tmp][i] & expr_mask(part_bits(s->bits)));
	return w;
}

/* ---- concretising ---- */

/* Makes the value concrete: adds the condition that it stays what it is. */
static Addr pin(struct val v, enum pmp_pin why)
{
	if (v.id)
		path_pin(g_pc, v, why);
	return v.v;
}

static Bool guard(const struct step *s, UInt i)
{
	return pin(scalar(s, i), PMP_PIN_GUARD);
}

static void leaf(const struct step *s)
{
	for (UInt i = 0; i < s->nargs; i++) {
		struct wide w = operand(s, i);

		if (wide_is_symbolic(&w)) {
			count_leaf(s->op, s->name);
			break;
		}
	}
	g_tmps[s->tmp] = noted(s);
}

/* ---- memory ---- */

static void load_from(const struct step *s, Addr a, UInt bits, struct wide *w)
{
	for (UInt i = 0; i < nparts(bits); i++)
		w->part[i] = mem_get(a + 8 * i, part_bits(bits) / 8, g_noted[s->tmp][i]);
}

static void load(const struct step *s)
{
	struct val addr = scalar(s, 0);

	g_tmps[s->tmp] = (struct wide){ 0 };
	if (addr.id && s->bits <= 64 &&
	    table_load(addr, s->bits, g_noted[s->tmp][0], &g_tmps[s->tmp].part[0]))
		return;
	load_from(s, pin(addr, PMP_PIN_ADDRESS), s->bits, &g_tmps[s->tmp]);
}

static void load_if(const struct step *s)
{
	Addr a = pin(scalar(s, 0), PMP_PIN_ADDRESS);

	if (!guard(s, 1)) {
		g_tmps[s->tmp] = operand(s, 2);
		return;
	}
	g_tmps[s->tmp] = (struct wide){ 0 };
	if (s->from == s->bits) {
		load_from(s, a, s->bits, &g_tmps[s->tmp]);
		return;
	}
	g_tmps[s->tmp].part[0] = expr_extend(g_pool, s->k ? EXPR_SEXT : EXPR_ZEXT, s->from,
					     mem_get(a, s->from / 8, g_noted[s->tmp][0]), s->bits);
}

static void store_to(Addr a, UInt bits, const struct wide *w)
{
	for (UInt i = 0; i < nparts(bits); i++)
		mem_put(a + 8 * i, part_bits(bits) / 8, w->part[i]);
}

static void store(const struct step *s)
{
	Addr a = pin(scalar(s, 0), PMP_PIN_ADDRESS);
	struct wide w = operand(s, 1);

	if (guard(s, 2))
		store_to(a, s->bits, &w);
}

static void compare_and_swap(const struct step *s)
{
	struct wide w = operand(s, 1);
	struct val old = g_tmps[s->tmp].part[0], expected = scalar(s, 2);
	struct val same = expr_binary(g_pool, EXPR_EQ, s->bits, old, expected);

	if (pin(same, PMP_PIN_GUARD))
		store_to(scalar(s, 0).v, s->bits, &w);
}

/* ---- the rest ---- */

static void get(const struct step *s)
{
	struct wide w = noted(s);

	for (UInt i = 0; i < nparts(s->bits); i++)
		if (s->bits >= 8)
			w.part[i] = reg_get(s->offset + 8 * i, part_bits(s->bits) / 8,
					    g_noted[s->tmp][i]);
	g_tmps[s->tmp] = w;
}

static void put_registers(const struct step *s)
{
	struct wide w = operand(s, 0);

	for (UInt i = 0; i < nparts(s->bits); i++)
		reg_put(s->offset + 8 * i, s->bits < 8 ? 1 : part_bits(s->bits) / 8,
			s->bits < 8 ? val_const(w.part[0].v) : w.part[i]);
}

static void operation(const struct step *s)
{
	struct wide args[2] = { operand(s, 0) };

	if (s->nargs > 1)
		args[1] = operand(s, 1);
	if (!op_apply(s->op, args, &g_tmps[s->tmp]))
		leaf(s);
}

static void choice(const struct step *s)
{
	struct val c = scalar(s, 0);
	struct wide a = operand(s, 1), b = operand(s, 2), r = { 0 };

	for (UInt i = 0; i < nparts(s->bits); i++)
		r.part[i] = expr_ite(g_pool, part_bits(s->bits), c, a.part[i], b.part[i]);
	g_tmps[s->tmp] = r;
}

static void call_flags(const struct step *s)
{
	struct val args[STEP_ARGS], r;
	Bool is_symbolic = False;

	for (UInt i = 0; i < s->nargs; i++) {
		args[i] = scalar(s, i);
		is_symbolic |= args[i].id != 0;
	}
	g_tmps[s->tmp] = noted(s);
	if (!is_symbolic)
		return;
	if (flags_apply(s->name, args, &r))
		g_tmps[s->tmp].part[0] = r;
	else
		leaf(s);
}

static void branch(const struct step *s)
{
	struct val c = scalar(s, 0);

	if (!c.id)
		return;
	bound_note(c);
	path_branch(g_pc, c, c.v ? s->k : s->other, c.v ? s->other : s->k);
}

/* Asks whether the step is a shift by the width or more. Its result is not compared, because nobody
 * uses it: code generators then choose another value. */
static Bool is_overshift(const struct step *s)
{
	return s->kind == STEP_OP && s->op >= Iop_Shl8 && s->op <= Iop_Sar64 &&
	       scalar(s, 1).v >= s->bits;
}

static void check(const struct step *s)
{
	if (is_overshift(s))
		return;
	for (UInt i = 0; i < nparts(s->bits); i++) {
		ULong is = g_tmps[s->tmp].part[i].v,
		      should = g_noted[s->tmp][i] & expr_mask(part_bits(s->bits));

		if (is != should)
			path_bad(g_pc, is, should, s->op, s->name);
	}
}

static void step_run(const struct step *s)
{
	switch ((enum step_kind)s->kind) {
	case STEP_INSN: g_pc = s->k; return;
	case STEP_LEAF: leaf(s); return;
	case STEP_MOVE: g_tmps[s->tmp] = operand(s, 0); break;
	case STEP_OP: operation(s); break;
	case STEP_ITE: choice(s); break;
	case STEP_CALL: call_flags(s); break;
	case STEP_GET: get(s); break;
	case STEP_PUT: put_registers(s); return;
	case STEP_LOAD: load(s); break;
	case STEP_LOAD_IF: load_if(s); break;
	case STEP_STORE: store(s); return;
	case STEP_CAS: compare_and_swap(s); return;
	case STEP_CLEAR: mem_forget(pin(scalar(s, 0), PMP_PIN_ADDRESS), s->k); return;
	case STEP_CLEAR_REG:
		for (UInt i = 0; i < s->k; i++)
			reg_put(s->offset + i, 1, val_const(0));
		return;
	case STEP_EXIT: branch(s); return;
	case STEP_NEXT: pin(scalar(s, 0), PMP_PIN_JUMP); return;
	}
	if (clo_check)
		check(s);
}

static void segment_run(const struct segment *s)
{
	const struct step *step = (const struct step *)s->steps;

	if (s->number > g_progress)
		segment_run(s->previous);
	for (UInt i = 0; i < s->nsteps; i++, step = step_next(step))
		step_run(step);
	g_progress = s->number + 1;
}

VG_REGPARM(1) void shadow_run(struct segment *s)
{
	if (s->number == 0)
		g_progress = 0;
	segment_run(s);
}

VG_REGPARM(2) void shadow_jump(struct jump *j, Addr to)
{
	j->last = to;
	path_jump(j->pc, to);
}
