/* Computes how types of a translation unit lie in memory. libclang 14 does not say where base
 * classes lie: they are assumed to follow each other from the beginning (after the pointer to
 * virtual functions, if the first has none), which is wrong for virtual bases and reused
 * padding. */
#include "source/clang/typing_internal.h"

#include <string.h>

struct known_layout {
	CXType type;
	const struct layout *layout;
	struct known_layout *next;
};

struct fields {
	struct typed_unit *t;
	struct layout *layout;
	VEC(struct layout_field) list;
	uint64_t bases_end;
	bool is_wrong;
};

static const char *without_keyword(const char *name)
{
	static const char *const words[] = { "const ", "volatile ", "struct ",
					     "union ", "class ",    "enum " };

	for (size_t i = 0; name && i < sizeof words / sizeof words[0]; i++)
		if (strncmp(name, words[i], strlen(words[i])) == 0)
			name += strlen(words[i]);
	return name;
}

static void add_field(struct fields *f, CXCursor c, bool is_base)
{
	const struct layout *type = layout_of(f->t, clang_getCursorType(c));
	long long bits = is_base ? 0 : clang_Cursor_getOffsetOfField(c);
	uint64_t align = (uint64_t)clang_Type_getAlignOf(clang_getCursorType(c));
	struct layout_field field = { .type = type };

	if (!type || bits < 0) {
		f->is_wrong = true;
		return;
	}
	if (is_base) {
		field.offset = (f->bases_end + align - 1) / align * align;
		f->bases_end = field.offset + type->size_bytes;
	} else {
		field.offset = (uint64_t)bits / 8;
		field.name = clang_Cursor_isAnonymousRecordDecl(
				     clang_getTypeDeclaration(clang_getCursorType(c)))
				     ? NULL
				     : unit_string(f->t->unit, clang_getCursorSpelling(c));
	}
	field.size_bytes = type->size_bytes;
	field.is_bits = !is_base && clang_Cursor_isBitField(c);
	if (field.is_bits)
		field.size_bytes =
			((uint64_t)bits % 8 + (uint64_t)clang_getFieldDeclBitWidth(c) + 7) / 8;
	*vec_add(&f->list) = field;
}

static enum CXChildVisitResult visit_base(CXCursor c, CXCursor parent, CXClientData data)
{
	(void)parent;
	if (clang_getCursorKind(c) == CXCursor_CXXBaseSpecifier)
		add_field(data, c, true);
	return CXChildVisit_Continue;
}

static enum CXVisitorResult visit_field(CXCursor c, CXClientData data)
{
	add_field(data, c, false);
	return CXVisit_Continue;
}

static int by_offset(const void *a, const void *b)
{
	const struct layout_field *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool fill_record(struct typed_unit *t, CXType type, struct layout *l)
{
	CXCursor decl = clang_getTypeDeclaration(type),
		 definition = clang_getCursorDefinition(decl);
	struct fields f = { .t = t, .layout = l };

	if (clang_Cursor_isNull(definition))
		definition = decl;
	l->kind = clang_getCursorKind(definition) == CXCursor_UnionDecl ? LAYOUT_UNION
									: LAYOUT_STRUCT;
	if (!clang_Cursor_isAnonymous(definition) || !strstr(l->name, " at "))
		l->name = without_keyword(l->name);
	else
		l->name = NULL;
	clang_visitChildren(definition, visit_base, &f);
	clang_Type_visitFields(type, visit_field, &f);
	qsort(f.list.at, f.list.n, sizeof *f.list.at, by_offset);
	l->nfields = f.list.n;
	l->fields = arena_alloc(&t->unit->arena, (f.list.n + 1) * sizeof *l->fields);
	if (f.list.n)
		memcpy(l->fields, f.list.at, f.list.n * sizeof *l->fields);
	vec_release(&f.list);
	return !f.is_wrong;
}

static bool fill_layout(struct typed_unit *t, CXType type, struct layout *l)
{
	long long size;

	switch ((int)type.kind) {
	case CXType_Record:
		l->name = unit_string(t->unit, clang_getTypeSpelling(type));
		size = clang_Type_getSizeOf(type);
		l->size_bytes = size > 0 ? (uint64_t)size : 0;
		return size >= 0 && l->name && fill_record(t, type, l);
	case CXType_ConstantArray:
	case CXType_IncompleteArray:
		l->kind = LAYOUT_ARRAY;
		l->element = layout_of(t, clang_getArrayElementType(type));
		l->count = type.kind == CXType_ConstantArray ? (uint64_t)clang_getNumElements(type)
							     : 0;
		l->size_bytes = l->element ? l->count * l->element->size_bytes : 0;
		return l->element != NULL;
	case CXType_VariableArray: return false;
	case CXType_Void: l->size_bytes = 0; break;
	case CXType_Atomic:
		return fill_layout(t, clang_getCanonicalType(clang_Type_getValueType(type)), l);
	default:
		if (!((type.kind >= CXType_Bool && type.kind <= CXType_LongDouble) ||
		      type.kind == CXType_Pointer || type.kind == CXType_Enum ||
		      type.kind == CXType_Vector || type.kind == CXType_Float128 ||
		      type.kind == CXType_NullPtr || type.kind == CXType_MemberPointer ||
		      type.kind == CXType_LValueReference || type.kind == CXType_Complex))
			return false;
		size = type.kind == CXType_LValueReference ? 8 : clang_Type_getSizeOf(type);
		if (size < 0)
			return false;
		l->size_bytes = (uint64_t)size;
	}
	l->kind = LAYOUT_SCALAR;
	l->name = without_keyword(unit_string(t->unit, clang_getTypeSpelling(type)));
	return true;
}

static uint64_t type_key(CXType type)
{
	return ((uint64_t)clang_hashCursor(clang_getTypeDeclaration(type)) << 8 ^
		(uint64_t)type.kind) +
	       1;
}

const struct layout *layout_of(struct typed_unit *t, CXType type)
{
	struct known_layout *k, *first;
	struct layout *l;

	type = clang_getCanonicalType(type);
	if (type.kind == CXType_Record) /* removes const */
		type = clang_getCanonicalType(clang_getCursorType(clang_getTypeDeclaration(type)));
	first = map_get(&t->layouts, type_key(type));
	for (k = first; k; k = k->next)
		if (clang_equalTypes(k->type, type))
			return k->layout;
	l = arena_alloc(&t->unit->arena, sizeof *l);
	*l = (struct layout){ 0 };
	k = arena_alloc(&t->unit->arena, sizeof *k);
	*k = (struct known_layout){ .type = type, .layout = l, .next = first };
	map_set(&t->layouts, type_key(type), k);
	if (!fill_layout(t, type, l))
		k->layout = NULL;
	return k->layout;
}

uint32_t layout_base_path(const struct layout *from, const struct layout *to, uint32_t *path,
			  uint32_t max)
{
	if (max == 0 || from->kind != LAYOUT_STRUCT)
		return 0;
	for (uint32_t i = 0; i < from->nfields; i++) {
		uint32_t n;

		if (from->fields[i].name || from->fields[i].type->kind != LAYOUT_STRUCT)
			continue;
		path[0] = i;
		if (from->fields[i].type == to)
			return 1;
		n = layout_base_path(from->fields[i].type, to, path + 1, max - 1);
		if (n)
			return n + 1;
	}
	return 0;
}
