/* The parent's side of worker.h: takes apart what a worker tells, and puts what several tell together. */
#include <stdlib.h>

#include "crash/bug_wire.h"
#include "crash/race_wire.h"
#include "crash/worker.h"

void first_crash_release(struct first_crash *f)
{
	free(f->state);
	vec_release(&f->allowed);
}

static void get_first_crash(struct wire *m, struct crash_result *r)
{
	struct first_crash f = { .signature = wire_get_number(m) };

	f.is_oldest = wire_get_number(m);
	f.point = wire_get_number(m);
	f.state = wire_get_string(m);
	for (uint64_t n = wire_get_number(m); n > 0 && !m->is_bad; n--)
		*vec_add(&f.allowed) = wire_get_number(m);
	for (size_t i = 0; i < r->first_crashes.n; i++) {
		struct first_crash *known = &r->first_crashes.at[i], later;

		if (known->signature != f.signature || known->is_oldest != f.is_oldest)
			continue;
		if (f.point < known->point) {
			later = *known;
			*known = f;
			f = later;
		}
		first_crash_release(&f);
		return;
	}
	*vec_add(&r->first_crashes) = f;
}

/* Another worker met the same at an earlier failure point, where there was nothing older. */
static bool is_outdone(const struct crash_result *r, const struct first_crash *f)
{
	for (size_t i = 0; f->is_oldest && i < r->first_crashes.n; i++)
		if (r->first_crashes.at[i].signature == f->signature && r->first_crashes.at[i].point < f->point)
			return true;
	return false;
}

void first_crashes_settle(struct crash_result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->first_crashes.n; i++) /* those that stay are not moved past one that is still to be looked at */
		if (is_outdone(r, &r->first_crashes.at[i]))
			first_crash_release(&r->first_crashes.at[i]);
		else
			r->first_crashes.at[n++] = r->first_crashes.at[i];
	r->first_crashes.n = n;
}

static void get_counts(struct wire *m, struct crash_bug *list, size_t n)
{
	uint64_t count = wire_get_number(m);

	for (uint64_t i = 0; i < count && i < n; i++)
		list[i].count = wire_get_number(m);
}

static void get_sums(struct wire *m, struct crash_result *r)
{
	char *seen = wire_get_string(m), *all = wire_get_string(m), *why = wire_get_string(m);
	struct big n = { 0 };

	if (seen && big_parse(&n, seen) == 0)
		big_add(&r->states_seen, &n);
	if (all && big_parse(&n, all) == 0)
		big_add(&r->states_all, &n);
	if (why) {
		free(r->why_fallback);
		r->why_fallback = why;
	}
	big_release(&n);
	free(seen);
	free(all);
}

int worker_listen(int fd, struct crash_result *r, struct error *err)
{
	VEC(struct crash_bug) list = { 0 };
	bool is_ended = false, is_error = false;
	struct race race;
	struct wire m = { 0 };
	char *text;

	while (wire_receive(&m, fd) > 0) {
		switch (wire_get_number(&m)) {
		case 'B':
			bug_get(&m, vec_add(&list));
			break;
		case 'F':
			get_first_crash(&m, r);
			break;
		case 'R':
			race_get(&m, &race);
			race_merge(r, &race);
			break;
		case 'S':
			representatives_done(r->representatives, wire_get_number(&m));
			break;
		case 'V':
			representatives_failed(r->representatives, (uint32_t)wire_get_number(&m));
			break;
		case 'C':
			get_counts(&m, list.at, list.n);
			break;
		case 'E':
			get_sums(&m, r);
			is_ended = true;
			break;
		case 'X':
			text = wire_get_string(&m);
			error_set(err, "%s", text ? text : "?");
			free(text);
			is_error = true;
			break;
		}
	}
	if (!is_ended && !is_error)
		error_set(err, "a worker process ended unexpectedly; this is a bug of pmend or it was killed");
	wire_release(&m);
	for (size_t i = 0; i < list.n; i++)
		bug_merge(r, &list.at[i]);
	vec_release(&list);
	return is_ended && !is_error ? 0 : -1;
}
