/* See crash_setup.h. */
#include "cmd/crash_setup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/judge.h"
#include "cmd/locate.h"

#define READY_MS 10000u
#define SAMPLE_RUNS 250u /* a failure point; recovery that reads a checksum over many undecided lines has no end otherwise */
#define MEMORY_BYTES ((uint64_t)2 << 30)
#define FILE_BYTES ((uint64_t)1 << 30)

static const struct runner_command *split(const struct command *c, struct crash_setup *s, size_t i, const char *option, const char *line)
{
	struct error err;

	if (!line)
		return NULL;
	s->commands[i] = runner_command_new(line, &err);
	if (!s->commands[i])
		die_usage(c, "--%s: %s", option, err.msg);
	return s->commands[i];
}

/* libpmend_rt.so, where the recorder is, too. */
static char *find_runtime(void)
{
	char *folder = recording_libexec();
	char *path = xasprintf("%s/libpmend_rt.so", folder);

	if (access(path, R_OK) != 0)
		die("cannot find %s; run 'make' again, or install pmend", path);
	free(folder);
	return path;
}

static void set_ok_status(const struct command *c, struct crash_setup *s)
{
	s->recovery.ok_status[0] = true;
	for (size_t i = 0; i < s->ok_status.n; i++) {
		char *end;
		unsigned long n = strtoul(s->ok_status.item[i], &end, 10);

		if (*end || end == s->ok_status.item[i] || n > 255)
			die_usage(c, "--ok-status is a number from 0 to 255, not '%s'", s->ok_status.item[i]);
		s->recovery.ok_status[n] = true;
	}
}

static void set_limits(struct crash_setup *s)
{
	struct explorer_limits *l = &s->options.limits;

	l->max_runs = s->max_runs.n;
	l->deadline_ns = s->max_time.is_set ? clock_ns() + s->max_time.n * 1000000000u : 0;
	l->sample = s->sample.is_set ? s->sample.n : strcmp(s->options.strategy->name, "lazy") == 0 || s->options.strategy->is_representative ? SAMPLE_RUNS : 0;
	l->seed = s->seed.is_set ? s->seed.n : clock_ns() % 1000000u;
	s->options.jobs = s->jobs.is_set && s->jobs.n > 0 ? (uint32_t)s->jobs.n : (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	if (s->ready)
		s->options.jobs = 1; /* servers of several workers would want the same port */
	s->options.runner = (struct runner_options){ .runtime = s->runtime,
						     .stdin_path = s->stdin_path,
						     .timeout_ms = (uint32_t)(s->timeout.n * 1000),
						     .is_timeout_fixed = s->timeout.is_set,
						     .max_memory_bytes = MEMORY_BYTES,
						     .max_file_bytes = FILE_BYTES };
}

void crash_setup_begin(const struct command *c, struct crash_setup *s)
{
	s->options.strategy = s->strategy ? strategy_find(s->strategy) : strategies[0];
	if (!s->options.strategy)
		die_usage(c, "--strategy is one of lazy, representative, eager, prefix, not '%s'", s->strategy);
	if (s->failure_points && strcmp(s->failure_points, "store") != 0)
		die_usage(c, "--failure-points takes 'store', not '%s'", s->failure_points);
	if (s->ready && !s->recover)
		die_usage(c, "--recover-ready needs --recover, the server to start");
	if ((s->keep || s->gdb || s->show_choices) && !s->replay)
		die_usage(c, "--keep, --gdb and --show-choices go with --replay");
	if (s->jobs.is_set && (s->jobs.n == 0 || s->jobs.n > 256))
		die_usage(c, "--jobs is from 1 to 256");
	if (s->failures.is_set && (s->failures.n == 0 || s->failures.n > 4))
		die_usage(c, "--failures is from 1 to 4");
	if ((s->strict || s->no_trust || s->commit_vars.n > 0) && !s->races)
		die_usage(c, "--strict, --commit-var and --no-trust go with --races");
	if (s->races && strcmp(s->options.strategy->name, "eager") == 0)
		die_usage(c, "--races needs --strategy lazy or prefix: whole images do not tell what is read");
	if (s->races && s->options.strategy->is_representative)
		die_usage(c, "--races needs --strategy lazy or prefix: a race is judged by all that is undecided at a failure point");
	if ((s->explain_groups || s->build_dir) && !s->options.strategy->is_representative)
		die_usage(c, "--explain-groups and --build go with --strategy representative");
	s->options.races = (struct race_options){ .is_wanted = s->races, .is_strict = s->strict, .is_distrusting = s->no_trust };
	s->options.wants_first_crashes = s->failures.n > 1;
	if (s->stdin_path && access(s->stdin_path, R_OK) != 0)
		die("cannot read %s: %s", s->stdin_path, strerror(errno));
	s->options.stops = WALK_POINTS | (s->failure_points ? WALK_STORES : 0);
	s->recovery.ready_ms = READY_MS;
	set_ok_status(c, s);
	s->recovery.recover = split(c, s, 0, "recover", s->recover);
	s->recovery.check = split(c, s, 1, "check", s->check);
	s->recovery.ready = split(c, s, 2, "recover-ready", s->ready);
	s->recovery.dump = split(c, s, 3, "dump", s->dump);
	s->runtime = find_runtime();
	s->libexec = recording_libexec();
	s->options.types = (struct types_options){ .build_dir = s->build_dir, .libexec = s->libexec };
	s->recording.platform = s->platform ? recording_platform(c, s->platform) : NULL;
	set_limits(s);
	s->options.recovery = &s->recovery;
}

void crash_setup_end(struct crash_setup *s)
{
	for (size_t i = 0; i < sizeof s->commands / sizeof *s->commands; i++)
		runner_command_free(s->commands[i]);
	option_list_release(&s->ok_status);
	option_list_release(&s->commit_vars);
	vec_release(&s->options.races.commit_sites);
	vec_release(&s->options.races.library_sites);
	vec_release(&s->options.races.own_sites);
	option_list_release(&s->recording.pm);
	free(s->runtime);
	free(s->libexec);
	free(s->groups);
}

void crash_setup_default_recovery(struct crash_setup *s, char *const *target)
{
	if (s->recovery.recover || s->recovery.dump || s->recovery.check)
		return;
	s->commands[0] = runner_command_of(target);
	s->recovery.recover = s->commands[0];
}

/* The recorded command, from the trace itself. */
static void recover_as_recorded(struct crash_setup *s, const struct plan *p)
{
	VEC(char *) argv = { 0 };
	char key[32];

	for (unsigned i = 0; snprintf(key, sizeof key, "argv.%u", i), trace_meta(p->trace, key); i++)
		*vec_add(&argv) = xstrdup(trace_meta(p->trace, key));
	if (argv.n == 0)
		die("%s does not say which command was recorded; give --recover", p->path);
	*vec_add(&argv) = NULL;
	crash_setup_default_recovery(s, argv.at);
	for (size_t i = 0; i < argv.n; i++)
		free(argv.at[i]);
	vec_release(&argv);
}

/* PLACE is FILE:LINE, where FILE may lack folders in front, or a function. */
static bool is_place(const struct symbol *s, const char *place)
{
	const char *colon = strrchr(place, ':');
	size_t len = colon ? (size_t)(colon - place) : 0, file_len = s->file ? strlen(s->file) : 0;

	if (!colon)
		return s->function && strcmp(s->function, place) == 0;
	return file_len >= len && s->line == strtoul(colon + 1, NULL, 10) && memcmp(s->file + file_len - len, place, len) == 0 &&
	       (file_len == len || s->file[file_len - len - 1] == '/');
}

static void set_commit_sites(struct crash_setup *s, struct plan *p)
{
	struct locator *l = locator_new(p->trace);

	plan_find_unkept(p);
	s->options.races.commit_sites.n = 0;
	for (size_t i = 0; i < p->sites.n; i++)
		*vec_add(&s->options.races.commit_sites) = false;
	for (size_t k = 0; k < s->commit_vars.n; k++) {
		bool is_found = false;

		for (size_t i = 0; i < p->sites.n; i++) {
			const struct frame *f = p->sites.at[i] && trace_is_store(p->sites.at[i]->kind) ? locate(l, p->sites.at[i]) : NULL;

			if (f && is_place(f->symbol, s->commit_vars.item[k]))
				s->options.races.commit_sites.at[i] = is_found = true;
		}
		if (!is_found)
			die("--commit-var %s: the program stored nothing to persistent memory there", s->commit_vars.item[k]);
	}
	locator_free(l);
	if (s->commit_vars.n > 0)
		plan_add_commit_sites(p, s->options.races.commit_sites.at, s->options.races.commit_sites.n);
}

/* ---- stores of PMDK's own ---- */

static bool is_named(const char *object, const char *begin)
{
	const char *slash = strrchr(object, '/');

	return strncmp(slash ? slash + 1 : object, begin, strlen(begin)) == 0;
}

static bool is_libpmemobj(const char *object)
{
	return object && is_named(object, "libpmemobj.");
}

static bool has_libpmemobj(const struct trace_site *site)
{
	if (site->object && is_libpmemobj(site->object->path))
		return true;
	for (const struct trace_node *node = site->node; node; node = node->parent)
		if (node->object && is_libpmemobj(node->object->path))
			return true;
	return false;
}

/* libpmemobj stores, or calls the program's constructor (is_own: no), and not because the program asked it to copy something. */
static bool is_library_store(struct locator *l, const struct trace_site *site, bool *is_own)
{
	const struct frame *list;
	size_t n = locate_stack(l, site, &list), i = 0;
	const char *entry = NULL;

	for (*is_own = true; i < n && !is_libpmemobj(list[i].symbol->object); i++)
		*is_own &= list[i].symbol->object && (is_named(list[i].symbol->object, "libpmem.") || is_named(list[i].symbol->object, "libc."));
	if (i == n)
		return false;
	for (; i < n && is_libpmemobj(list[i].symbol->object); i++)
		entry = list[i].symbol->function;
	return !entry || strncmp(entry, "pmemobj_mem", strlen("pmemobj_mem")) != 0;
}

static void set_library_sites(struct crash_setup *s, const struct plan *p)
{
	struct race_options *o = &s->options.races;
	struct locator *l = locator_new(p->trace);

	o->library_sites.n = o->own_sites.n = 0;
	for (size_t i = 0; i < p->sites.n; i++) {
		const struct trace_site *site = p->sites.at[i];
		bool is_own = false, is_library = site && trace_is_store(site->kind) && has_libpmemobj(site) && is_library_store(l, site, &is_own);

		*vec_add(&o->library_sites) = is_library;
		*vec_add(&o->own_sites) = is_library && is_own;
	}
	locator_free(l);
}

struct plan *crash_setup_plan(struct crash_setup *s, const char *trace)
{
	const struct platform *asked = s->recording.platform, *recorded;
	struct error err;
	struct plan *p;

	recorded = judge_platform(trace, &err);
	if (!recorded)
		die("%s", err.msg);
	if (asked && judge_serves(trace, recorded, asked, &err) < 0)
		die("%s cannot be judged on %s: %s; record again with --platform %s", trace, asked->name, err.msg, asked->name);
	s->options.trace = trace;
	s->options.platform = asked ? asked : recorded;
	s->options.runner.never_force_pmem = !s->options.platform->has_flush;
	p = plan_new(trace, s->options.platform, &err);
	if (!p)
		die("%s", err.msg);
	if (plan_first_file(p) == 0)
		die("%s holds no persistent memory file", trace);
	s->options.runner.pool = trace_file(p->trace, plan_first_file(p))->path;
	s->options.runner.paths = p->paths.at;
	s->options.runner.numbered = p->numbered.at;
	s->options.runner.nnumbered = p->numbered.n;
	recover_as_recorded(s, p);
	if (s->options.races.is_wanted)
		set_commit_sites(s, p);
	if (s->options.races.is_wanted)
		set_library_sites(s, p);
	return p;
}

/* ---- the command that replays ---- */

static bool is_plain(const char *s)
{
	return *s && strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=+,-{}") == strlen(s);
}

/* Adds a word, quoted for a shell where that is needed. */
static void add_word(char **line, const char *word)
{
	char *longer, *quoted = NULL;

	if (!is_plain(word)) {
		char *at = quoted = xmalloc(4 * strlen(word) + 3);

		*at++ = '\'';
		for (; *word; word++)
			at += *word == '\'' ? sprintf(at, "'\\''") : (*at = *word, 1);
		strcpy(at, "'");
		word = quoted;
	}
	longer = xasprintf("%s%s%s", *line, **line ? " " : "", word);
	free(*line);
	free(quoted);
	*line = longer;
}

static void add_option(char **line, const char *option, const char *value)
{
	if (!value)
		return;
	add_word(line, option);
	add_word(line, value);
}

char *crash_setup_replay(const struct crash_setup *s, const char *state, const char *trace)
{
	char *line = xstrdup("pmend crash"), seconds[24];

	add_option(&line, "--recover", s->recover);
	add_option(&line, "--check", s->check);
	add_option(&line, "--recover-ready", s->ready);
	add_option(&line, "--dump", s->dump);
	add_option(&line, "--failure-points", s->failure_points);
	add_option(&line, "--platform", s->platform);
	add_option(&line, "--stdin", s->stdin_path);
	for (size_t i = 0; i < s->ok_status.n; i++)
		add_option(&line, "--ok-status", s->ok_status.item[i]);
	add_option(&line, "--stdin", s->stdin_path);
	snprintf(seconds, sizeof seconds, "%" PRIu64, s->timeout.n);
	add_option(&line, "--timeout", s->timeout.is_set ? seconds : NULL);
	add_option(&line, "--replay", state);
	add_word(&line, trace);
	return line;
}

/* ---- the options, to explore again ---- */

static void tell(struct report *r, const char *option, const char *value)
{
	if (!value)
		return;
	report_add_crash_option(r, option);
	report_add_crash_option(r, value);
}

static void tell_number(struct report *r, const char *option, bool is_set, uint64_t n)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%" PRIu64, n);
	tell(r, option, is_set ? digits : NULL);
}

void crash_setup_tell(const struct crash_setup *s, struct report *r)
{
	const struct {
		const char *option;
		bool is_set;
	} flags[] = { { "--races", s->races }, { "--strict", s->strict }, { "--no-trust", s->no_trust } };

	tell(r, "--recover", s->recover);
	tell(r, "--check", s->check);
	tell(r, "--recover-ready", s->ready);
	tell(r, "--dump", s->dump);
	for (size_t i = 0; i < s->ok_status.n; i++)
		tell(r, "--ok-status", s->ok_status.item[i]);
	tell(r, "--strategy", s->strategy);
	tell(r, "--failure-points", s->failure_points);
	tell(r, "--platform", s->platform);
	tell_number(r, "--jobs", s->jobs.is_set, s->jobs.n);
	tell_number(r, "--max-time", s->max_time.is_set, s->max_time.n);
	tell_number(r, "--max-runs", s->max_runs.is_set, s->max_runs.n);
	tell_number(r, "--sample", s->sample.is_set, s->sample.n);
	tell_number(r, "--seed", s->options.limits.sample > 0, s->options.limits.seed);
	tell_number(r, "--timeout", s->timeout.is_set, s->timeout.n);
	tell(r, "--stdin", s->stdin_path);
	tell_number(r, "--failures", s->failures.is_set, s->failures.n);
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (flags[i].is_set)
			report_add_crash_option(r, flags[i].option);
	for (size_t i = 0; i < s->commit_vars.n; i++)
		tell(r, "--commit-var", s->commit_vars.item[i]);
}
