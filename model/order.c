/* Which of a thread's stores come before which, on arm64. Epochs count what orders: a store belongs to one, and follows all up to another.
 *
 * A barrier ends an epoch that everything later follows. A release ends one, too, but only an acquire after it makes later stores follow that
 * epoch: `stlr; str` is not ordered, `stlr; ldar; str` is. */
#include "model/internal.h"

void order_barrier(struct thread *t)
{
	t->after = t->epoch++;
}

void order_release(struct thread *t)
{
	t->released = t->epoch++;
}

void order_acquire(struct thread *t)
{
	if (t->released > t->after)
		t->after = t->released;
}
