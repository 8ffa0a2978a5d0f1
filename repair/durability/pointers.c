/* Asks the pointer (alias) analysis what the pointers at a place may point to. The analysis covers
 * the files of the compilation database that are linked to a bug's files. It runs once, and takes
 * the stores of the report as persistent. */
#include <string.h>

#include "repair/durability/internal.h"

/* Advances line and column from one offset of the text to a later one. */
static void advance(const struct file *f, uint32_t from, uint32_t to, uint32_t *line,
		    uint32_t *column)
{
	for (; from < to && from < f->len_bytes; from++) {
		*column = f->text[from] == '\n' ? 1 : *column + 1;
		*line += f->text[from] == '\n';
	}
}

static struct alias_place place_within(const struct file *f, const struct source_node *n,
				       uint32_t from, uint32_t to, const char *callee)
{
	struct alias_place p = { f->path, n->line, n->column, 0, 0, callee };

	advance(f, n->begin, from, &p.line, &p.column);
	p.end_line = p.line;
	p.end_column = p.column;
	advance(f, from, to, &p.end_line, &p.end_column);
	return p;
}

struct alias_place pointers_place_of_call(const struct file *f, const struct source_node *call,
					  const char *callee)
{
	return place_within(f, call, call->begin, call->end, callee);
}

/* Returns the place of a store as compilers say it: an assignment has the place of its operator,
 * anything else the place of its beginning. */
struct alias_place pointers_place_of_store(const struct file *f, const struct source_node *n)
{
	const struct source_node *a = n->child, *b = a ? a->next : NULL;

	if (n->kind == SOURCE_BINARY && b && n->begin < a->end && a->end < b->begin)
		return place_within(f, n, a->end, b->begin - 1, NULL);
	return place_within(f, n, n->begin, n->end, NULL);
}

struct compiling {
	const struct repair_watch *watch;
	size_t nfiles;
};

static bool may_go_on(size_t ncompiled, void *arg)
{
	const struct compiling *c = arg;

	watch_tell(c->watch, "pointers are followed; files compiled", ncompiled, c->nfiles);
	return !watch_is_interrupted(c->watch);
}

bool pointers_analyse(struct repair *r)
{
	struct durability *d = r->durability;
	struct compiling c = { r->options->watch, 0 };
	struct source_database files;
	struct error err;

	if (d->alias || d->alias_why)
		return d->alias != NULL;
	files = relevant_files(r);
	c.nfiles = files.n;
	d->alias = r->code->api->alias->open(&files, &(struct alias_watch){ may_go_on, &c }, &err);
	d->alias_why = d->alias ? "" : text_copy(r->code, err.msg, strlen(err.msg));
	for (size_t i = 0; d->alias && i < r->fixes.n; i++)
		if (r->fixes.at[i].place) {
			struct alias_place p =
				pointers_place_of_store(r->fixes.at[i].file, r->fixes.at[i].store);

			r->code->api->alias->seed(d->alias, &p);
		}
	return d->alias != NULL;
}

void pointers_count(struct repair *r, const struct alias_place *p, const struct alias_place *store,
		    struct alias_counts *c)
{
	r->code->api->alias->count(r->durability->alias, p, store, c);
}

bool pointers_reach_pm(struct repair *r, const struct source_unit *u, struct file *f,
		       const struct source_node *n)
{
	struct alias_place p = n->kind == SOURCE_CALL && !node_is_store(u, f, n)
				       ? pointers_place_of_call(f, n, n->name)
				       : pointers_place_of_store(f, n);
	struct alias_counts c = { 0 };

	if (r->durability->alias)
		pointers_count(r, &p, NULL, &c);
	return c.npm > 0;
}
