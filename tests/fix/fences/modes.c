/* Built with or without persistent memory, started with or without: flushes are under both, and functions leave it to the loop to drain, which has nothing to do if nothing was flushed. */
#include <stdbool.h>

#include "tests/fix/fences/pool.h"

#define HAVE_PM 1

struct words {
	uint64_t first, pad[7];
	uint64_t last;
};

struct config {
	bool on_pm;
};

static struct config config = { true };
#if HAVE_PM
static unsigned nwaiting;

static void words_flush(const void *p)
{
	flush_line(p);
	nwaiting++;
}

static void words_drain(void)
{
	if (nwaiting == 0)
		return;
	fence();
	nwaiting = 0;
}
#endif

static void set_first(struct words *w, uint64_t value)
{
	w->first = value;
#if HAVE_PM
	if (config.on_pm)
		words_flush(&w->first);
#endif
}

static void set_both(struct words *w, uint64_t value)
{
	w->last = value;
#if HAVE_PM
	if (config.on_pm)
		words_flush(&w->last);
#endif
	set_first(w, value);
}

static void set_last(struct words *w, uint64_t value)
{
	w->last = value;
	/* FIX: #if HAVE_PM */
	/* FIX: if (config.on_pm) */
	/* FIX: 	words_flush(&w->last); */
	/* FIX: #endif */
}

static void serve(struct words *w, const char *requests)
{
	for (; *requests; requests++) {
		if (*requests == 'f')
			set_first(w, 1);
		else if (*requests == 'l')
			set_last(w, 2);
		else
			set_both(w, 3);
#if HAVE_PM
		if (config.on_pm)
			words_drain();
#endif
		answer("set\n");
	}
}

int main(int argc, char **argv)
{
	static struct words in_memory;
	struct words *w = argc > 1 ? pool_open(argv[1]) : &in_memory;

	config.on_pm = argc > 1;
	if (argc > 2)
		return w->first > 3 || w->last > 3;
	serve(w, "bfl");
	return 0;
}
