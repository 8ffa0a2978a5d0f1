/* Computes layouts of types in debug information. A type that its unit only declares is not
 * searched in other units. */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/dwarf_internal.h"

bool dwarf_unit_at(Dwfl_Module *module, uint64_t pc, Dwarf_Die *out)
{
	Dwarf_Addr bias;
	Dwarf_Die *cu = dwfl_module_addrdie(module, pc, &bias);

	if (!cu)
		while ((cu = dwfl_module_nextcu(module, cu, &bias)))
			if (dwarf_haspc(cu, pc - bias) == 1)
				break;
	if (cu)
		*out = *cu;
	return cu != NULL;
}

bool dwarf_real_type(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attr;

	*out = *die;
	for (;;) {
		switch (dwarf_tag(out)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!dwarf_attr_integrate(out, DW_AT_type, &attr) ||
			    !dwarf_formref_die(&attr, out))
				return false;
			continue;
		default: return true;
		}
	}
}

/* ---- names ---- */

/* Gives the usual name of an integer type, also inside a template's arguments: gcc writes "long
 * unsigned int", clang "unsigned long". */
static const char *usual_name(struct dwarf_types *t, const char *name)
{
	static const char *const words[][2] = {
		{ "long long unsigned int", "unsigned long long" },
		{ "long long int", "long long" },
		{ "long unsigned int", "unsigned long" },
		{ "short unsigned int", "unsigned short" },
		{ "long int", "long" },
		{ "short int", "short" },
	};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		const char *at = strstr(name, words[i][0]);

		if (at) {
			char *copy = xasprintf("%.*s%s%s", (int)(at - name), name, words[i][1],
					       at + strlen(words[i][0]));

			name = arena_text(&t->arena, copy);
			free(copy);
			return usual_name(t, name);
		}
	}
	return name;
}

/* Gives the type's name with the namespaces and classes around it. */
static const char *full_name(struct dwarf_types *t, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	Dwarf_Die *scopes = NULL;
	int n;

	if (!name)
		return NULL;
	n = dwarf_getscopes_die(die, &scopes);
	for (int i = 1; i < n; i++) {
		int tag = dwarf_tag(&scopes[i]);
		const char *outer = dwarf_diename(&scopes[i]);
		char *longer;

		if (!outer || (tag != DW_TAG_namespace && tag != DW_TAG_structure_type &&
			       tag != DW_TAG_class_type))
			continue;
		longer = xasprintf("%s::%s", outer, name);
		name = arena_text(&t->arena, longer);
		free(longer);
	}
	free(scopes);
	return usual_name(t, name);
}

/* Gives the name of the typedef for an unnamed struct. */
static const char *typedef_name(struct dwarf_types *t, Dwarf_Die *die)
{
	const char *name = NULL;
	Dwarf_Die at = *die;
	Dwarf_Attribute attr;

	for (;;) {
		int tag = dwarf_tag(&at);

		if (tag == DW_TAG_typedef)
			name = full_name(t, &at);
		else if (tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
			 tag != DW_TAG_atomic_type)
			return name;
		if (!dwarf_attr_integrate(&at, DW_AT_type, &attr) || !dwarf_formref_die(&attr, &at))
			return name;
	}
}

/* ---- parts ---- */

static bool number(Dwarf_Die *die, unsigned name, uint64_t *out)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr_integrate(die, name, &attr) || dwarf_formudata(&attr, &value) != 0)
		return false;
	*out = value;
	return true;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, out);
}

static bool fill_field(struct dwarf_types *t, Dwarf_Die *member, struct layout_field *f)
{
	uint64_t bits, at;
	Dwarf_Die type;

	*f = (struct layout_field){ .name = dwarf_tag(member) == DW_TAG_inheritance
						    ? NULL
						    : dwarf_diename(member) };
	if (!type_of(member, &type) || !(f->type = dwarf_layout(t, &type)))
		return false;
	f->size_bytes = f->type->size_bytes;
	number(member, DW_AT_data_member_location, &f->offset);
	if (!number(member, DW_AT_bit_size, &bits))
		return true;
	f->is_bits = true;
	if (number(member, DW_AT_data_bit_offset, &at)) {
		f->offset = at / 8;
		f->size_bytes = (at % 8 + bits + 7) / 8;
	}
	return true;
}

static bool is_member(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_inheritance ||
	       (dwarf_tag(die) == DW_TAG_member && !dwarf_hasattr(die, DW_AT_external) &&
		!dwarf_hasattr(die, DW_AT_declaration));
}

static bool fill_record(struct dwarf_types *t, Dwarf_Die *die, Dwarf_Die *as_named,
			struct layout *l)
{
	VEC(struct layout_field) fields = { 0 };
	Dwarf_Die child;
	bool is_right = !dwarf_hasattr(die, DW_AT_declaration);

	l->kind = dwarf_tag(die) == DW_TAG_union_type ? LAYOUT_UNION : LAYOUT_STRUCT;
	l->name = full_name(t, die);
	if (!l->name)
		l->name = typedef_name(t, as_named);
	number(die, DW_AT_byte_size, &l->size_bytes);
	if (is_right && dwarf_child(die, &child) == 0)
		do
			if (is_member(&child))
				is_right &= fill_field(t, &child, vec_add(&fields));
		while (is_right && dwarf_siblingof(&child, &child) == 0);
	l->nfields = fields.n;
	l->fields = arena_alloc(&t->arena, (fields.n + 1) * sizeof *l->fields);
	if (fields.n)
		memcpy(l->fields, fields.at, fields.n * sizeof *l->fields);
	vec_release(&fields);
	return is_right;
}

/* Fills the layout of an array. The first of several dimensions is the outermost. */
static bool fill_array(struct dwarf_types *t, Dwarf_Die *die, struct layout *l)
{
	uint64_t counts[8], bound;
	unsigned n = 0;
	Dwarf_Die child, element;

	if (!type_of(die, &element) || dwarf_child(die, &child) != 0)
		return false;
	do
		if (dwarf_tag(&child) == DW_TAG_subrange_type && n < 8) {
			if (!number(&child, DW_AT_count, &counts[n]))
				counts[n] =
					number(&child, DW_AT_upper_bound, &bound) ? bound + 1 : 0;
			n++;
		}
	while (dwarf_siblingof(&child, &child) == 0);
	for (unsigned i = 0; i < n; i++) {
		struct layout *inner = i + 1 < n ? arena_alloc(&t->arena, sizeof *inner) : NULL;

		*l = (struct layout){ .kind = LAYOUT_ARRAY,
				      .count = counts[i],
				      .element = inner ? inner : dwarf_layout(t, &element) };
		if (!l->element)
			return false;
		l = inner ? inner : l;
	}
	return n > 0;
}

static uint64_t array_size(struct layout *l)
{
	if (l->kind == LAYOUT_ARRAY && l->element->kind == LAYOUT_ARRAY)
		array_size((struct layout *)l->element);
	if (l->kind == LAYOUT_ARRAY)
		l->size_bytes = l->count * l->element->size_bytes;
	return l->size_bytes;
}

static bool fill_layout(struct dwarf_types *t, Dwarf_Die *real, Dwarf_Die *as_named,
			struct layout *l)
{
	const char *name;

	switch (dwarf_tag(real)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type: return fill_record(t, real, as_named, l);
	case DW_TAG_array_type:
		if (dwarf_hasattr(real, DW_AT_GNU_vector)) {
			Dwarf_Word size;

			*l = (struct layout){ .name = "vector",
					      .size_bytes = dwarf_aggregate_size(real, &size) == 0
								    ? size
								    : 16 };
			return true;
		}
		if (!fill_array(t, real, l))
			return false;
		array_size(l);
		return true;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		*l = (struct layout){ .name = "pointer", .size_bytes = 8 };
		return true;
	default:
		name = dwarf_diename(real);
		l->name = name ? usual_name(t, name) : "number";
		return number(real, DW_AT_byte_size, &l->size_bytes);
	}
}

const struct layout *dwarf_layout(struct dwarf_types *t, Dwarf_Die *type)
{
	static const struct layout incomplete;
	struct layout *l;
	Dwarf_Die real;

	if (!dwarf_real_type(type, &real))
		return NULL;
	l = map_get(&t->layouts, (uintptr_t)type->addr);
	if (l)
		return l == &incomplete ? NULL : l;
	l = arena_alloc(&t->arena, sizeof *l);
	*l = (struct layout){ 0 };
	if (!fill_layout(t, &real, type, l))
		l = NULL;
	map_set(&t->layouts, (uintptr_t)type->addr, l ? l : (void *)&incomplete);
	return l;
}
