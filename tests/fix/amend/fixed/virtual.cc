// A method that the object's class may replace stores anywhere: no flush is moved past its call, or removed behind it.
#include <functional>
#include <libpmem.h>

struct Entry {
	long key, value, stamp;
};

struct Index {
	Entry *head;
};

struct Watcher {
	virtual ~Watcher();
	virtual void changed(Entry *) {}
	void seen() { count++; }
	long count;
};

struct Medium {
	virtual void save(const void *p, size_t n) { pmem_persist(p, n); }
};

extern Watcher *watcher;
extern Medium *medium;
extern std::function<void(Entry *)> visit;

/* The hook that is seen here does nothing; another class's may. */
void tell(Index *x, Entry *e);
void tell(Index *x, Entry *e)
{
	e->value = 5; /* BUG: ordering before tell */
	pmem_persist(&e->value, sizeof(e->value));
	x->head = e; /* STEP: tell */
	pmem_persist(&x->head, sizeof(x->head));
	watcher->changed(e);
	pmem_persist(e, sizeof(*e));
}

void visited(Index *x, Entry *e);
void visited(Index *x, Entry *e)
{
	e->value = 5; /* BUG: ordering before visited */
	pmem_persist(&e->value, sizeof(e->value));
	x->head = e; /* STEP: visited */
	pmem_persist(&x->head, sizeof(x->head));
	if (visit)
		visit(e);
	pmem_persist(e, sizeof(*e));
}

/* This one is no other's. */
void count(Index *x, Entry *e);
void count(Index *x, Entry *e)
{
	e->value = 5; /* BUG: ordering before count */
	pmem_persist(e, sizeof(*e));
	x->head = e; /* STEP: count */
	pmem_persist(&x->head, sizeof(x->head));
	watcher->seen();
}

/* Nor does one store that only flushes. */
void saved(Index *x, Entry *e);
void saved(Index *x, Entry *e)
{
	e->value = 5; /* BUG: ordering before saved */
	pmem_persist(e, sizeof(*e));
	x->head = e; /* STEP: saved */
	medium->save(&x->head, sizeof(x->head));
}

void again(Entry *e);
void again(Entry *e)
{
	e->value = 5;
	pmem_persist(e, sizeof(*e));
	watcher->changed(e);
	pmem_persist(e, sizeof(*e)); /* BUG: flush-clean, left: it may still be needed */
}
