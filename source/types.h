/* Says what a store wrote in the program's own terms: which struct, which instance, which field.
 *
 *	struct types *t = types_new(&options, symbols);
 *	while (trace_next(first, &ev)) types_learn(t, &ev);     optional, better answers: see below
 *	while (trace_next(again, &ev)) if (trace_is_store(ev.kind)) types_of(t, &ev, &typed);
 *	types_free(t);
 *
 * Three means are tried in this order: the syntax tree of the source at the store's line and column
 * (libclang, compile_commands.json); debug information about the pointer that the instruction
 * stores through; the call path. Answers are cached by site, so a known store costs a few lookups.
 *
 * Other stores tell what one address does not. a[i].x shows where the element is, but a store to
 * another field of the struct shows where the struct begins; memcpy(p, …) begins at the lowest
 * address of its stores. So types_learn() may see the trace first; otherwise types_of() knows only
 * what came before. */
#ifndef SOURCE_TYPES_H
#define SOURCE_TYPES_H

#include "trace/symbols.h"
#include "trace/trace.h"

struct layout;

enum type_means {
	TYPE_BY_SOURCE, /* syntax tree */
	TYPE_BY_DWARF,  /* debug information and the instruction's operand */
	/* the call path stands for the type, the 64-byte line for the instance, the instruction for
	 * the field; for bytes copied to an unknown type, the destination is the instance and the
	 * distance the field */
	TYPE_BY_PATH,
	TYPE_NMEANS
};

/* A struct, class or union that contains the stored bytes. */
struct type_level {
	uint32_t type; /* for types_name(); equal names are one type in all objects and units */
	/* for types_name(): "next", "list.prev", "slot[].key" (any element), "key..next" (all from
	 * key to next); "" if the type has no fields */
	uint32_t field;
	uint64_t instance; /* PM address of the instance's beginning */
	/* the beginning is known; else it is that of the lowest array element seen */
	bool is_placed;
	const struct layout *layout; /* NULL if unknown */
};

#define TYPES_MAX_LEVELS 8

struct typed {
	enum type_means means;
	uint32_t n;                                /* at least 1 */
	struct type_level level[TYPES_MAX_LEVELS]; /* innermost struct first */
};

struct types_options {
	/* folder of compile_commands.json; NULL: search upwards from each unit's compilation
	 * folder */
	const char *build_dir;
	const char *libexec; /* folder of libpmend_source.so; NULL: do not read sources */
};

struct types;

/* Makes the state for naming stores. It keeps the pointer to symbols. */
struct types *types_new(const struct types_options *options, struct symbols *symbols);
void types_free(struct types *t);

/* Learns from an event. Give it all events of the trace, in order. */
void types_learn(struct types *t, const struct trace_event *ev);
/* Names what the store ev wrote. Stores come in the order of the trace. */
void types_of(struct types *t, const struct trace_event *ev, struct typed *out);

const char *types_name(const struct types *t, uint32_t id); /* of a type or field */
/* Names these bytes of a level with indices: "log.entry[3].text". Indices into a text, and unknown
 * indices, are left out: "log.entry[].key". NULL if the type has no name. free() it. */
char *types_path(const struct types *t, const struct type_level *l, uint64_t addr,
		 uint64_t size_bytes);
/* Counts the answers of types_of() that used this means. */
uint64_t types_count(const struct types *t, enum type_means means);
/* Says in one sentence why sources were not used or may be wrong; NULL if all went well. */
const char *types_problem(const struct types *t);

#endif
