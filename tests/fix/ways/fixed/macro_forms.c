/* Macros of all forms: of the thing itself, of a pointer, of a pointer and a member. */
#include <stddef.h>
#include <stdint.h>

void keep(const void *from, size_t len); /* of another file: pm.c */

#define SAVE(thing) keep(&(thing), sizeof(thing))

struct root {
	uint64_t a, b;
	char name[100];
};

void correct(struct root *r);
void correct(struct root *r)
{
	r->a = 1;
	SAVE(r->a);
}

void stores(struct root *r, char c);
void stores(struct root *r, char c)
{
	r->b = 1; /* BUG: missing-flush-fence */
	SAVE(r->b);
	r->name[2] = c; /* BUG: missing-flush-fence */
	SAVE(r->name[2]);
}
