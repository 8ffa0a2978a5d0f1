/* The oracle transient-in-pm reports data in persistent memory that recovery never needs, such as
 * locks, caches and statistics. A location that is never written back is a bug until there is
 * evidence that nobody needs it after a crash: PMEND_IGNORE, pmemcheck's SET_CLEAN, or that no
 * recovery run read it (check_options.unread). With such evidence, the location costs time and
 * saves nothing.
 *
 * It is reported if a byte of it is stored to at least three times after the declaration, and no
 * store to it is ever written back. (A value that is set once at start-up costs too little for a
 * finding, and one memset or memcpy may store a byte twice.) It is not reported if it is written
 * back together with a neighbour in its line: it may share a line with durable data for good
 * reasons. Declarations of PMDK about its own memory do not count. */
#include "check/oracle.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/vec.h"

static const char KIND[] = "transient-in-pm";
static const char BY_IGNORE[] =
	"stored many times and never flushed, and PMEND_IGNORE marks it as volatile: it need not be in persistent memory";
static const char BY_CLEAN[] =
	"stored many times and never flushed, and pmemcheck's SET_CLEAN marks it as clean: it need not be in persistent memory";
static const char BY_UNREAD[] =
	"stored many times and never flushed, and no recovery run read it: it need not be in persistent memory";

/* Bytes with evidence. */
struct declared {
	struct range at;
	const char *evidence; /* the message of the finding */
	/* of the declaration; NULL if recovery runs are the evidence */
	const struct trace_site *site;
	const struct trace_site *store; /* the first store, and its number */
	uint64_t store_seq;
	struct ranges stored, twice;
	bool is_repeated, is_written_back;
};

struct state {
	VEC(struct declared) list; /* sorted, without overlap */
	bool is_begun;
};

static void *transient_begin(void)
{
	return xcalloc(1, sizeof(struct state));
}

static void transient_end(void *arg)
{
	struct state *s = arg;

	for (size_t i = 0; i < s->list.n; i++) {
		ranges_release(&s->list.at[i].stored);
		ranges_release(&s->list.at[i].twice);
	}
	vec_release(&s->list);
	free(s);
}

/* Gives the index of the first declared range that ends after addr. */
static size_t find(const struct state *s, uint64_t addr)
{
	size_t low = 0, high = s->list.n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->list.at[mid].at.to <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Adds evidence for the bytes that have none yet; declared bytes keep their first evidence. */
static void declare(struct state *s, uint64_t addr, uint64_t len_bytes, const char *evidence,
		    const struct trace_site *site)
{
	uint64_t end = range_in_file(addr, len_bytes).to, gap_end;

	for (size_t i = find(s, addr); addr < end; addr = s->list.at[i++].at.to) {
		gap_end =
			i < s->list.n && s->list.at[i].at.from < end ? s->list.at[i].at.from : end;
		if (addr < gap_end) {
			(void)vec_add(&s->list);
			memmove(s->list.at + i + 1, s->list.at + i,
				(s->list.n - 1 - i) * sizeof *s->list.at);
			s->list.at[i++] = (struct declared){ .at = { addr, gap_end },
							     .evidence = evidence,
							     .site = site };
		}
		if (gap_end == end)
			return;
	}
}

static void note_store(struct state *s, const struct trace_event *ev, bool is_written_back)
{
	for (size_t i = find(s, ev->addr);
	     i < s->list.n && s->list.at[i].at.from < ev->addr + ev->size_bytes; i++) {
		struct declared *d = &s->list.at[i];
		uint64_t from = ev->addr > d->at.from ? ev->addr : d->at.from;
		uint64_t to = ev->addr + ev->size_bytes < d->at.to ? ev->addr + ev->size_bytes
								   : d->at.to,
			 again;

		if (d->is_written_back)
			continue;
		if (!d->store) {
			d->store = ev->site;
			d->store_seq = ev->seq;
		}
		d->is_written_back = is_written_back;
		d->is_repeated |= ranges_touch(&d->twice, from, to - from);
		again = ranges_mask(&d->stored, from, (uint32_t)(to - from));
		for (uint64_t k = 0; again && k < to - from; k++)
			if (again >> k & 1)
				ranges_add(&d->twice, from + k, 1);
		ranges_add(&d->stored, from, to - from);
	}
}

static void note_write_back(struct state *s, struct range r)
{
	for (size_t i = find(s, r.from); i < s->list.n && s->list.at[i].at.from < r.to; i++)
		if (ranges_touch(&s->list.at[i].stored, r.from, r.to - r.from)) {
			s->list.at[i].is_written_back = true;
			ranges_release(&s->list.at[i].stored);
			ranges_release(&s->list.at[i].twice);
		}
}

static void note_unread(struct state *s, const struct check *c)
{
	const struct ranges *unread = check_unread(c);

	for (size_t i = 0; i < unread->list.n; i++)
		declare(s, unread->list.at[i].from, unread->list.at[i].to - unread->list.at[i].from,
			BY_UNREAD, NULL);
	s->is_begun = true;
}

static void transient_step(void *arg, struct check *c, const struct trace_event *ev)
{
	struct state *s = arg;

	if (!s->is_begun)
		note_unread(s, c);
	switch (ev->kind) {
	case PMT_IGNORE: declare(s, ev->addr, ev->arg[0], BY_IGNORE, ev->site); break;
	case PMT_SET_CLEAN:
		if (!check_is_pmdk_code(ev->site))
			declare(s, ev->addr, ev->arg[0], BY_CLEAN, ev->site);
		break;
	case PMT_STORE:
	case PMT_STORE_NT:
	case PMT_STORE_RMW:
	case PMT_STORE_SYS:
	case PMT_STORE_PAIR:
	case PMT_STORE_VECTOR:
	case PMT_STORE_ORDERED:
		/* a non-temporal store needs no flush, so it counts as written back */
		if (s->list.n)
			note_store(s, ev, platform_is_unordered(check_platform(c), ev));
		break;
	case PMT_CLFLUSH:
	case PMT_CLFLUSHOPT:
	case PMT_CLWB:
	case PMT_DC_CVAC:
	case PMT_DC_CIVAC:
	case PMT_DC_CVAP:
	case PMT_DC_CVADP:
	case PMT_MSYNC:
	case PMT_FSYNC:
	case PMT_FDATASYNC:
		if (s->list.n)
			note_write_back(s, check_written_back(c, ev));
		break;
	default: break; /* other kinds neither declare nor store nor write back */
	}
}

/* Are the declared bytes still declared clean? A later store ends that, and then it is a bug of
 * another kind. */
static bool is_still_declared(const struct declared *d, const struct check *c)
{
	for (size_t i = 0; i < d->stored.list.n; i++)
		if (!check_is_ignored(c, d->stored.list.at[i].from,
				      d->stored.list.at[i].to - d->stored.list.at[i].from))
			return false;
	return true;
}

static void transient_finish(void *arg, struct check *c)
{
	const struct state *s = arg;

	for (size_t i = 0; i < s->list.n; i++) {
		const struct declared *d = &s->list.at[i];
		struct finding f = { .kind = KIND,
				     .message = d->evidence,
				     .first_seq = d->store_seq,
				     .nplaces = 1 };

		if (!d->is_repeated || d->is_written_back || !is_still_declared(d, c))
			continue;
		f.places[0] = (struct finding_place){ "store", d->store };
		if (d->site)
			f.places[f.nplaces++] = (struct finding_place){ "declared", d->site };
		check_report(c, &f);
	}
}

static bool transient_is_asleep(const void *state, const struct check *c)
{
	return ((const struct state *)state)->list.n == 0 && check_unread(c)->list.n == 0;
}

const struct oracle oracle_transient = {
	.name = "transient",
	.help = "data in persistent memory that recovery never needs: transient-in-pm",
	.classes = EVENT_STORE | EVENT_FLUSH,
	.is_asleep = transient_is_asleep,
	.begin = transient_begin,
	.step = transient_step,
	.finish = transient_finish,
	.end = transient_end,
};
