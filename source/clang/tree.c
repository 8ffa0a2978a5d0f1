/* Copies the syntax tree of a function. libclang 14 does not expose operators, so they are read
 * from the text between the operands; if a macro hides it, the operator stays unknown. Implicit
 * casts and redundant parentheses are left out. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "source/clang/unit.h"

struct copying {
	struct unit *u;
	struct source_node *parent;
};

static enum source_kind kind_of(enum CXCursorKind k)
{
	switch ((int)k) {
	case CXCursor_CompoundStmt: return SOURCE_COMPOUND;
	case CXCursor_IfStmt: return SOURCE_IF;
	case CXCursor_ForStmt:
	case CXCursor_CXXForRangeStmt: return SOURCE_FOR;
	case CXCursor_WhileStmt: return SOURCE_WHILE;
	case CXCursor_DoStmt: return SOURCE_DO;
	case CXCursor_SwitchStmt: return SOURCE_SWITCH;
	case CXCursor_LabelStmt:
	case CXCursor_CaseStmt:
	case CXCursor_DefaultStmt: return SOURCE_LABEL;
	case CXCursor_ReturnStmt: return SOURCE_RETURN;
	case CXCursor_BreakStmt:
	case CXCursor_ContinueStmt:
	case CXCursor_GotoStmt:
	case CXCursor_IndirectGotoStmt: return SOURCE_JUMP;
	case CXCursor_AsmStmt: return SOURCE_ASM;
	case CXCursor_DeclStmt: return SOURCE_DECL;
	case CXCursor_VarDecl: return SOURCE_VARIABLE;
	case CXCursor_BinaryOperator:
	case CXCursor_CompoundAssignOperator: return SOURCE_BINARY;
	case CXCursor_UnaryOperator: return SOURCE_UNARY;
	case CXCursor_CallExpr: return SOURCE_CALL;
	case CXCursor_MemberRefExpr: return SOURCE_MEMBER;
	case CXCursor_ArraySubscriptExpr: return SOURCE_SUBSCRIPT;
	case CXCursor_DeclRefExpr: return SOURCE_NAME;
	case CXCursor_ConditionalOperator: return SOURCE_CONDITIONAL;
	case CXCursor_IntegerLiteral:
	case CXCursor_FloatingLiteral:
	case CXCursor_StringLiteral:
	case CXCursor_CharacterLiteral: return SOURCE_LITERAL;
	case CXCursor_LambdaExpr: return SOURCE_LAMBDA;
	case CXCursor_NullStmt: return SOURCE_EXPR; /* does nothing */
	default: return clang_isStatement(k) ? SOURCE_STMT : SOURCE_EXPR;
	}
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end) {
		const char *stop;

		if (isspace((unsigned char)*p) || *p == '\\') {
			p++;
		} else if (end - p > 1 && p[0] == '/' && (p[1] == '*' || p[1] == '/')) {
			stop = p[1] == '*' ? memmem(p + 2, (size_t)(end - p - 2), "*/", 2)
					   : memchr(p, '\n', (size_t)(end - p));
			p = stop ? stop + (p[1] == '*' ? 2 : 1) : end;
		} else {
			break;
		}
	}
	return p;
}

/* Reads the operator that is at p or behind closing parentheses there. */
static void read_operator(struct source_node *n, const char *p, const char *end)
{
	size_t len = 0;

	for (p = skip_blanks(p, end); p < end && *p == ')'; p = skip_blanks(p + 1, end))
		;
	while (p + len < end && len < sizeof n->op - 1 && strchr("=+-*/%&|^<>!,~", p[len])) {
		if (len == 1 && p[0] == ',')
			break;
		len++;
	}
	memcpy(n->op, p, len);
	n->op[len] = 0;
}

static void find_operator(struct source_node *n, const struct unit_text *t)
{
	const struct source_node *a = n->child, *b = a ? a->next : NULL;

	if (!t->bytes || n->end > t->len_bytes)
		return;
	if (n->kind == SOURCE_BINARY && b && a->text_end <= b->text_begin &&
	    b->text_begin <= t->len_bytes) {
		read_operator(n, t->bytes + a->text_end, t->bytes + b->text_begin);
		if (n->op[0] == ',' && a->begin == b->begin)
			n->op[0] = 0; /* two arguments of one macro */
	} else if (n->kind == SOURCE_UNARY && a && n->begin < a->begin) {
		const char c = t->bytes[n->begin];

		if ((c == '+' || c == '-') && t->bytes[n->begin + 1] == c)
			snprintf(n->op, sizeof n->op, "%c%cx", c, c);
		else
			snprintf(n->op, sizeof n->op, "%c", c);
	} else if (n->kind == SOURCE_UNARY && a && a->end < n->end && n->end >= 2) {
		const char c = t->bytes[n->end - 1];

		if ((c == '+' || c == '-') && t->bytes[n->end - 2] == c)
			snprintf(n->op, sizeof n->op, "x%c%c", c, c);
	}
}

/* Asks whether the type has a size. libclang 14 crashes when asked for the size of a builtin
 * function's type and the like. */
static bool has_size(CXType real)
{
	return (real.kind >= CXType_Bool && real.kind <= CXType_LongDouble) ||
	       real.kind == CXType_Pointer || real.kind == CXType_Record ||
	       real.kind == CXType_Enum || real.kind == CXType_ConstantArray;
}

uint32_t type_target_bytes(CXType t)
{
	CXType real = clang_getCanonicalType(t), target = real.kind == CXType_Pointer
								  ? clang_getPointeeType(real)
								  : clang_getArrayElementType(real);
	long long size = target.kind != CXType_Invalid && has_size(clang_getCanonicalType(target))
				 ? clang_Type_getSizeOf(target)
				 : 0;

	return size > 0 && size < UINT32_MAX ? (uint32_t)size : 0;
}

static uint32_t target_align_bytes(CXType real)
{
	CXType target = real.kind == CXType_Pointer ? clang_getPointeeType(real) : real;
	long long align = real.kind == CXType_Pointer && has_size(clang_getCanonicalType(target))
				  ? clang_Type_getAlignOf(target)
				  : 0;

	return align > 0 ? (uint32_t)align : 0;
}

static void fill_type(struct unit *u, struct source_node *n, CXCursor c)
{
	CXType type = clang_getCursorType(c), real = clang_getCanonicalType(type);
	long long size = has_size(real) ? clang_Type_getSizeOf(real) : 0,
		  align = has_size(real) ? clang_Type_getAlignOf(real) : 0;

	n->type = unit_string(u, clang_getTypeSpelling(type));
	n->size_bytes = size > 0 && size < UINT32_MAX ? (uint32_t)size : 0;
	n->target_bytes = type_target_bytes(type);
	n->target_align_bytes = target_align_bytes(real);
	n->align_bytes = align > 0 ? (uint32_t)align : 0;
	n->is_unsigned = real.kind >= CXType_Bool && real.kind <= CXType_UInt128;
	n->is_volatile = clang_isVolatileQualifiedType(real) != 0;
	n->is_reference =
		real.kind == CXType_LValueReference || real.kind == CXType_RValueReference;
	n->is_array = real.kind == CXType_ConstantArray || real.kind == CXType_IncompleteArray ||
		      real.kind == CXType_VariableArray;
}

/* Sets the type and the value of a node that is a name. The use of a reference has the type of what
 * it refers to. */
static void fill_name(struct unit *u, struct source_node *n, CXCursor c)
{
	CXCursor what = clang_getCursorReferenced(c);
	enum CXCursorKind k = clang_getCursorKind(what);
	CXType declared = clang_getCanonicalType(clang_getCursorType(what));

	n->name = unit_string(u, clang_getCursorSpelling(c));
	n->is_local = (k == CXCursor_VarDecl || k == CXCursor_ParmDecl) &&
		      clang_getCursorLinkage(what) == CXLinkage_NoLinkage;
	n->is_reference =
		declared.kind == CXType_LValueReference || declared.kind == CXType_RValueReference;
	/* the parameter T p[4] is a pointer, although libclang says array */
	n->is_array &= k != CXCursor_ParmDecl || n->is_reference;
	if (n->kind == SOURCE_MEMBER) {
		long long offset_bits =
			k == CXCursor_FieldDecl ? clang_Cursor_getOffsetOfField(what) : -1;

		n->is_bitfield = clang_Cursor_isBitField(what) != 0;
		n->offset_bytes = offset_bits > 0 ? (uint32_t)(offset_bits / 8) : 0;
	}
}

/* Gives the cursor that has the value of a constant which the text does not show as a number, such
 * as sizeof, an enumerator or a const variable. The null cursor if the expression is no such
 * constant. */
static CXCursor constant_of(CXCursor c, enum CXCursorKind k)
{
	CXCursor what =
		k == CXCursor_DeclRefExpr ? clang_getCursorReferenced(c) : clang_getNullCursor();
	CXType type = clang_getCanonicalType(clang_getCursorType(what));

	if (k == CXCursor_UnaryExpr || k == CXCursor_IntegerLiteral ||
	    clang_getCursorKind(what) == CXCursor_EnumConstantDecl)
		return c;
	if (clang_getCursorKind(what) == CXCursor_VarDecl && clang_isConstQualifiedType(type) &&
	    type.kind >= CXType_Bool && type.kind <= CXType_Int128 &&
	    clang_getCursorLinkage(what) != CXLinkage_NoLinkage)
		return what;
	return clang_getNullCursor();
}

static void fill_value(struct source_node *n, CXCursor constant)
{
	CXEvalResult result =
		clang_Cursor_isNull(constant) ? NULL : clang_Cursor_Evaluate(constant);

	n->has_value = result && clang_EvalResult_getKind(result) == CXEval_Int;
	if (n->has_value)
		n->value = clang_EvalResult_getAsLongLong(result);
	if (result)
		clang_EvalResult_dispose(result);
}

/* Sets where the node's text is in the file. For an argument of a macro, that is where the argument
 * is written; for the body of a macro, where the macro is used. */
static void fill_text(struct source_node *n, CXSourceRange range)
{
	unsigned from = 0, to = 0;

	clang_getFileLocation(clang_getRangeStart(range), NULL, NULL, NULL, &from);
	clang_getFileLocation(clang_getRangeEnd(range), NULL, NULL, NULL, &to);
	n->text_begin = from;
	n->text_end = to;
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data);

static void copy_children(struct unit *u, CXCursor c, struct source_node *n)
{
	struct copying below = { u, n };

	clang_visitChildren(c, visit, &below);
}

/* Asks whether the node means the same as its only child, as an implicit cast does. Such a node is
 * left out. */
static bool is_transparent(CXCursor c, const struct source_node *n)
{
	enum CXCursorKind k = clang_getCursorKind(c);

	return (k == CXCursor_UnexposedExpr || k == CXCursor_UnexposedStmt) && n->child &&
	       n->child == n->last && n->child->begin == n->begin && n->child->end == n->end;
}

static void append(struct source_node *parent, struct source_node *n)
{
	n->parent = parent;
	if (parent->last)
		parent->last->next = n;
	else
		parent->child = n;
	parent->last = n;
}

/* Turns a defaulted `operator=`, which nobody wrote, into an assignment like any other. */
static void assign_object(struct source_node *n, CXCursor c)
{
	struct source_node *operator;

	if (n->kind != SOURCE_CALL || !n->name || strcmp(n->name, "operator=") != 0 ||
	    !clang_CXXMethod_isDefaulted(clang_getCursorReferenced(c)) || !n->child)
		return;
	operator= n->child->next;
	if (!operator|| !operator->name || strcmp(operator->name, "operator=") != 0 ||
	    !operator->next)
		return;
	n->child->next = operator->next;
	n->kind = SOURCE_BINARY;
	n->name = NULL;
}

static struct source_node *copy_node(struct unit *u, CXCursor c)
{
	struct source_node *n = arena_alloc(&u->arena, sizeof *n);
	CXSourceLocation start = clang_getRangeStart(clang_getCursorExtent(c));
	enum CXCursorKind k = clang_getCursorKind(c);
	struct unit_text *t;
	unsigned line, column;

	*n = (struct source_node){ .kind = kind_of(k) };
	t = unit_extent(u, c, &n->begin, &n->end);
	clang_getExpansionLocation(start, NULL, &line, &column, NULL);
	fill_text(n, clang_getCursorExtent(c));
	n->line = line;
	n->column = column;
	if (clang_isExpression(k) || n->kind == SOURCE_VARIABLE)
		fill_type(u, n, c);
	if (n->kind == SOURCE_NAME || n->kind == SOURCE_MEMBER || n->kind == SOURCE_CALL ||
	    n->kind == SOURCE_VARIABLE)
		fill_name(u, n, c);
	if (n->kind == SOURCE_ASM && t && t->bytes && n->begin <= n->end && n->end <= t->len_bytes)
		n->name = arena_string(&u->arena, t->bytes + n->begin, n->end - n->begin);
	fill_value(n, constant_of(c, k));
	copy_children(u, c, n);
	if (is_transparent(c, n)) {
		n->child->parent = NULL;
		return n->child;
	}
	assign_object(n, c);
	if (t && (n->kind == SOURCE_BINARY || n->kind == SOURCE_UNARY))
		find_operator(n, t);
	if ((n->kind == SOURCE_BINARY || n->kind == SOURCE_UNARY) && !n->op[0])
		fill_value(n, c); /* the macro hides the operator, but the value may be known */
	/* the body of a macro is not visible here */
	if (n->kind == SOURCE_MEMBER && n->child)
		n->is_arrow = (n->child->target_bytes > 0 && !n->child->is_array) ||
			      (t && t->bytes && n->child->end < n->end && n->end <= t->len_bytes &&
			       memmem(t->bytes + n->child->end, n->end - n->child->end, "->", 2));
	return n;
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
	struct copying *copying = data;
	enum CXCursorKind k = clang_getCursorKind(c);

	(void)parent;
	if (clang_isReference(k) || clang_isAttribute(k))
		return CXChildVisit_Continue;
	append(copying->parent, copy_node(copying->u, c));
	return CXChildVisit_Continue;
}

struct source_node *tree_copy(struct unit *u, CXCursor body)
{
	return copy_node(u, body);
}
