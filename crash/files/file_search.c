/* Runs recovery on the states that a crash at one failure point can leave. Names and sizes are
 * chosen before a run; sectors are decided as recovery reads them, and each other value that a read
 * could have had gets a run of its own. States that lose little come first: nothing, all at once,
 * what a crash at an earlier moment leaves, then each single loss, then pairs… */
#include <stdlib.h>
#include <string.h>

#include "crash/files/internal.h"
#include "util/hash.h"

#define PROGRESS_NS 200000000u

struct node {
	uint32_t *chosen; /* versions of names and sizes */
	uint64_t *left;   /* NULL: all contents of its sectors are possible */
	/* names and sizes from this one on are its children's to change; none are, of one that is
	 * only tried earlier than its turn */
	size_t free_from;
};

struct search {
	struct file_explorer *e;
	VEC(struct node) queue;
	size_t next;
	struct map visited; /* by layout.hash */
	uint64_t nruns;
	struct big all; /* states that layouts so far have */
};

/* ---- what is to be done ---- */

static uint32_t *versions_now(const struct file_explorer *e)
{
	uint32_t *v = xcalloc(e->nchosen + 1, sizeof *v);

	for (size_t i = 0; i < e->nchosen; i++)
		v[i] = e->items.at[i].version;
	return v;
}

static uint32_t *versions_copy(const struct file_explorer *e, const uint32_t *from)
{
	uint32_t *v = xcalloc(e->nchosen + 1, sizeof *v);

	memcpy(v, from, e->nchosen * sizeof *v);
	return v;
}

static void add_root(struct search *s, uint32_t *chosen, size_t free_from)
{
	*vec_add(&s->queue) = (struct node){ chosen, NULL, free_from };
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Gives the version that the item had after event seq. */
static uint32_t version_at(const struct files_item *it, uint64_t seq)
{
	uint32_t v = 0;

	while (v + 1 < it->nversions && files_item_change(it, v + 1)->seq <= seq)
		v++;
	return v;
}

/* Gives the number of the first size among the items; of all, if there is none. */
static size_t first_size(const struct file_explorer *e)
{
	size_t i = 0;

	while (i < e->nchosen && e->items.at[i].kind == FILES_NAMES)
		i++;
	return i;
}

/* Adds the states that a crash at each earlier moment leaves. In a journal, names have no others;
 * of these states, those in which a file is shorter come next. */
static void add_seeds(struct search *s)
{
	const struct file_explorer *e = s->e;
	const size_t free_from = e->options->profile == FILES_WEAKEST ? e->nchosen : first_size(e);
	VEC(uint64_t) seqs = { 0 };
	uint32_t *v;

	*vec_add(&seqs) = 0;
	for (size_t i = 0; i < e->nchosen; i++)
		for (uint32_t k = 1; k < e->items.at[i].nversions; k++)
			*vec_add(&seqs) = files_item_change(&e->items.at[i], k)->seq;
	qsort(seqs.at, seqs.n, sizeof *seqs.at, by_number);
	for (size_t k = 0; e->nchosen > 0 && k + 1 < seqs.n; k++) {
		if (k > 0 && seqs.at[k] == seqs.at[k - 1])
			continue;
		v = xcalloc(e->nchosen, sizeof *v);
		for (size_t i = 0; i < e->nchosen; i++)
			v[i] = version_at(&e->items.at[i], seqs.at[k]);
		add_root(s, v, free_from);
	}
	vec_release(&seqs);
}

/* Adds the states that differ from `chosen` in one name or size, which has an earlier version. Only
 * names and sizes from free_from on are changed. */
static void add_losses(struct search *s, const uint32_t *chosen, size_t free_from)
{
	for (size_t i = free_from; i < s->e->nchosen; i++)
		for (uint32_t v = s->e->items.at[i].nversions - 1; v-- > 0;) {
			uint32_t *other = versions_copy(s->e, chosen);

			other[i] = v;
			add_root(s, other, i + 1);
		}
}

/* Adds the states in which one line that the run decided has another value. The lines that the run
 * decided earlier keep theirs. before, after: what was possible before the run and is after it;
 * `before` is changed: in it, the line then keeps its value, too. */
static void add_values(struct search *s, const uint32_t *chosen, uint64_t *before,
		       const uint64_t *after, size_t line)
{
	const struct layout *l = &s->e->layout;
	const struct state_line *at = &l->set.lines.at[line];
	uint64_t *other = states_copy(&l->set, before);
	bool is_any = false;

	for (uint32_t w = 0; w < at->words; w++) {
		other[at->set + w] &= ~after[at->set + w];
		is_any |= other[at->set + w] != 0;
		before[at->set + w] &= after[at->set + w];
	}
	if (is_any)
		*vec_add(&s->queue) =
			(struct node){ versions_copy(s->e, chosen), other, s->e->nchosen };
	else
		free(other);
}

/* ---- one run ---- */

bool file_is_over(struct file_explorer *e)
{
	const struct explorer_limits *l = &e->options->limits;
	struct crash_counters *c = &e->result->counters;

	if (l->deadline_ns && clock_ns() >= l->deadline_ns)
		c->is_stopped = c->is_late = 1;
	if (l->max_runs && c->runs >= l->max_runs)
		c->is_stopped = 1;
	if (e->options->is_interrupted && e->options->is_interrupted(e->options->arg))
		c->is_stopped = c->is_interrupted = 1;
	return c->is_stopped;
}

void file_tell_found(struct file_explorer *e)
{
	const struct crash_options *o = e->options;

	if (o->found && o->wants_found(o->arg))
		for (; e->ntold < e->result->bugs.n; e->ntold++)
			o->found(&e->result->bugs.at[e->ntold], o->found_arg);
}

static void tell_progress(struct file_explorer *e)
{
	const uint64_t now = clock_ns();

	file_tell_found(e);
	if (!e->options->progress || now - e->told_ns < PROGRESS_NS)
		return;
	e->told_ns = now;
	e->options->progress(&e->result->counters, e->result->npoints, e->options->arg);
}

static int run_once(struct search *s, const uint64_t *before, bool is_lazy, struct verdict *v,
		    struct error *err)
{
	struct file_explorer *e = s->e;
	struct crash_counters *c = &e->result->counters;

	runner_load_folder(e->runner, &e->layout.folder, &e->layout.set);
	runner_want_stacks(e->runner, false);
	recovery_set_moment(e->options->recovery, e->runner, e->plan,
			    e->walk.is_over ? UINT64_MAX : e->walk.seq);
	runner_begin(e->runner, before, is_lazy);
	if (verdict_run(v, e->runner, e->options->recovery, &e->allowed, err) < 0)
		return -1;
	s->nruns++;
	c->runs++;
	c->lazy_runs += is_lazy && !v->why_unsound;
	c->whole_runs += !is_lazy && e->layout.set.lines.n > 0;
	c->faults += runner_faults(e->runner);
	return 0;
}

/* Leaves each line only the newest of its contents that are left. */
static void only_newest(const struct state_set *set, uint64_t *left)
{
	for (size_t i = 0; i < set->lines.n; i++)
		states_only(&set->lines.at[i], left, states_newest_left(&set->lines.at[i], left));
}

/* The lines that the run decided, in order. */
struct decided {
	VEC(size_t) lines;
};

static void note_decided(struct decided *d, const struct file_explorer *e, bool is_lazy)
{
	const size_t nlines = e->layout.set.lines.n;
	bool *is_noted = xcalloc(nlines + 1, sizeof *is_noted);
	const struct run_decision *list;
	size_t n = is_lazy ? runner_decisions(e->runner, &list) : 0;

	for (size_t i = 0; i < n; i++) {
		if (list[i].nvalues > 1 && !is_noted[list[i].line])
			*vec_add(&d->lines) = list[i].line;
		is_noted[list[i].line] |= list[i].nvalues > 1;
	}
	for (size_t i = 0; !is_lazy && i < nlines; i++)
		*vec_add(&d->lines) = i;
	free(is_noted);
}

/* Sets the items' versions to those of the newest state that is left. */
static void take_state(struct file_explorer *e, const uint64_t *left)
{
	const struct layout *l = &e->layout;

	for (size_t i = e->nchosen; i < e->items.n; i++)
		e->items.at[i].version = e->items.at[i].nversions - 1;
	for (size_t i = 0; i < l->lines.n; i++)
		e->items.at[l->lines.at[i].item].version =
			layout_version(l, i, states_newest_left(&l->set.lines.at[i], left));
}

/* Does the state have a folder without files, which recovery refuses as it did before the program
 * began? Nothing is wrong with that until something was acknowledged. */
static bool is_refused(const struct file_explorer *e)
{
	return e->refuses_empty && e->layout.nregular == 0 && !e->walk.is_over &&
	       e->walk.acknowledgements.n == 0;
}

/* Notes the state for a second crash, which may interrupt this recovery. One state is noted for
 * each set of places that recovery changes. */
static void note_first_crash(struct file_explorer *e, const uint64_t *left)
{
	struct crash_result *r = e->result;
	const uint64_t signature = layout_changes(&e->layout, runner_folder_path(e->runner), left);
	struct first_crash *f;

	for (size_t i = 0; i < r->first_crashes.n; i++)
		if (r->first_crashes.at[i].signature == signature)
			return;
	if (signature == 0)
		return;
	if (e->options->profile == FILES_WEAKEST)
		take_state(e, left);
	else if (!file_profile_state(e, e->options->profile, left))
		return;
	f = vec_add(&r->first_crashes);
	*f = (struct first_crash){ .signature = signature,
				   .point = e->walk.point,
				   .seq = e->walk.seq,
				   .operation = recovery_operation(e->options->recovery, e->plan,
								   e->walk.seq),
				   .state = file_state_text(e) };
	for (size_t i = 0; i < e->allowed.hashes.n; i++)
		*vec_add(&f->allowed) = e->allowed.hashes.at[i];
}

/* Gives the state, by profile, that recovery failed on and that the profile allows. */
static void list_states(struct file_explorer *e, const uint64_t *left, char **states)
{
	const enum files_profile asked = e->options->profile;

	for (enum files_profile p = 0; p < FILES_PROFILES; p++) {
		bool has_it = p == asked || asked == FILES_WEAKEST;

		if (has_it && p == FILES_WEAKEST)
			take_state(e, left);
		else if (has_it)
			has_it = file_profile_state(e, p, left);
		states[p] = has_it ? file_state_text(e) : NULL;
	}
}

static int failed(struct file_explorer *e, const uint64_t *left, const struct verdict *v,
		  struct error *err)
{
	struct failing_state f = { .point = e->walk.point,
				   .number = e->nfailing,
				   .kind = v->kind,
				   .code = v->code,
				   .site = v->site };
	int result = 0;

	list_states(e, left, f.states);
	if (!f.states[e->options->profile])
		return 0; /* a mixture of states that the profile does not allow */
	e->result->counters.failures++;
	e->nfailing++;
	if (e->options->shard.of) {
		*vec_add(&e->result->failing) = f;
		return 0;
	}
	result = file_explain(e, v, f.states, err);
	for (int p = 0; p < FILES_PROFILES; p++)
		free(f.states[p]);
	return result;
}

static int explore_layout(struct search *s, const struct node *n, struct error *err)
{
	struct file_explorer *e = s->e;
	uint64_t *before = n->left ? states_copy(&e->layout.set, n->left)
				   : file_profile_all(e, e->options->profile),
		 *after = NULL;
	bool is_lazy = !e->is_eager && !e->layout.is_too_large && e->layout.lines.n > 0;
	struct decided decided = { 0 };
	struct verdict v;
	struct big seen = { 0 };
	int result;

	if (!before)
		return 0;
	result = run_once(s, before, is_lazy, &v, err);
	if (result == 0 && is_lazy && v.why_unsound) {
		if (!e->result->why_fallback)
			e->result->why_fallback = xstrdup(v.why_unsound);
		e->result->counters.fallbacks++;
		is_lazy = false;
		result = run_once(s, before, false, &v, err);
	}
	if (result == 0 && v.why_unsound) {
		e->result->counters.impossible++;
		if (!e->result->why_impossible)
			e->result->why_impossible = xstrdup(v.why_unsound);
	}
	if (result < 0)
		goto out;
	note_decided(&decided, e, is_lazy);
	after = states_copy(&e->layout.set, is_lazy ? runner_left(e->runner) : before);
	if (!is_lazy)
		only_newest(&e->layout.set, after);
	if (e->options->wants_first_crashes && v.kind == VERDICT_OK && !v.why_unsound)
		note_first_crash(e, after);
	states_count(&e->layout.set, after, &seen);
	big_add(&e->result->states_seen, &seen);
	for (size_t i = 0; i < decided.lines.n; i++)
		add_values(s, n->chosen, before, after, decided.lines.at[i]);
	if (v.kind != VERDICT_OK && !v.why_unsound)
		result = failed(e, after, &v, err);
out:
	vec_release(&decided.lines);
	big_release(&seen);
	free(before);
	free(after);
	return result;
}

static int explore_node(struct search *s, const struct node *n, struct error *err)
{
	struct file_explorer *e = s->e;
	struct big all = { 0 };
	uint64_t *every, key;
	bool is_new;
	int result = 0;

	for (size_t i = 0; i < e->items.n; i++)
		e->items.at[i].version =
			i < e->nchosen ? n->chosen[i] : e->items.at[i].nversions - 1;
	file_layout(e);
	every = file_profile_fits(e, e->options->profile) ? file_profile_all(e, e->options->profile)
							  : NULL;
	key = every ? file_profile_key(e, e->options->profile, every) : 0;
	is_new = n->left || (every && !map_get(&s->visited, key));
	if (!n->left && is_new) {
		map_set(&s->visited, key, s);
		states_count(&e->layout.set, every, &all);
		big_add(&s->all, &all);
	}
	free(every);
	if (is_new && is_refused(e))
		big_add(&e->result->states_seen, &all);
	else if (is_new)
		result = explore_layout(s, n, err);
	if (!n->left)
		add_losses(s, n->chosen, n->free_from);
	big_release(&all);
	return result;
}

/* Counts all states. States that differ only in a file without a name count, too, although recovery
 * cannot tell them apart. */
static void count_all(const struct file_explorer *e, struct big *n)
{
	big_set(n, 1);
	for (size_t i = 0; i < e->items.n; i++)
		big_multiply(n, e->items.at[i].nversions);
}

int file_search(struct file_explorer *e, struct error *err)
{
	const uint64_t sample = e->options->limits.sample;
	struct search s = { .e = e };
	int result = 0;
	bool is_cut = false;

	file_point_begin(e);
	e->nfailing = 0;
	file_choose_newest(e);
	add_root(&s, versions_now(e), e->options->profile == FILES_WEAKEST ? 0 : first_size(e));
	add_seeds(&s);
	for (; s.next < s.queue.n && result == 0 && !file_is_over(e) && !is_cut; s.next++) {
		is_cut = sample && s.nruns >= sample;
		if (is_cut)
			break;
		/* its children move the queue */
		struct node now = s.queue.at[s.next];

		result = explore_node(&s, &now, err);
		free(now.chosen);
		free(now.left);
		tell_progress(e);
	}
	e->result->counters.begun += s.nruns > 0 || s.next == s.queue.n;
	e->result->counters.cut_points += is_cut;
	e->result->counters.points += is_cut || s.next == s.queue.n;
	if (s.next < s.queue.n)
		count_all(e, &s.all);
	big_add(&e->result->states_all, &s.all);
	big_release(&s.all);
	for (; s.next < s.queue.n; s.next++) {
		free(s.queue.at[s.next].chosen);
		free(s.queue.at[s.next].left);
	}
	vec_release(&s.queue);
	map_release(&s.visited);
	return result;
}
