/* Deals whole traces out to the processes of `pmend check --shard`, the largest first, each to the
 * process with the least so far. Keeps each trace's report as JSON; checks_sum.c adds them up. */
#include "distribute/shard/checks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/format.h"
#include "distribute/shard/fingerprint.h"
#include "distribute/shard/part_data.h"
#include "util/alloc.h"
#include "util/whole_file.h"
#include "check/platform_choice.h"

/* ---- which process checks which trace ---- */

/* Gives the index of the largest trace that no process has got yet; of several equal ones, the
 * first. */
static size_t next_largest(const struct checks *k, const bool *is_dealt)
{
	size_t largest = SIZE_MAX;

	for (size_t i = 0; i < k->list.n; i++)
		if (!is_dealt[i] &&
		    (largest == SIZE_MAX || k->list.at[i].size > k->list.at[largest].size))
			largest = i;
	return largest;
}

static void deal_out_traces(struct checks *k)
{
	const uint32_t of = k->shard.of ? k->shard.of : 1;
	uint64_t *loads = xcalloc(of, sizeof *loads);
	bool *is_dealt = xcalloc(k->list.n, sizeof *is_dealt);

	for (size_t n = 0; n < k->list.n; n++) {
		const size_t i = next_largest(k, is_dealt);
		uint32_t least = 0;

		for (uint32_t s = 1; s < of; s++)
			if (loads[s] < loads[least])
				least = s;
		loads[least] += k->list.at[i].size + 1; /* an empty trace takes time, too */
		is_dealt[i] = true;
		k->list.at[i].is_ours = !k->shard.of || least + 1 == k->shard.index;
	}
	free(is_dealt);
	free(loads);
}

static void put_words(FILE *f, const char *option, const struct word_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		fprintf(f, "%s %s\n", option, l->item[i]);
}

/* Makes a hash of the traces and options, by which parts of one check are recognised. Traces that
 * other processes check count only by name and size, because reading all of them is what parts are
 * meant to save. */
static char *fingerprint(const struct checks *k, const struct checking *c, const char *platform)
{
	char *text, *hex;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		alloc_die();
	fprintf(f, "pmend " PMEND_VERSION " check\nplatform %s\nparts %u\ntrust %d\n",
		platform ? platform : "", k->shard.of, !c->no_trust);
	put_words(f, "--only", &c->only);
	put_words(f, "--with", &c->with);
	put_words(f, "--oracle", &c->oracles);
	put_words(f, "--library", &c->library_globs);
	for (size_t i = 0; i < k->list.n; i++)
		fprintf(f, "%" PRIu64 " %s\n", k->list.at[i].size, k->list.at[i].name);
	fclose(f);
	hex = fingerprint_text(text, len);
	free(text);
	return hex;
}

/* Takes the platform of the first trace, which all processes can read. */
static int choose_platform(struct checks *k, const struct checking *c, struct error *err)
{
	struct platform_choice how = { 0 };
	const struct platform *p;
	struct trace *t;

	if (trace_open(&t, k->list.at[0].name, err) < 0)
		return -1;
	p = platform_choose(t, c->recording.platform, &how, err);
	trace_close(t);
	k->is_platform_chosen = p && how.is_chosen;
	platform_choice_say(&how, NULL);
	k->platform = p ? p->name : NULL;
	return p ? 0 : -1;
}

int checks_init(struct checks *k, char *const *traces, size_t n, struct shard shard,
		const struct checking *c, const char *platform, struct error *err)
{
	struct stat st;

	*k = (struct checks){ .shard = shard };
	for (size_t i = 0; i < n; i++) {
		if (stat(traces[i], &st) < 0)
			return error_set(err, "cannot open %s: %s", traces[i], strerror(errno));
		*vec_add(&k->list) = (struct checked_trace){ .name = xstrdup(traces[i]),
							     .size = (uint64_t)st.st_size };
	}
	deal_out_traces(k);
	if (!shard.of)
		return 0;
	k->fingerprint = fingerprint(k, c, platform);
	return choose_platform(k, c, err);
}

void checks_release(struct checks *k)
{
	for (size_t i = 0; i < k->list.n; i++) {
		free(k->list.at[i].name);
		free(k->list.at[i].report);
	}
	vec_release(&k->list);
	free(k->fingerprint);
	*k = (struct checks){ 0 };
}

void checks_done(struct checks *k, size_t i, struct report *r, bool is_whole)
{
	size_t len;
	FILE *f = open_memstream(&k->list.at[i].report, &len);

	if (!f)
		alloc_die();
	report_format_find("json")->render(f, r, &(struct report_options){ 0 });
	if (fclose(f) != 0)
		alloc_die();
	k->list.at[i].is_whole = is_whole;
	report_free(r);
}

/* ---- parts ---- */

static void trace_pass(struct wire *m, struct checked_trace *t)
{
	t->name = wire_string(m, t->name);
	wire_pass(m, t->size);
	wire_pass(m, t->is_whole);
	t->report = wire_string(m, t->report);
	m->is_bad |= !t->name;
}

static void count_done(const struct checks *k, uint64_t *nours, uint64_t *ndone)
{
	*nours = *ndone = 0;
	for (size_t i = 0; i < k->list.n; i++) {
		*nours += k->list.at[i].is_ours;
		*ndone += k->list.at[i].is_ours && k->list.at[i].report;
	}
}

void checks_tell(const struct checks *k, struct report *r)
{
	struct checks *own = (struct checks *)k; /* sending changes nothing */
	struct report_shard s = { .index = k->shard.index,
				  .of = k->shard.of,
				  .command = "check",
				  .fingerprint = k->fingerprint,
				  .trace = k->list.at[0].name };
	struct wire m = { 0 };
	char *data;

	wire_pass_vec(&m, &own->list, trace_pass);
	data = part_data_encode(&m);
	s.data = data;
	count_done(k, &s.failure_points, &s.done);
	report_set_shard(r, &s);
	wire_release(&m);
	free(data);
}

int checks_keep(const struct checks *k, struct error *err)
{
	struct report *r = report_new();
	struct whole_file file;
	uint64_t nours, ndone;
	char *why;
	int result;

	count_done(k, &nours, &ndone);
	why = xasprintf("part %u of %u has checked %" PRIu64 " of its %" PRIu64
			" traces so far; run the same command with --continue to finish it",
			k->shard.index, k->shard.of, ndone, nours);
	report_set_platform(r, k->platform);
	report_set_platform_chosen(r, k->is_platform_chosen);
	report_set_coverage(r, &(struct report_coverage){ .why_incomplete = why });
	checks_tell(k, r);
	report_finish(r);
	whole_file_begin(&file, k->path);
	report_format_find("json")->render(file.out, r, &(struct report_options){ 0 });
	result = whole_file_end(&file, err);
	report_free(r);
	free(why);
	return result;
}

/* Takes over the reports of another part. The first part that comes also defines the list of
 * traces. */
static int take_reports(struct checks *k, struct checks *part, const char *name, struct error *err)
{
	const bool is_first = k->list.n == 0;

	if (!is_first && part->list.n != k->list.n)
		return error_set(err, "%s is damaged: it has other traces", name);
	for (size_t i = 0; i < part->list.n; i++) {
		struct checked_trace *t = &part->list.at[i];

		if (is_first)
			*vec_add(&k->list) =
				(struct checked_trace){ .name = xstrdup(t->name), .size = t->size };
		else if (strcmp(t->name, k->list.at[i].name) != 0 || t->size != k->list.at[i].size)
			return error_set(err, "%s is damaged: it has other traces", name);
		if (t->report && k->list.at[i].report)
			return error_set(err, "%s is damaged: another part has checked %s, too",
					 name, t->name);
		if (!t->report)
			continue;
		k->list.at[i].report = t->report;
		k->list.at[i].is_whole = t->is_whole;
		t->report = NULL;
	}
	return 0;
}

int checks_add(struct checks *k, const struct report_shard *s, const char *name, struct error *err)
{
	struct checks part = { 0 };
	struct wire m = { 0 };
	int result = part_data_decode(&m, s->data);

	if (result == 0)
		wire_pass_vec(&m, &part.list, trace_pass);
	if (result < 0 || m.is_bad || m.at != m.n || part.list.n == 0)
		result = error_set(err, "%s is damaged: its data cannot be read", name);
	else
		result = take_reports(k, &part, name, err);
	checks_release(&part);
	wire_release(&m);
	return result;
}

int checks_go_on(struct checks *k, struct error *err)
{
	struct report *r;
	const struct report_shard *s;
	int result = -1;

	if (access(k->path, F_OK) != 0)
		return 0;
	r = report_read(k->path, err);
	s = r ? report_shard(r) : NULL;
	if (!r)
		return -1;
	if (!s || strcmp(s->command, "check") != 0)
		error_set(err, "%s is not a part of 'pmend check'; give another name, or remove it",
			  k->path);
	else if (s->index != k->shard.index || s->of != k->shard.of)
		error_set(
			err,
			"%s is part %u of %u, not part %u of %u; give each part a file of its own",
			k->path, s->index, s->of, k->shard.index, k->shard.of);
	else if (strcmp(s->fingerprint, k->fingerprint) != 0)
		error_set(
			err,
			"%s is a part of something else: the traces, the options or pmend's version differ; remove it to begin again",
			k->path);
	else
		result = checks_add(k, s, k->path, err);
	report_free(r);
	return result;
}
