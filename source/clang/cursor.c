/* Classifies expressions. libclang 14 exposes neither operators nor whether a member access is "->"
 * or "."; both follow from the types, and from where the compiler had to load a value. */
#include "source/clang/cursor.h"

#include <stdint.h>

struct nth {
	unsigned left;
	CXCursor found;
};

static enum CXChildVisitResult visit_nth(CXCursor c, CXCursor parent, CXClientData data)
{
	struct nth *n = data;
	enum CXCursorKind k = clang_getCursorKind(c);

	(void)parent;
	if (clang_isReference(k) || clang_isAttribute(k))
		return CXChildVisit_Continue;
	n->found = c;
	return n->left-- == 0 ? CXChildVisit_Break : CXChildVisit_Continue;
}

CXCursor cursor_child(CXCursor c, unsigned n)
{
	struct nth nth = { .left = n, .found = clang_getNullCursor() };

	clang_visitChildren(c, visit_nth, &nth);
	return nth.left == UINT32_MAX ? nth.found : clang_getNullCursor();
}

bool cursor_is_wrapper(CXCursor c)
{
	enum CXCursorKind k = clang_getCursorKind(c);

	return (k == CXCursor_ParenExpr || k == CXCursor_UnexposedExpr) &&
	       !clang_Cursor_isNull(cursor_child(c, 0)) && clang_Cursor_isNull(cursor_child(c, 1));
}

CXCursor cursor_strip(CXCursor c)
{
	while (cursor_is_wrapper(c))
		c = cursor_child(c, 0);
	return c;
}

bool cursor_is_cast(CXCursor c)
{
	enum CXCursorKind k = clang_getCursorKind(c);

	return k == CXCursor_CStyleCastExpr ||
	       (k >= CXCursor_CXXStaticCastExpr && k <= CXCursor_CXXFunctionalCastExpr);
}

/* Gives the operand of a cast, which is the last child: the parts of the type come before it. */
CXCursor cursor_cast_operand(CXCursor c)
{
	CXCursor last = clang_getNullCursor(), child;

	for (unsigned i = 0; !clang_Cursor_isNull(child = cursor_child(c, i)); i++)
		last = child;
	return last;
}

CXType cursor_type(CXCursor c)
{
	return clang_getCanonicalType(clang_getCursorType(c));
}

bool type_is_array(CXType type)
{
	return type.kind == CXType_ConstantArray || type.kind == CXType_IncompleteArray ||
	       type.kind == CXType_VariableArray;
}

CXType type_pointee(CXType type)
{
	return type_is_array(type) ? clang_getArrayElementType(type) : clang_getPointeeType(type);
}

static bool is_variable(CXCursor declared)
{
	enum CXCursorKind k = clang_getCursorKind(declared);

	return k == CXCursor_VarDecl || k == CXCursor_ParmDecl || k == CXCursor_FieldDecl;
}

/* Asks whether the expression is used without loading a value from it: it is written to, or its
 * address is taken. */
static bool cursor_is_bare(CXCursor c)
{
	while (clang_getCursorKind(c) == CXCursor_ParenExpr)
		c = cursor_child(c, 0);
	switch ((int)clang_getCursorKind(c)) {
	case CXCursor_MemberRefExpr:
	case CXCursor_ArraySubscriptExpr: return true;
	/* constants need no load either */
	case CXCursor_DeclRefExpr: return is_variable(clang_getCursorReferenced(c));
	case CXCursor_UnaryOperator: return cursor_type(cursor_child(c, 0)).kind == CXType_Pointer;
	case CXCursor_CallExpr: return false;
	default: return cursor_is_cast(c) && clang_getCursorType(c).kind == CXType_LValueReference;
	}
}

bool cursor_is_increment(CXCursor c)
{
	CXCursor operand = cursor_child(c, 0);

	return clang_getCursorKind(c) == CXCursor_UnaryOperator && cursor_is_bare(operand) &&
	       clang_equalTypes(cursor_type(c), cursor_type(operand));
}

bool cursor_is_address(CXCursor c)
{
	CXCursor operand = cursor_child(c, 0);

	return clang_getCursorKind(c) == CXCursor_UnaryOperator &&
	       cursor_type(c).kind == CXType_Pointer && !cursor_is_increment(c) &&
	       clang_equalTypes(clang_getCanonicalType(clang_getPointeeType(cursor_type(c))),
				cursor_type(operand));
}

bool cursor_is_assignment(CXCursor c)
{
	switch ((int)clang_getCursorKind(c)) {
	case CXCursor_CompoundAssignOperator: return true;
	case CXCursor_BinaryOperator: return cursor_is_bare(cursor_child(c, 0));
	case CXCursor_UnaryOperator: return cursor_is_increment(c);
	default: return false;
	}
}

bool cursor_constant(CXCursor c, long long *value)
{
	CXEvalResult r = clang_Cursor_Evaluate(c);
	bool is_known = r && clang_EvalResult_getKind(r) == CXEval_Int;

	if (is_known)
		*value = clang_EvalResult_getAsLongLong(r);
	if (r)
		clang_EvalResult_dispose(r);
	return is_known;
}
