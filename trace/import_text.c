/* Reads a pmemcheck log as texts that end at '|' or newline, and counts lines and bytes for
 * messages. A text that was cut at a '|' of its own can be joined with the next. */
#include <inttypes.h>

#include "trace/import_internal.h"

#define RECORD_LIMIT_BYTES ((size_t)4 << 20) /* a longer text is refused */

int import_bad(struct import *im, const char *problem)
{
	return error_set(im->err, "%s: line %" PRIu64 ", byte %" PRIu64 ": %s: '%.60s'", im->path,
			 im->record_line, im->record_byte, problem, im->text.at);
}

static int next_char(struct import *im)
{
	int c = getc_unlocked(im->in);

	if (c != EOF)
		im->byte++;
	if (c == '\n')
		im->line++;
	return c;
}

static void text_add(struct import *im, char c)
{
	*vec_add(&im->text) = c;
}

/* Extends the text up to the next '|', newline or end. */
static int text_read(struct import *im)
{
	int c;

	while ((c = next_char(im)) != '|' && c != '\n' && c != EOF) {
		if (im->text.n >= RECORD_LIMIT_BYTES) {
			text_add(im, '\0');
			return import_bad(im, "a record without end");
		}
		text_add(im, c ? (char)c : '?');
	}
	im->end = c;
	text_add(im, '\0');
	return 0;
}

int import_text_start(struct import *im)
{
	im->text.n = 0;
	im->record_line = im->line;
	im->record_byte = im->byte;
	return text_read(im);
}

int import_text_join(struct import *im)
{
	im->text.at[im->text.n - 1] = '|';
	return text_read(im);
}

void import_skip_line(struct import *im)
{
	while (im->end != '\n' && im->end != EOF)
		im->end = next_char(im);
}
