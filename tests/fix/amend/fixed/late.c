/* Objects that are written back behind the store that publishes them. */
#include <libpmem.h>
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
	pmem_persist(n, sizeof *n);

	l->head = n; /* STEP: push */
	pmem_persist(&l->head, sizeof l->head);
}

/* It has no fence of its own: the one behind is that of the length. */
void append(struct list *l, struct node *n, const char *name);
void append(struct list *l, struct node *n, const char *name)
{
	strcpy(n->name, name); /* BUG: ordering before append */
	pmem_persist(n, sizeof *n);
	l->length++; /* STEP: append */
	pmem_persist(&l->length, sizeof l->length);
}

/* Its own fence goes with it. */
void count(struct list *l, struct node *n);
void count(struct list *l, struct node *n)
{
	n->value = 7; /* BUG: ordering before count */
	pmem_persist(n, sizeof *n);
	l->length++; /* STEP: count */
	pmem_persist(&l->length, sizeof l->length);
}

/* A fence stays for what was flushed in between. */
void link_first(struct list *l, struct node *n);
void link_first(struct list *l, struct node *n)
{
	memset(n->name, 0, sizeof n->name); /* BUG: ordering before link_first */
	pmem_persist(n, sizeof *n);
	l->head = n; /* STEP: link_first */
	pmem_flush(&l->head, sizeof l->head);
	pmem_drain();
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
	pmem_persist(n, sizeof *n);
	l->head = n; /* STEP: insert */
	pmem_persist(&l->head, sizeof l->head);
}

/* The compiler gave the store the place of the call. */
void insert_inlined(struct list *l, struct node *n, long value);
void insert_inlined(struct list *l, struct node *n, long value)
{
	fill_in(n, value); /* BUG: ordering before insert_inlined */
	pmem_persist(n, sizeof *n);
	l->head = n; /* STEP: insert_inlined */
	pmem_persist(&l->head, sizeof l->head);
}

/* The answer. */
void answer(long value);
void change(struct node *n, long value);
void change(struct node *n, long value)
{
	n->value = value; /* BUG: ack-before-durable before change */
	pmem_persist(n, sizeof *n);
	answer(value); /* STEP: change */
}

/* Not so here: what publishes the entry is part of it, and is flushed by the same call. */
void set_entry(struct entry *e, long key);
void set_entry(struct entry *e, long key)
{
	e->key = key; /* BUG: ordering before set_entry */
	pmem_persist(&e->key, sizeof e->key);
	e->valid = 1; /* STEP: set_entry */
	pmem_persist(e, sizeof *e);
}

/* Nor here: another node, which may be the same one, is stored to behind what publishes it. */
void relink(struct list *l, struct node *n, struct node *other);
void relink(struct list *l, struct node *n, struct node *other)
{
	n->value = 9; /* BUG: ordering before relink */
	pmem_persist(&n->value, sizeof n->value);
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
	pmem_persist(&n->value, sizeof n->value);
	l->head = n; /* STEP: push_some */
	pmem_persist(&l->head, sizeof l->head);
	if (is_kept)
		pmem_persist(n, sizeof *n);
}
