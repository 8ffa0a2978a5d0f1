/* Prints words and places. Names may hold any bytes, so all of them are escaped. */
#include <inttypes.h>
#include <string.h>

#include "report/text/text.h"
#include "util/str.h"

void text_put(const struct text *t, const char *s)
{
	escape_text(t->f, s, strlen(s));
}

bool text_place(const struct text *t, const struct bug_frame *frame)
{
	if (frame->file && frame->line) {
		text_put(t, path_below(frame->file, t->o->cwd));
		fprintf(t->f, ":%" PRIu32, frame->line);
	} else if (frame->object) {
		text_put(t, path_below(frame->object, t->o->cwd));
		fprintf(t->f, "+0x%" PRIx64, frame->offset);
	} else {
		return false;
	}
	return true;
}
