/* Writes the steps of blocks into memory, one after the other. The memory is never freed, because
 * code that Valgrind discards may still be running. */
#include "valgrind/tracer/blocks/block.h"

#include "valgrind/common/memory.h"

#define PIECE_BYTES (4u << 20)
#define STEP_MAX_BYTES (sizeof(struct step) + STEP_ARGS * sizeof(struct step_arg))

static UChar *g_at, *g_end;

static void room_make(SizeT nbytes)
{
	if ((SizeT)(g_end - g_at) >= nbytes)
		return;
	g_at = memory_alloc(PIECE_BYTES);
	g_end = g_at + PIECE_BYTES;
}

/* Begins a block. All its steps must be in one piece of memory. */
void block_begin(struct block *b)
{
	room_make((b->in->stmts_used + 16) * 2 * STEP_MAX_BYTES);
	b->begin = g_at;
}

struct step *block_step(struct block *b, enum step_kind kind)
{
	struct step *s = (struct step *)g_at;

	VG_(memset)(s, 0, sizeof *s);
	s->kind = kind;
	g_at = (UChar *)s->arg;
	b->last = s;
	b->nsteps++;
	return s;
}

UInt bits_of(IRType type)
{
	return type == Ity_I1 ? 1 : 8 * sizeofIRType(type);
}

static ULong constant(const IRConst *c)
{
	switch (c->tag) {
	case Ico_U1: return c->Ico.U1;
	case Ico_U8: return c->Ico.U8;
	case Ico_U16: return c->Ico.U16;
	case Ico_U32: return c->Ico.U32;
	case Ico_U64: return c->Ico.U64;
	case Ico_U128: return c->Ico.U128; /* a mask, like constants of vectors */
	case Ico_F32i: return c->Ico.F32i;
	case Ico_F64i: return c->Ico.F64i;
	case Ico_V128: return c->Ico.V128;
	case Ico_V256: return c->Ico.V256;
	case Ico_F32: {
		union {
			Float f;
			UInt i;
		} u = { .f = c->Ico.F32 };

		return u.i;
	}
	case Ico_F64: {
		union {
			Double f;
			ULong i;
		} u = { .f = c->Ico.F64 };

		return u.i;
	}
	}
	return 0;
}

void block_arg(struct block *b, IRExpr *e)
{
	struct step_arg *a = &b->last->arg[b->last->nargs++];

	*a = (struct step_arg){ .tmp = NO_TMP, .bits = bits_of(typeOfIRExpr(b->sb->tyenv, e)) };
	if (e->tag == Iex_RdTmp) {
		a->tmp = e->Iex.RdTmp.tmp;
	} else if (e->tag == Iex_Const) {
		a->k = constant(e->Iex.Const.con);
		a->is_mask = e->Iex.Const.con->tag == Ico_V128 ||
			     e->Iex.Const.con->tag == Ico_U128 || e->Iex.Const.con->tag == Ico_V256;
	} /* otherwise it is the pointer to the guest state, which nobody computes with */
	g_at = (UChar *)(b->last->arg + b->last->nargs);
}

struct segment *block_segment(struct block *b)
{
	struct segment *s;

	if (b->nsteps == 0)
		return NULL;
	s = VG_(malloc)("sym.segment", sizeof *s);
	*s = (struct segment){ .number = b->segment++,
			       .nsteps = b->nsteps,
			       .steps = b->begin,
			       .previous = b->previous };
	b->previous = s;
	b->begin = g_at;
	b->nsteps = 0;
	return s;
}
