/* Writes the events of an imported log. The log names no threads, and stacks only for stores. */
#include <string.h>

#include "trace/import_internal.h"

#define THREAD 1 /* the log names no threads: all events belong to this one */

void import_emit(struct import *im, enum pmt_kind kind, uint32_t size_bytes,
		 struct import_stack stack, struct writer_event ev)
{
	ev.site = writer_site(im->w, stack.node, stack.pc, kind, size_bytes);
	ev.thread = THREAD;
	writer_event(im->w, &ev);
	im->result->nevents++;
}

void import_emit_text(struct import *im, enum pmt_kind kind, const char *text)
{
	size_t len = strlen(text);

	import_emit(im, kind, 0, (struct import_stack){ 0 },
		    (struct writer_event){ .data = text,
					   .data_len = len < WRITER_BLOB_MAX_BYTES
							       ? (uint32_t)len
							       : WRITER_BLOB_MAX_BYTES });
}

void import_emit_meta(struct import *im, const char *key, const char *value)
{
	char *text = xasprintf("%s=%s", key, value);

	import_emit_text(im, PMT_META, text);
	free(text);
}
