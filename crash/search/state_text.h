/* Writes and reads a crash state as text, as --replay takes it: POINT:FILE+OFFSET=CONTENT,….
 * CONTENT is a number, or, in a line with very many contents, x and its bytes. */
#ifndef CRASH_SEARCH_STATE_TEXT_H
#define CRASH_SEARCH_STATE_TEXT_H

#include "crash/states/states.h"
#include "util/error.h"

/* Writes a state of a failure point; free() it. Lines with their newest content are left out. */
char *state_text(const struct state_set *s, uint64_t point, const uint64_t *state);
/* Collects the lines of this point of a trace, so that the state of the text is among their states.
 * -1: the model does not allow that state. */
int state_collect(struct state_set *s, const struct model *m, const char *text, struct error *err);
/* Reads a state. NULL with err: there is no such state at this point. */
uint64_t *state_parse(const struct state_set *s, const char *text, struct error *err);
/* Does the text have this form, without a line twice? The trace may still have no such state. */
bool state_is_text(const char *text);
/* Gives the failure point of a state's text, which is the number before the colon; 0 if there is
 * none. */
uint64_t state_point(const char *text);

#endif
