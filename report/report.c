/* Collects bugs. A bug with the key of an earlier one (ident.c) only raises that one's count, so
 * memory grows with the number of places in the source, not of findings. All is copied into one
 * arena and freed together. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/filter.h"
#include "report/internal.h"

struct report *report_new(void)
{
	struct report *r = xcalloc(1, sizeof *r);

	r->version = PMEND_VERSION;
	r->sources = sources_new();
	return r;
}

static void entries_release(struct report_entry **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		entry_release(list[i]);
}

void report_free(struct report *r)
{
	if (!r)
		return;
	sources_free(r->sources);
	map_release(&r->by_key);
	entries_release(r->bugs.at, r->bugs.n);
	entries_release(r->unflushed.at, r->unflushed.n);
	vec_release(&r->bugs);
	vec_release(&r->unflushed);
	vec_release(&r->platforms);
	vec_release(&r->suppressed);
	vec_release(&r->command);
	vec_release(&r->recipe);
	vec_release(&r->files_options);
	vec_release(&r->crash_options);
	vec_release(&r->library_globs);
	vec_release(&r->analyses);
	vec_release(&r->options);
	for (size_t i = 0; i < r->tests.n; i++)
		report_free(r->tests.at[i]);
	vec_release(&r->tests);
	vec_release(&r->folded);
	arena_release(&r->arena);
	free(r);
}

static void add_site(struct report_entry *e, const struct bug *b)
{
	const uint32_t site = b->nlocations ? b->locations[0].site : 0;

	if (!site)
		return;
	for (size_t i = 0; i < e->sites.n; i++)
		if (e->sites.at[i].site == site)
			return;
	*vec_add(&e->sites) = (struct report_site){ site, b->first_seq };
}

static struct report_entry *entry_new(struct report *r, const struct bug *b, const char *key)
{
	struct report_entry *e = arena_alloc(&r->arena, sizeof *e);

	*e = (struct report_entry){ .key = arena_text(&r->arena, key) };
	bug_copy(&r->arena, &e->bug, b);
	if (!e->bug.count)
		e->bug.count = 1;
	e->bug.paths = NULL;
	e->bug.npaths = 0;
	add_site(e, b);
	paths_add(r, e, b, PATHS_ADD_UP);
	return e;
}

/* Adds the folders in which the bug's sources were compiled to those where sources are looked
 * up. */
static void add_folders(struct report *r, const struct bug *b)
{
	for (size_t i = 0; i < b->nlocations; i++)
		for (size_t k = 0; k < b->locations[i].nframes; k++) {
			const struct bug_frame *f = &b->locations[i].frames[k];

			if (f->folder && f->file && f->file[0] != '/')
				sources_add_folder(r->sources, f->folder);
		}
}

static struct report_entry *entry_add(struct report *r, const struct bug *b, const char *key)
{
	struct report_entry *e = entry_new(r, b, key);

	add_folders(r, b);
	*vec_add(&r->bugs) = e;
	return e;
}

/* Lowers the number of runs that the bug's crash took. The crash that is shown stays the first
 * one. */
static void found_sooner(struct report *r, struct report_entry *e, uint64_t runs)
{
	struct bug_crash crash = *e->bug.crash;

	crash.runs = runs;
	e->bug.crash = bug_crash_copy(&r->arena, &crash);
}

/* Takes a shorter input that shows the bug. `first` stays the file of the first input. */
static void input_take(struct report *r, struct report_entry *e, const struct bug_input *shorter)
{
	struct bug_input input = *shorter;

	if (e->bug.input && e->bug.input->first)
		input.first = e->bug.input->first;
	e->bug.input = bug_input_copy(&r->arena, &input);
}

/* Does a run doubt that this flush or fence is a waste of time? Another run may need it. */
static bool doubts(const struct bug *b)
{
	const struct bug_kind *kind = bug_kind_find(b->kind);

	return kind && kind->severity == BUG_PERFORMANCE && b->reason;
}

/* Adds what b knows to an entry: a bug that both `check` and `crash` found has the crash and both
 * counts. */
static bool has_profile(const struct bug *b, const char *profile)
{
	for (size_t i = 0; i < b->nprofiles; i++)
		if (strcmp(b->profiles[i], profile) == 0)
			return true;
	return false;
}

/* Adds the profiles that `more` has to those of b. */
static void add_profiles(struct report *r, struct bug *b, const struct bug *more)
{
	const char **list;

	for (size_t i = 0; i < more->nprofiles; i++) {
		if (has_profile(b, more->profiles[i]))
			continue;
		list = arena_alloc(&r->arena, (b->nprofiles + 1) * sizeof *list);
		if (b->nprofiles)
			memcpy(list, b->profiles, b->nprofiles * sizeof *list);
		list[b->nprofiles++] = arena_text(&r->arena, more->profiles[i]);
		b->profiles = list;
	}
}

/* Joins the schedules that show the bug. Schedules of different inputs are not the same although
 * their numbers are, so only those of the input count that is shown. Before the input is taken. */
static void merge_schedules(struct report *r, struct report_entry *e, const struct bug *b)
{
	const struct bug_input *own = e->bug.input;

	if (own && b->input && strcmp(own->file, b->input->file) != 0) {
		if (b->input->size < own->size)
			e->bug.schedules = bug_schedules_copy(&r->arena, b->schedules);
	} else if (b->schedules) {
		e->bug.schedules = bug_schedules_join(&r->arena, e->bug.schedules, b->schedules,
						      b->crash && !e->bug.crash);
	}
}

static void entry_merge(struct report *r, struct report_entry *e, const struct bug *b)
{
	uint64_t count = b->count ? b->count : 1;

	merge_schedules(r, e, b);
	if (b->input && (!e->bug.input || b->input->size < e->bug.input->size))
		input_take(r, e, b->input);
	e->bug.count = e->bug.count > UINT64_MAX - count ? UINT64_MAX : e->bug.count + count;
	e->bug.executions += b->executions;
	if (b->first_seq < e->bug.first_seq)
		e->bug.first_seq = b->first_seq;
	/* a doubt about a performance finding wins; of other findings, the more severe one wins */
	if (doubts(b) != doubts(&e->bug) ? doubts(b) : b->severity < e->bug.severity) {
		e->bug.severity = b->severity;
		e->bug.reason = arena_text(&r->arena, b->reason);
		e->bug.undecided_by = arena_text(&r->arena, b->undecided_by);
	}
	add_profiles(r, &e->bug, b);
	if (b->evidence && (!e->bug.evidence || (!e->bug.crash && b->crash)))
		e->bug.evidence = evidence_copy(&r->arena, b->evidence);
	if (!e->bug.crash)
		e->bug.crash = bug_crash_copy(&r->arena, b->crash);
	else if (b->crash && b->crash->runs && b->crash->runs < e->bug.crash->runs)
		found_sooner(r, e, b->crash->runs);
	add_site(e, b);
	paths_add(r, e, b, PATHS_ADD_UP);
}

struct report_entry *report_find(const struct report *r, const char *key, uint64_t hash)
{
	struct report_entry *e = map_get(&r->by_key, hash);

	while (e && (e->is_dropped || strcmp(e->key, key) != 0))
		e = e->next;
	return e;
}

static void entry_index(struct report *r, struct report_entry *e, uint64_t hash)
{
	e->bug.id[0] = '\0';
	e->next = map_get(&r->by_key, hash);
	map_set(&r->by_key, hash, e);
}

struct report_entry *report_insert(struct report *r, const struct bug *b, const char *key,
				   uint64_t hash)
{
	struct report_entry *e = entry_add(r, b, key);

	entry_index(r, e, hash);
	return e;
}

bool report_has(const struct report *r, bool (*is_one)(const struct bug *b))
{
	for (size_t i = 0; i < r->bugs.n; i++)
		if (is_one(&r->bugs.at[i]->bug))
			return true;
	return false;
}

void report_each(const struct report *r, void (*each)(const struct bug *b, void *arg), void *arg)
{
	for (size_t i = 0; i < r->bugs.n; i++)
		each(&r->bugs.at[i]->bug, arg);
}

/* Gives the strongest use by recovery over all call paths and instructions of a bug. It is unknown
 * if it is unknown for one of them. */
static enum bug_use use_of(const struct report_entry *e,
			   enum bug_use (*use)(const struct bug *b, uint64_t first_seq, void *arg),
			   void *arg)
{
	enum bug_use most = use(&e->bug, e->bug.first_seq, arg);

	for (size_t i = 0; i < e->paths.n; i++) {
		enum bug_use u = use(&e->bug, e->paths.at[i].path.first_seq, arg);

		most = u < most ? u : most;
	}
	for (size_t i = 0; i < e->sites.n; i++) {
		enum bug_use u = use(&e->bug, e->sites.at[i].first_seq, arg);

		most = u < most ? u : most;
	}
	return most;
}

void report_rank(struct report *r,
		 enum bug_use (*use)(const struct bug *b, uint64_t first_seq, void *arg), void *arg)
{
	for (size_t i = 0; i < r->bugs.n; i++) {
		struct bug *b = &r->bugs.at[i]->bug;
		char *text;

		b->use = use_of(r->bugs.at[i], use, arg);
		if (!b->use)
			continue;
		text = xasprintf("%s; %s", b->message, bug_use_text(b->use));
		b->message = arena_text(&r->arena, text);
		free(text);
	}
}

/* Did recovery, after a crash that some finding shows, read bytes that have another value if the
 * store of this line is lost? */
static bool is_read_after_crash(const struct report *r, const struct bug_frame *store)
{
	for (size_t i = 0; i < r->bugs.n; i++) {
		const struct bug_crash *c = r->bugs.at[i]->bug.crash;

		for (size_t k = 0; c && k < c->nchoices; k++)
			for (size_t v = 0; v < c->choices[k].nvalues; v++)
				for (size_t l = 0; l < c->choices[k].values[v].nlost; l++)
					if (bug_is_same_line(&c->choices[k].values[v].lost[l],
							     store))
						return true;
	}
	return false;
}

/* Finds the part of the message that says that recovery does not read the bytes; NULL: the message
 * does not say so. */
static const char *unread_words(const struct bug *b)
{
	return b->use > BUG_USE_READS ? strstr(b->message, bug_use_text(b->use)) : NULL;
}

/* Corrects the message of a finding whose bytes recovery did not read in the final state. is_read:
 * it reads them in some crash state. Otherwise the sentence is removed: a crash proves the bug, but
 * not that recovery reads these bytes. */
static void use_retell(struct report *r, struct bug *b, bool is_read)
{
	const char *at = unread_words(b);
	char *message = xasprintf("%.*s%s", (int)(at - b->message) - (is_read ? 0 : 2), b->message,
				  is_read ? "recovery reads it after some crashes" : "");

	b->use = is_read ? BUG_USE_READS : BUG_USE_UNKNOWN;
	b->message = arena_text(&r->arena, message);
	free(message);
}

void report_rank_explored(struct report *r, size_t i, bool is_read, bool is_complete)
{
	struct bug *b = &r->bugs.at[i]->bug;
	char *text;

	if (!unread_words(b))
		return;
	if (is_read) {
		use_retell(r, b, true);
		return;
	}
	text = xasprintf("%s, and no other run %sreads it while it may be lost", b->message,
			 is_complete ? "" : "of this incomplete exploration ");
	b->message = arena_text(&r->arena, text);
	free(text);
}

static void use_settle(struct report *r, struct bug *b)
{
	const bool is_read = unread_words(b) && is_read_after_crash(r, bug_frame(b));

	if (is_read || (unread_words(b) && b->crash))
		use_retell(r, b, is_read);
}

void report_add_unflushed(struct report *r, const struct bug *b)
{
	/* no bug has a key that begins so */
	char *own = ident_key(b), *key = xasprintf("unflushed %s", own);
	uint64_t hash = hash_text(key);
	struct report_entry *e = report_find(r, key, hash);

	if (e) {
		entry_merge(r, e, b);
	} else {
		e = entry_new(r, b, key);
		entry_index(r, e, hash);
		*vec_add(&r->unflushed) = e;
	}
	free(own);
	free(key);
}

size_t report_find_draft(const struct report *r, const struct bug *b)
{
	char *key = ident_key(b);
	const struct report_entry *e = report_find(r, key, hash_text(key));
	size_t i = 0;

	free(key);
	while (i < r->bugs.n && r->bugs.at[i] != e)
		i++;
	return i < r->bugs.n ? i : SIZE_MAX;
}

/* Adds a bug, or merges it with an earlier one of the same key. Returns whether the bug is new;
 * *added is its entry. */
static bool add(struct report *r, const struct bug *b, struct report_entry **added)
{
	struct report_entry *e;
	uint64_t hash;
	char *key;

	if (r->is_finished)
		BUG("a bug is added to a finished report");
	key = ident_key(b);
	hash = hash_text(key);
	e = report_find(r, key, hash);
	*added = e;
	if (e)
		entry_merge(r, e, b);
	else
		*added = report_insert(r, b, key, hash);
	free(key);
	return !e;
}

void report_add(struct report *r, const struct bug *b)
{
	struct report_entry *ignored;

	add(r, b, &ignored);
}

static struct report_entry *member_add(struct report *r, causes_members *members,
				       const struct bug *b, const struct bug_input *input,
				       const struct bug_schedules *schedules, size_t group)
{
	struct causes_member *m = vec_add(members);
	struct evidence evidence;
	struct bug one = *b;

	if (input)
		one.input = input;
	if (schedules)
		one.schedules = schedules;
	if (input && b->evidence) {
		evidence = *b->evidence;
		evidence.input = input->file;
		one.evidence = &evidence;
	}
	one.consequences = NULL;
	one.nconsequences = 0;
	*m = (struct causes_member){ .group = group };
	m->is_new = add(r, &one, &m->entry);
	return m->entry;
}

void report_add_run(struct report *r, const struct report *other, const struct bug_input *input)
{
	report_add_run_of(r, other, input, NULL);
}

void report_add_run_of(struct report *r, const struct report *other, const struct bug_input *input,
		       const struct bug_schedules *schedules)
{
	causes_members members = { 0 };

	for (size_t i = 0; i < report_nbugs(other); i++) {
		const struct bug *b = report_bug(other, i);
		struct report_entry *cause = member_add(r, &members, b, input, schedules, i);

		for (size_t k = 0; k < b->nconsequences; k++) {
			member_add(r, &members, &b->consequences[k], input, schedules, i);
			members.at[members.n - 1].cause = cause;
		}
	}
	causes_merge(&members);
	vec_release(&members);
}

bool report_add_evidence(struct report *r, const struct bug *b)
{
	char *key = ident_key(b);
	struct report_entry *e = report_find(r, key, hash_text(key));

	if (e && !e->bug.crash)
		e->bug.crash = bug_crash_copy(&r->arena, b->crash);
	if (e)
		paths_add_evidence(r, e, b);
	free(key);
	return e != NULL;
}

void report_append(struct report *r, const struct bug *b)
{
	char *key = ident_key(b);

	paths_finish(r, entry_add(r, b, key));
	free(key);
}

void report_set_platform(struct report *r, const char *platform)
{
	r->platform = arena_text(&r->arena, platform);
}

const char *report_files(const struct report *r, bool *is_only)
{
	*is_only = r->is_files_only;
	return r->files_profile;
}

void report_set_files(struct report *r, const char *profile, bool is_only)
{
	r->files_profile = arena_text(&r->arena, profile);
	r->is_files_only = is_only;
}

void report_set_platform_chosen(struct report *r, bool is_chosen)
{
	r->is_platform_chosen = is_chosen;
}

bool report_is_platform_chosen(const struct report *r)
{
	return r->is_platform_chosen;
}

const char *report_platform(const struct report *r)
{
	return r->platform;
}

void report_add_argument(struct report *r, const char *argument)
{
	*vec_add(&r->command) = arena_text(&r->arena, argument);
}

size_t report_ncommand(const struct report *r)
{
	return r->command.n;
}

const char *report_argument(const struct report *r, size_t i)
{
	return r->command.at[i];
}

void report_add_recipe(struct report *r, const char *word)
{
	*vec_add(&r->recipe) = arena_text(&r->arena, word);
}

size_t report_nrecipe(const struct report *r)
{
	return r->recipe.n;
}

const char *report_recipe(const struct report *r, size_t i)
{
	return r->recipe.at[i];
}

void report_add_files_option(struct report *r, const char *word)
{
	*vec_add(&r->files_options) = arena_text(&r->arena, word);
}

size_t report_nfiles_options(const struct report *r)
{
	return r->files_options.n;
}

const char *report_files_option(const struct report *r, size_t i)
{
	return r->files_options.at[i];
}

void report_add_crash_option(struct report *r, const char *word)
{
	*vec_add(&r->crash_options) = arena_text(&r->arena, word);
}

size_t report_ncrash_options(const struct report *r)
{
	return r->crash_options.n;
}

const char *report_crash_option(const struct report *r, size_t i)
{
	return r->crash_options.at[i];
}

void report_add_library_glob(struct report *r, const char *glob)
{
	*vec_add(&r->library_globs) = arena_text(&r->arena, glob);
}

size_t report_nlibrary_globs(const struct report *r)
{
	return r->library_globs.n;
}

const char *report_library_glob(const struct report *r, size_t i)
{
	return r->library_globs.at[i];
}

bool report_has_head(const struct report *r)
{
	return r->platform || r->command.n > 0;
}

void report_set_coverage(struct report *r, const struct report_coverage *c)
{
	coverage_copy(&r->arena, &r->coverage, c);
	r->has_coverage = true;
}

void report_add_folder(struct report *r, const char *folder)
{
	sources_add_folder(r->sources, folder);
}

/* Fills in the source line as it is now, as the file may change later. */
static void fill_text(struct report *r, struct bug_frame *f)
{
	size_t len;
	const char *line = f->file && f->line && !f->text
				   ? source_line(r->sources, f->file, f->line, &len)
				   : NULL;

	if (!line)
		return;
	for (; len > 0 && isspace((unsigned char)*line); len--)
		line++;
	while (len > 0 && isspace((unsigned char)line[len - 1]))
		len--;
	f->text = arena_string(&r->arena, line, len);
}

static void fill_texts_of(struct report *r, const struct bug_location *locations, size_t nlocations)
{
	/* the copy is ours, so it may change */
	for (size_t k = 0; k < nlocations; k++)
		for (size_t n = 0; n < locations[k].nframes; n++)
			fill_text(r, (struct bug_frame *)&locations[k].frames[n]);
}

static void fill_texts(struct report *r, const struct bug *b)
{
	for (size_t i = 0; b->crash && i < b->crash->nchoices; i++)
		/* the copy is ours, so it may change */
		fill_text(r, (struct bug_frame *)&b->crash->choices[i].read);
	fill_texts_of(r, b->locations, b->nlocations);
	for (size_t i = 0; i < b->npaths; i++)
		fill_texts_of(r, b->paths[i].locations, b->paths[i].nlocations);
}

void report_finish(struct report *r)
{
	if (r->is_finished)
		return;
	ident_assign(r);
	for (size_t i = 0; i < r->bugs.n; i++)
		paths_finish(r, r->bugs.at[i]);
	for (size_t i = 0; i < r->bugs.n; i++)
		fill_texts(r, &r->bugs.at[i]->bug);
	for (size_t i = 0; i < r->unflushed.n; i++)
		fill_texts(r, &r->unflushed.at[i]->bug);
	for (size_t i = 0; i < r->bugs.n; i++)
		use_settle(r, &r->bugs.at[i]->bug);
	order_sort(r->bugs.at, r->bugs.n);
	order_sort(r->unflushed.at, r->unflushed.n);
	causes_finish(r);
	r->is_finished = true;
}

size_t report_filter(struct report *r, bool (*hides)(const void *context, const struct bug *b),
		     const void *context)
{
	size_t i, n = 0, before = r->bugs.n;

	if (!r->is_finished)
		BUG("a report is filtered before it is finished");
	for (i = 0; i < before; i++)
		if (!hides(context, &r->bugs.at[i]->bug))
			r->bugs.at[n++] = r->bugs.at[i];
		else
			entry_release(r->bugs.at[i]);
	r->bugs.n = n;
	return before - n;
}

size_t report_nbugs(const struct report *r)
{
	if (!r->is_finished)
		BUG("a report is read before it is finished");
	return r->bugs.n;
}

const struct bug *report_bug(const struct report *r, size_t i)
{
	return &r->bugs.at[i]->bug;
}

const struct report_coverage *report_coverage(const struct report *r)
{
	return r->has_coverage ? &r->coverage : NULL;
}

size_t report_count(const struct report *r, enum bug_severity s)
{
	size_t i, n = 0;

	for (i = 0; i < report_nbugs(r); i++)
		n += report_bug(r, i)->severity == s;
	return n;
}

size_t report_count_unread(const struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < report_nbugs(r); i++)
		n += report_bug(r, i)->severity == BUG_CORRECTNESS && bug_is_last(report_bug(r, i));
	return n;
}

const char *report_source_line(struct report *r, const struct bug_frame *f, size_t *len)
{
	if (f->folder)
		sources_add_folder(r->sources, f->folder);
	return f->file ? source_line(r->sources, f->file, f->line, len) : NULL;
}
