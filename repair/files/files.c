/* Plans and writes the syncs that bugs about files lack. A sync is written only where the open
 * file, or the path of the folder, is known; otherwise the bug is left, with the reason. Nothing is
 * tried on the trace first: a sync never takes away what was durable. */
#include "repair/files/files.h"

#include <stdlib.h>
#include <string.h>

#include "repair/files/internal.h"

struct planned {
	size_t bug;
	struct file_place place;
	struct file_words words;
	bool is_again; /* the sync for another bug is the same */
};

struct file_syncs {
	VEC(struct planned) list;
};

void file_syncs_new(struct repair *r)
{
	r->files = xcalloc(1, sizeof *r->files);
}

void file_syncs_free(struct repair *r)
{
	vec_release(&r->files->list);
	free(r->files);
}

void file_syncs_forget(struct repair *r)
{
	r->files->list.n = 0;
}

/* ---- the bug ---- */

static const struct kind {
	const char *name;
	unsigned acts;
	const char *roles[3]; /* the place of what is lost has one of these roles */
	const char *later[4]; /* what must not come before the sync */
} kinds[] = {
	{ "missing-fsync", ACT_WRITE, { "write" }, { "acknowledged" } },
	{ "rename-before-fsync", ACT_WRITE, { "write" }, { "rename" } },
	{ "unlink-before-durable", ACT_WRITE, { "write" }, { "unlink", "rename" } },
	{ "missing-dir-fsync", ACT_NAME, { "name", "unlink", "rename" }, { "acknowledged" } },
	{ "ordering", ACT_WRITE | ACT_NAME, { "lost" }, { "survived", "fsync", "acknowledged" } },
};

static const struct kind *kind_find(const char *name)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

static const struct repair_place *place_of(const struct repair_bug *b, const char *const *roles,
					   size_t n)
{
	for (size_t k = 0; k < n && roles[k]; k++)
		for (size_t i = 0; i < b->nplaces; i++)
			if (b->places[i].role && strcmp(b->places[i].role, roles[k]) == 0)
				return &b->places[i];
	return NULL;
}

/* ---- what to sync ---- */

/* Writes the sync of the open file that the call is given: in the outermost function from which the
 * file comes, or, where no place of that function fits, further in. */
static int plan_write(struct repair *r, struct planned *p, const char **why)
{
	struct planned outer = *p;
	struct file_place *s = &p->place;
	struct file_need need;
	struct file_way way;

	if (file_place_outward(r, &outer.place) && plan_write(r, &outer, why) == 0) {
		*p = outer;
		return 0;
	}
	if (file_place_settle(r, s, why) < 0)
		return -1;
	need = (struct file_need){ s->of->is_stream ? FILE_SYNC_STREAM : FILE_SYNC_DESCRIPTOR,
				   s->handle, false, NULL };
	if (!file_way_find(r, &s->at, &need, &way)) {
		*why = "this file shows no way to sync";
		return -1;
	}
	return file_words_make(r, s, &way, need.does, text_of(r->code, s->at.file, s->handle),
			       &p->words, why);
}

static const char no_folder[] =
	"no descriptor of the folder is at hand, and no function is seen that syncs a folder by its path";

/* Finds how the folder of the name can be synced in the place's function: by its descriptor, which
 * the call is given, or by a function that gets the path. NULL with a reason. */
static const char *folder_way(struct repair *r, const struct file_place *s, struct file_way *way,
			      const char **why)
{
	const char *reason = NULL, *file = file_folder_descriptor(r, s, &reason);
	struct file_need need = { FILE_SYNC_DESCRIPTOR, NULL, true, NULL };

	if (file) {
		need.handle = call_argument(s->at.store, s->of->folder);
		return file_way_find(r, &s->at, &need, way) ? file : NULL;
	}
	*why = reason ? reason : no_folder;
	need.does = FILE_SYNC_PARENT;
	if (file_way_find(r, &s->at, &need, way) && node_is_repeatable(s->at.unit, s->handle))
		return text_of(r->code, s->at.file, s->handle);
	need.does = FILE_SYNC_FOLDER;
	need.folder = file_folder_of(r, s, &reason);
	if (!file_way_find(r, &s->at, &need, way))
		return NULL;
	*why = reason ? reason : *why;
	return need.folder;
}

/* A folder that is a literal is the same in the function that makes the name. */
static const char *literal_way(struct repair *r, const struct file_place *s, const char *folder,
			       struct file_way *way)
{
	struct file_need need = { FILE_SYNC_FOLDER, NULL, true, folder };

	return folder[0] == '"' && file_way_find(r, &s->at, &need, way) ? folder : NULL;
}

static int plan_name(struct repair *r, struct planned *p, const char **why)
{
	struct file_place *s = &p->place;
	const struct file_place inner = *s;
	const char *file, *reason = no_folder;
	struct file_way way, other;

	*why = no_folder;
	do {
		file = folder_way(r, s, &way, &reason);
		*why = *why == no_folder ? reason : *why; /* the innermost one that is special */
	} while (!file && file_place_outward(r, s));
	if (file && s->frame > 0 && literal_way(r, &inner, file, &other)) {
		*s = inner;
		way = other;
	}
	if (!file || file_place_settle(r, s, why) < 0)
		return -1;
	return file_words_make(r, s, &way, FILE_SYNC_FOLDER, file, &p->words, why);
}

/* ---- planning ---- */

/* Asks whether the sync can be written behind, or before, its statement. -1 with a reason. */
static int check_text(struct repair *r, const struct planned *p, const char **why)
{
	const struct file *f = p->place.at.file;
	const struct source_node *stmt = p->place.at.stmt;
	const char *text = p->words.block ? p->words.block : p->words.line;
	uint32_t end = statement_end(f, stmt), at = text_skip_blanks(f, end);
	size_t len = strcspn(text, "\n");

	*why = "a macro makes the statement";
	if (macro_use(p->place.at.unit, f->path, stmt) && !text_semicolon(f, stmt->end))
		return -1;
	*why = "the source already has it; is the report older than the source?";
	if (!p->place.is_before && at + len < f->len_bytes && memcmp(f->text + at, text, len) == 0)
		return -1;
	*why = "the error handling of the place has a block, for which there is no room";
	if (p->words.block && !p->place.is_before &&
	    (stmt->parent->kind != SOURCE_COMPOUND || !line_end_behind(f, end)))
		return -1;
	(void)r;
	return 0;
}

static const char *outcome_text(struct repair *r, const struct planned *p)
{
	return text_format(r->code, "%s added in %s",
			   p->place.of->act & ACT_NAME ? "sync of the folder" : "sync",
			   p->place.at.function->name);
}

static int plan_kind(struct repair *r, size_t bug, const struct repair_place *at,
		     const struct kind *k, const char **why)
{
	const struct repair_place *later = place_of(r->bugs.at[bug], k->later, 4);
	struct planned p = { .bug = bug };

	if (file_place_begin(r, &p.place, at, later, k->acts, why) < 0)
		return -1;
	if ((p.place.of->act & ACT_NAME ? plan_name : plan_write)(r, &p, why) < 0 ||
	    check_text(r, &p, why) < 0)
		return -1;
	r->outcomes.at[bug] = (struct repair_outcome){ REPAIR_MENDED, outcome_text(r, &p), NULL };
	*vec_add(&r->files->list) = p;
	return 0;
}

/* Asks whether the place is that of a store to a mapping and not of a call. */
static bool is_store(struct repair *r, const struct repair_place *at)
{
	struct fix x = { 0 };
	const char *ignored;

	return fix_enter_frame(r, &x, at, 0, &ignored) == 0 &&
	       !file_call_at(&x, &at->frames[0], ACT_WRITE) &&
	       store_at(x.unit, x.function, x.file, at->frames[0].line, at->frames[0].column);
}

static int plan_store(struct repair *r, size_t bug, const struct repair_place *at, const char **why)
{
	const size_t nfixes = r->fixes.n;

	*why = "it is a store to a mapping of a file, in a program that uses persistent memory, too";
	if (r->options->is_page_cache && barrier_plan_store(r, bug, at, why) == 0)
		return 0;
	r->fixes.n = nfixes;
	return -1;
}

bool file_syncs_plan(struct repair *r, size_t bug)
{
	const struct repair_bug *b = r->bugs.at[bug];
	const struct kind *k = kind_find(b->kind);
	const struct repair_place *at = k ? place_of(b, k->roles, 3) : NULL;
	const bool is_shared = k && strcmp(k->name, "ordering") == 0;
	const char *why = r->wanted.at[bug] ? r->failures.at[bug] : "rejected", *ignored;
	struct file_place s;

	if (!k || (is_shared && (!at || !b->is_of_files ||
				 file_place_begin(r, &s, at, NULL, k->acts, &ignored) < 0)))
		return false;
	if (why) {
		r->outcomes.at[bug] = (struct repair_outcome){ REPAIR_DECLINED, why,
							       r->wanted.at[bug] ? NULL : "" };
		return true;
	}
	why = "the report does not say where it is written";
	if (at && at->nframes && k->acts == ACT_WRITE && is_store(r, at)) {
		if (plan_store(r, bug, at, &why) == 0)
			return true;
	} else if (at && at->nframes && plan_kind(r, bug, at, k, &why) == 0) {
		return true;
	}
	r->outcomes.at[bug] = (struct repair_outcome){ REPAIR_DECLINED, why, NULL };
	return true;
}

/* ---- writing ---- */

static bool is_same(const struct planned *a, const struct planned *b)
{
	const char *x = a->words.block ? a->words.block : a->words.line,
		   *y = b->words.block ? b->words.block : b->words.line;

	return a->place.at.file == b->place.at.file &&
	       a->place.at.stmt->begin == b->place.at.stmt->begin &&
	       a->place.at.stmt->end == b->place.at.stmt->end && strcmp(x, y) == 0;
}

/* Marks syncs that are the same as an earlier one. Bugs with one sync, or at one statement, are
 * fixed together. */
static void merge(struct repair *r)
{
	for (size_t i = 0; i < r->files->list.n; i++)
		for (size_t k = 0; k < i; k++) {
			struct planned *a = &r->files->list.at[k], *b = &r->files->list.at[i];

			if (a->place.at.file != b->place.at.file ||
			    a->place.at.stmt->begin != b->place.at.stmt->begin)
				continue;
			b->is_again |= is_same(a, b);
			group_join(r, a->bug, b->bug);
		}
}

static const char comment[] = " /* pmend: makes it durable */";

static const char *comment_of(const struct repair *r)
{
	return r->options->is_explained ? comment : "";
}

static void write_before(struct repair *r, const struct planned *p)
{
	struct file *f = p->place.at.file;
	const char *indent = text_indent(r->code, f, p->place.at.stmt->begin),
		   *unit = indent_unit(r->code, f, p->place.at.function), *text = p->words.line,
		   *second = text ? strstr(text, "\n\t") : NULL;

	if (p->words.block)
		text = p->words.block;
	else if (second)
		text = text_format(r->code, "%.*s\n%s%s%s;", (int)(second - text), text, indent,
				   unit, second + 2);
	else
		text = text_format(r->code, "%s;", text);
	file_edit(f, p->place.at.stmt->begin, 0,
		  text_format(r->code, "%s%s\n%s", text, comment_of(r), indent));
}

static void write_behind(struct repair *r, struct planned *p)
{
	struct file *f = p->place.at.file;
	const struct source_node *stmt = p->place.at.stmt;
	struct insertion a = { .x = &p->place.at,
			       .stmt = stmt,
			       .result_type = p->words.result_type,
			       .comment = comment };

	if (p->words.block) {
		file_edit(f, line_end_behind(f, statement_end(f, stmt)), 0,
			  text_format(r->code, "\n%s%s%s", text_indent(r->code, f, stmt->begin),
				      p->words.block, comment_of(r)));
		return;
	}
	*vec_add(&a.lines) = (struct idiom_line){ .text = p->words.line };
	insert_behind(r, &a);
	vec_release(&a.lines);
}

void file_syncs_emit(struct repair *r)
{
	merge(r);
	for (size_t i = 0; i < r->files->list.n; i++) {
		struct planned *p = &r->files->list.at[i];

		if (p->is_again)
			continue;
		if (p->place.is_before)
			write_before(r, p);
		else
			write_behind(r, p);
		r->nsyncs++;
	}
}
