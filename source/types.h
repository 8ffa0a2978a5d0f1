/* What a store wrote, in the program's own terms: of which struct, which instance of it, which
 * field.
 *
 *	struct types *t = types_new(&options, symbols);
 *	while (trace_next(first, &ev)) types_learn(t, &ev);     optional, better answers: see below
 *	while (trace_next(again, &ev)) if (trace_is_store(ev.kind)) types_of(t, &ev, &typed);
 *	types_free(t);
 *
 * Three means, the first that succeeds: the sources' syntax tree at the store's line and column
 * (libclang; compile_commands.json), the debug information of the pointer that the instruction
 * stores through, the call path. Answers are cached by site: a store that was met before costs a
 * few lookups.
 *
 * What an address alone does not tell, others' stores do: a[i].x says where the element is, but
 * where the array's struct begins is known from a store to another field of that struct;
 * memcpy(p, …) begins at the lowest address of the call's stores. So the trace may be shown to
 * types_learn() first; without that, types_of() knows only what came before. */
#ifndef SOURCE_TYPES_H
#define SOURCE_TYPES_H

#include "trace/symbols.h"
#include "trace/trace.h"

struct layout;

enum type_means {
	TYPE_BY_SOURCE, /* syntax tree */
	TYPE_BY_DWARF,  /* debug information and the instruction's operand */
	/* the call path stands for the type, a line of 64 bytes for the instance, the instruction
	 * for the field; of bytes that are copied to a destination of unknown type, the destination
	 * is the instance and the distance from it the field */
	TYPE_BY_PATH,
	TYPE_NMEANS
};

/* One struct, class or union that the stored bytes belong to. */
struct type_level {
	uint32_t type; /* types_name(); equal names in all objects and units are one type */
	/* types_name(): "next", "list.prev", "slot[].key" (any element), "key..next" (all of
	 * these); "" if the type has none */
	uint32_t field;
	uint64_t instance; /* PM address where the instance begins */
	/* it does begin there; else that is a guess, where the lowest element of an array begins
	 * that was met */
	bool is_placed;
	const struct layout *layout; /* NULL: not known */
};

#define TYPES_MAX_LEVELS 8

struct typed {
	enum type_means means;
	uint32_t n;                                /* 1 or more */
	struct type_level level[TYPES_MAX_LEVELS]; /* from the innermost struct outwards */
};

struct types_options {
	/* with compile_commands.json; NULL: looked for from the compilation directory of each unit
	 * upwards */
	const char *build_dir;
	const char *libexec; /* folder of libpmend_source.so; NULL: without sources */
};

struct types;

/* borrows symbols */
struct types *types_new(const struct types_options *options, struct symbols *symbols);
void types_free(struct types *t);

/* any event; all of a trace, in its order */
void types_learn(struct types *t, const struct trace_event *ev);
/* a store; in the trace's order */
void types_of(struct types *t, const struct trace_event *ev, struct typed *out);

const char *types_name(const struct types *t, uint32_t id); /* of a type or field */
/* What these bytes are in a level, with indices: "log.entry[3].text"; those of bytes of a text are
 * left out, and all that are not known: "log.entry[].key". free() it. NULL: the type has no
 * name. */
char *types_path(const struct types *t, const struct type_level *l, uint64_t addr,
		 uint64_t size_bytes);
/* how many answers of types_of() came by it */
uint64_t types_count(const struct types *t, enum type_means means);
/* why sources were not used, or not to be trusted, in one sentence; NULL: nothing went wrong */
const char *types_problem(const struct types *t);

#endif
