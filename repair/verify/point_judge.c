/* Runs recovery on all crash states of one failure point, until one fails. Results are remembered
 * by what the states are, so a supposed barrier costs runs only where it changes the states. */
#include "repair/verify/point_judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 8, SAMPLE_LEAST = 2 };
#define TIMEOUT_MS 10000u /* per run of recovery, unless the user set a limit */

static int on_failure(struct explorer *e, const uint64_t *left, const struct verdict *v, void *arg,
		      struct error *err)
{
	struct point_judge *j = arg;
	char *text = verdict_text(v);

	(void)left;
	(void)err;
	snprintf(j->outcome, sizeof j->outcome, "%s%s%.200s", text,
		 v->result.errors_len ? ": " : "", v->result.errors_len ? v->result.errors : "");
	j->outcome[strcspn(j->outcome, "\n")] = 0;
	free(text);
	j->is_failed = true;
	e->counters->is_stopped = 1; /* one failure is enough */
	return 0;
}

/* Returns how many states of a failure point to try: a part of the runs that remain, since a point
 * with very many states would use all. States that are not tried were possible without the cure,
 * too. */
static uint64_t sample_of(const struct point_judge *j)
{
	uint64_t left = j->max_runs - j->counters.runs,
		 part = left / PARTS > SAMPLE_LEAST ? left / PARTS : SAMPLE_LEAST;

	if (!j->max_runs)
		return j->sample;
	return j->sample && j->sample < part ? j->sample : part;
}

static int out_of_runs(const struct point_judge *j, struct error *err)
{
	return error_set(
		err,
		"%llu recovery run%s, the limit, %s not enough to try fixes; allow more with --max-runs",
		(unsigned long long)j->max_runs, j->max_runs == 1 ? "" : "s",
		j->max_runs == 1 ? "was" : "were");
}

static int judge_point(struct walk *w, void *arg, struct error *err)
{
	struct point_judge *j = arg;
	uint64_t nimpossible = j->counters.impossible, key;
	int known;

	watch_tell(j->watch, "fixes are tried; runs of recovery", j->counters.runs, 0);
	if (watch_is_interrupted(j->watch))
		return error_set(err, "interrupted");
	if (references_allow_at(&j->refs, j->plan, j->runner, j->recovery, w->seq,
				&j->explorer.allowed, err) < 0)
		return -1;
	states_collect(&j->set, w->model, NULL);
	key = verdict_cache_key(&j->set, &w->image, &j->explorer.allowed,
				recovery_operation(j->recovery, j->plan, w->seq));
	known = verdict_cache_get(&j->verdicts, key);
	if (known >= 0)
		return known;
	if (j->max_runs && j->counters.runs >= j->max_runs)
		return out_of_runs(j, err);
	j->explorer.walk = w;
	j->explorer.limits.sample = sample_of(j);
	j->is_failed = false;
	j->counters.is_stopped = 0;
	if (explorer_point(&j->explorer, err) < 0)
		return -1;
	if (j->counters.impossible > nimpossible && !j->is_failed) {
		error_set(err, "recovery could not be run on a state before event %llu: %s",
			  (unsigned long long)w->seq, j->explorer.why_fallback);
		return -1;
	}
	if (!j->is_failed && j->counters.is_stopped)
		return out_of_runs(j, err);
	known = j->is_failed ? 0 : j->explorer.is_cut ? CURE_SAMPLED : 1;
	verdict_cache_set(&j->verdicts, key, known);
	return known;
}

int point_judge_init(struct point_judge *j, struct crash_setup *s, const struct plan *p,
		     uint64_t max_runs, struct error *err)
{
	j->plan = p;
	j->recovery = &s->recovery;
	if (!s->timeout.is_set)
		s->options.runner.timeout_ms = TIMEOUT_MS;
	j->runner = runner_new(&s->options.runner, p->mappings.at, p->mappings.n, err);
	if (!j->runner)
		return -1;
	j->explorer = (struct explorer){ .strategy = strategies[0],
					 .runner = j->runner,
					 .recovery = &s->recovery,
					 .limits = { .max_runs = max_runs, .seed = 1 },
					 .counters = &j->counters,
					 .on_failure = on_failure,
					 .arg = j };
	j->max_runs = max_runs;
	j->sample = s->options.limits.sample;
	j->judge = (struct cure_judge){
		.at = judge_point, .arg = j, .stops = s->options.stops, .npoints_max = max_runs / 2
	};
	return 0;
}

void point_judge_release(struct point_judge *j)
{
	if (j->runner)
		runner_free(j->runner);
	references_release(&j->refs);
	explorer_release(&j->explorer);
	states_release(&j->set);
	verdict_cache_release(&j->verdicts);
}
