/* Declares what the files of this folder share. A window is a part of a trace that is looked at,
 * for one bug or for a region. */
#ifndef ACCOUNT_EVIDENCE_WINDOW_H
#define ACCOUNT_EVIDENCE_WINDOW_H

#include "crash/states/image.h"
#include "model/files.h"
#include "model/model.h"
#include "report/evidence.h"
#include "source/locate.h"
#include "source/types.h"
#include "trace/followed.h"
#include "util/map.h"
#include "util/vec.h"

#define WINDOW_BEFORE 4000u   /* events before the first anchor that are looked at */
#define WINDOW_KEPT_BEFORE 6u /* of these, events that are shown */
/* events behind the last anchor that are shown, if no crash ends the window */
#define WINDOW_KEPT_AFTER 6u
/* events at the beginning that stay if there are too many; as many stay at the end */
#define WINDOW_HEAD 16u
/* rows that the bug does not name and that were stored to last before the crash */
#define WINDOW_NEAR 3u
#define WINDOW_KEPT 40u /* events per bug */
#define WINDOW_KEPT_REGION 600u
#define SCENE_TYPED 500000u /* stores whose type is found; names are not worth more time */
/* events at the beginning of the trace from which the positions of objects are learnt, because
 * programs often make their objects there */
#define SCENE_LEARNED 100000u

/* An event that the bug names, or a site whose events it names. */
struct anchor {
	uint64_t seq; /* 0: any event of the site */
	uint32_t site;
	const char *role;
};

/* An event as it was read. Names are looked up later, for the events that stay. */
struct kept {
	struct trace_event ev;
	uint8_t data[PMT_STORE_MAX_BYTES];
	char states[EVIDENCE_ROWS_MAX + 1];
	const char *role;
	uint32_t row;
	uint64_t skipped;
	struct type_level type; /* the outermost struct that was stored to */
	bool is_typed;
};

struct window {
	size_t bug;
	VEC(struct anchor) anchors;
	uint64_t first_seq, last_seq; /* of the anchors with a number; or of the region */
	uint64_t crash_seq;           /* 0: none */
	const char *state;            /* the crash state as text; NULL: unknown */
	bool is_region, has_memory;
	uint64_t rows[EVIDENCE_ROWS_MAX]; /* PM addresses */
	size_t nrows;
	uint64_t near[WINDOW_NEAR]; /* other rows that were stored to last */
	size_t nnear;
	/* used while the trace is read */
	VEC(struct kept) kept;
	VEC(struct evidence_field) fields[EVIDENCE_ROWS_MAX];
	/* threads (stream and number) that touched a row since their last fence */
	VEC(uint64_t) busy;
	uint64_t skipped;
	size_t nafter;
	bool is_done;
	VEC(struct evidence_event) events; /* filled at the end */
	struct evidence evidence;
};

/* What all windows of a trace share while it is read. */
struct scene {
	struct trace *trace;
	const struct platform *platform;
	struct model *model;
	followed_files followed; /* these have no rows of bytes */
	struct files *files;     /* NULL: none are followed */
	struct crash_image image;
	struct locator *locator;
	struct symbols *symbols;
	struct types *types;
	struct map lines; /* line number + 1 → itself: the lines that the model must follow */
	struct arena arena;
	VEC(uint64_t) sizes; /* largest size of each file */
	uint64_t nlearned, ntyped;
	struct type_level type; /* of the present event, if it is a store */
	bool is_typed;
};

/* Adds the row of bytes at addr to those that the window is about. */
void window_add_row(struct window *w, uint64_t addr);
/* Keeps the event if it matters for the window. To be called when the model has taken the event. */
void window_see(struct window *w, struct scene *s, const struct trace_event *ev);
void window_release(struct window *w);
void window_compact(struct window *w); /* leaves as many events as are shown */
/* Gives the PM addresses that an event is about; false: none. */
bool event_range(const struct trace_event *ev, uint64_t *addr, uint64_t *len_bytes);
/* names.c: turns kept events into events with names. */
void window_tell(struct window *w, struct scene *s);
/* bytes.c: turns the memory at this moment, and all kept events, into evidence. */
void window_finish(struct window *w, struct scene *s);
/* scene.c: reads the trace for these windows; w is in the order of its first events. */
void scene_read(struct scene *s, const struct trace *t, const struct platform *p,
		const struct libraries *libraries, struct window *w, size_t n);
void scene_release(struct scene *s);

#endif
