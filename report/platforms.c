/* Makes reports about several platforms: says on which a bug loses data, and on which the same code
 * is safe. Merges the reports of all platforms into one. */
#include <string.h>

#include "report/internal.h"

static void bug_add_platform(struct report *r, struct bug *b, const char *platform)
{
	const char **list = arena_alloc(&r->arena, (b->nplatforms + 1) * sizeof *list);

	if (b->nplatforms)
		memcpy(list, b->platforms, b->nplatforms * sizeof *list);
	list[b->nplatforms++] = platform;
	b->platforms = list;
}

/* Turns a report about one platform into one about several. All findings so far belong to the first
 * platform. */
static void become_several(struct report *r)
{
	*vec_add(&r->platforms) = r->platform;
	for (size_t i = 0; i < r->bugs.n; i++)
		bug_add_platform(r, &r->bugs.at[i]->bug, r->platform);
	report_set_platform(r, "all");
}

static void merge_coverage(struct report *r, const struct report_coverage *c)
{
	if (c->events > r->coverage.events)
		r->coverage.events = c->events;
	r->coverage.is_complete &= c->is_complete;
	for (size_t i = 0; i < c->nreasons; i++)
		report_add_reason(r, c->reasons[i]);
}

/* Gives the number of the finding that causes e, or of e itself. It names the group of e for
 * causes_merge(). */
static size_t number_of(const struct report *r, const struct report_entry *e)
{
	size_t i = 0;

	while (e->cause)
		e = e->cause;
	while (r->bugs.at[i] != e)
		i++;
	return i;
}

static void merge_causes(const struct report *other, causes_members *members)
{
	for (size_t i = 0; i < members->n; i++) {
		members->at[i].group = number_of(other, other->bugs.at[i]);
		members->at[i].cause = members->at[members->at[i].group].entry;
	}
	causes_merge(members);
}

void report_merge(struct report *r, const struct report *other)
{
	causes_members members = { 0 };
	const char *platform;

	if (r->is_finished || other->is_finished)
		BUG("a finished report is merged");
	if (r->platforms.n == 0)
		become_several(r);
	platform = arena_text(&r->arena, other->platform);
	*vec_add(&r->platforms) = platform;
	for (size_t i = 0; i < other->bugs.n; i++) {
		const struct report_entry *theirs = other->bugs.at[i];
		uint64_t hash = hash_text(theirs->key);
		struct report_entry *e = report_find(r, theirs->key, hash);

		if (e && theirs->bug.count > e->bug.count)
			e->bug.count = theirs->bug.count;
		*vec_add(&members) = (struct causes_member){ .is_new = !e };
		if (!e)
			e = report_insert(r, &theirs->bug, theirs->key, hash);
		members.at[i].entry = e;
		paths_add_entry(r, e, theirs);
		bug_add_platform(r, &e->bug, platform);
	}
	merge_causes(other, &members);
	vec_release(&members);
	for (size_t i = 0; i < other->unflushed.n; i++) {
		const struct report_entry *theirs = other->unflushed.at[i];

		if (!report_find(r, theirs->key, hash_text(theirs->key)))
			report_add_unflushed(r, &theirs->bug);
	}
	if (other->has_ending && !r->has_ending)
		report_set_ending(r, &other->ending);
	merge_coverage(r, &other->coverage);
}

void report_add_omitted(struct report *r, const char *platform, const char *why)
{
	char *text = xasprintf("not analysed for %s: %s", platform, why);

	report_add_reason(r, text);
	free(text);
}

static bool is_only_msync(const struct report *r, const struct bug *b)
{
	const char *platform = b->nplatforms ? b->platforms[0] : r->platform;

	return b->nplatforms <= 1 && platform && strcmp(platform, "msync") == 0;
}

/* Gives the advice for the platform msync, where flushes achieve nothing, so that the usual advice
 * of these kinds would be wrong; NULL: the usual advice is right. */
static const char *msync_advice(const char *kind)
{
	static const char sync[] =
		"Call msync with MS_SYNC, pmem_msync or fsync after the store; on msync, flushes and fences achieve nothing.";
	static const struct {
		const char *begin, *advice; /* begin: how the kind's name begins */
	} list[] = {
		{ "missing-flush", sync },
		{ "missing-fence", sync },
		{ "ordering",
		  "Make the earlier store durable (msync with MS_SYNC, or fsync) before the later one." },
		{ "ack-before-durable",
		  "Call msync with MS_SYNC, or fsync, in the operation itself, before the answer is sent." },
		{ "unpersisted-read",
		  "Call msync with MS_SYNC, or fsync, before another thread can read the store: before the lock is released, or before the pointer is published." },
		{ "assert-durable", "Call msync with MS_SYNC, or fsync, before the assertion." },
		{ "assert-ordered",
		  "Call msync with MS_SYNC, or fsync, for the first range before anything is stored to the second." },
	};

	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (strncmp(kind, list[i].begin, strlen(list[i].begin)) == 0)
			return list[i].advice;
	return NULL;
}

const char *report_advice(const struct report *r, const struct bug *b)
{
	if (b->severity == BUG_PERFORMANCE && b->nplatforms < r->platforms.n)
		return NULL;
	if (!b->advice && is_only_msync(r, b) && msync_advice(b->kind))
		return msync_advice(b->kind);
	return bug_advice(b);
}

static bool is_on(const struct bug *b, const char *platform)
{
	for (size_t i = 0; i < b->nplatforms; i++)
		if (strcmp(b->platforms[i], platform) == 0)
			return true;
	return false;
}

/* Writes the names of the platforms that have the bug, or (has is false) of those that do not. */
static void put_names(FILE *f, const struct report *r, const struct bug *b, bool has)
{
	size_t n = 0;

	for (size_t i = 0; i < r->platforms.n; i++)
		if (is_on(b, r->platforms.at[i]) == has)
			fprintf(f, "%s%s", n++ ? ", " : "", r->platforms.at[i]);
}

char *platform_text(const struct report *r)
{
	if (!r->platform || r->platforms.n > 0 || !r->files_profile)
		return r->platform ? xstrdup(r->platform) : NULL;
	return r->is_files_only ? xstrdup(r->files_profile)
				: xasprintf("%s and %s", r->platform, r->files_profile);
}

char *platforms_text(const struct report *r, const struct bug *b)
{
	bool is_wrong = b->severity == BUG_CORRECTNESS;
	char *text;
	size_t len;
	FILE *f;

	if (r->platforms.n == 0 && b->nprofiles == 0)
		return NULL;
	f = open_memstream(&text, &len);
	if (!f)
		alloc_die();
	for (size_t i = 0; i < b->nprofiles; i++)
		fprintf(f, "%s%s", i ? ", " : "shown for file systems: ", b->profiles[i]);
	if (r->platforms.n == 0) {
		fclose(f);
		return text;
	}
	fputs(b->nprofiles ? "; " : "", f);
	fputs(is_wrong ? "loses data on " : "costs time on ", f);
	put_names(f, r, b, true);
	if (b->nplatforms < r->platforms.n) {
		fputs(is_wrong ? "; safe on " : "; not on ", f);
		put_names(f, r, b, false);
		if (!is_wrong)
			fputs(", so a program for all of them must keep it", f);
	}
	fclose(f);
	return text;
}
