/* What the files that type stores share. */
#ifndef SOURCE_TYPES_INNER_H
#define SOURCE_TYPES_INNER_H

#include "source/instances.h"
#include "source/names.h"
#include "source/shape.h"
#include "source/source.h"
#include "source/types.h"

_Static_assert(SHAPE_MAX_LEVELS == TYPES_MAX_LEVELS, "each level of a shape is one of the answer");

/* A frame of a store's call stack: the store itself, then where each function was called, inlined
 * ones too. */
struct frame {
	const struct symbol *symbol;
	const struct trace_object *object;
	uint64_t pc;
	bool is_return;
	const struct trace_node *self; /* NULL: the store's own */
	const struct trace_node *node; /* the frame that it was called from */
};

struct frames {
	VEC(struct frame) list;
};

/* A folder with compile_commands.json, or none found from that folder upwards. */
struct sources {
	char *folder;                 /* of a compilation unit; NULL: given by the user */
	struct source_typing *typing; /* NULL: there are none */
};

/* Where several stores may go to: all that one call, or one assignment of a struct, writes. */
struct destination {
	struct place place;
	const struct trace_node *node; /* called from here */
	const struct trace_node *call; /* the call that fills it; NULL: no call does */
};

/* What is known of the stores of one site before their addresses are. */
struct answer {
	enum type_means means;
	const struct destination *destination; /* NULL: nothing but the path is known */
	bool is_spread; /* the stored bytes are somewhere in the destination */
	/* if they are not; of the path, if nothing or only a number is known to be there */
	struct shape shape;
};

/* The stores of a thread that fill one destination. */
struct run {
	uint64_t first_seq, low, high;
	const struct destination *destination;
};

struct types {
	struct symbols *symbols;
	const struct source_api *api;
	char *build_dir;
	VEC(struct sources) sources;
	char problem[1024];

	struct arena arena;
	struct names names;
	VEC(struct answer *) answers; /* by site */
	struct map destinations;      /* by hash: lists of struct known_destination */
	struct map shapes;            /* of spread stores, by hash */
	struct instances instances;

	struct map threads;   /* stream and thread: struct run */
	VEC(struct run) runs; /* that types_learn() has seen, in order */
	struct dwarf_types *dwarf;
	uint64_t counts[TYPE_NMEANS];
};

/* frames.c */
void frames_find(struct types *t, const struct trace_site *site, struct frames *out);
/* The file that was compiled and its folder; both malloc'd. False: no debug information. */
bool frame_unit(struct types *t, const struct frame *f, char **file, char **folder);

/* resolve.c: what the site's stores write to, by the best means; where that was named, and the call
 * that fills it, as in struct destination. */
bool resolve(struct types *t, const struct trace_site *site, struct place *out,
	     enum type_means *means, const struct trace_node **node,
	     const struct trace_node **call);
/* the name of the call path */
uint32_t resolve_path(struct types *t, const struct trace_site *site);

/* answers.c */
const struct answer *answer_get(struct types *t, const struct trace_site *site);

/* runs.c: the lowest address of the run that the store belongs to. */
uint64_t run_step(struct types *t, const struct trace_event *ev, const struct destination *d,
		  bool is_learning);
/* an event of its thread that is no store */
void run_break(struct types *t, const struct trace_event *ev);

#endif
