/* Objects that are written back behind the store that publishes them. */
#include <libpmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
	long value;
	struct node *next;
	char name[100];
};
struct list {
	struct node *head;
	long length;
	long valid;
};
struct entry {
	long key, value;
	long valid;
};

/* The whole statement moves, behind the last store to the node. */
void push(struct list *l, struct node *n, long value);
void push(struct list *l, struct node *n, long value)
{
	n->value = value; /* BUG: ordering before push */
	n->next = l->head;

	l->head = n; /* STEP: push */
	pmem_persist(&l->head, sizeof l->head);
	pmem_persist(n, sizeof *n);
}

/* It has no fence of its own: the one behind is that of the length. */
void append(struct list *l, struct node *n, const char *name);
void append(struct list *l, struct node *n, const char *name)
{
	strcpy(n->name, name); /* BUG: ordering before append */
	l->length++; /* STEP: append */
	pmem_flush(n, sizeof *n);
	pmem_flush(&l->length, sizeof l->length);
	pmem_drain();
}

/* Its own fence goes with it. */
void count(struct list *l, struct node *n);
void count(struct list *l, struct node *n)
{
	n->value = 7; /* BUG: ordering before count */
	l->length++; /* STEP: count */
	pmem_persist(&l->length, sizeof l->length);
	pmem_flush(n, sizeof *n);
	pmem_drain();
}

/* A fence stays for what was flushed in between. */
void link_first(struct list *l, struct node *n);
void link_first(struct list *l, struct node *n)
{
	memset(n->name, 0, sizeof n->name); /* BUG: ordering before link_first */
	l->head = n; /* STEP: link_first */
	pmem_flush(&l->head, sizeof l->head);
	pmem_persist(n, sizeof *n);
}

/* The store is in a function that is called. */
static void fill_in(struct node *n, long value)
{
	n->value = value;
}

void insert(struct list *l, struct node *n, long value);
void insert(struct list *l, struct node *n, long value)
{
	fill_in(n, value); /* BUG: ordering in fill_in before insert */
	l->head = n; /* STEP: insert */
	pmem_persist(&l->head, sizeof l->head);
	pmem_persist(n, sizeof *n);
}

/* The compiler gave the store the place of the call. */
void insert_inlined(struct list *l, struct node *n, long value);
void insert_inlined(struct list *l, struct node *n, long value)
{
	fill_in(n, value); /* BUG: ordering before insert_inlined */
	l->head = n; /* STEP: insert_inlined */
	pmem_persist(&l->head, sizeof l->head);
	pmem_persist(n, sizeof *n);
}

/* The answer. */
void change(struct node *n, long value);
void change(struct node *n, long value)
{
	n->value = value; /* BUG: ack-before-durable before change */
	printf("%ld\n", value); /* STEP: change */
	pmem_persist(n, sizeof *n);
}

/* Not so here: what publishes the entry is part of it, and is flushed by the same call. */
void set_entry(struct entry *e, long key);
void set_entry(struct entry *e, long key)
{
	e->key = key; /* BUG: ordering before set_entry */
	e->valid = 1; /* STEP: set_entry */
	pmem_persist(e, sizeof *e);
}

/* Nor here: another node, which may be the same one, is stored to behind what publishes it. */
void relink(struct list *l, struct node *n, struct node *other);
void relink(struct list *l, struct node *n, struct node *other)
{
	n->value = 9; /* BUG: ordering before relink */
	l->head = n; /* STEP: relink */
	pmem_persist(&l->head, sizeof l->head);
	other->next = NULL;
	pmem_persist(n, sizeof *n);
	pmem_persist(other, sizeof *other);
}

/* Nor here: it does not come behind on every way. */
void push_some(struct list *l, struct node *n, int is_kept);
void push_some(struct list *l, struct node *n, int is_kept)
{
	n->value = 3; /* BUG: ordering before push_some */
	l->head = n; /* STEP: push_some */
	pmem_persist(&l->head, sizeof l->head);
	if (is_kept)
		pmem_persist(n, sizeof *n);
}

/* Nor here: whatever the hook points to may store to the node. */
extern void (*hook)(void);
void tell_hook(struct list *l, struct node *n);
void tell_hook(struct list *l, struct node *n)
{
	n->value = 5; /* BUG: ordering before tell_hook */
	l->head = n; /* STEP: tell_hook */
	pmem_persist(&l->head, sizeof l->head);
	if (hook)
		hook();
	pmem_persist(n, sizeof *n);
}

/* Nor by a member. */
struct watcher {
	void (*changed)(void *self);
};
extern struct watcher *watcher;
void tell_watcher(struct list *l, struct node *n);
void tell_watcher(struct list *l, struct node *n)
{
	n->value = 5; /* BUG: ordering before tell_watcher */
	l->head = n; /* STEP: tell_watcher */
	pmem_persist(&l->head, sizeof l->head);
	watcher->changed(watcher);
	pmem_persist(n, sizeof *n);
}

/* Nor by a function that another program brings along: it is given nothing, and may know the node all the same. */
void answer(long value);
void tell_other(struct list *l, struct node *n);
void tell_other(struct list *l, struct node *n)
{
	n->value = 5; /* BUG: ordering before tell_other */
	l->head = n; /* STEP: tell_other */
	pmem_persist(&l->head, sizeof l->head);
	answer(5);
	pmem_persist(n, sizeof *n);
}

/* Nor by what a library calls back. */
int compare(const void *a, const void *b);
void tell_sorted(struct list *l, struct node *n);
void tell_sorted(struct list *l, struct node *n)
{
	n->value = 5; /* BUG: ordering before tell_sorted */
	l->head = n; /* STEP: tell_sorted */
	pmem_persist(&l->head, sizeof l->head);
	qsort(l, 1, sizeof *l, compare);
	pmem_persist(n, sizeof *n);
}

/* Nor by a function that is seen, and that calls what is not. */
static void tell_all(void)
{
	if (watcher)
		watcher->changed(watcher);
}

void tell_indirect(struct list *l, struct node *n);
void tell_indirect(struct list *l, struct node *n)
{
	n->value = 5; /* BUG: ordering before tell_indirect */
	l->head = n; /* STEP: tell_indirect */
	pmem_persist(&l->head, sizeof l->head);
	tell_all();
	pmem_persist(n, sizeof *n);
}

/* Nor here: the node may be missing, which is looked at before the flush only. */
static void fill_if(struct node *n, long value)
{
	if (n)
		n->value = value;
}

void insert_some(struct list *l, struct node *n, long value);
void insert_some(struct list *l, struct node *n, long value)
{
	fill_if(n, value); /* BUG: ordering in fill_if before insert_some */
	l->head = n; /* STEP: insert_some */
	pmem_persist(&l->head, sizeof l->head);
	if (!n)
		return;
	pmem_persist(n, sizeof *n);
}

/* Nor here: behind what publishes it, the name is another node's. */
void advance(struct list *l, struct node *other);
void advance(struct list *l, struct node *other)
{
	l->head->value = 8; /* BUG: ordering before advance */
	l->head = other; /* STEP: advance */
	pmem_persist(&l->head, sizeof l->head);
	pmem_persist(l->head, sizeof *l->head);
}

/* A function that is seen, and does nothing to nodes, is passed. */
static long ntold;
static void count_told(void)
{
	ntold++;
}

void tell_none(struct list *l, struct node *n);
void tell_none(struct list *l, struct node *n)
{
	n->value = 5; /* BUG: ordering before tell_none */
	l->head = n; /* STEP: tell_none */
	pmem_persist(&l->head, sizeof l->head);
	count_told();
	pmem_persist(n, sizeof *n);
}
