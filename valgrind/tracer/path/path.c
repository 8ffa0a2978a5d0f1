/* Writes records of the path: branches, values that must stay, jumps, blocks that were run.
 * Expressions, objects and stacks that a record needs are written before it. */
#include "valgrind/tracer/path/path_internal.h"

#include "valgrind/tracer/value/counts.h"

void path_branch(Addr pc, struct val condition, Addr went, Addr other)
{
	if (!path_is_open())
		return;
	path_object(pc);
	path_stack();
	path_expr(condition.id);
	path_record((struct pmp_record){ .kind = PMP_BRANCH,
					 .id = condition.id,
					 .flag = condition.v,
					 .k = pc,
					 .x = went,
					 .y = other },
		    NULL, 0);
}

void path_pin(Addr pc, struct val v, enum pmp_pin why)
{
	static UInt g_last;

	/* a copy loop pins the same value repeatedly */
	if (!path_is_open() || v.id == 0 || v.id == g_last)
		return;
	g_last = v.id;
	count(why == PMP_PIN_ADDRESS ? COUNT_ADDRESS
	      : why == PMP_PIN_JUMP  ? COUNT_JUMP
				     : COUNT_GUARD);
	path_object(pc);
	path_stack();
	path_expr(v.id);
	path_record(
		(struct pmp_record){ .kind = PMP_PIN, .id = v.id, .flag = why, .k = pc, .x = v.v },
		NULL, 0);
}

void path_jump(Addr pc, Addr to)
{
	path_object(pc);
	path_object(to);
	path_record((struct pmp_record){ .kind = PMP_JUMP, .k = pc, .x = to }, NULL, 0);
}

void path_token(Addr pc, ULong index, UInt nbytes, const UChar *wanted, UInt nwanted)
{
	if (!path_is_open())
		return;
	path_object(pc);
	path_stack();
	path_record((struct pmp_record){ .kind = PMP_TOKEN, .k = pc, .x = index, .y = nbytes },
		    wanted, nwanted);
}

void path_word(enum pmp_word kind, ULong at, ULong index, ULong nbytes, ULong value)
{
	path_record((struct pmp_record){ .kind = PMP_WORD,
					 .flag = kind,
					 .k = at,
					 .x = index,
					 .y = nbytes,
					 .arg = { value, value >> 32 } },
		    NULL, 0);
}

void path_cover(Addr pc, UInt nbytes)
{
	path_object(pc);
	path_record((struct pmp_record){ .kind = PMP_COVER, .k = pc, .x = nbytes }, NULL, 0);
}

void path_bad(Addr pc, ULong expression, ULong machine, IROp op, const HChar *name)
{
	HChar what[64];

	if (name)
		VG_(snprintf)(what, sizeof what, "%s", name);
	else
		VG_(snprintf)(what, sizeof what, "operation 0x%x", op);
	path_record((struct pmp_record){ .kind = PMP_BAD, .k = pc, .x = expression, .y = machine },
		    what, VG_(strlen)(what));
}

static void count_write(const HChar *what, ULong n, Bool is_leaf)
{
	path_record((struct pmp_record){ .kind = PMP_COUNT, .op = is_leaf, .k = n }, what,
		    VG_(strlen)(what));
}

void path_close(Int status)
{
	counts_each(count_write);
	path_record((struct pmp_record){ .kind = PMP_END, .k = status }, NULL, 0);
	path_flush();
}
