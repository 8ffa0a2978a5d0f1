/* Prepares an exploration of crashes: limits, the runtime, the commands of recovery, and the plan
 * of a trace. Options that the user did not give get their defaults here; without --recover, the
 * command of recovery comes from the trace. */
#include "crash/setup/crash_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "crash/setup/then_recorded.h"
#include "check/platform_choice.h"
#include "crash/setup/pool_making.h"
#include "crash/setup/race_sites.h"
#include "pools/unseen/sums.h"
#include "trace/followed.h"
#include "util/str.h"

#define SHARD_SEED 1u /* the seed that divides the failure points; all shards need the same */
/* runs per failure point; recovery that reads a checksum over many undecided lines would never
 * end */
#define SAMPLE_RUNS 250u
#define MIB ((uint64_t)1 << 20)
#define MEMORY_MIB 2048u
#define FILE_MIB 1024u
#define PROCESSES 1000u

int crash_setup_command(struct crash_setup *s, enum crash_command which, const char *line,
			struct error *err)
{
	const struct runner_command **const places[] = { [CRASH_RECOVER] = &s->recovery.recover,
							 [CRASH_CHECK] = &s->recovery.check,
							 [CRASH_READY] = &s->recovery.ready,
							 [CRASH_DUMP] = &s->recovery.dump,
							 [CRASH_THEN] = &s->recovery.then };

	s->commands[which] = line ? runner_command_new(line, err) : NULL;
	*places[which] = s->commands[which];
	s->recovery.has_operation |=
		s->commands[which] && runner_command_has_operation(s->commands[which]);
	return line && !s->commands[which] ? -1 : 0;
}

/* Finds libpmend_rt.so, which is in the recorder's folder. */
static int find_runtime(struct crash_setup *s, struct error *err)
{
	s->libexec = recorder_folder(err);
	if (!s->libexec)
		return -1;
	s->runtime = xasprintf("%s/libpmend_rt.so", s->libexec);
	if (access(s->runtime, R_OK) != 0)
		return error_set(err, "cannot find %s; run 'make' again, or install pmend",
				 s->runtime);
	return 0;
}

uint32_t crash_setup_record_seconds(const struct crash_setup *s)
{
	return s->max_time.is_set && s->max_time.n == 0 ? 1 : (uint32_t)s->max_time.n;
}

void crash_setup_begin_time(struct crash_setup *s)
{
	struct explorer_limits *l = &s->options.limits;

	l->deadline_ns = s->max_time.is_set ? clock_ns() + s->max_time.n * 1000000000u : 0;
	l->grace_ns = s->max_time.n * (1000000000u / 20);
}

static void set_limits(struct crash_setup *s)
{
	struct explorer_limits *l = &s->options.limits;

	l->max_runs = s->max_runs.n;
	crash_setup_begin_time(s);
	l->sample = s->sample.is_set ? s->sample.n
		    : strcmp(s->options.strategy->name, "lazy") == 0 ||
				    s->options.strategy->is_representative
			    ? SAMPLE_RUNS
			    : 0;
	l->wants_repeats = s->repeats;
	s->recovery.is_buffered = s->buffered;
	l->seed = s->seed.is_set ? s->seed.n : s->shard.of ? SHARD_SEED : clock_ns() % 1000000u;
	s->options.window = s->window.is_set ? s->window.n : 1;
	s->options.jobs = s->jobs.is_set && s->jobs.n > 0 ? (uint32_t)s->jobs.n
							  : (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	if (s->ready)
		s->options.jobs = 1; /* workers would start servers that need the same port */
	s->options.runner = (struct runner_options){
		.runtime = s->runtime,
		.stdin_path = s->stdin_path,
		.timeout_ms = (uint32_t)(s->timeout.n * 1000),
		.is_timeout_fixed = s->timeout.is_set,
		.max_memory_bytes = (s->max_memory.is_set ? s->max_memory.n : MEMORY_MIB) * MIB,
		.max_file_bytes = (s->max_file.is_set ? s->max_file.n : FILE_MIB) * MIB,
		.max_processes = s->max_processes.is_set ? (uint32_t)s->max_processes.n : PROCESSES
	};
}

int crash_setup_begin(struct crash_setup *s, struct error *err)
{
	if (find_runtime(s, err) < 0)
		return -1;
	s->options.races = (struct race_options){ .is_wanted = s->races,
						  .is_strict = s->strict,
						  .is_distrusting = s->no_trust };
	s->options.wants_first_crashes = s->failures.n > 1;
	/* a dump or a search for races judges outputs more exactly */
	s->options.watches_output = s->recovery.recover && !s->recovery.ready &&
				    !s->recovery.dump && !s->races &&
				    !s->options.strategy->is_representative &&
				    !(s->check && strcmp(s->check, s->recover) == 0);
	s->recovery.wants_changes = s->failures.n > 1 && s->recovery.then;
	s->options.stops = WALK_POINTS | (s->failure_points ? WALK_STORES : 0) |
			   (s->recovery.dump ? WALK_OVERTAKEN : 0);
	s->options.types =
		(struct types_options){ .build_dir = s->build_dir, .libexec = s->libexec };
	s->options.shard = s->shard;
	s->options.profile = s->profile == FILES_PROFILES ? FILES_WEAKEST : s->profile;
	set_limits(s);
	s->options.recovery = &s->recovery;
	s->libraries = (struct libraries){ s->library_globs.item, s->library_globs.n };
	return 0;
}

void crash_setup_add(const struct crash_setup *s, struct report *r)
{
	if (s->parts && s->parts->add)
		s->parts->add(r, s->parts->arg);
}

void crash_setup_end(struct crash_setup *s)
{
	for (size_t i = 0; i < sizeof s->commands / sizeof *s->commands; i++)
		runner_command_free(s->commands[i]);
	word_list_release(&s->ok_status);
	word_list_release(&s->commit_vars);
	word_list_release(&s->library_globs);
	vec_release(&s->options.races.commit_sites);
	vec_release(&s->options.races.library_sites);
	vec_release(&s->options.races.unlogged);
	vec_release(&s->options.races.own_sites);
	word_list_release(&s->recording.recipe.ready);
	word_list_release(&s->recording.pm);
	word_list_release(&s->recording.lock_calls);
	word_list_release(&s->recording.unlock_calls);
	plan_free(s->plan);
	free(s->runtime);
	free(s->libexec);
	free(s->groups);
	index_close(s->index);
}

/* The path of the scratch pool that {} can stand for; NULL if there is none. Its folder may be
 * deleted already. */
static const char *scratch_pool(const struct plan *p)
{
	const char *pool = trace_meta(p->trace, "scratch_pool");

	return pool && strcmp(pool, trace_file(p->trace, plan_pool_file(p))->path) == 0 ? pool
											: NULL;
}

/* Takes the recorded command as recovery, from the trace. */
static int recover_as_recorded(struct crash_setup *s, const struct plan *p, struct error *err)
{
	const char *pool = scratch_pool(p);
	VEC(char *) argv = { 0 };
	char key[32];

	for (unsigned i = 0; snprintf(key, sizeof key, "argv.%u", i), trace_meta(p->trace, key);
	     i++)
		*vec_add(&argv) = pool ? word_replaced(trace_meta(p->trace, key), pool, "{}")
				       : xstrdup(trace_meta(p->trace, key));
	if (argv.n == 0)
		return error_set(err, "%s does not say which command was recorded; give --recover",
				 p->path);
	*vec_add(&argv) = NULL;
	if (!s->recovery.recover && !s->recovery.dump && !s->recovery.check)
		s->recovery.recover = s->commands[CRASH_RECOVER] = runner_command_of(argv.at);
	for (size_t i = 0; i < argv.n; i++)
		free(argv.at[i]);
	vec_release(&argv);
	return 0;
}

static int choose_platform(struct crash_setup *s, const struct trace *t, struct error *err)
{
	struct platform_choice how;

	s->options.platform = platform_choose(
		t, s->recording.is_platform_open ? NULL : s->recording.platform, &how, err);
	if (!s->options.platform)
		return -1;
	s->is_platform_chosen = how.is_chosen;
	platform_choice_say(&how, s->is_platform_told ? NULL : s->notes);
	s->is_platform_told = true;
	s->options.runner.never_force_pmem = !s->options.platform->has_flush;
	return 0;
}

/* Do recovery's commands name a pool: by a placeholder, or by its base name? */
static bool names_pool(const struct crash_setup *s, const struct plan *p)
{
	for (size_t i = 0; i < sizeof s->commands / sizeof *s->commands; i++) {
		const struct runner_command *c = s->commands[i];

		if (c && runner_command_has_pool(c))
			return true;
		for (char **word = c ? c->argv : NULL; word && *word; word++)
			for (size_t k = 0; k < p->numbered.n; k++)
				if (p->numbered.at[k] &&
				    strstr(*word, str_base_name(p->numbered.at[k])))
					return true;
	}
	return false;
}

static int fit_to_plan(struct crash_setup *s, struct plan *p, struct error *err)
{
	struct race_options *races = &s->options.races;

	if (s->has_files && !s->pool_creation)
		pool_making_find(p);
	if (s->has_files)
		return then_recorded_fit(s, p, err);
	if (plan_pool_file(p) == 0)
		return error_set(err, "%s holds no persistent memory file", p->path);
	s->options.runner.pool = trace_file(p->trace, plan_pool_file(p))->path;
	s->options.runner.paths = p->paths.at;
	s->options.runner.numbered = p->numbered.at;
	s->options.runner.nnumbered = p->numbered.n;
	if (recover_as_recorded(s, p, err) < 0 || then_recorded_fit(s, p, err) < 0)
		return -1;
	p->is_pool_named = names_pool(s, p);
	if (!s->pool_creation)
		pool_making_find(p);
	if (races->is_wanted &&
	    race_sites_find_commits(races, &s->commit_vars, &s->libraries, p, err) < 0)
		return -1;
	if (races->is_wanted) {
		race_sites_find_library(races, p);
		race_sites_find_unlogged(races, p);
	}
	return 0;
}

/* ---- the index ---- */

/* Makes the plan. With an index, neither a shard nor a merge reads the whole trace. Representative
 * testing does, because it looks at every store. */
static struct plan *make_plan(struct crash_setup *s, struct trace *t, const char *trace,
			      struct error *err)
{
	char *path = xasprintf("%s" INDEX_ENDING, trace);
	struct error why;

	if (s->parts && !s->index && !s->options.strategy->is_representative) {
		s->index = index_open(path, t, s->options.platform, s->no_trust, &why);
		if (!s->index && why.msg[0])
			notes_say(s->notes, "%s; it is not used. 'pmend index' makes a new one",
				  why.msg);
	}
	free(path);
	return s->index ? index_plan(s->index, t, s->options.platform, s->no_trust, err)
			: plan_of_trace(t, s->options.platform, s->no_trust);
}

/* Drops the index if its failure points are not those of this exploration. */
static void fit_index(struct crash_setup *s, const struct plan *p)
{
	if (s->index && index_fits(s->index, p, s->options.stops))
		s->options.index = s->index;
	else if (s->index && (s->options.stops & WALK_OVERTAKEN) &&
		 index_fits(s->index, p, s->options.stops & ~(unsigned)WALK_OVERTAKEN))
		notes_say(
			s->notes,
			"the index of %s is not used: with --dump there are more failure points, because operations are acknowledged before they are durable",
			p->path);
	else if (s->index)
		notes_say(
			s->notes,
			"the index of %s was made for other failure points; it is not used. 'pmend index' with the same options makes a new one",
			p->path);
}

struct plan *crash_setup_plan(struct crash_setup *s, const char *trace, struct error *err)
{
	struct trace *t;
	struct plan *p;

	if (sums_settle(trace, err) < 0 || trace_open(&t, trace, err) < 0)
		return NULL;
	if (followed_is_any(t) && !s->has_files)
		error_set(err, FOLLOWED_NOT_YET);
	if ((followed_is_any(t) && !s->has_files) || choose_platform(s, t, err) < 0) {
		trace_close(t);
		return NULL;
	}
	s->options.trace = trace;
	p = make_plan(s, t, trace, err);
	if (!p)
		return NULL;
	if (fit_to_plan(s, p, err) < 0) {
		plan_free(p);
		return NULL;
	}
	fit_index(s, p);
	return p;
}
