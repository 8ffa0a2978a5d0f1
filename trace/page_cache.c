/* Decides whether a recorded program keeps its data with msync and fsync: it syncs its files, and
 * at least half of the pages that it stores to. A flush, a non-temporal store, libpmem, MAP_SYNC or
 * a DAX device speaks against it, and the first of them ends the reading. */
#include "trace/page_cache.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "util/alloc.h"
#include "util/map.h"
#include "util/vec.h"
#include "trace/followed.h"
#include "trace/owner.h"

struct pages {
	/* page number → &stored or &synced, for all pages that were stored to */
	struct map known;
	VEC(uint64_t) waiting; /* pages that were stored to and not synced since */
	uint64_t nstored, nsynced;
	bool has_sync;  /* a sync that waits, of a file in the trace */
	bool has_async; /* one that does not wait, and therefore promises nothing */
};

static char stored, synced; /* values of known */

static uint64_t page_of(uint64_t addr)
{
	return addr / PMT_PAGE_BYTES;
}

static void note_store(struct pages *p, const struct trace_event *ev)
{
	for (uint64_t page = page_of(ev->addr);
	     ev->size_bytes && page <= page_of(ev->addr + ev->size_bytes - 1); page++)
		if (!map_get(&p->known, page)) {
			map_set(&p->known, page, &stored);
			*vec_add(&p->waiting) = page;
			p->nstored++;
		}
}

static void note_synced(struct pages *p, uint64_t page)
{
	if (map_get(&p->known, page) == &stored) {
		map_set(&p->known, page, &synced);
		p->nsynced++;
	}
}

/* Marks the waiting pages in [from, to) as synced. Goes through the smaller of range and list, so
 * that many syncs of a large file cost little. */
static void sync_pages(struct pages *p, uint64_t from, uint64_t to)
{
	size_t n = 0;

	p->has_sync = true;
	if (to - from < p->waiting.n) {
		for (uint64_t page = from; page < to; page++)
			note_synced(p, page);
		return;
	}
	for (size_t i = 0; i < p->waiting.n; i++) {
		uint64_t page = p->waiting.at[i];

		if (page >= from && page < to)
			note_synced(p, page);
		else if (map_get(&p->known, page) == &stored)
			p->waiting.at[n++] = page;
	}
	p->waiting.n = n;
}

static void sync_file(struct pages *p, uint64_t file)
{
	if (file) /* file 0 is sync(2), which no program uses to keep one file */
		sync_pages(p, page_of(PMT_ADDR(file, 0)), page_of(PMT_ADDR(file + 1, 0)));
}

/* Has any process loaded libpmem, as far as the trace was read? */
static bool has_libpmem(const struct trace *t)
{
	for (size_t i = 0; i < trace_nobjects(t); i++)
		if (owner_is_libpmem(trace_object(t, i)))
			return true;
	return false;
}

/* Says why the event shows that the program does not rely on msync and fsync, as in "the program
 * flushes cache lines". NULL: the event does not show that. */
static const char *other_way(const struct trace *t, const struct trace_event *ev)
{
	if (trace_is_flush(ev->kind) || ev->kind == PMT_NOTE_FLUSH)
		return "the program flushes cache lines";
	if (ev->kind == PMT_STORE_NT)
		return "the program has non-temporal stores";
	if (ev->kind == PMT_FILE && ev->arg[2] & PMT_FILE_DEVICE)
		return "its memory is a DAX device";
	if (ev->kind == PMT_META && trace_meta(t, "map_sync"))
		return "it maps files with MAP_SYNC";
	return NULL;
}

static void note_event(struct pages *p, const struct trace_event *ev)
{
	const uint64_t page = PMT_PAGE_BYTES - 1;

	if (trace_is_store(ev->kind))
		note_store(p, ev);
	else if (ev->kind == PMT_MSYNC && ev->arg[1] & MS_SYNC)
		sync_pages(p, page_of(ev->addr), page_of(ev->addr + ev->arg[0] + page));
	else if (ev->kind == PMT_MSYNC)
		p->has_async = true;
	else if (ev->kind == PMT_FSYNC || ev->kind == PMT_FDATASYNC)
		sync_file(p, ev->arg[0]);
}

/* Asks whether the event is about a followed file (--files). Such an event is left out, because it
 * does not tell how the program keeps memory. */
static bool is_of_followed(const followed_files *f, const struct trace_event *ev)
{
	if (trace_kinds[ev->kind].carries & PMT_HAS_ADDR)
		return followed_has(f, PMT_FILE(ev->addr));
	return (ev->kind == PMT_FSYNC || ev->kind == PMT_FDATASYNC) && followed_has(f, ev->arg[0]);
}

bool page_cache_is_all(const struct trace *trace, char **why)
{
	struct trace *t = trace_cursor(trace);
	followed_files followed = followed_of(trace);
	const char *other = NULL;
	struct trace_event ev;
	struct pages p = { 0 };
	bool is_all;

	*why = NULL;
	while (!other && trace_next(t, &ev)) {
		if (is_of_followed(&followed, &ev))
			continue;
		note_event(&p, &ev);
		other = other_way(t, &ev);
	}
	vec_release(&followed);
	if (!other && has_libpmem(t))
		other = "the program uses libpmem";
	is_all = !other && p.nstored > 0 && p.has_sync && p.nsynced * 2 >= p.nstored;
	if (!is_all && !other && !p.has_sync && p.has_async)
		*why = xstrdup("only with MS_ASYNC, which promises nothing");
	else if (!is_all && p.has_sync && other)
		*why = xstrdup(other);
	else if (!is_all && p.has_sync)
		*why = xasprintf("only %" PRIu64 " of the %" PRIu64
				 " pages that it stores to are synced at some time",
				 p.nsynced, p.nstored);
	map_release(&p.known);
	vec_release(&p.waiting);
	trace_close(t);
	return is_all;
}

bool page_cache_has_libpmem(const struct trace *trace)
{
	struct trace *t = trace_cursor(trace);
	struct trace_event ev;
	size_t nlooked = 0;
	bool has = false;

	while (!has && trace_next(t, &ev))
		if (trace_nobjects(t) > nlooked) {
			nlooked = trace_nobjects(t);
			has = has_libpmem(t);
		}
	trace_close(t);
	return has;
}
