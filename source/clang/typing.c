/* Finds the place that a store or call at a line and column writes to. Translation units stay open
 * for further questions. */
#include "source/clang/typing_internal.h"

#include <stdlib.h>
#include <string.h>

#include "source/clang/database.h"

/* A function with a body, and where it is. */
struct body {
	CXCursor cursor;
	const char *file;
	unsigned line, end_line;
};

struct open_unit {
	struct typed_unit typed; /* its unit is NULL if it could not be read */
	VEC(struct body) bodies;
};

struct source_typing {
	char *build_dir;
	struct source_commands *commands; /* NULL until it is read, or if there is none */
	CXIndex index;
	VEC(struct open_unit *) units;
};

static void add_body(struct open_unit *o, CXCursor c)
{
	CXSourceRange range = clang_getCursorExtent(c);
	struct body b = { .cursor = c };
	struct unit_text *text;
	CXFile file;

	if (!clang_isCursorDefinition(c))
		return;
	clang_getExpansionLocation(clang_getRangeStart(range), &file, &b.line, NULL, NULL);
	clang_getExpansionLocation(clang_getRangeEnd(range), NULL, &b.end_line, NULL, NULL);
	text = unit_text(o->typed.unit, file);
	if (!text)
		return;
	b.file = text->path;
	*vec_add(&o->bodies) = b;
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
	(void)parent;
	switch ((int)clang_getCursorKind(c)) {
	case CXCursor_FunctionDecl:
	case CXCursor_CXXMethod:
	case CXCursor_Constructor:
	case CXCursor_Destructor:
	case CXCursor_ConversionFunction:
	case CXCursor_FunctionTemplate: add_body(data, c); return CXChildVisit_Continue;
	case CXCursor_Namespace:
	case CXCursor_LinkageSpec:
	case CXCursor_UnexposedDecl:
	case CXCursor_StructDecl:
	case CXCursor_UnionDecl:
	case CXCursor_ClassDecl:
	case CXCursor_ClassTemplate:
	case CXCursor_ClassTemplatePartialSpecialization: return CXChildVisit_Recurse;
	default: return CXChildVisit_Continue;
	}
}

static struct source_typing *typing_new(const char *build_dir)
{
	struct source_typing *s = xcalloc(1, sizeof *s);

	s->build_dir = xstrdup(build_dir);
	s->index = clang_createIndex(0, 0);
	return s;
}

static void typing_free(struct source_typing *s)
{
	for (size_t i = 0; s && i < s->units.n; i++) {
		struct open_unit *o = s->units.at[i];

		if (o->typed.unit)
			unit_close(o->typed.unit);
		map_release(&o->typed.layouts);
		vec_release(&o->bodies);
		free((char *)o->typed.file);
		free(o);
	}
	if (!s)
		return;
	vec_release(&s->units);
	clang_disposeIndex(s->index);
	commands_free(s->commands);
	free(s->build_dir);
	free(s);
}

static struct open_unit *get_unit(struct source_typing *s, const char *file, struct error *err)
{
	struct open_unit *o;

	for (size_t i = 0; i < s->units.n; i++)
		if (strcmp(s->units.at[i]->typed.file, file) == 0)
			return s->units.at[i];
	o = xcalloc(1, sizeof *o);
	o->typed.file = xstrdup(file);
	if (!s->commands)
		s->commands = commands_new(s->build_dir, err);
	o->typed.unit = s->commands ? unit_open(s->index, s->commands, file, err) : NULL;
	if (o->typed.unit)
		clang_visitChildren(clang_getTranslationUnitCursor(o->typed.unit->tu), visit, o);
	*vec_add(&s->units) = o;
	return o;
}

static int typing_place(struct source_typing *s, const struct source_query *q, struct place *out,
			struct error *err)
{
	struct open_unit *o = get_unit(s, q->unit, err);
	const struct body *found = NULL;

	for (size_t i = 0; i < o->bodies.n; i++) {
		const struct body *b = &o->bodies.at[i];

		if (b->line <= q->line && q->line <= b->end_line &&
		    (!found || b->line >= found->line) && strcmp(b->file, q->file) == 0)
			found = b;
	}
	if (!found)
		return -1;
	o->typed.function = found->cursor;
	return store_find(&o->typed, q, out);
}

const struct source_typing_api typing_api = {
	.open = typing_new,
	.close = typing_free,
	.place = typing_place,
};
