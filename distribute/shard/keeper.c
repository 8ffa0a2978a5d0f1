/* Writes what a part has done as a report without findings; the final report replaces it. It is
 * written under another name and renamed, so a reader finds the old one or the new one, never half
 * of one. */
#include "distribute/shard/keeper.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crash/part.h"
#include "report/format.h"
#include "crash/setup/crash_command.h"
#include "distribute/shard/fingerprint.h"
#include "distribute/shard/part_data.h"
#include "util/whole_file.h"

/* Marks the report as that of this part, and puts into it what the part has done. */
static void mark_as_part(struct report *r, void *arg)
{
	const struct keeper *k = arg;

	if (k->data)
		report_set_shard(r, &(struct report_shard){
					    .index = k->setup->options.shard.index,
					    .of = k->setup->options.shard.of,
					    .failure_points = k->nshare,
					    .done = k->ndone,
					    .command = k->checks ? "test" : "crash",
					    .check_options = k->checks ? k->checks->item : NULL,
					    .ncheck_options = k->checks ? k->checks->n : 0,
					    .fingerprint = k->fingerprint,
					    .trace = k->trace,
					    .data = k->data });
}

static void write_part(struct keeper *k)
{
	const struct shard shard = k->setup->options.shard;
	char *why = xasprintf(
		"part %u of %u has done %" PRIu64 " of its %" PRIu64
		" failure points so far; run the same command with --continue to finish it",
		shard.index, shard.of, k->ndone, k->nshare);
	struct report *r = report_new();
	struct whole_file file;
	struct error err;

	report_set_platform(r, k->setup->options.platform->name);
	crash_command_tell(k->setup, r);
	report_set_coverage(r, &(struct report_coverage){ .why_incomplete = why });
	mark_as_part(r, k);
	report_finish(r);
	whole_file_begin(&file, k->path);
	report_format_find("json")->render(file.out, r, &(struct report_options){ 0 });
	if (whole_file_end(&file, &err) < 0 && !k->failure) {
		k->failure = xstrdup(err.msg);
		notes_say(k->setup->notes, "the part cannot be saved: %s", err.msg);
	}
	report_free(r);
	free(why);
}

static void save_progress(struct crash_result *r, void *arg)
{
	struct keeper *k = arg;
	struct wire m = { 0 };

	part_pass(&m, r);
	free(k->data);
	k->data = part_data_encode(&m);
	k->nshare = r->nshare;
	k->ndone = r->ndone;
	wire_release(&m);
	if (k->ndone < k->nshare)
		write_part(k);
}

/* Takes over what an earlier run of the part has done. */
static int take_up(struct keeper *k, const struct plan *p, struct error *err)
{
	struct report *r = report_read(k->path, err);
	const struct report_shard *s = r ? report_shard(r) : NULL;
	const struct shard mine = k->setup->options.shard;
	int result = -1;

	if (!r)
		return -1;
	if (!s)
		error_set(err,
			  "%s is not a part of an exploration; give another name, or remove it",
			  k->path);
	else if (s->index != mine.index || s->of != mine.of)
		error_set(err,
			  "%s is part %u of %u, not part %u of %u; give each part its own file",
			  k->path, s->index, s->of, mine.index, mine.of);
	else if (strcmp(s->fingerprint, k->fingerprint) != 0)
		error_set(
			err,
			"%s belongs to another exploration: the trace, the options, a file that a recovery command names, or pmend's version differ; remove it to start again",
			k->path);
	else if (part_decode(&k->done, p, s) < 0)
		error_set(err, "%s is damaged: its data cannot be read; remove it to start again",
			  k->path);
	else
		result = 0;
	if (result == 0) {
		if (s->done < s->failure_points)
			k->setup->options.done = &k->done;
		else /* everything is done; only the report is left */
			k->setup->options.sum = &k->done;
		k->data = xstrdup(s->data);
		k->nshare = s->failure_points;
		k->ndone = s->done;
	}
	report_free(r);
	return result;
}

static int begin_part(struct crash_setup *s, const struct plan *p, const char *kept, void *arg,
		      struct error *err)
{
	struct keeper *k = arg;

	k->trace = kept;
	k->fingerprint = fingerprint_of(s, s->shard.of, p, k->checks, err);
	if (!k->fingerprint ||
	    (k->is_continued && access(k->path, F_OK) == 0 && take_up(k, p, err) < 0))
		return -1;
	s->options.keep = save_progress;
	s->options.keep_arg = k;
	return 0;
}

void keeper_init(struct keeper *k, struct crash_setup *s, const struct word_list *checks,
		 const char *path, bool is_continued)
{
	*k = (struct keeper){ .setup = s,
			      .parts = { .begin = begin_part, .tell = mark_as_part, .arg = k },
			      .checks = checks,
			      .path = path,
			      .is_continued = is_continued };
	s->parts = &k->parts;
}

void keeper_release(struct keeper *k)
{
	crash_result_release(&k->done);
	free(k->fingerprint);
	free(k->data);
	free(k->failure);
}
