/* Lists call stacks as the source has them: one frame per function, including inlined ones. Debug
 * information says to which compilation unit a frame belongs. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdlib.h>

#include "source/dwarf_types.h"
#include "source/types_internal.h"

enum { FRAMES_MAX = 64 };

static void add_frames(struct types *t, struct frames *out, const struct trace_object *object,
		       uint64_t pc, bool is_return, const struct trace_node *self,
		       const struct trace_node *node)
{
	const struct symbol *list;
	size_t n = symbols_find(t->symbols, object, pc, is_return, &list);

	for (size_t i = 0; i < n; i++)
		*vec_add(&out->list) = (struct frame){ .symbol = &list[i],
						       .object = object,
						       .pc = pc,
						       .is_return = is_return,
						       .self = self,
						       .node = node };
}

void frames_find(struct types *t, const struct trace_site *site, struct frames *out)
{
	const struct trace_node *node = site->node;

	out->list.n = 0;
	add_frames(t, out, site->object, site->pc, false, NULL, node);
	for (; node && out->list.n < FRAMES_MAX; node = node->parent)
		add_frames(t, out, node->object, node->pc, !node->is_signal, node, node->parent);
}

bool frame_unit(struct types *t, const struct frame *f, char **file, char **folder)
{
	uint64_t pc = f->pc - f->is_return;
	Dwfl_Module *module = f->object ? symbols_module(t->symbols, f->object, &pc) : NULL;
	Dwarf_Die unit;
	Dwarf_Attribute attr;
	const char *name, *directory;

	if (!module || !dwarf_unit_at(module, pc, &unit))
		return false;
	name = dwarf_diename(&unit);
	directory = dwarf_attr(&unit, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr) : NULL;
	if (!name || !directory)
		return false;
	*folder = xstrdup(directory);
	*file = name[0] == '/' ? xstrdup(name) : xasprintf("%s/%s", directory, name);
	return true;
}
