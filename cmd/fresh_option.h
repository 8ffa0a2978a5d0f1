/* Handles --fresh (record without the existing PM files, and restore them afterwards) and has the
 * row of --old-bytes (fill memory that is handed out again with bytes that are not zero), for the
 * commands that record a program. */
#ifndef CMD_FRESH_OPTION_H
#define CMD_FRESH_OPTION_H

#include "record/recorder.h"

#define FRESH_OPTION(is_fresh) \
	{ \
		"fresh", 0, NULL, \
			"record without the existing PM files, and restore them afterwards", \
			OPTION_FLAG, is_fresh \
	}
#define OLD_BYTES_OPTION(recording) \
	{ \
		"old-bytes", 0, NULL, \
			"fill memory that is handed out again, and devices, with bytes that are not zero", \
			OPTION_FLAG, &(recording)->old_bytes \
	}

/* fresh_option_begin() is called before a recording, fresh_option_end() after the last one. False:
 * some files could not be moved back; a message names them. */
void fresh_option_begin(struct recording *r, bool is_fresh);
bool fresh_option_end(struct recording *r);

#endif
