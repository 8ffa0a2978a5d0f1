/* Finds the store or call that a line and column mean. gcc gives the place of the operator, other
 * compilers that of the expression. A macro has all its stores in one place; then the store's size
 * and the offset in its instruction decide. */
#include "source/clang/typing_internal.h"

#include <string.h>

#include "source/writers.h"

struct spot {
	unsigned line, column;
};

static int spot_compare(struct spot a, struct spot b)
{
	if (a.line != b.line)
		return a.line < b.line ? -1 : 1;
	return a.column < b.column ? -1 : a.column > b.column;
}

static struct spot spot_of(CXCursor c, bool is_end)
{
	CXSourceRange range = clang_getCursorExtent(c);
	struct spot s = { 0 };

	clang_getExpansionLocation(is_end ? clang_getRangeEnd(range) : clang_getRangeStart(range),
				   NULL, &s.line, &s.column, NULL);
	return s;
}

struct search {
	struct typed_unit *t;
	const struct source_query *query;
	unsigned best;
	bool is_found;
	struct place place;
};

/* Says how well the expression fits the place: 0 is not at all, 4 exactly. */
static unsigned position_fit(CXCursor c, struct spot at)
{
	struct spot begin = spot_of(c, false), end = spot_of(c, true), left, right;

	if (at.line < begin.line || at.line > end.line)
		return 0;
	if (!at.column)
		return 1;
	if (clang_getCursorKind(c) == CXCursor_BinaryOperator ||
	    clang_getCursorKind(c) == CXCursor_CompoundAssignOperator) {
		left = spot_of(cursor_child(c, 0), true);
		right = spot_of(cursor_child(c, 1), false);
		if (spot_compare(left, at) <= 0 && spot_compare(at, right) < 0)
			return 4;
	}
	if (spot_compare(begin, at) == 0)
		return 3;
	return spot_compare(begin, at) < 0 && spot_compare(at, end) <= 0 ? 2 : 1;
}

static bool offset_fits(const struct source_query *q, const struct place *p)
{
	for (uint32_t i = 0; i < p->nsteps; i++)
		if (p->step[i].in->kind == LAYOUT_ARRAY && p->step[i].index == PLACE_ANY_INDEX)
			return false;
	return q->offset >= 0 && place_offset(p) == (uint64_t)q->offset;
}

static void consider_place(struct search *s, CXCursor c, const struct place *p, unsigned position)
{
	unsigned fit = position * 8;

	if (offset_fits(s->query, p))
		fit += 4;
	if (p->target->size_bytes == s->query->size_bytes)
		fit += 2;
	/* of several that contain the place, take the innermost, which is visited last */
	if (s->query->is_within && position < 2)
		return;
	if (fit > s->best || (fit == s->best && position == 2)) {
		s->best = fit;
		s->place = *p;
		s->place.origin = clang_hashCursor(c);
		s->is_found = true;
	}
}

/* ---- stores ---- */

static bool is_atomic(CXCursor c)
{
	return clang_getCursorKind(c) == CXCursor_UnexposedExpr &&
	       !clang_Cursor_isNull(cursor_child(c, 1)) &&
	       clang_getCanonicalType(clang_getCursorType(cursor_child(c, 0))).kind ==
		       CXType_Pointer;
}

/* Finds the object that a call of a library function fills. If its argument points to plain bytes,
 * the type of the object from which they are copied counts. */
static bool place_filled(struct search *s, CXCursor call, const char *name, struct place *p)
{
	int n = clang_Cursor_getNumArguments(call), to = writer_argument(name),
	    from = writer_source(name), length = writer_length(name);
	struct place source;
	long long bytes = 0;

	if (to >= n || !place_pointed(s->t, clang_Cursor_getArgument(call, (unsigned)to), p))
		return false;
	if (!p->nsteps && p->root->kind == LAYOUT_SCALAR && p->root->size_bytes <= 1 &&
	    p->parameter == PLACE_NO_PARAMETER && from >= 0 && from < n &&
	    place_pointed(s->t, clang_Cursor_getArgument(call, (unsigned)from), &source) &&
	    !source.extra_bytes && source.target->kind != LAYOUT_SCALAR)
		*p = (struct place){ .root = source.target,
				     .target = source.target,
				     .parameter = PLACE_NO_PARAMETER };
	p->is_region = true;
	if (length >= 0 && length < n &&
	    cursor_constant(clang_Cursor_getArgument(call, (unsigned)length), &bytes) && bytes > 0)
		p->region_bytes = (uint64_t)bytes;
	return true;
}

static bool written_by_call(struct search *s, CXCursor c, struct place *p)
{
	CXString name = clang_getCursorSpelling(c);
	const char *text = clang_getCString(name);
	int argument = writer_argument(text);
	bool is_known = false;

	if (text && strcmp(text, "operator=") == 0)
		is_known = place_of(s->t, clang_Cursor_getArgument(c, 0), p);
	else if (argument >= 0)
		is_known = place_filled(s, c, text, p);
	clang_disposeString(name);
	return is_known;
}

static bool written_by(struct search *s, CXCursor c, struct place *p)
{
	if (cursor_is_assignment(c))
		return place_of(s->t, cursor_child(c, 0), p);
	if (clang_getCursorKind(c) == CXCursor_CallExpr)
		return written_by_call(s, c, p);
	return is_atomic(c) && place_pointed(s->t, cursor_child(c, 0), p);
}

static enum CXChildVisitResult visit_store(CXCursor c, CXCursor parent, CXClientData data)
{
	struct search *s = data;
	unsigned position = position_fit(c, (struct spot){ s->query->line, s->query->column });
	struct place p;

	(void)parent;
	if (clang_getCursorKind(c) == CXCursor_MemberRef) { /* an initialiser of a constructor */
		if (position && clang_getCursorKind(parent) == CXCursor_Constructor &&
		    place_of_field(s->t, clang_getCursorReferenced(c), &p))
			consider_place(s, c, &p, position);
		return CXChildVisit_Continue;
	}
	if (position && clang_isExpression(clang_getCursorKind(c)) && written_by(s, c, &p))
		consider_place(s, c, &p, position);
	return CXChildVisit_Recurse;
}

/* ---- calls ---- */

/* Is "ns::vec<int>::push(int)" a call of "push"? */
static bool is_named(const char *demangled, const char *name)
{
	const char *at = demangled ? strstr(demangled, name) : NULL;

	for (; at && *name; at = strstr(at + 1, name)) {
		char after = at[strlen(name)];

		if ((at == demangled || at[-1] == ':' || at[-1] == ' ') &&
		    (!after || after == '(' || after == '<'))
			return true;
	}
	return false;
}

static bool this_of(struct search *s, CXCursor call, struct place *p)
{
	CXCursor method = cursor_strip(cursor_child(call, 0)), object;

	/* an overloaded operator */
	if (clang_getCursorKind(method) != CXCursor_MemberRefExpr)
		return clang_Cursor_getNumArguments(call) > 0 &&
		       place_of(s->t, clang_Cursor_getArgument(call, 0), p);
	object = cursor_child(method, 0);
	if (clang_Cursor_isNull(object))
		return false;
	return clang_getCanonicalType(clang_getCursorType(object)).kind == CXType_Pointer
		       ? place_pointed(s->t, object, p)
		       : place_of(s->t, object, p);
}

static bool argument_of(struct search *s, CXCursor call, int argument, struct place *p)
{
	CXCursor value, declared = clang_getCursorReferenced(call);
	CXType type;

	if (argument == PLACE_THIS)
		return this_of(s, call, p);
	if (argument < 0 || argument >= clang_Cursor_getNumArguments(call))
		return false;
	value = clang_Cursor_getArgument(call, (unsigned)argument);
	type = clang_getCanonicalType(
		clang_getCursorType(clang_Cursor_getArgument(declared, (unsigned)argument)));
	return type.kind == CXType_LValueReference ? place_of(s->t, value, p)
						   : place_pointed(s->t, value, p);
}

static enum CXChildVisitResult visit_last_writer(CXCursor c, CXCursor parent, CXClientData data)
{
	CXString name = clang_getCursorSpelling(c);

	(void)parent;
	if (clang_getCursorKind(c) == CXCursor_CallExpr &&
	    writer_argument(clang_getCString(name)) >= 0)
		*(CXCursor *)data = c;
	clang_disposeString(name);
	return CXChildVisit_Recurse;
}

/* Finds the object that a call fills. Looks into the called function, too: it may have jumped to
 * memcpy() as its last action, and is then missing on the stack. */
static bool destination_of(struct search *s, CXCursor call, int depth, struct place *p)
{
	CXString name = clang_getCursorSpelling(call);
	bool is_writer = writer_argument(clang_getCString(name)) >= 0,
	     is_filled = is_writer && place_filled(s, call, clang_getCString(name), p);
	CXCursor callee = clang_getCursorDefinition(clang_getCursorReferenced(call)),
		 last = clang_getNullCursor(), here = s->t->function;
	struct place inner;
	bool is_known;

	clang_disposeString(name);
	if (is_writer)
		return is_filled;
	if (clang_Cursor_isNull(callee) || depth > 2)
		return false;
	clang_visitChildren(callee, visit_last_writer, &last);
	if (clang_Cursor_isNull(last))
		return false;
	s->t->function = callee;
	is_known = destination_of(s, last, depth + 1, &inner);
	s->t->function = here;
	if (!is_known || inner.parameter == PLACE_NO_PARAMETER) {
		*p = inner;
		return is_known;
	}
	return argument_of(s, call, inner.parameter, p) && place_join(p, &inner);
}

static enum CXChildVisitResult visit_call(CXCursor c, CXCursor parent, CXClientData data)
{
	struct search *s = data;
	unsigned position = position_fit(c, (struct spot){ s->query->line, s->query->column });
	int argument = s->query->argument;
	CXString name;
	const char *text;
	struct place p;

	(void)parent;
	if (!position || clang_getCursorKind(c) != CXCursor_CallExpr)
		return CXChildVisit_Recurse;
	name = clang_getCursorSpelling(c);
	text = clang_getCString(name);
	if (argument != SOURCE_DESTINATION && (!text || !is_named(s->query->callee, text)))
		position = 0;
	if (position && (argument == SOURCE_DESTINATION ? destination_of(s, c, 0, &p)
							: argument_of(s, c, argument, &p)))
		consider_place(s, c, &p, position);
	clang_disposeString(name);
	return CXChildVisit_Recurse;
}

bool store_find(struct typed_unit *t, const struct source_query *q, struct place *out)
{
	struct search s = { .t = t, .query = q };

	clang_visitChildren(t->function, q->argument == SOURCE_STORE ? visit_store : visit_call,
			    &s);
	*out = s.place;
	return s.is_found;
}
