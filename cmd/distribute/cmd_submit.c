/* pmend submit: lets a scheduler explore the parts of an exploration on its machines, waits, and
 * merges the parts. Ctrl-C cancels the job. If pmend ends for another reason, the job continues,
 * and the same command waits for it again. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/bundle.h"
#include "cmd/check_options.h"
#include "cmd/crash_options.h"
#include "cmd/distribute/merge.h"
#include "cmd/talk/nearest.h"
#include "cmd/talk/progress.h"
#include "util/files.h"
#include "distribute/spread/spreading.h"
#include "util/alloc.h"

enum { RETRIES = 10 };
#define WORK_FOLDER "/work" /* in a container */

static volatile sig_atomic_t g_is_interrupted;

/* The user's options that are not in struct spread. */
struct submit_options {
	struct optional_number nodes, parts, cpus, retries;
	const char *pmend, *out;
	bool is_dry;
};

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	g_is_interrupted = 1;
}

static bool is_interrupted(void *arg)
{
	(void)arg;
	return g_is_interrupted;
}

static void progress(const struct spread_parts *p, const struct queue *q, void *arg)
{
	char *waiting =
		q->nwaiting ? xasprintf(", %u waiting (%s)", q->nwaiting, q->reason) : xstrdup("");

	progress_tell(arg,
		      "parts %u/%u, failure points %" PRIu64 "/%" PRIu64
		      " so far, %u tasks running%s",
		      spread_parts_nover(p), p->n, spread_parts_ndone(p), spread_parts_npoints(p),
		      q->nrunning, waiting);
	free(waiting);
}

static const struct engine *find_engine(const struct command *c, const char *name)
{
	const struct engine *e = engine_find(name);
	struct nearest n;

	if (e)
		return e;
	nearest_init(&n, name);
	for (size_t i = 0; engines[i]; i++)
		nearest_try(&n, engines[i]->name);
	if (n.word)
		die_usage(c, "no such engine '%s', did you mean '%s'?", name, n.word);
	die_usage(c, "the first word is slurm or k8s, not '%s'", name);
}

static uint32_t number_of(const struct command *c, const char *option,
			  const struct optional_number *n, uint32_t if_not, uint64_t max)
{
	if (n->is_set && (n->n == 0 || n->n > max))
		die_usage(c, "--%s is from 1 to %" PRIu64, option, max);
	return n->is_set ? (uint32_t)n->n : if_not;
}

/* Checks that `pmend crash` accepts these words, so that the user is told here and not on a node.
 * Gives the trace or bundle. */
static const char *check_words(const struct command *c, char *const *words, bool is_here,
			       bool *says_jobs)
{
	const size_t n = words_count(words);
	char **argv = xcalloc(n + 2, sizeof *argv), crash[] = "crash";
	struct crash_replay_options replay = { 0 };
	struct shard_options shard = { 0 };
	struct reporting reporting = { 0 };
	struct crash_setup s = { 0 };
	const char *file = n ? words[n - 1] : "";
	const struct option table[] = { CRASH_OPTIONS(&s),
					LIBRARY_OPTION(&s.library_globs),
					CRASH_GROUP_OPTIONS(&s),
					CRASH_RACE_OPTIONS(&s),
					CRASH_REPLAY_OPTIONS(&replay),
					SHARD_OPTIONS(&shard),
					REPORTING_OPTIONS(&reporting),
					FAIL_ON_OPTION(&reporting),
					{ 0 } };
	int noperands;

	argv[0] = crash;
	memcpy(argv + 1, words, n * sizeof *argv); /* parsing moves them */
	noperands = options_parse(&cmd_crash, table, OPTIONS_FIRST, (int)n + 1, argv);
	if (noperands != 1 || (!is_trace_name(file) && !is_bundle_name(file)))
		die_usage(
			c,
			"a trace or a bundle is needed at the end, FILE.pmt or FILE.pmb: first 'pmend record -o FILE.pmt -- CMD'");
	if (shard.shard || shard.part)
		die_usage(c,
			  "leave out --shard and --continue: pmend submit sets them for each part");
	if (reporting.output || reporting.format || reporting.suppress || reporting.baseline ||
	    reporting.severity_name || reporting.fail_on_words.n > 0 || reporting.quiet ||
	    reporting.verbose || reporting.gen_suppressions || reporting.shows_libraries)
		die_usage(c, "put -o, --format and other options for the report before --");
	if (replay.state || replay.keep || replay.gdb || replay.show_choices || s.explain_groups)
		die_usage(c,
			  "--replay, its options, and --explain-groups cannot be used with parts");
	if (is_here && access(file, R_OK) != 0)
		die("cannot read %s: %s", file, strerror(errno));
	*says_jobs = s.jobs.is_set;
	if (is_here && is_trace_name(file)) /* a bundle has options of its own, too */
		crash_options_begin(&cmd_crash, &s);
	crash_setup_end(&s);
	free(argv);
	return file;
}

/* Makes "app.parts" from "dir/app.pmt". */
static char *default_folder(const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;

	return xasprintf("%.*s.parts", (int)(strlen(name) - 4), name);
}

static char *own_path(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n < 0)
		die("cannot find pmend's own path: %s; give it with --pmend", strerror(errno));
	path[n] = '\0';
	return xstrdup(path);
}

/* Sets the paths on the exploring machines: pmend, the working folder, the folder of the parts.
 * Never freed. */
static void set_places(struct spread *s, const struct submit_options *o, const char *file,
		       bool is_here)
{
	const char *folder = o->out ? o->out : default_folder(file);
	struct error err;

	s->pmend = o->pmend ? o->pmend : is_here ? own_path() : "pmend";
	s->cwd = is_here ? getcwd(NULL, 0) : WORK_FOLDER;
	s->folder = is_here ? path_absolute(folder, &err) : folder;
	if (!s->cwd || !s->folder)
		die("cannot find the current folder: %s", strerror(errno));
}

static void set_numbers(const struct command *c, struct spread *s, const struct submit_options *o)
{
	if (!o->nodes.is_set && !o->parts.is_set)
		die_usage(c, "--nodes or --parts is needed: how many parts?");
	s->nnodes = number_of(c, "nodes", &o->nodes, 0, SHARDS_MAX);
	s->nparts = number_of(c, "parts", &o->parts, s->nnodes, SHARDS_MAX);
	s->ncpus = number_of(c, "cpus", &o->cpus, 0, 256);
	s->nretries = o->retries.is_set
			      ? (uint32_t)(o->retries.n < SHARDS_MAX ? o->retries.n : SHARDS_MAX)
			      : RETRIES;
}

static void wait_for_parts(const struct spread *s, const struct engine *e, struct spread_parts *p,
			   bool is_asked)
{
	struct sigaction action = { .sa_handler = on_interrupt }, before;
	struct progress line;
	const struct spread_watch watch = { is_interrupted, progress, &line, &user_notes };
	enum spread_end end;
	struct error err;

	if (mkdir(s->folder, 0777) < 0 && errno != EEXIST)
		die("cannot make the folder %s: %s", s->folder, strerror(errno));
	sigaction(SIGINT, &action, &before);
	progress_begin(&line, is_asked);
	end = spreading_run(s, e, p, &watch, &err);
	progress_clear(&line);
	sigaction(SIGINT, &before, NULL);
	switch (end) {
	case SPREAD_OVER: return;
	case SPREAD_FAILED:
		die("%s; the parts are in %s; run the same command to continue", err.msg,
		    s->folder);
	case SPREAD_INTERRUPTED:
		die("interrupted; the job is cancelled; the parts are in %s; run the same command to continue",
		    s->folder);
	}
}

static int merge(const struct spread_parts *p, struct reporting *reporting, bool is_asked)
{
	char **paths = xcalloc(p->n + 1u, sizeof *paths);
	int status;

	for (uint32_t i = 0; i < p->n; i++)
		paths[i] = spread_parts_path(p, i, "json");
	status = merge_parts(paths, p->n, NULL, reporting, is_asked);
	words_free(paths);
	return status;
}

static int submit_run(const struct command *c, int argc, char **argv)
{
	struct submit_options o = { 0 };
	struct reporting reporting = { 0 };
	struct spread s = { 0 };
	const struct engine *e;
	const char *file;
	bool is_asked = false, is_here;
	struct spread_parts parts;
	struct error err;
	const struct option table[] = {
		{ "nodes", 0, "N",
		  "explore N parts at a time, each on a node of its own (shared with --cpus)",
		  OPTION_NUMBER, &o.nodes },
		{ "parts", 0, "N",
		  "split the exploration into N parts (default: as many as --nodes)", OPTION_NUMBER,
		  &o.parts },
		{ "cpus", 0, "N", "cores per part (default: the whole node with --nodes, else one)",
		  OPTION_NUMBER, &o.cpus },
		{ "time", 0, "LIMIT",
		  "time limit of a task, as for sbatch; an unfinished part is submitted again and continues",
		  OPTION_STRING, &s.time },
		{ "partition", 0, "NAME", "the cluster's partition to use", OPTION_STRING,
		  &s.partition },
		{ "sbatch", 0, "OPTION",
		  "pass this option to sbatch, such as --account=lab; may be repeated", OPTION_LIST,
		  &s.more },
		{ "image", 0, "IMAGE", "k8s: the container image with pmend", OPTION_STRING,
		  &s.image },
		{ "claim", 0, "NAME",
		  "k8s: the persistent volume claim for the trace and the parts", OPTION_STRING,
		  &s.claim },
		{ "pmend", 0, "FILE",
		  "the pmend that the nodes run (default: this one; k8s: pmend)", OPTION_STRING,
		  &o.pmend },
		{ "out", 0, "DIR",
		  "keep the parts in DIR (default: NAME.parts, removed after the report)",
		  OPTION_STRING, &o.out },
		{ "retries", 0, "N",
		  "submit a part that was ended from outside again, at most N times (default: 10)",
		  OPTION_NUMBER, &o.retries },
		{ "dry-run", 0, NULL, "print the script or manifest, and submit nothing",
		  OPTION_FLAG, &o.is_dry },
		REPORTING_OPTIONS(&reporting),
		FAIL_ON_OPTION(&reporting),
		PROGRESS_OPTION(&is_asked),
		{ 0 }
	};
	int n = options_parse(c, table, OPTIONS_ANYWHERE, argc, argv), status;

	if (n == 0)
		die_usage(c, "the first word is slurm or k8s");
	e = find_engine(c, argv[0]);
	is_here = e->submit != NULL;
	s.words = argv + 1;
	file = check_words(c, s.words, is_here, &s.says_jobs);
	set_numbers(c, &s, &o);
	set_places(&s, &o, file, is_here);
	if (e->check(&s, &err) < 0)
		die_usage(c, "%s", err.msg);
	if (!is_here && !o.is_dry)
		die_usage(
			c,
			"pmend does not talk to a Kubernetes cluster: add --dry-run to print the job, and pass that to 'kubectl create -f -'");
	if (o.is_dry) {
		e->print(&s, NULL, stdout);
		return fflush(stdout) ? CMD_FAILED : CMD_CLEAN;
	}
	reporting_begin(c, &reporting);
	spread_parts_init(&parts, s.folder, s.nparts);
	wait_for_parts(&s, e, &parts, is_asked);
	status = merge(&parts, &reporting, is_asked);
	if (!o.out && status != CMD_FAILED)
		spreading_remove(&parts);
	spread_parts_release(&parts);
	return status;
}

const struct command cmd_submit = {
	.name = "submit",
	.help = "explore crashes on a cluster",
	.operands = "ENGINE [--] [CRASH-OPTION]... FILE",
	.words = "slurm k8s",
	.run = submit_run,
};
