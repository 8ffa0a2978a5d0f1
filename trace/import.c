/* Reads pmemcheck logs: one line of records separated by '|', between which Valgrind may have put
 * messages of its own.
 *
 *	==4242== START|REGISTER_FILE;/mnt/pmem/f;0x4a5b000;0x200000;0x0|STORE;0x4a5b000;0x2a;0x8;
 *	0x109201: fill (t.c:20)|…|STOP  (one line)
 *
 * Nothing is escaped. A '|' in a path or in a C++ name therefore splits a record, and its pieces
 * are joined again. */
#include "trace/import.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/import_internal.h"

/* Skips "==4242== ", which --time-stamp=yes makes "==00:00:01.234 4242== ". Sets pid to the process
 * number, or to -1 if there is none. */
static const char *skip_prefix(const char *p, long *pid)
{
	char mark = p[0];
	const char *q, *number = p + 2;

	*pid = -1;
	if ((mark != '=' && mark != '-' && mark != '*') || p[1] != mark)
		return p;
	for (q = p + 2; isdigit((unsigned char)*q) || *q == ':' || *q == '.' || *q == ' '; q++)
		if (!isdigit((unsigned char)*q))
			number = q + 1;
	if (q == number || q[0] != mark || q[1] != mark)
		return p;
	*pid = atol(number);
	return q[2] == ' ' ? q + 3 : q + 2;
}

static int other_process(struct import *im)
{
	return import_bad(
		im,
		"another process's log begins; import one at a time (--log-file=NAME.%p separates them)");
}

/* Reads the beginning of a line, up to the first record. */
static int line_start(struct import *im)
{
	const char *text;
	long pid;

	if (import_text_start(im) < 0)
		return -1;
	text = skip_prefix(im->text.at, &pid);
	if (strcmp(text, "START") == 0 || (pid >= 0 && im->pid >= 0 && pid != im->pid))
		return other_process(im);
	return 0;
}

static bool is_record_next(struct import *im)
{
	int c = getc_unlocked(im->in);

	if (c != EOF)
		ungetc(c, im->in);
	return c == 'S' || c == 'F' || c == 'R';
}

/* Reads one record after START, or the beginning of a line. */
static int read_piece(struct import *im, bool *is_line_start)
{
	long pid;

	if (*is_line_start) {
		if (line_start(im) < 0)
			return -1;
		if (im->end == '|' && *skip_prefix(im->text.at, &pid) && !is_record_next(im))
			import_skip_line(im); /* a message of Valgrind that contains a '|' */
		*is_line_start = im->end == '\n';
		return 0;
	}
	if (import_text_start(im) < 0)
		return -1;
	/* At the end of the file, any record but STOP may be cut off. */
	if ((im->end != EOF || strcmp(im->text.at, "STOP") == 0) && import_record(im) < 0)
		return -1;
	*is_line_start = im->end == '\n';
	return 0;
}

static void set_truncated(struct import *im)
{
	uint64_t lost = im->text.n ? im->text.n - 1 : 0;

	snprintf(im->result->truncated, sizeof im->result->truncated,
		 "the log ends without STOP at byte %" PRIu64
		 ": it was cut off, or the program was killed%s",
		 im->byte, lost ? "; its last, incomplete record was left out" : "");
}

static int records_read(struct import *im)
{
	bool is_line_start = im->end == '\n';

	im->text.n = 0;
	while (im->end != EOF && !im->is_stopped)
		if (read_piece(im, &is_line_start) < 0)
			return -1;
	if (!im->is_stopped)
		set_truncated(im);
	/* The summary follows; but if records do, they are another process's. */
	while (im->end != EOF) {
		import_skip_line(im);
		if (im->end == EOF)
			break;
		if (line_start(im) < 0)
			return -1;
		if (im->end == '|' && is_record_next(im) && im->text.n &&
		    !*skip_prefix(im->text.at, &(long){ 0 }))
			return other_process(im);
	}
	return 0;
}

/* Reads what Valgrind says about itself before START. */
static int preamble_read(struct import *im)
{
	static const char command[] = "Command: ";
	const char *text;

	do {
		if (import_text_start(im) < 0)
			return -1;
		text = skip_prefix(im->text.at, &im->pid);
		if (strcmp(text, "START") == 0)
			return 0;
		if (strncmp(text, command, strlen(command)) == 0 && im->end == '\n' && !im->command)
			im->command = xstrdup(text + strlen(command));
		import_skip_line(im);
	} while (im->end != EOF);
	return error_set(im->err,
			 "%s: not a pmemcheck log: no START record in its %" PRIu64
			 " bytes; logs are made with valgrind "
			 "--tool=pmemcheck --log-stores=yes --log-file=FILE",
			 im->path, im->byte);
}

static int log_read(struct import *im)
{
	if (preamble_read(im) < 0)
		return -1;
	import_emit(im, PMT_PROCESS, 0, (struct import_stack){ 0 },
		    (struct writer_event){ .arg = { im->pid < 0 ? 0 : (uint64_t)im->pid, 0 } });
	import_emit_meta(im, "imported", "pmemcheck");
	import_emit_meta(im, "platform", "x86-adr");
	if (im->command)
		import_emit_meta(im, "command", im->command);
	if (records_read(im) < 0)
		return -1;
	if (ferror(im->in))
		return error_set(im->err, "cannot read %s: %s", im->path, strerror(errno));
	return 0;
}

int import_pmemcheck(const char *log_path, const char *trace_path, struct import_result *result,
		     struct error *err)
{
	struct import im = { .path = log_path, .line = 1, .pid = -1, .result = result, .err = err };
	int status;

	*result = (struct import_result){ 0 };
	im.in = fopen(log_path, "re");
	if (!im.in)
		return error_set(err, "cannot open %s: %s", log_path, strerror(errno));
	if (writer_open(&im.w, trace_path, err) < 0) {
		fclose(im.in);
		return -1;
	}
	status = log_read(&im);
	if (writer_close(im.w, status < 0 ? &(struct error){ 0 } : err) < 0)
		status = -1;
	result->nfiles = (uint32_t)im.map.files.n;
	fclose(im.in);
	free(im.command);
	vec_release(&im.text);
	map_release(&im.frames);
	import_map_release(&im.map);
	return status;
}
