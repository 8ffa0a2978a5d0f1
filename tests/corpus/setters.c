/* Functions and macros of a header that store for their callers: the caller's line is meant, and each caller is a finding of its own. */
#include "setters.h"

static struct node *node_of(struct pm *p)
{
	return (struct node *)(void *)p;
}

/* A fence that has something to complete. */
static void other(struct pm *p)
{
	p->d = 1;
	persist(&p->d, sizeof p->d);
}

static void right(struct pm *p)
{
	node_set_next(node_of(p), 1);
	flush_line(p);
	fence();
}

static void one_forgets(struct pm *p)
{
	node_set_next(node_of(p), 2); /* BUG: missing-flush */
	other(p);
}

static void another_forgets(struct pm *p)
{
	node_link(node_of(p), 3); /* BUG: missing-flush */
	other(p);
}

static void link_is_flushed(struct pm *p)
{
	node_link(node_of(p), 4);
	flush_line(p);
	fence();
}

/* One cause, although the setter stores three times. */
static void all_fields(struct pm *p)
{
	node_fill(node_of(p), 5); /* BUG: missing-flush */
	other(p);
}

static void all_fields_right(struct pm *p)
{
	node_fill(node_of(p), 6);
	persist(p, sizeof(struct node));
}

static void by_macro(struct pm *p)
{
	SET_FIELD(node_of(p), next, 7); /* BUG: missing-flush */
	other(p);
}

static void by_macro_again(struct pm *p)
{
	SET_FIELD(node_of(p), next, 8); /* BUG: missing-flush */
	other(p);
}

static void by_macro_twice(struct pm *p)
{
	SET_TWO(node_of(p), 9); /* BUG: missing-flush */
	other(p);
}

static void only_caller(struct pm *p)
{
	node_set_sum(node_of(p), 10);
	persist(p, sizeof(struct node));
}

static void change(struct pm *p)
{
	node_change(node_of(p), 11);
}

static void change_again(struct pm *p)
{
	node_change(node_of(p), 12);
}

int main(int argc, char **argv)
{
	return argc == 2 && RUN_CASES(argv, right, one_forgets, another_forgets, link_is_flushed, all_fields, all_fields_right, by_macro, by_macro_again,
				      by_macro_twice, only_caller, change, change_again);
}
