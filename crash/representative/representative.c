/* Finds the update behaviours of a run, and chooses, wave by wave, which of them are tested at
 * which failure points. It records which test stands for which behaviours. */
#include "crash/representative/representative.h"

#include "crash/representative/test_points.h"

#define EARLY_MIN 16u  /* at least this many groups come before the rest */
#define LASTING_MAX 2u /* failure points per place */
#define EARLY_PARTS 4u /* or a quarter of all groups */

/* ---- the graph, types, behaviours ---- */

/* Does the store leave memory as the program saw it before? */
static bool is_silent(struct crash_image *seen, const struct trace_event *ev)
{
	const uint64_t version = seen->version;

	image_write(seen, ev->addr, ev->data, ev->data_len);
	return seen->version == version;
}

static void read_stores(struct representatives *r, const struct plan *p)
{
	struct trace *t = trace_cursor(p->trace);
	struct crash_image seen;
	struct trace_event ev;

	image_init(&seen, p->sizes.at, p->sizes.n);
	graph_init(&r->graph, p->platform);
	if (p->is_distrusting)
		model_distrust(r->graph.model);
	while (trace_next(t, &ev)) {
		types_learn(r->types, &ev);
		graph_step(&r->graph, &ev);
		image_event(&seen, &ev);
		if (trace_is_store(ev.kind) && ev.size_bytes > 0)
			r->graph.stores.at[r->graph.stores.n - 1].is_silent = is_silent(&seen, &ev);
		if (plan_is_acknowledgement(p, ev.kind))
			*vec_add(&r->acks) = ev.seq;
	}
	graph_end(&r->graph);
	image_release(&seen);
	trace_close(t);
}

static void add_typed(struct representatives *r, struct epochs *e, const struct trace_event *ev,
		      uint32_t store)
{
	struct typed typed;

	types_of(r->types, ev, &typed);
	r->nstores[typed.means]++;
	for (uint32_t i = 0; i < typed.n; i++)
		epochs_add(e, store, typed.level[i].type, typed.level[i].instance,
			   typed.level[i].field);
}

static void find_behaviours(struct representatives *r, const struct plan *p)
{
	struct shape_setting setting = { &r->graph, r->acks.at, r->acks.n, SHAPE_OUTSIDE_ALL };
	struct trace *t = trace_cursor(p->trace);
	struct trace_event ev;
	struct epochs e;
	uint32_t store = 0;

	groups_init(&r->groups, &setting);
	epochs_init(&e, &r->graph, groups_add, &r->groups);
	while (trace_next(t, &ev))
		if (trace_is_store(ev.kind) && ev.size_bytes > 0)
			add_typed(r, &e, &ev, store++);
	epochs_end(&e);
	epochs_release(&e);
	groups_end(&r->groups);
	trace_close(t);
}

struct representatives *representatives_new(const struct plan *p, struct rep_points *points,
					    const struct types_options *o)
{
	struct representatives *r = xcalloc(1, sizeof *r);

	r->points = *points;
	*points = (struct rep_points){ 0 };
	r->symbols = symbols_new();
	r->types = types_new(o, r->symbols);
	read_stores(r, p);
	find_behaviours(r, p);
	for (size_t i = 0; i < r->groups.variants.n; i++)
		*vec_add(&r->variants) = (struct rep_variant){ 0 };
	for (size_t i = 0; i < p->sites.n; i++)
		*vec_add(&r->sites) = false;
	return r;
}

void rep_points_add(struct rep_points *points, const struct walk *w)
{
	*vec_add(&points->list) = (struct rep_point){ .seq = w->seq,
						      .site = w->site ? w->site->id : 0,
						      .is_lasting = w->is_lasting };
}

void rep_points_list(struct rep_points *points, const struct plan *p, unsigned stops)
{
	struct walk w;

	walk_init(&w, p, stops);
	while (walk_next(&w))
		rep_points_add(points, &w);
	walk_release(&w);
}

void representatives_free(struct representatives *r)
{
	if (!r)
		return;
	groups_release(&r->groups);
	graph_release(&r->graph);
	types_free(r->types);
	symbols_free(r->symbols);
	vec_release(&r->points.list);
	vec_release(&r->acks);
	vec_release(&r->variants);
	vec_release(&r->sites);
	vec_release(&r->stops);
	vec_release(&r->tests);
	free(r);
}

/* Gives the representative of a group: the first variant of the kind for which the group was
 * founded. */
static uint32_t representative_of(const struct representatives *r, const struct group *g)
{
	return r->groups.kinds.at[g->kind].variants.at[0];
}

const struct variant *representatives_of(const struct representatives *r, const struct group *g)
{
	return &r->groups.variants.at[representative_of(r, g)];
}

/* ---- waves ---- */

struct task {
	uint64_t point;
	uint32_t variant; /* UINT32_MAX: none */
	bool is_late;
};
typedef VEC(struct task) tasks;

static int compare_tasks(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	return x->point != y->point ? (x->point > y->point) - (x->point < y->point)
				    : (x->variant > y->variant) - (x->variant < y->variant);
}

static void choose(struct representatives *r, uint32_t variant, bool is_late, tasks *out)
{
	const struct variant *v = &r->groups.variants.at[variant];
	struct rep_variant *state = &r->variants.at[variant];
	point_list points = { 0 };

	if (state->is_chosen)
		return;
	state->is_chosen = true;
	test_points_of(r, v, &points);
	for (size_t i = 0; i < points.n; i++)
		*vec_add(out) = (struct task){ points.at[i], variant, is_late };
	state->nleft = state->nunbegun = (uint32_t)points.n;
	state->is_tested = state->is_begun = points.n == 0; /* no crash can interrupt it */
	for (size_t i = 0; i < v->nsites; i++)
		if (v->sites[i] < r->sites.n)
			r->sites.at[v->sites[i]] = true;
	vec_release(&points);
}

/* Chooses failure points that are there for another reason than stores which become durable, such
 * as a change of a file: the first ones of each place. */
static void choose_lasting(const struct representatives *r, tasks *out)
{
	uint32_t *seen = xcalloc(r->sites.n + 1, sizeof *seen);

	for (size_t i = 0; i < r->points.list.n; i++) {
		const struct rep_point *p = &r->points.list.at[i];

		if (p->is_lasting &&
		    (p->site == 0 || p->site >= r->sites.n || seen[p->site]++ < LASTING_MAX))
			*vec_add(out) = (struct task){ i + 1, UINT32_MAX, false };
	}
	free(seen);
}

static void choose_representatives(struct representatives *r, tasks *out)
{
	const size_t n = r->groups.groups.n,
		     nearly = n / EARLY_PARTS > EARLY_MIN ? n / EARLY_PARTS : EARLY_MIN;

	for (size_t i = 0; i < n; i++)
		choose(r, representative_of(r, &r->groups.groups.at[i]), i >= nearly, out);
}

static bool has_new_site(const struct representatives *r, const struct variant *v)
{
	for (size_t i = 0; i < v->nsites; i++)
		if (v->sites[i] < r->sites.n && !r->sites.at[v->sites[i]])
			return true;
	return false;
}

/* Hashes the set of fields whose stores change nothing. */
static uint64_t silence_of(const struct shape *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->outside[i] & SHAPE_SILENT)
			sum += (s->fields[i] + 1) * 0x9e3779b97f4a7c15u;
	return sum;
}

static bool is_chosen(const struct representatives *r, const struct kind *k)
{
	for (size_t i = 0; i < k->variants.n; i++)
		if (r->variants.at[k->variants.at[i]].is_chosen)
			return true;
	return false;
}

/* Does the kind have other fields whose stores change nothing (silent stores) than each tested kind
 * of the group? Then a test of the kind can lose stores whose loss no test has shown, because
 * losing a silent store changes nothing. */
static bool has_new_silence(const struct representatives *r, const struct group *g,
			    const struct kind *k)
{
	for (size_t i = 0; i < g->members.n; i++) {
		const struct kind *other = &r->groups.kinds.at[g->members.at[i]];

		if (silence_of(&other->shape) == silence_of(&k->shape) && is_chosen(r, other))
			return false;
	}
	return true;
}

/* Chooses more members of a group whose representative failed: those from places that no test has
 * reached, or that can lose other stores than the tests. */
static void follow_up(struct representatives *r, const struct group *g, tasks *out)
{
	for (size_t i = 0; i < g->members.n; i++) {
		const struct kind *k = &r->groups.kinds.at[g->members.at[i]];

		for (size_t j = 0; j < k->variants.n; j++) {
			uint32_t variant = k->variants.at[j];

			if (r->variants.at[variant].is_chosen ||
			    !(has_new_site(r, &r->groups.variants.at[variant]) ||
			      has_new_silence(r, g, k)))
				continue;
			choose(r, variant, false, out);
			r->nfollowed++;
		}
	}
}

static void follow_up_all(struct representatives *r, tasks *out)
{
	for (size_t i = 0; i < r->groups.groups.n; i++)
		if (r->variants.at[representative_of(r, &r->groups.groups.at[i])].has_failed)
			follow_up(r, &r->groups.groups.at[i], out);
}

static int compare_stops(const void *a, const void *b)
{
	const struct rep_stop *x = a, *y = b;

	return x->is_late != y->is_late ? x->is_late - y->is_late
					: (x->point > y->point) - (x->point < y->point);
}

static void set_stops(struct representatives *r, tasks *list)
{
	r->stops.n = r->tests.n = 0;
	if (list->n > 0)
		qsort(list->at, list->n, sizeof *list->at, compare_tasks);
	for (size_t i = 0; i < list->n; i++) {
		if (r->stops.n == 0 || r->stops.at[r->stops.n - 1].point != list->at[i].point)
			*vec_add(&r->stops) = (struct rep_stop){ .point = list->at[i].point,
								 .first = r->tests.n,
								 .is_late = true };
		r->stops.at[r->stops.n - 1].is_late &= list->at[i].is_late;
		if (list->at[i].variant == UINT32_MAX)
			continue;
		*vec_add(&r->tests) = list->at[i].variant;
		r->stops.at[r->stops.n - 1].n++;
	}
	if (r->stops.n > 0)
		qsort(r->stops.at, r->stops.n, sizeof *r->stops.at, compare_stops);
	r->nstops += r->stops.n;
}

bool representatives_next(struct representatives *r)
{
	tasks list = { 0 };

	if (r->nwaves++ == 0) {
		choose_lasting(r, &list);
		choose_representatives(r, &list);
	}
	if (list.n == 0)
		follow_up_all(r, &list);
	set_stops(r, &list);
	vec_release(&list);
	return r->stops.n > 0;
}

void representatives_begun(struct representatives *r, size_t stop)
{
	for (size_t i = 0; i < r->stops.at[stop].n; i++) {
		struct rep_variant *v = &r->variants.at[r->tests.at[r->stops.at[stop].first + i]];

		v->is_begun = --v->nunbegun == 0;
	}
}

void representatives_done(struct representatives *r, size_t stop)
{
	r->nstops_done++;
	for (size_t i = 0; i < r->stops.at[stop].n; i++) {
		struct rep_variant *v = &r->variants.at[r->tests.at[r->stops.at[stop].first + i]];

		v->is_tested = --v->nleft == 0;
	}
}

void representatives_failed(struct representatives *r, uint32_t variant)
{
	r->variants.at[variant].has_failed = true;
}

/* ---- what was tested ---- */

void representatives_account(const struct representatives *r, struct rep_account *a)
{
	*a = (struct rep_account){ .behaviours = r->groups.nbehaviours,
				   .kinds = r->groups.kinds.n,
				   .groups = r->groups.groups.n };
	for (size_t i = 0; i < r->variants.n; i++)
		a->tested += r->variants.at[i].is_tested;
	for (size_t i = 0; i < r->groups.groups.n; i++) {
		const struct rep_variant *v =
			&r->variants.at[representative_of(r, &r->groups.groups.at[i])];

		a->groups_begun += v->is_begun;
		a->groups_tested += v->is_tested;
		a->groups_failed += v->has_failed;
	}
	for (size_t i = 0; i < r->groups.kinds.n; i++) {
		const struct kind *k = &r->groups.kinds.at[i];
		bool is_represented = false;

		for (size_t j = 0; j < k->groups.n; j++)
			is_represented |= r->variants
						  .at[representative_of(
							  r, &r->groups.groups.at[k->groups.at[j]])]
						  .is_tested;
		a->represented += is_represented ? k->count : 0;
	}
}
