// A method that the object's class may replace stores anywhere.
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
