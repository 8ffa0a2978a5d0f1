/* Finds what an expression denotes: an object (the root), and the fields and elements that lead to
 * a part of it (steps). For `l->head.next`, where l is a struct list * and head a member of type
 * struct node, the root is struct list and the steps are head and next.
 *
 * A pointer is followed back as long as the result is certain: through casts, arithmetic, and
 * variables that are set once. Then the type that it points to is the root. */
#include "source/clang/typing_internal.h"

#include <string.h>

#include "source/clang/variable.h"

enum { DEPTH_MAX = 24 };

struct finding {
	struct typed_unit *t;
	unsigned depth;
};

static bool find_denoted(struct finding f, CXCursor c, struct place *out);
static bool find_pointed(struct finding f, CXCursor c, struct place *out);

/* Is the expression written as a sum? False if a macro hides it. */
static bool is_sum(struct typed_unit *t, CXCursor a, CXCursor b)
{
	unsigned from = 0, to = 0;
	CXFile file;
	const struct unit_text *text;

	clang_getFileLocation(clang_getRangeEnd(clang_getCursorExtent(a)), &file, NULL, NULL,
			      &from);
	clang_getFileLocation(clang_getRangeStart(clang_getCursorExtent(b)), NULL, NULL, NULL, &to);
	text = unit_text(t->unit, file);
	return text && text->bytes && from < to && to <= text->len_bytes &&
	       memchr(text->bytes + from, '+', to - from);
}

/* ---- the root: only its type is known ---- */

static bool start_at_type(struct finding f, CXType type, struct place *out)
{
	const struct layout *l = layout_of(f.t, type);

	*out = (struct place){ .root = l, .target = l, .parameter = PLACE_NO_PARAMETER };
	return l != NULL;
}

/* ---- variables that are set once ---- */

/* Finds what a pointer or reference variable leads to. */
static bool through_variable(struct finding f, CXCursor use, bool is_reference, struct place *out)
{
	CXCursor variable = clang_getCursorReferenced(use), value;
	CXType type = clang_getCanonicalType(clang_getCursorType(variable));
	enum CXCursorKind k = clang_getCursorKind(variable);
	struct place p;

	if (!start_at_type(f, type_pointee(type), out))
		return false;
	if (k == CXCursor_ParmDecl) {
		int index = variable_parameter(f.t->function, variable);

		if (index >= 0 && (!variable_is_changed(f.t->function, variable) ||
				   out->root->kind == LAYOUT_SCALAR))
			out->parameter = index;
		if (index >= 0 && variable_is_changed(f.t->function, variable))
			out->is_region = true;
		return true;
	}
	value = k == CXCursor_VarDecl && clang_getCursorLinkage(variable) == CXLinkage_NoLinkage
			? variable_value(f.t->function, variable)
			: clang_getNullCursor();
	if (clang_Cursor_isNull(value) ||
	    !(is_reference ? find_denoted(f, value, &p) : find_pointed(f, value, &p)))
		return true;
	if (p.target == out->target || out->root->kind == LAYOUT_SCALAR)
		*out = p;
	return true;
}

/* ---- steps ---- */

/* Adds the steps from the place to its base class `to`, if the bytes are used as that class. */
static bool through_bases(struct place *p, const struct layout *to)
{
	uint32_t path[8], n;

	if (!to || p->target == to)
		return true;
	n = layout_base_path(p->target, to, path, 8);
	for (uint32_t i = 0; i < n; i++)
		if (!place_step(p, path[i]))
			return false;
	return true;
}

/* Asks whether the field has this name. An unnamed field is recognised by its offset in bits. */
static bool is_field(const struct layout_field *each, const char *name, long long bits)
{
	if (name && *name)
		return each->name && strcmp(each->name, name) == 0;
	return !each->name && bits >= 0 && each->offset == (uint64_t)bits / 8;
}

/* Steps to the field. Fields of unnamed structs and unions count as fields of the outer one. */
static bool step_name(struct place *p, const char *name, long long bits)
{
	const struct layout *in = p->target;

	for (uint32_t i = 0; i < in->nfields; i++)
		if (is_field(&in->fields[i], name, bits))
			return place_step(p, i);
	for (uint32_t i = 0; i < in->nfields; i++) {
		struct place saved = *p;

		if (!in->fields[i].name && place_step(p, i) && step_name(p, name, bits))
			return true;
		*p = saved;
	}
	return false;
}

static bool step_field(struct finding f, CXCursor field, struct place *p)
{
	CXString name = clang_getCursorSpelling(field);
	bool is_found;

	through_bases(p, layout_of(f.t, clang_getCursorType(clang_getCursorSemanticParent(field))));
	is_found = step_name(p, clang_getCString(name), clang_Cursor_getOffsetOfField(field));
	clang_disposeString(name);
	return is_found;
}

bool place_of_field(struct typed_unit *t, CXCursor field, struct place *out)
{
	struct finding f = { .t = t };
	CXCursor owner = clang_getCursorSemanticParent(t->function);

	/* inside a lambda, the method's class is another one */
	if (!start_at_type(f, clang_getCursorType(owner), out) || out->root->kind == LAYOUT_SCALAR)
		if (!start_at_type(f, clang_getCursorType(clang_getCursorSemanticParent(field)),
				   out))
			return false;
	out->parameter = PLACE_THIS;
	return step_field(f, field, out);
}

static bool find_member(struct finding f, CXCursor c, struct place *out)
{
	CXCursor base = cursor_child(c, 0);
	CXType type;

	if (clang_getCursorKind(clang_getCursorReferenced(c)) != CXCursor_FieldDecl)
		return start_at_type(f, clang_getCursorType(c), out);
	if (clang_Cursor_isNull(base)) /* an implicit this-> */
		return place_of_field(f.t, clang_getCursorReferenced(c), out);
	type = cursor_type(base);
	if (!(type.kind == CXType_Pointer ? find_pointed(f, base, out)
					  : find_denoted(f, base, out)))
		return false;
	if (out->extra_bytes || out->target->kind == LAYOUT_SCALAR ||
	    out->target->kind == LAYOUT_ARRAY)
		if (!start_at_type(f, type.kind == CXType_Pointer ? type_pointee(type) : type, out))
			return false;
	return step_field(f, clang_getCursorReferenced(c), out);
}

/* Moves the place by n elements of an array. !is_known: n is no constant, so the index becomes
 * unknown. */
static bool move_by_elements(struct finding f, struct place *p, CXType element, bool is_known,
			     long long n)
{
	struct place_step *last = p->nsteps ? &p->step[p->nsteps - 1] : NULL;
	const struct layout *unit = layout_of(f.t, element);

	if (!unit)
		return false;
	if (last && last->in->kind == LAYOUT_ARRAY && unit->size_bytes == p->target->size_bytes) {
		last->index = is_known && last->index != PLACE_ANY_INDEX ? last->index + (uint32_t)n
									 : PLACE_ANY_INDEX;
		return true;
	}
	/* arithmetic with bytes */
	if (p->target->kind != LAYOUT_SCALAR &&
	    (unit->size_bytes < p->target->size_bytes || p->extra_bytes)) {
		if (!is_known || n < 0)
			return false;
		p->extra_bytes += (uint64_t)n * (unit->size_bytes ? unit->size_bytes : 1);
		return true;
	}
	if (is_known && n == 0)
		return true;
	if (p->nsteps == 0) { /* an array without a struct around it: each element is an instance */
		p->parameter = p->root->kind == LAYOUT_SCALAR ? p->parameter : PLACE_NO_PARAMETER;
		return true;
	}
	return start_at_type(f, element, p);
}

static bool find_element(struct finding f, CXCursor c, struct place *out)
{
	CXCursor base = cursor_child(c, 0), index = cursor_child(c, 1), array = cursor_strip(base);
	long long n = 0;
	bool is_known = cursor_constant(index, &n);

	if (type_is_array(cursor_type(array))) {
		if (!find_denoted(f, array, out) || out->target->kind != LAYOUT_ARRAY)
			return start_at_type(f, clang_getCursorType(c), out);
		return place_step(out, is_known && n >= 0 ? (uint32_t)n : PLACE_ANY_INDEX);
	}
	if (cursor_type(base).kind != CXType_Pointer || !find_pointed(f, base, out) ||
	    !move_by_elements(f, out, clang_getPointeeType(cursor_type(base)), is_known, n))
		return start_at_type(f, clang_getCursorType(c), out);
	return true;
}

static bool find_denoted(struct finding f, CXCursor c, struct place *out)
{
	CXCursor inner = c;
	const struct layout *seen;

	if (f.depth++ > DEPTH_MAX || clang_Cursor_isNull(c))
		return false;
	if (cursor_is_wrapper(c)) {
		inner = cursor_child(c, 0);
		seen = layout_of(f.t, clang_getCursorType(c));
		return find_denoted(f, inner, out) &&
		       (!seen || seen->kind != LAYOUT_STRUCT || through_bases(out, seen));
	}
	switch ((int)clang_getCursorKind(c)) {
	case CXCursor_MemberRefExpr: return find_member(f, c, out);
	case CXCursor_ArraySubscriptExpr: return find_element(f, c, out);
	case CXCursor_UnaryOperator:
		inner = cursor_child(c, 0);
		if (cursor_is_increment(c))
			return find_denoted(f, inner, out);
		if (cursor_type(inner).kind == CXType_Pointer && find_pointed(f, inner, out)) {
			seen = layout_of(f.t, clang_getCursorType(c));
			out->is_exact = seen && seen->kind == LAYOUT_SCALAR &&
					out->target->kind != LAYOUT_SCALAR && !out->is_region;
			return true;
		}
		break;
	case CXCursor_DeclRefExpr:
		if (clang_getCanonicalType(clang_getCursorType(clang_getCursorReferenced(c)))
			    .kind == CXType_LValueReference)
			return through_variable(f, c, true, out);
		break;
	case CXCursor_BinaryOperator:
		if (cursor_is_assignment(c))
			return find_denoted(f, cursor_child(c, 0), out);
		break;
	default: break;
	}
	return start_at_type(f,
			     cursor_type(c).kind == CXType_LValueReference
				     ? clang_getPointeeType(cursor_type(c))
				     : clang_getCursorType(c),
			     out);
}

/* Finds what a cast pointer points to: still the same object, unless it is cast to a pointer to a
 * struct, union or array of another type. */
static bool through_cast(struct finding f, CXCursor c, struct place *out)
{
	const struct layout *to = layout_of(f.t, type_pointee(cursor_type(c)));
	struct place p;

	if (!to)
		return false;
	if (find_pointed(f, cursor_cast_operand(c), &p) &&
	    (to->kind == LAYOUT_SCALAR || p.target == to)) {
		*out = p;
		if (p.root->kind == LAYOUT_SCALAR && p.nsteps == 0 && to->size_bytes)
			out->root = out->target = to;
		return true;
	}
	return start_at_type(f, type_pointee(cursor_type(c)), out);
}

static bool find_pointed(struct finding f, CXCursor c, struct place *out)
{
	CXType type = cursor_type(c);
	CXCursor a, b;
	long long n = 0;
	bool is_known;

	if (f.depth++ > DEPTH_MAX || clang_Cursor_isNull(c))
		return false;
	if (type_is_array(type)) /* its first element */
		return find_denoted(f, c, out) &&
		       (out->target->kind != LAYOUT_ARRAY || place_step(out, 0));
	if (cursor_is_wrapper(c)) {
		const struct layout *seen =
			type.kind == CXType_Pointer ? layout_of(f.t, type_pointee(type)) : NULL;

		return find_pointed(f, cursor_child(c, 0), out) &&
		       (!seen || seen->kind != LAYOUT_STRUCT || through_bases(out, seen));
	}
	if (type.kind != CXType_Pointer)
		return false;
	if (cursor_is_cast(c))
		return through_cast(f, c, out);
	switch ((int)clang_getCursorKind(c)) {
	case CXCursor_DeclRefExpr: return through_variable(f, c, false, out);
	case CXCursor_CXXThisExpr:
		if (!start_at_type(f, type_pointee(type), out))
			return false;
		out->parameter = PLACE_THIS;
		return true;
	case CXCursor_UnaryOperator:
		if (cursor_is_address(c))
			return find_denoted(f, cursor_child(c, 0), out);
		if (cursor_is_increment(c) && find_pointed(f, cursor_child(c, 0), out) &&
		    move_by_elements(f, out, type_pointee(type), false, 0))
			return true;
		break;
	case CXCursor_BinaryOperator:
		a = cursor_child(c, 0);
		b = cursor_child(c, 1);
		is_known = is_sum(f.t, a, b) && cursor_constant(b, &n);
		if (!cursor_is_assignment(c) && cursor_type(a).kind == CXType_Pointer &&
		    find_pointed(f, a, out) &&
		    move_by_elements(f, out, type_pointee(type), is_known, n))
			return true;
		break;
	default: break;
	}
	return start_at_type(f, type_pointee(type), out);
}

bool place_of(struct typed_unit *t, CXCursor expression, struct place *out)
{
	return find_denoted((struct finding){ .t = t }, expression, out);
}

bool place_pointed(struct typed_unit *t, CXCursor expression, struct place *out)
{
	return find_pointed((struct finding){ .t = t }, expression, out);
}
