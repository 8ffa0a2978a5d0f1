/* Copies the declarations of a translation unit: functions with their parameters and bodies,
 * macros, and uses of macros. Bodies in system headers are left out. */
#include <stdio.h>
#include <string.h>

#include "source/clang/unit.h"

struct parameters {
	struct unit *u;
	VEC(struct source_parameter) list;
};

/* Adds a parameter of the function. It is called for each child of the function, because libclang
 * does not count the arguments of templates. */
static enum CXChildVisitResult visit_parameter(CXCursor p, CXCursor parent, CXClientData data)
{
	struct parameters *to = data;
	CXType type = clang_getCanonicalType(clang_getCursorType(p));

	(void)parent;
	if (clang_getCursorKind(p) != CXCursor_ParmDecl)
		return CXChildVisit_Continue;
	*vec_add(&to->list) = (struct source_parameter){
		.name = unit_string(to->u, clang_getCursorSpelling(p)),
		.type = unit_string(to->u, clang_getTypeSpelling(clang_getCursorType(p))),
		.target_bytes = type_target_bytes(type),
		.is_pointer = type.kind == CXType_Pointer ||
			      clang_getArrayElementType(type).kind != CXType_Invalid,
		.is_integer = type.kind >= CXType_Bool && type.kind <= CXType_Int128,
	};
	return CXChildVisit_Continue;
}

static void add_parameters(struct unit *u, CXCursor c, struct source_function *f)
{
	struct parameters all = { .u = u };

	clang_visitChildren(c, visit_parameter, &all);
	f->nparameters = all.list.n;
	f->parameters = arena_alloc(&u->arena, (all.list.n + 1) * sizeof *f->parameters);
	if (all.list.n)
		memcpy(f->parameters, all.list.at, all.list.n * sizeof *f->parameters);
	vec_release(&all.list);
}

static enum CXChildVisitResult find_body(CXCursor c, CXCursor parent, CXClientData data)
{
	(void)parent;
	if (clang_getCursorKind(c) == CXCursor_CompoundStmt)
		*(CXCursor *)data = c;
	return CXChildVisit_Continue;
}

static uint32_t line_of(CXCursor c, bool is_end)
{
	CXSourceRange range = clang_getCursorExtent(c);
	unsigned line = 0;

	clang_getExpansionLocation(is_end ? clang_getRangeEnd(range) : clang_getRangeStart(range),
				   NULL, &line, NULL, NULL);
	return line;
}

/* Gives the classes and namespaces around a declaration, such as "pm::node::". */
static const char *scope_of(struct unit *u, CXCursor c)
{
	CXCursor parent = clang_getCursorSemanticParent(c);
	enum CXCursorKind k = clang_getCursorKind(parent);
	const char *name, *outer;
	char *text;

	if (k != CXCursor_Namespace && k != CXCursor_StructDecl && k != CXCursor_ClassDecl &&
	    k != CXCursor_ClassTemplate)
		return NULL;
	name = unit_string(u, clang_getCursorSpelling(parent));
	outer = scope_of(u, parent);
	if (!name) /* an anonymous scope */
		return outer;
	text = arena_alloc(&u->arena, strlen(name) + (outer ? strlen(outer) : 0) + 3);
	sprintf(text, "%s%s::", outer ? outer : "", name);
	return text;
}

static void fill_class(struct unit *u, CXCursor c, struct source_function *f)
{
	enum CX_CXXAccessSpecifier access = clang_getCXXAccessSpecifier(c);
	enum CXCursorKind k = clang_getCursorKind(c);

	if (f->is_system)
		return; /* there are thousands of them */
	f->is_template = k == CXCursor_FunctionTemplate;
	/* a template may be a method, too */
	k = f->is_template ? clang_getTemplateCursorKind(c) : k;
	f->scope = scope_of(u, c);
	f->is_method = (k == CXCursor_CXXMethod && !clang_CXXMethod_isStatic(c)) ||
		       k == CXCursor_Constructor || k == CXCursor_Destructor;
	f->is_virtual = k == CXCursor_CXXMethod && clang_CXXMethod_isVirtual(c);
	f->is_hidden = access == CX_CXXPrivate || access == CX_CXXProtected;
}

static void add_function(struct unit *u, CXCursor c)
{
	struct source_function f = { .name = unit_string(u, clang_getCursorSpelling(c)) };
	struct unit_text *t = unit_extent(u, c, &f.begin, &f.end);
	CXCursor body = clang_getNullCursor();

	if (!t || !f.name)
		return;
	f.file = t->path;
	f.line = line_of(c, false);
	f.end_line = line_of(c, true);
	f.is_system = clang_Location_isInSystemHeader(clang_getCursorLocation(c)) != 0;
	f.is_variadic = clang_Cursor_isVariadic(c) != 0;
	f.is_static = clang_getCursorLinkage(c) == CXLinkage_Internal;
	f.returns_void = clang_getCanonicalType(clang_getCursorResultType(c)).kind == CXType_Void;
	add_parameters(u, c, &f);
	fill_class(u, c, &f);
	if (!f.is_system && clang_isCursorDefinition(c)) {
		clang_visitChildren(c, find_body, &body);
		if (!clang_Cursor_isNull(body))
			f.body = tree_copy(u, body);
	}
	*vec_add(&u->functions) = f;
}

static void add_macro(struct unit *u, CXCursor c)
{
	struct source_macro m = { .name = unit_string(u, clang_getCursorSpelling(c)) };
	uint32_t end;
	struct unit_text *t = unit_extent(u, c, &m.begin, &end);

	if (!t || !m.name || !t->bytes || clang_Cursor_isMacroBuiltin(c) || end > t->len_bytes)
		return;
	m.file = t->path;
	m.text = arena_string(&u->arena, t->bytes + m.begin, end - m.begin);
	m.is_function = clang_Cursor_isMacroFunctionLike(c) != 0;
	m.is_system = clang_Location_isInSystemHeader(clang_getCursorLocation(c)) != 0;
	*vec_add(&u->macros) = m;
}

static void add_use(struct unit *u, CXCursor c)
{
	struct source_use use = { .name = unit_string(u, clang_getCursorSpelling(c)) };
	struct unit_text *t = unit_extent(u, c, &use.begin, &use.end);

	if (!t || !use.name || clang_Location_isInSystemHeader(clang_getCursorLocation(c)))
		return;
	use.file = t->path;
	*vec_add(&u->uses) = use;
}

static enum CXChildVisitResult visit_top(CXCursor c, CXCursor parent, CXClientData data)
{
	struct unit *u = data;

	(void)parent;
	switch ((int)clang_getCursorKind(c)) {
	case CXCursor_FunctionDecl:
	case CXCursor_CXXMethod:
	case CXCursor_Constructor:
	case CXCursor_Destructor:
	case CXCursor_FunctionTemplate: add_function(u, c); break;
	case CXCursor_MacroDefinition: add_macro(u, c); break;
	case CXCursor_MacroExpansion: add_use(u, c); break;
	case CXCursor_Namespace:
	case CXCursor_LinkageSpec:
	case CXCursor_UnexposedDecl: /* extern "C" in libclang 14 */
	case CXCursor_StructDecl:
	case CXCursor_ClassDecl:
	case CXCursor_ClassTemplate: return CXChildVisit_Recurse;
	default: break; /* contains no code */
	}
	return CXChildVisit_Continue;
}

void declarations_copy(struct unit *u)
{
	clang_visitChildren(clang_getTranslationUnitCursor(u->tu), visit_top, u);
}
