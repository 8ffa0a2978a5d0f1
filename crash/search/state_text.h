/* A crash state as text, POINT:FILE+OFFSET=CONTENT,…, and back: what --replay takes. CONTENT is a
 * number, or, in a line with very many contents, x and its bytes. */
#ifndef CRASH_SEARCH_STATE_TEXT_H
#define CRASH_SEARCH_STATE_TEXT_H

#include "crash/states/states.h"
#include "util/error.h"

/* The state at a failure point; free() it. Lines that have their newest content are not named. */
char *state_text(const struct state_set *s, uint64_t point, const uint64_t *state);
/* The lines at this point of a trace, with what the text names. -1: the model does not allow it. */
int state_collect(struct state_set *s, const struct model *m, const char *text, struct error *err);
/* NULL with err: no such state at this point. */
uint64_t *state_parse(const struct state_set *s, const char *text, struct error *err);
/* It has this form, and names no line twice. Whether a trace has such a state is another
 * question. */
bool state_is_text(const char *text);
/* The number before the colon; 0 if there is none. */
uint64_t state_point(const char *text);

#endif
