/* A macro of a pointer and a member; one of a pointer, for the whole object. */
#include <stddef.h>
#include <stdint.h>

void keep(const void *from, size_t len); /* of another file: pm.c */

#define SAVE_MEMBER(p, member) keep(&(p)->member, sizeof((p)->member))
#define SAVE_ALL(p) keep((p), sizeof(*(p)))

struct root {
	uint64_t a, b;
	char name[100];
};

void correct(struct root *r);
void correct(struct root *r)
{
	r->a = 1;
	SAVE_MEMBER(r, a);
	r->b = 1;
	SAVE_MEMBER(r, b);
	r->b = 2;
	SAVE_ALL(r);
}

void stores(struct root *r, const struct root *from);
void stores(struct root *r, const struct root *from)
{
	r->b = 1; /* BUG: missing-flush-fence */
	SAVE_MEMBER(r, b);
	if (r->a) {
		*r = *from; /* BUG: missing-flush-fence */
		SAVE_ALL(r);
	}
}
