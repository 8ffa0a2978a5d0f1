/* Finds what the stores of a site write to. It looks at the store's source or, without it, at the
 * instruction and debug information. If the store is through a parameter, it follows the argument
 * that the caller passes. If the store's function has neither source nor debug information, as
 * memcpy() in libc, the first caller that can be read says what the call fills. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/dwarf_types.h"
#include "source/types_internal.h"
#include "source/writers.h"
#include "util/files.h"

enum { WALK_MAX = 32 };

/* ---- sources ---- */

static bool has_database(const char *folder)
{
	char *path = xasprintf("%s/compile_commands.json", folder);
	bool is_there = access(path, R_OK) == 0;

	free(path);
	return is_there;
}

/* Finds the folder of compile_commands.json: the given folder, one above it, or the folder build/
 * in one of these. NULL if there is none. */
static char *find_database(const char *folder)
{
	char *at = xstrdup(folder), *slash;

	for (;;) {
		char *below = xasprintf("%s/build", at);

		if (has_database(at)) {
			free(below);
			return at;
		}
		if (has_database(below)) {
			free(at);
			return below;
		}
		free(below);
		slash = strrchr(at, '/');
		if (!slash)
			break;
		*slash = 0;
	}
	free(at);
	return NULL;
}

static struct source_typing *sources_get(struct types *t, const char *folder)
{
	struct sources s;
	char *database;

	if (!t->api)
		return NULL;
	if (t->build_dir)
		return t->sources.at[0].typing;
	for (size_t i = 0; i < t->sources.n; i++)
		if (strcmp(t->sources.at[i].folder, folder) == 0)
			return t->sources.at[i].typing;
	database = find_database(folder);
	s = (struct sources){ xstrdup(folder), database ? t->api->typing->open(database) : NULL };
	free(database);
	*vec_add(&t->sources) = s;
	return s.typing;
}

/* Notes a problem if the source file was changed after the program was built: line numbers may then
 * be wrong. */
static void check_age(struct types *t, const char *file, const char *program)
{
	struct stat source, built;

	if (!t->problem[0] && stat(file, &source) == 0 && stat(program, &built) == 0 &&
	    source.st_mtime > built.st_mtime)
		snprintf(
			t->problem, sizeof t->problem,
			"%s has changed since %s was built: types may be wrong; build and record again",
			file, program);
}

/* Asks the source what the store or call of a frame writes to. -1 if there is no source. */
static int ask_source(struct types *t, const struct frame *f, struct source_query *q,
		      struct place *out)
{
	char *unit = NULL, *folder = NULL, *real_unit = NULL, *file = NULL;
	struct source_typing *typing;
	struct error err = { "" };
	int result = -1;

	if (!t->api || !f->symbol->file || !f->symbol->line || !frame_unit(t, f, &unit, &folder))
		return -1;
	typing = sources_get(t, folder);
	if (!typing)
		goto out;
	real_unit = path_real(folder, unit);
	if (access(real_unit, R_OK) != 0)
		goto out; /* the source of a library is not installed */
	file = path_real(folder, f->symbol->file);
	q->unit = real_unit;
	q->file = file;
	q->line = f->symbol->line;
	q->column = f->symbol->column;
	result = t->api->typing->place(typing, q, out, &err);
	if (err.msg[0] && !t->problem[0])
		snprintf(t->problem, sizeof t->problem, "%s", err.msg);
	if (result == 1)
		check_age(t, file, f->object->path);
out:
	free(unit);
	free(folder);
	free(real_unit);
	free(file);
	return result;
}

/* ---- the walk ---- */

struct walk {
	struct types *t;
	const struct frames *frames;
	uint64_t size_bytes;
	struct place place;
	enum type_means means;
	size_t at; /* the frame that named the place */
};

static Dwfl_Module *module_of(struct types *t, const struct frame *f, uint64_t *pc)
{
	*pc = f->pc;
	return f->object ? symbols_module(t->symbols, f->object, pc) : NULL;
}

/* Sets p->ahead_bytes if the instruction stores more bytes than the source does, and begins
 * earlier: the compiler merged several stores. */
static void find_ahead(struct place *p, int64_t offset, uint64_t size_bytes)
{
	uint64_t at = place_offset(p);

	if (p->target->kind == LAYOUT_SCALAR && p->target->size_bytes < size_bytes && offset >= 0 &&
	    (uint64_t)offset < at && at - (uint64_t)offset < size_bytes)
		p->ahead_bytes = at - (uint64_t)offset;
}

static bool begin_at_store(struct walk *w)
{
	const struct frame *f = &w->frames->list.at[0];
	struct source_query q = { .argument = SOURCE_STORE,
				  .size_bytes = w->size_bytes,
				  .offset = -1 };
	uint64_t pc;
	Dwfl_Module *module = module_of(w->t, f, &pc);

	if (!module)
		return false;
	q.offset = operand_offset(w->t->dwarf, module, pc);
	w->means = TYPE_BY_SOURCE;
	do { /* an inlined function may compute a value that its caller stores */
		if (ask_source(w->t, f, &q, &w->place) == 1) {
			find_ahead(&w->place, q.offset, w->size_bytes);
			return true;
		}
		q.is_within = true;
		w->at++;
	} while ((f++)->symbol->is_inlined && w->at < w->frames->list.n);
	w->at = 0;
	w->means = TYPE_BY_DWARF;
	return operand_place(w->t->dwarf, module, pc, &w->place);
}

/* Finds what a library call fills, without source. If the destination has type char, the type of
 * what is copied to it counts. */
static bool filled_by_call(struct types *t, Dwfl_Module *module, uint64_t pc, struct place *out)
{
	const char *callee = operand_callee(t->dwarf, module, pc);
	int to = writer_argument(callee), from = to >= 0 ? writer_source(callee) : -1;
	struct place source;
	bool is_known = to >= 0 && operand_argument(t->dwarf, module, pc, to, out);

	if (to < 0 || (is_known && (out->root->kind != LAYOUT_SCALAR || out->root->size_bytes > 1 ||
				    out->parameter != PLACE_NO_PARAMETER)))
		return is_known;
	if (from < 0 || !operand_argument(t->dwarf, module, pc, from, &source) ||
	    source.root->kind == LAYOUT_SCALAR || place_offset(&source))
		return is_known;
	*out = source;
	out->parameter = PLACE_NO_PARAMETER;
	return true;
}

/* Asks whether the place says more than "some bytes". */
static bool is_useful(const struct place *p)
{
	return p->root->kind != LAYOUT_SCALAR || p->parameter != PLACE_NO_PARAMETER;
}

/* Starts at the first caller that can be read. Used where the store's function cannot be read
 * itself. */
static bool begin_at_call(struct walk *w)
{
	for (size_t i = 1; i < w->frames->list.n; i++) {
		const struct frame *f = &w->frames->list.at[i];
		struct source_query q = { .argument = SOURCE_DESTINATION,
					  .callee = f[-1].symbol->function,
					  .size_bytes = w->size_bytes,
					  .offset = -1 };
		uint64_t pc;
		Dwfl_Module *module = module_of(w->t, f, &pc);
		int found;

		if (!f->symbol->line || !module)
			continue;
		w->at = i;
		w->means = TYPE_BY_SOURCE;
		found = ask_source(w->t, f, &q, &w->place);
		if (found != -1)
			return found == 1;
		w->means = TYPE_BY_DWARF;
		if (f->is_return && filled_by_call(w->t, module, pc, &w->place) &&
		    is_useful(&w->place))
			return true;
	}
	return false;
}

/* Follows parameters outwards: as long as the place is a parameter, continues with the argument
 * that the caller passed. */
static void follow_callers(struct walk *w)
{
	for (size_t i = w->at + 1;
	     i < w->frames->list.n && i < WALK_MAX && w->place.parameter != PLACE_NO_PARAMETER;
	     i++) {
		const struct frame *f = &w->frames->list.at[i];
		struct source_query q = { .argument = w->place.parameter,
					  .callee = f[-1].symbol->function,
					  .size_bytes = w->size_bytes,
					  .offset = -1 };
		struct place outer;
		uint64_t pc;
		Dwfl_Module *module = module_of(w->t, f, &pc);
		int found = ask_source(w->t, f, &q, &outer);

		if (found == -1 && module && f->is_return)
			found = operand_argument(
				w->t->dwarf, module, pc,
				w->place.parameter == PLACE_THIS ? 0 : w->place.parameter, &outer);
		if (found != 1 || !place_join(&outer, &w->place))
			return;
		w->place = outer;
		w->at = i;
	}
}

bool resolve(struct types *t, const struct trace_site *site, struct place *out,
	     enum type_means *means, const struct trace_node **node, const struct trace_node **call)
{
	struct frames frames = { 0 };
	struct walk w = { .t = t, .frames = &frames, .size_bytes = site->size_bytes };
	struct walk other = w;
	bool is_found;

	frames_find(t, site, &frames);
	is_found = begin_at_store(&w);
	if (!is_found || (w.means == TYPE_BY_DWARF && !is_useful(&w.place)))
		if (begin_at_call(&other)) {
			w = other;
			is_found = true;
		}
	if (is_found) {
		*call = frames.list.at[w.at].self;
		follow_callers(&w);
		*out = w.place;
		*means = w.means;
		*node = frames.list.at[w.at].node;
	}
	vec_release(&frames.list);
	return is_found;
}

/* ---- the path ---- */

static void add_frame_name(char *text, size_t room, const struct frame *f)
{
	const char *object = f->symbol->object ? strrchr(f->symbol->object, '/') : NULL;
	size_t len = strlen(text);

	if (f->symbol->function)
		snprintf(text + len, room - len, "%s%s", len ? " < " : "", f->symbol->function);
	else if (!f->is_return) /* its function is unknown; its caller is named instead */
		snprintf(text + len, room - len, "%s", object ? object + 1 : "?");
	else
		snprintf(text + len, room - len, "%s%s+0x%llx", len ? " < " : "",
			 object ? object + 1 : "?", (unsigned long long)f->symbol->offset);
}

/* Names the call path, from the store's function outwards. For a library without debug information,
 * it ends at the library's caller, which does not change what the library stores. */
uint32_t resolve_path(struct types *t, const struct trace_site *site)
{
	struct frames frames = { 0 };
	char text[1024] = "";
	bool is_in_library = false;
	uint32_t name;

	frames_find(t, site, &frames);
	for (size_t i = 0; i < frames.list.n; i++) {
		const struct frame *f = &frames.list.at[i];

		if (is_in_library && f->symbol->line)
			break;
		is_in_library |= !f->symbol->line;
		add_frame_name(text, sizeof text, f);
		if (f->symbol->function && strcmp(f->symbol->function, "main") == 0)
			break;
	}
	name = names_add(&t->names, text);
	vec_release(&frames.list);
	return name;
}
