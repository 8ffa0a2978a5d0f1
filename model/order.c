/* Which of a thread's stores come before which, on arm64. Epochs count what orders: a store belongs
 * to one, and follows all up to another.
 *
 * A barrier ends an epoch that everything later follows. A release ends one, too, but only an
 * acquire after it makes later stores follow that epoch: `stlr; str` is not ordered, `stlr; ldar;
 * str` is. */
#include "model/internal.h"

void order_barrier(struct thread *t, uint64_t seq)
{
	t->after = t->epoch++;
	t->after_seq = seq;
}

void order_release(struct thread *t, uint64_t seq)
{
	t->released = t->epoch++;
	t->released_seq = seq;
}

void order_acquire(struct thread *t)
{
	if (t->released <= t->after)
		return;
	t->after = t->released;
	t->after_seq = t->released_seq;
}
