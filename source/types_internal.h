/* What the files share that find which field a store writes. */
#ifndef SOURCE_TYPES_INNER_H
#define SOURCE_TYPES_INNER_H

#include "source/instances.h"
#include "source/names.h"
#include "source/shape.h"
#include "source/source.h"
#include "source/types.h"

_Static_assert(SHAPE_MAX_LEVELS == TYPES_MAX_LEVELS, "each level of a shape is one of the answer");

/* A frame of a store's call stack, from the store itself outwards; inlined functions have frames,
 * too. */
struct frame {
	const struct symbol *symbol;
	const struct trace_object *object;
	uint64_t pc;
	bool is_return;
	const struct trace_node *self; /* NULL for the store's own frame */
	const struct trace_node *node; /* the calling frame */
};

struct frames {
	VEC(struct frame) list;
};

/* A folder, and the sources of the compile_commands.json found from there upwards. */
struct sources {
	char *folder;                 /* folder of a compilation unit; NULL if the user gave it */
	struct source_typing *typing; /* NULL if there are none */
};

/* What several stores fill together: those of one call, or of one assignment of a struct. */
struct destination {
	struct place place;
	const struct trace_node *node; /* the frame from which it was called */
	const struct trace_node *call; /* the call that fills it; NULL if it is an assignment */
};

/* What is known about a site's stores before their addresses are seen. */
struct answer {
	enum type_means means;
	const struct destination *destination; /* NULL if only the call path is known */
	bool is_spread; /* the stored bytes may be anywhere in the destination */
	/* the levels, if not spread; those of the call path, if nothing or only a number is known
	 * to be there */
	struct shape shape;
};

/* Stores of one thread that fill one destination. */
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
	VEC(struct answer *) answers; /* by site id */
	struct map destinations;      /* hash → list of struct known_destination */
	struct map shapes;            /* hash → shapes of spread stores */
	struct instances instances;

	struct map threads;   /* stream and thread → struct run */
	VEC(struct run) runs; /* seen by types_learn(), in order */
	struct dwarf_types *dwarf;
	uint64_t counts[TYPE_NMEANS];
};

/* frames.c: lists the frames of a site's call stack, with inlined functions */
void frames_find(struct types *t, const struct trace_site *site, struct frames *out);
/* Gives the compiled file and its folder; free() both. False without debug information. */
bool frame_unit(struct types *t, const struct frame *f, char **file, char **folder);

/* resolve.c: finds what the site's stores write to, by the best means that works. node and call are
 * as in struct destination. False if nothing is known. */
bool resolve(struct types *t, const struct trace_site *site, struct place *out,
	     enum type_means *means, const struct trace_node **node,
	     const struct trace_node **call);
/* Gives the number of the name that the site's call path has (struct names). */
uint32_t resolve_path(struct types *t, const struct trace_site *site);

/* answers.c: gives what is known about the stores of a site */
const struct answer *answer_get(struct types *t, const struct trace_site *site);

/* store_runs.c: adds the store to its run, and gives the lowest address of the run */
uint64_t run_step(struct types *t, const struct trace_event *ev, const struct destination *d,
		  bool is_learning);
/* Ends the thread's run because of ev, which is no store. */
void run_break(struct types *t, const struct trace_event *ev);

#endif
