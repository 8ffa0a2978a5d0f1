/* The functions of a struct of pointers, which another file calls. */
#include "tests/fix/ways/machine.h"
#include "tests/fix/ways/ops.h"

static void push_lines(const void *from, size_t len)
{
	for (uintptr_t at = (uintptr_t)from & ~(uintptr_t)63; at < (uintptr_t)from + len; at += 64)
		MACHINE_FLUSH(at);
}

static void push_range(const void *from, size_t len)
{
	uintptr_t at = (uintptr_t)from & ~(uintptr_t)63, end = (uintptr_t)from + len;

	while (at < end) {
		MACHINE_FLUSH(at);
		at += 64;
	}
}

static void settle_all(void)
{
	MACHINE_FENCE();
}

static void push_and_settle(const void *from, size_t len)
{
	push_lines(from, len);
	settle_all();
}

static const struct medium_ops all[] = {
	{ .push_out = push_lines, .settle = settle_all, .mixed = push_lines },
	{ .push_out = push_range, .settle = settle_all, .mixed = push_and_settle },
};

const struct medium_ops *medium_ops_find(int kind)
{
	return &all[kind != 0];
}
