/* Functions that store to several parts of what they are given: one log of it, before the call if others call them, too, and else in the function. */
#include <libpmemobj.h>
#include <string.h>

struct point {
	uint64_t x, y;
	char label[16];
};

struct shape {
	uint64_t id;
	struct point center, corners[2];
};

struct page {
	char bytes[4000];
	uint64_t nlines, sum;
};

struct span {
	uint64_t from, to;
};

TOID_DECLARE(struct shape, 1);

/* for points that are not persistent, too */
static void point_move(struct point *p, uint64_t dx, uint64_t dy)
{
	p->x += dx;
	p->y += dy;
}

/* where in the label, only the function knows */
static void point_name(struct point *p, char c)
{
	size_t n = strlen(p->label);

	memset(p->label + n, c, 1);
	p->label[n + 1] = 0;
}

/* too large to be logged for two of its members */
static void page_count(struct page *p, uint64_t sum)
{
	p->nlines++;
	p->sum += sum;
}

/* only transactions call it */
static void span_grow(struct span *s)
{
	s->from -= 1;
	s->to += 1;
}

uint64_t point_far(uint64_t by)
{
	struct point scratch = { .label = "far" };
	struct page page = { .nlines = by };

	point_move(&scratch, by, by);
	point_name(&scratch, 'x');
	page_count(&page, by);
	return scratch.x + page.sum;
}

void shape_move(PMEMobjpool *pop, TOID(struct shape) s)
{
	TX_BEGIN(pop) {
		TX_ADD_FIELD(s, id);
		D_RW(s)->id++;
		point_move(&D_RW(s)->center, 1, 2); /* BUG: tx-missing-add in point_move */ /* BUG: tx-missing-add 2 in point_move */
	} TX_END
}

void shape_name(PMEMobjpool *pop, struct shape *s)
{
	TX_BEGIN(pop) {
		TX_ADD_FIELD_DIRECT(s, id);
		s->id++;
		point_name(&s->corners[1], 'c'); /* BUG: tx-missing-add 2 in point_name */ /* BUG: tx-missing-add 3 in point_name */
	} TX_END
}

void page_add(PMEMobjpool *pop, struct page *p)
{
	TX_BEGIN(pop) {
		TX_ADD_FIELD_DIRECT(p, bytes[0]);
		p->bytes[0] = 1;
		page_count(p, 1); /* BUG: tx-missing-add in page_count */ /* BUG: tx-missing-add 2 in page_count */
	} TX_END
}

void span_widen(PMEMobjpool *pop, struct span *s)
{
	TX_BEGIN(pop) {
		span_grow(s); /* BUG: tx-missing-add in span_grow */ /* BUG: tx-missing-add 2 in span_grow */
	} TX_END
}
