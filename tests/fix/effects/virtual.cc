// A method that the object's class may replace stores anywhere.
#include <atomic>

#include "tests/fix/effects/gate.h"

struct watcher {
	virtual void changed(item *it);
	virtual ~watcher();
};

void update(item *it, watcher *w);
void update(item *it, watcher *w)
{
	/* virtual + keep(it, sizeof *it); */ /* virtual: refused what line */
	w->changed(it);
	keep(it, sizeof *it); /* virtual - */ /* method - */
	/* method + keep(&it->next, sizeof *it); */ /* method: allowed */
}

// A function of std::atomic stores to its object.
struct slot {
	std::atomic<uint64_t> state, owner;
	slot *next;
};

void claim(slot *s);
void claim(slot *s)
{
	/* std_too_early + keep(&s->state, 8); */ /* std_too_early: refused what line */
	s->state.store(1);
	keep(&s->state, 8); /* std_too_early - */
	/* std_other + keep(&s->owner, 8); */ /* std_other: allowed */
	s->next->state = 2;
	/* std_followed + keep(&s->next->state, 8); */ /* std_followed: allowed */
}
