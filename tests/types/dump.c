/* Prints what each store of a trace was found to write, and how many were typed by which means:
 *
 *	types_dump TRACE [LIBEXEC [BUILD_DIR]]
 *
 * One line for each store: means, the store's file and line, address, then "type field @offset" from the innermost struct outwards. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "source/types.h"

static const char *const means[] = { "source", "dwarf", "path" };

static void print(struct types *t, struct symbols *s, const struct trace_event *ev, const struct typed *typed)
{
	const struct symbol *list;

	symbols_find(s, ev->site->object, ev->site->pc, false, &list);
	printf("%s\t%s:%u:%u\t%#" PRIx64 "+%u", means[typed->means], list[0].file ? list[0].file : "?", list[0].line, list[0].column,
	       PMT_OFFSET(ev->addr), ev->size_bytes);
	for (uint32_t i = 0; i < typed->n; i++)
		printf("\t%s %s @%" PRIu64 " %#" PRIx64, types_name(t, typed->level[i].type), types_name(t, typed->level[i].field), ev->addr - typed->level[i].instance,
		       PMT_OFFSET(typed->level[i].instance));
	printf("\n");
}

static int pass(const char *path, struct types *t, struct symbols *s, bool is_learning)
{
	struct trace *trace;
	struct trace_event ev;
	struct typed typed;
	struct error err;

	if (trace_open(&trace, path, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 2;
	}
	while (trace_next(trace, &ev)) {
		if (is_learning) {
			types_learn(t, &ev);
		} else if (trace_is_store(ev.kind)) {
			types_of(t, &ev, &typed);
			print(t, s, &ev, &typed);
		}
	}
	trace_close(trace);
	return 0;
}

int main(int argc, char **argv)
{
	struct types_options options = { .libexec = argc > 2 ? argv[2] : NULL, .build_dir = argc > 3 ? argv[3] : NULL };
	struct symbols *s = symbols_new();
	struct types *t = types_new(&options, s);
	int result = argc > 1 ? pass(argv[1], t, s, true) || pass(argv[1], t, s, false) : 2;

	for (unsigned i = 0; i < TYPE_NMEANS; i++)
		fprintf(stderr, "%s %" PRIu64 "%s", means[i], types_count(t, i), i + 1 < TYPE_NMEANS ? ", " : "\n");
	if (types_problem(t))
		fprintf(stderr, "%s\n", types_problem(t));
	types_free(t);
	symbols_free(s);
	return result;
}
