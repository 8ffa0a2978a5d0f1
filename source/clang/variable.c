/* Finds the value of a local variable from all assignments to it. A variable whose address is taken
 * counts as changed elsewhere. */
#include "source/clang/variable.h"

#include "source/clang/cursor.h"
#include "source/layout.h"

struct definitions {
	CXCursor variable, value;
	unsigned n;
};

static enum CXChildVisitResult visit_definition(CXCursor c, CXCursor parent, CXClientData data)
{
	struct definitions *d = data;
	CXCursor left =
		cursor_is_assignment(c) ? cursor_strip(cursor_child(c, 0)) : clang_getNullCursor();

	(void)parent;
	if (cursor_is_address(c)) /* other code may change it */
		left = cursor_strip(cursor_child(c, 0));
	if (clang_getCursorKind(left) == CXCursor_DeclRefExpr &&
	    clang_equalCursors(clang_getCursorReferenced(left), d->variable)) {
		d->n += clang_getCursorKind(c) == CXCursor_BinaryOperator ? 1 : 2;
		d->value = cursor_child(c, 1);
	}
	return CXChildVisit_Recurse;
}

CXCursor variable_value(CXCursor function, CXCursor variable)
{
	struct definitions d = { .variable = variable,
				 .value = clang_Cursor_getVarDeclInitializer(variable) };

	d.n = clang_Cursor_isNull(d.value) ? 0 : 1;
	clang_visitChildren(function, visit_definition, &d);
	return d.n == 1 ? d.value : clang_getNullCursor();
}

bool variable_is_changed(CXCursor function, CXCursor variable)
{
	struct definitions d = { .variable = variable, .value = clang_getNullCursor() };

	clang_visitChildren(function, visit_definition, &d);
	return d.n > 0;
}

int variable_parameter(CXCursor function, CXCursor variable)
{
	for (int i = 0; i < clang_Cursor_getNumArguments(function); i++)
		if (clang_equalCursors(clang_Cursor_getArgument(function, (unsigned)i), variable))
			return i;
	return PLACE_NO_PARAMETER;
}
