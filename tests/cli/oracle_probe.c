/* An oracle that uses all that pmend offers and tells in its findings what it got; test_oracle_plugin.py knows what it should be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmend_oracle.h"

#ifndef ABI
#define ABI PMEND_ORACLE_ABI
#endif
#ifndef NAME
#define NAME "probe"
#endif

struct state {
	const struct pmend_host *host;
	struct pmend_check *check;
	unsigned nstores, nundurable, nlost, nignored, nfiles;
	uint64_t last_seq, sum;
	const struct pmend_site *site; /* of the last store */
};

static void *begin(const struct pmend_host *host, struct pmend_check *check)
{
	struct state *s = calloc(1, sizeof *s);

	s->host = host;
	s->check = check;
	return s;
}

static void count(const struct pmend_store *store, void *arg)
{
	unsigned *n = arg;

	*n += store->kind == PMEND_EV_STORE && store->at.size_bytes == 8 && !store->is_overwritten;
}

static void event(void *arg, const struct pmend_event *ev)
{
	struct state *s = arg;
	const struct pmend_range all = { 0, 0, 0 };

	if (ev->seq <= s->last_seq)
		abort();
	s->last_seq = ev->seq;
	s->nfiles += ev->kind == PMEND_EV_FILE && ev->nbytes > 4 && strcmp(ev->kind_name, "file") == 0;
	if (ev->kind == PMEND_EV_CLWB || ev->kind == PMEND_EV_DC_CVAP)
		s->host->each_unpersisted(s->check, &all, count, &s->nlost);
	if (ev->kind != PMEND_EV_STORE)
		return;
	s->nstores++;
	s->sum += ev->bytes[0] * ev->nbytes;
	s->nundurable += !s->host->is_durable(s->check, &all);
	s->nignored += s->host->is_ignored(s->check, &ev->at) != 0;
	s->site = ev->site;
}

static void finish(void *arg)
{
	struct state *s = arg;
	const struct pmend_place place = { "store", s->site };
	char message[200];

	snprintf(message, sizeof message, "%u files, %u stores, sum %u, %u not durable, %u to be lost at flushes, %u ignored on %s", s->nfiles,
		 s->nstores, (unsigned)s->sum, s->nundurable, s->nlost, s->nignored, s->host->platform(s->check));
	for (int i = 0; i < 3; i++)
		s->host->report(s->check, &(struct pmend_finding){ "seen", PMEND_PERFORMANCE, message, NULL, s->last_seq, &place, 1 });
}

const struct pmend_oracle pmend_oracle = { ABI, NAME, begin, event, finish, free };
