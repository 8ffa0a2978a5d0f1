/* Small programs for the tests of the persistence graph: stores to fields of objects, each field in a line of its own unless said otherwise. */
#ifndef TESTS_UNIT_UPDATES_H
#define TESTS_UNIT_UPDATES_H

#include <stdio.h>
#include <string.h>

#include "crash/representative/epochs.h"
#include "crash/representative/groups.h"

/* Object 'X' is at page 'X' - 'A', its field 'B' at line 'B' - 'A' of that page; the site is the
 * field's, or given. */
static inline uint64_t updates_addr(char object, char field)
{
	return PMT_ADDR(1, (uint64_t)(object - 'A') * 4096 + (uint64_t)(field - 'A') * 64);
}

struct updates {
	struct graph graph;
	struct trace_site sites[128];
	uint64_t seq;
	VEC(struct updates_store { char object; char field; }) stores;
	VEC(uint64_t) acks;
};

static inline void updates_event(struct updates *u, enum pmt_kind kind, uint64_t addr, uint32_t site)
{
	uint64_t value = ++u->seq;

	u->sites[site].id = site;
	graph_step(&u->graph, &(struct trace_event){ .seq = u->seq,
						     .site = &u->sites[site],
						     .kind = kind,
						     .thread = 1,
						     .addr = addr,
						     .size_bytes = trace_is_store(kind) ? 8 : 0,
						     .data = (const uint8_t *)&value,
						     .data_len = 8 });
}

static inline void updates_init(struct updates *u)
{
	memset(u, 0, sizeof *u);
	graph_init(&u->graph, platforms[0]);
}

static inline void updates_release(struct updates *u)
{
	graph_release(&u->graph);
	vec_release(&u->stores);
	vec_release(&u->acks);
}

/* Runs a program: "X.A X.B; Y.Q" stores, "!X.A" writes back, "|" is a fence, "." acknowledges;
 * "X.A#7" stores from place 7, "X.A=" stores what is there already. PERSIST(X.A) is "!X.A |". */
static inline void updates_run(struct updates *u, const char *program)
{
	for (const char *at = program; *at; at++) {
		bool is_flush = *at == '!';

		at += is_flush;
		if (*at == '|') {
			updates_event(u, PMT_SFENCE, 0, 1);
		} else if (*at == '.') {
			*vec_add(&u->acks) = ++u->seq;
		} else if (*at >= 'A' && *at <= 'Z') {
			uint32_t site = (uint32_t)at[2], n = 0;
			int len = 0;

			if (at[3] == '#' && sscanf(at + 4, "%u%n", &n, &len) == 1)
				site = n;
			updates_event(u, is_flush ? PMT_CLWB : PMT_STORE, updates_addr(at[0], at[2]), site);
			if (!is_flush)
				*vec_add(&u->stores) = (struct updates_store){ at[0], at[2] };
			at += len ? 3 + len : 2;
			if (at[1] == '=') {
				u->graph.stores.at[u->graph.stores.n - 1].is_silent = true;
				at++;
			}
		}
	}
}

/* Each object has a type of its own name, unless `type` is given. */
static inline void updates_behaviours(struct updates *u, void (*f)(const struct behaviour *b, void *arg), void *arg, const char *one_type)
{
	struct epochs e;

	epochs_init(&e, &u->graph, f, arg);
	for (uint32_t i = 0; i < u->stores.n; i++) {
		char o = u->stores.at[i].object;

		epochs_add(&e, i, strchr(one_type, o) ? (uint32_t)one_type[0] : (uint32_t)o, updates_addr(o, 'A'), (uint32_t)u->stores.at[i].field);
	}
	epochs_end(&e);
	epochs_release(&e);
}

/* "X{ABC}": a behaviour as text, by instance and fields. */
struct listing {
	const struct updates *updates;
	char text[1000];
};

static inline void listing_add(const struct behaviour *b, void *arg)
{
	struct listing *l = arg;
	size_t n = strlen(l->text);

	n += (size_t)snprintf(l->text + n, sizeof l->text - n, "%s%c{", n ? " " : "", l->updates->stores.at[b->updates[0].store].object);
	for (size_t i = 0; i < b->n; i++)
		l->text[n++] = (char)b->updates[i].field;
	snprintf(l->text + n, sizeof l->text - n, "}");
}

#endif
