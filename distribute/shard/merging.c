/* Checks that parts belong together, and adds up their results. Each message names the file that is
 * wrong. */
#include "distribute/shard/merging.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash/part.h"
#include "distribute/shard/fingerprint.h"
#include "distribute/shard/part_data.h"

/* Lists the missing parts, as in "2, 5, 7"; free() it. */
static char *missing_of(const struct merging *m)
{
	char *text = NULL;

	for (uint32_t i = 0; i < m->n; i++)
		if (!m->list[i]) {
			char *longer =
				text ? xasprintf("%s, %u", text, i + 1) : xasprintf("%u", i + 1);

			free(text);
			text = longer;
		}
	return text;
}

static int add_part(struct merging *m, const char **names, const char *path, struct error *err)
{
	struct report *r = report_read(path, err);
	const struct report_shard *s = r ? report_shard(r) : NULL, *first = NULL;
	int result = -1;

	for (uint32_t i = 0; i < m->n && !first; i++)
		first = m->list[i] ? report_shard(m->list[i]) : NULL;
	if (!r)
		return -1;
	if (!s)
		error_set(
			err,
			"%s is not a part of an exploration: 'pmend crash --shard I/N -o PART.json' writes parts",
			path);
	else if (s->of > SHARDS_MAX)
		error_set(err, "%s is damaged: it says that there are %u parts", path, s->of);
	else if (first && s->of != first->of)
		error_set(
			err,
			"%s is one of %u parts, and %s is one of %u; give the parts of one exploration",
			path, s->of, names[first->index - 1], first->of);
	else if (first && (strcmp(s->fingerprint, first->fingerprint) != 0 ||
			   strcmp(s->command, first->command) != 0))
		error_set(
			err,
			"%s and %s are of different explorations: the trace, the options, a file that a recovery command names, or pmend's version differ",
			names[first->index - 1], path);
	else
		result = 0;
	if (result == 0 && !m->list) {
		m->n = s->of;
		m->list = xcalloc(m->n, sizeof *m->list);
	}
	if (result == 0 && m->list[s->index - 1])
		result = error_set(err, "part %u of %u is given twice: %s and %s", s->index, s->of,
				   names[s->index - 1], path);
	if (result < 0) {
		report_free(r);
		return -1;
	}
	m->list[s->index - 1] = r;
	names[s->index - 1] = path;
	return 0;
}

int merging_open(struct merging *m, char **paths, size_t n, struct error *err)
{
	const char **names = xcalloc(SHARDS_MAX, sizeof *names);
	char *missing;
	int result = 0;

	*m = (struct merging){ 0 };
	for (size_t i = 0; i < n && result == 0; i++)
		result = add_part(m, names, paths[i], err);
	missing = result == 0 ? missing_of(m) : NULL;
	if (missing)
		result = error_set(err, "of %u parts, these are missing: %s", m->n, missing);
	free(missing);
	free(names);
	if (result < 0)
		merging_close(m);
	return result;
}

void merging_close(struct merging *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->list[i])
			report_free(m->list[i]);
	free(m->list);
	crash_result_release(&m->sum);
	*m = (struct merging){ 0 };
}

const struct report_shard *merging_shard(const struct merging *m)
{
	return report_shard(m->list[0]);
}

static int add_up(struct crash_setup *s, const struct plan *p, const char *kept, void *arg,
		  struct error *err)
{
	struct merging *m = arg;
	char *fingerprint = fingerprint_of(s, m->n, p, m->checks, err);
	int result = fingerprint ? 0 : -1;

	(void)kept;
	if (fingerprint && strcmp(fingerprint, merging_shard(m)->fingerprint) != 0)
		result = error_set(
			err,
			"%s, or a file that a recovery command names, is not the one of the parts, or pmend has another version; run the parts again",
			p->path);
	free(fingerprint);
	for (uint32_t i = 0; i < m->n && result == 0; i++) {
		struct crash_result part = { 0 };

		if (part_decode(&part, p, report_shard(m->list[i])) < 0 ||
		    (i > 0 && part.npoints != m->sum.npoints)) {
			result = error_set(err, "part %u of %u is damaged: its data cannot be read",
					   i + 1, m->n);
			crash_result_release(&part);
		}
		if (result == 0 && part.ndone < part.nshare)
			notes_say(
				s->notes,
				"part %u of %u is not finished: %llu of its %llu failure points are done. Run its command with --continue to finish it",
				i + 1, m->n, (unsigned long long)part.ndone,
				(unsigned long long)part.nshare);
		if (result == 0)
			part_add(&m->sum, &part);
	}
	s->options.sum = &m->sum;
	return result;
}

/* Adds a finding of an unfinished part, and its consequences, to the report, unless they are there.
 * The data of the part leaves out a failure point that is not finished; its findings are only in
 * the part's report. */
static void add_undone(struct report *r, const struct bug *b)
{
	struct bug one = *b;

	one.consequences = NULL;
	one.nconsequences = 0;
	if (report_find_draft(r, b) == SIZE_MAX)
		report_add(r, &one);
	for (size_t i = 0; i < b->nconsequences; i++)
		add_undone(r, &b->consequences[i]);
}

static void add_unfinished(struct report *r, void *arg)
{
	const struct merging *m = arg;

	for (uint32_t i = 0; i < m->n; i++) {
		const struct report_shard *s = report_shard(m->list[i]);

		for (size_t k = 0; s->done < s->failure_points && k < report_nbugs(m->list[i]); k++)
			add_undone(r, report_bug(m->list[i], k));
	}
}

void merging_begin(struct merging *m, struct crash_setup *s, const struct word_list *checks)
{
	m->checks = checks;
	m->parts = (struct crash_parts){ .begin = add_up, .add = add_unfinished, .arg = m };
	s->parts = &m->parts;
}
