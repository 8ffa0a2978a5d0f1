/* Reads pmemcheck logs: one line of records separated by '|', into which Valgrind may have glued other text.
 *
 *	==4242== START|REGISTER_FILE;/mnt/pmem/f;0x4a5b000;0x200000;0x0|STORE;0x4a5b000;0x2a;0x8;0x109201: fill (t.c:20)|…|STOP
 *
 * Nothing is escaped, so a '|' in a path or in a C++ name splits a record; such pieces are put together again. */
#include "trace/import.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/import_map.h"
#include "trace/writer.h"
#include "util/map.h"

#define RECORD_LIMIT_BYTES ((size_t)4 << 20) /* a longer record is no record */
#define FRAME_TEXT_BYTES 2000
#define FRAME_KEY "frame:0x%" PRIx64
#define THREAD 1 /* the log does not name threads */

struct import {
	FILE *in;
	const char *path;
	uint64_t line, byte;		   /* of the next character */
	uint64_t record_line, record_byte; /* where the record begins */
	VEC(char) text;			   /* the record, or the beginning of a line; NUL-terminated */
	int end;			   /* what ended it: '|', '\n' or EOF */
	long pid;			   /* of the log's lines, -1 if they have no prefix */
	char *command;			   /* as the preamble tells, NULL if there is none */
	struct writer *w;
	struct import_map map;
	struct map frames; /* code addresses whose names are in the trace */
	struct import_result *result;
	struct error *err;
	bool is_stopped;
};

static int bad_record(struct import *im, const char *problem)
{
	return error_set(im->err, "%s: line %" PRIu64 ", byte %" PRIu64 ": %s: '%.60s'", im->path, im->record_line,
			 im->record_byte, problem, im->text.at);
}

/* Characters. */

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

/* Adds to the text up to the next '|', newline or end. */
static int text_read(struct import *im)
{
	int c;

	while ((c = next_char(im)) != '|' && c != '\n' && c != EOF) {
		if (im->text.n >= RECORD_LIMIT_BYTES) {
			text_add(im, '\0');
			return bad_record(im, "a record without end");
		}
		text_add(im, c ? (char)c : '?');
	}
	im->end = c;
	text_add(im, '\0');
	return 0;
}

static int text_start(struct import *im)
{
	im->text.n = 0;
	im->record_line = im->line;
	im->record_byte = im->byte;
	return text_read(im);
}

/* A '|' was part of the text, not its end. */
static int text_join(struct import *im)
{
	im->text.at[im->text.n - 1] = '|';
	return text_read(im);
}

static void skip_line(struct import *im)
{
	while (im->end != '\n' && im->end != EOF)
		im->end = next_char(im);
}

/* Events. */

struct stack {
	uint32_t node;
	uint64_t pc;
};

static void emit(struct import *im, enum pmt_kind kind, uint32_t size_bytes, struct stack stack, struct writer_event ev)
{
	ev.site = writer_site(im->w, stack.node, stack.pc, kind, size_bytes);
	ev.thread = THREAD;
	writer_event(im->w, &ev);
	im->result->nevents++;
}

static void emit_text(struct import *im, enum pmt_kind kind, const char *text)
{
	size_t len = strlen(text);

	emit(im, kind, 0, (struct stack){ 0 },
	     (struct writer_event){ .data = text,
				    .data_len = len < WRITER_BLOB_MAX_BYTES ? (uint32_t)len : WRITER_BLOB_MAX_BYTES });
}

static void emit_meta(struct import *im, const char *key, const char *value)
{
	char *text = xasprintf("%s=%s", key, value);

	emit_text(im, PMT_META, text);
	free(text);
}

static void emit_news(struct import *im, const struct import_news *news)
{
	const struct import_file *f = news->file ? &im->map.files.at[news->file - 1] : NULL;
	const struct import_range *r = &news->range;
	size_t len = f ? strlen(f->path) : 0;

	if (news->is_new_file)
		emit(im, PMT_FILE, 0, (struct stack){ 0 },
		     (struct writer_event){ .arg = { news->file, f->size_bytes, f->is_memory ? PMT_FILE_MEMORY : 0 },
					    .data = f->path,
					    .data_len = len < 4096 ? (uint32_t)len : 4096 });
	else if (news->is_new_size)
		emit(im, PMT_SIZE, 0, (struct stack){ 0 }, (struct writer_event){ .arg = { news->file, f->size_bytes } });
	if (r->len_bytes)
		emit(im, PMT_MAP, 0, (struct stack){ 0 },
		     (struct writer_event){ .addr = PMT_ADDR(r->file, r->offset), .arg = { r->va, r->len_bytes, 3 } });
}

/* Fields. */

/* ";0x1f" or "0x1f", in lower case as the log has it: text glued behind may begin with a capital. */
static bool take_hex(const char **p, uint64_t *n)
{
	const char *q = *p;
	int ndigits = 0;

	if (*q == ';')
		q++;
	if (strncmp(q, "0x", 2) != 0)
		return false;
	for (*n = 0, q += 2; isdigit((unsigned char)*q) || (*q >= 'a' && *q <= 'f'); q++, ndigits++)
		*n = *n << 4 | (uint64_t)(*q <= '9' ? *q - '0' : *q - 'a' + 10);
	*p = q;
	return ndigits > 0 && ndigits <= 16;
}

/* Frames: "0x109201: fill (t.c:20)", "0x109201: fill (in /bin/t)", "0x109201: ???". */

static const char *frame_start(const char *p)
{
	const char *q;

	if (p[0] != '0' || p[1] != 'x')
		return NULL;
	for (q = p + 2; isxdigit((unsigned char)*q); q++)
		;
	return q > p + 2 && q - p <= 18 && q[0] == ':' && q[1] == ' ' ? q + 2 : NULL;
}

/* Where the frame at p ends: at the next one's ';', or at the end of the text. */
static const char *frame_end(const char *p)
{
	const char *semicolon = p;

	while ((semicolon = strchr(semicolon, ';')) && !frame_start(semicolon + 1))
		semicolon++;
	return semicolon ? semicolon : p + strlen(p);
}

static bool last_frame_is_whole(const char *text)
{
	size_t n = strlen(text);

	return (n >= 1 && text[n - 1] == ')') || (n >= 3 && strcmp(text + n - 3, "???") == 0);
}

/* Other text may be glued behind "(file:line)" or "(in object)". */
static size_t frame_text_len(const char *name, size_t len)
{
	const char *in = memmem(name, len, " (in ", 5), *p;
	size_t i;

	for (i = 0; i < len; i++) {
		p = name + i;
		if (*p == ':' && isdigit((unsigned char)p[1]) && p[1 + strspn(p + 1, "0123456789")] == ')')
			return i + 2 + strspn(p + 1, "0123456789");
	}
	p = in ? memchr(in, ')', len - (size_t)(in - name)) : NULL;
	if (p)
		return (size_t)(p + 1 - name);
	return len > 3 && memcmp(name, "???", 3) == 0 ? 3 : len;
}

static void frame_name(struct import *im, uint64_t pc, const char *name, size_t len)
{
	char key[32], text[FRAME_TEXT_BYTES + 1];
	const char *inlined = memmem(name, len, ")0x", 3);

	if (map_get(&im->frames, pc))
		return;
	map_set(&im->frames, pc, im);
	if (inlined) /* valgrind --read-inline-info=yes: the innermost function comes first */
		len = (size_t)(inlined + 1 - name);
	len = frame_text_len(name, len);
	snprintf(key, sizeof key, FRAME_KEY, pc);
	snprintf(text, sizeof text, "%.*s", len < FRAME_TEXT_BYTES ? (int)len : FRAME_TEXT_BYTES, name);
	emit_meta(im, key, text);
}

/* The frames of a store, innermost first: as site and chain of callers. */
static int take_stack(struct import *im, const char *p, struct stack *stack)
{
	VEC(uint64_t) pcs = { 0 };
	size_t i;

	while (*p == ';') {
		const char *name = frame_start(++p), *end = name ? frame_end(name) : NULL;

		if (!name) {
			vec_release(&pcs);
			return bad_record(im, "cannot read a frame of this store");
		}
		*vec_add(&pcs) = strtoull(p, NULL, 16);
		frame_name(im, pcs.at[pcs.n - 1], name, (size_t)(end - name));
		p = end;
	}
	*stack = (struct stack){ 0, pcs.n ? pcs.at[0] : 0 };
	for (i = pcs.n; i > 1; i--)
		stack->node = writer_node(im->w, stack->node, pcs.at[i - 1], false);
	vec_release(&pcs);
	return 0;
}

/* Records. Each gets what follows its name. */

static int store_piece(struct import *im, uint64_t va, uint64_t *addr, uint64_t *len_bytes)
{
	struct import_news news;
	struct error why;

	if (import_map_find(&im->map, va, addr, len_bytes))
		return 0;
	if (import_map_add_memory(&im->map, va, &news, &why) < 0)
		return bad_record(im, why.msg);
	emit_news(im, &news);
	return import_map_find(&im->map, va, addr, len_bytes) ? 0 : bad_record(im, "the address cannot be");
}

static int record_store(struct import *im, const char *p)
{
	uint64_t va, value, size, addr, len;
	struct stack stack = { 0 };
	const char *fields;

	if (!take_hex(&p, &va) || !take_hex(&p, &value) || !take_hex(&p, &size) || size == 0 || size > 8 ||
	    (size & (size - 1)) || va + size < va)
		return bad_record(im, "cannot read this store");
	fields = im->text.at;
	while (*p == ';' && im->end == '|' && !last_frame_is_whole(p)) { /* C++: operator| */
		size_t offset = (size_t)(p - fields);

		if (text_join(im) < 0)
			return -1;
		fields = im->text.at;
		p = fields + offset;
	}
	if (im->end == EOF)
		return 0; /* cut off while it was put together */
	if (*p && *p != ';' && im->end == '|')
		return bad_record(im, "cannot read this store");
	if (take_stack(im, *p == ';' ? p : "", &stack) < 0)
		return -1;
	for (; size; size -= len, va += len, value >>= 8 * (len & 7)) {
		if (store_piece(im, va, &addr, &len) < 0)
			return -1;
		len = len < size ? len : size;
		emit(im, PMT_STORE, (uint32_t)len, stack, (struct writer_event){ .addr = addr, .data = &value });
	}
	return 0;
}

static int record_flush(struct import *im, const char *p)
{
	uint64_t va, size, addr, len, line;

	if (!take_hex(&p, &va) || !take_hex(&p, &size) || (*p && im->end == '|'))
		return bad_record(im, "cannot read this flush");
	if (size == PMT_LINE_BYTES)
		size = 1; /* an instruction: pmemcheck writes its operand, not the line that it lies in */
	for (; size; size -= len, va += len) {
		bool is_pm = import_map_find(&im->map, va, &addr, &len);

		len = is_pm ? len : import_map_gap(&im->map, va); /* flushes of other memory are logged as well */
		len = len < size ? len : size;
		if (!is_pm)
			continue;
		for (line = addr & ~(uint64_t)(PMT_LINE_BYTES - 1); line < addr + len; line += PMT_LINE_BYTES)
			emit(im, PMT_CLWB, PMT_LINE_BYTES, (struct stack){ 0 }, (struct writer_event){ .addr = line });
	}
	return 0;
}

static int record_fence(struct import *im, const char *p)
{
	(void)p;
	emit(im, PMT_SFENCE, 0, (struct stack){ 0 }, (struct writer_event){ 0 });
	return 0;
}

/* "path;0xbase;0xsize;0xoffset" → where the numbers begin, or NULL. The path may hold anything, also ';'. */
static const char *file_numbers(const char *p)
{
	const char *q = p + strlen(p);
	int n;

	for (n = 0; n < 3; n++) {
		q = memrchr(p, ';', (size_t)(q - p));
		if (!q || strncmp(q, ";0x", 3) != 0)
			return NULL;
	}
	return q;
}

static int record_file(struct import *im, const char *p)
{
	struct import_range r = { 0 };
	struct import_news news;
	size_t offset = (size_t)(p - im->text.at);
	const char *numbers;
	struct error why;
	char *path;
	int result;

	while (!(numbers = file_numbers(p)) && im->end == '|' && im->text.n < 2 * 4096) {
		if (text_join(im) < 0)
			return -1;
		p = im->text.at + offset;
	}
	if (im->end == EOF)
		return 0; /* cut off while it was put together */
	if (!numbers)
		return bad_record(im, "cannot read this file's registration");
	path = strndup(p, (size_t)(numbers - p));
	if (!take_hex(&numbers, &r.va) || !take_hex(&numbers, &r.len_bytes) || !take_hex(&numbers, &r.offset) ||
	    (*numbers && im->end == '|'))
		result = bad_record(im, "cannot read this file's registration");
	else if (import_map_register(&im->map, path, &r, &news, &why) < 0)
		result = bad_record(im, why.msg);
	else
		result = 0;
	free(path);
	if (result == 0)
		emit_news(im, &news);
	return result;
}

static int record_stop(struct import *im, const char *p)
{
	(void)p;
	im->is_stopped = true;
	return 0;
}

struct record_kind {
	const char *name;
	bool is_bare; /* nothing follows, unless Valgrind glued a message to it */
	bool is_last;  /* of its line, and exactly that */
	int (*read)(struct import *im, const char *p);
};

static const struct record_kind record_kinds[] = {
	{ "STORE;", false, false, record_store },
	{ "FLUSH;", false, false, record_flush },
	{ "FENCE", true, false, record_fence },
	{ "REGISTER_FILE;", false, false, record_file },
	{ "STOP", true, true, record_stop },
};

static const struct record_kind *record_kind(const struct import *im)
{
	size_t i;

	for (i = 0; i < sizeof record_kinds / sizeof record_kinds[0]; i++) {
		const struct record_kind *k = &record_kinds[i];
		size_t len = strlen(k->name);

		if (strncmp(im->text.at, k->name, len) == 0 &&
		    (!k->is_bare || !im->text.at[len] || (!k->is_last && im->end == '\n')) &&
		    (!k->is_last || im->end != '|'))
			return k;
	}
	return NULL;
}

static int record_read(struct import *im)
{
	const struct record_kind *k = record_kind(im);

	if (k)
		return k->read(im, im->text.at + strlen(k->name));
	if (im->text.at[0])
		emit_text(im, PMT_LOG, im->text.at);
	return 0;
}

/* Lines. */

/* Skips "==4242== " (with a time in it, if --time-stamp=yes); the process number goes to pid, else -1. */
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
	return bad_record(im, "another process's log begins; import one at a time (--log-file=NAME.%p separates them)");
}

/* At the beginning of a line: takes what is no record, and stops before the first record. */
static int line_start(struct import *im)
{
	const char *text;
	long pid;

	if (text_start(im) < 0)
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

/* One step after START: a record, or the beginning of a line. */
static int step(struct import *im, bool *is_line_start)
{
	long pid;

	if (*is_line_start) {
		if (line_start(im) < 0)
			return -1;
		if (im->end == '|' && *skip_prefix(im->text.at, &pid) && !is_record_next(im))
			skip_line(im); /* a message that holds a '|' */
		*is_line_start = im->end == '\n';
		return 0;
	}
	if (text_start(im) < 0)
		return -1;
	/* At the end of the file, only STOP is surely whole. */
	if ((im->end != EOF || strcmp(im->text.at, "STOP") == 0) && record_read(im) < 0)
		return -1;
	*is_line_start = im->end == '\n';
	return 0;
}

static void set_truncated(struct import *im)
{
	uint64_t lost = im->text.n ? im->text.n - 1 : 0;

	snprintf(im->result->truncated, sizeof im->result->truncated,
		 "the log ends without STOP at byte %" PRIu64 ": it was cut off, or the program was killed%s", im->byte,
		 lost ? "; its last, incomplete record was left out" : "");
}

static int records_read(struct import *im)
{
	bool is_line_start = im->end == '\n';

	im->text.n = 0;
	while (im->end != EOF && !im->is_stopped)
		if (step(im, &is_line_start) < 0)
			return -1;
	if (!im->is_stopped)
		set_truncated(im);
	/* The summary follows; but if records do, they are another process's. */
	while (im->end != EOF) {
		skip_line(im);
		if (im->end == EOF)
			break;
		if (line_start(im) < 0)
			return -1;
		if (im->end == '|' && is_record_next(im) && im->text.n && !*skip_prefix(im->text.at, &(long){ 0 }))
			return other_process(im);
	}
	return 0;
}

/* Before START: what Valgrind says about itself. */
static int preamble_read(struct import *im)
{
	static const char command[] = "Command: ";
	const char *text;

	do {
		if (text_start(im) < 0)
			return -1;
		text = skip_prefix(im->text.at, &im->pid);
		if (strcmp(text, "START") == 0)
			return 0;
		if (strncmp(text, command, strlen(command)) == 0 && im->end == '\n' && !im->command)
			im->command = xstrdup(text + strlen(command));
		skip_line(im);
	} while (im->end != EOF);
	return error_set(im->err,
			 "%s: no pmemcheck log: no START record in its %" PRIu64 " bytes; logs are made with valgrind "
			 "--tool=pmemcheck --log-stores=yes --log-file=FILE", im->path, im->byte);
}

static int log_read(struct import *im)
{
	if (preamble_read(im) < 0)
		return -1;
	emit(im, PMT_PROCESS, 0, (struct stack){ 0 },
	     (struct writer_event){ .arg = { im->pid < 0 ? 0 : (uint64_t)im->pid, 0 } });
	emit_meta(im, "imported", "pmemcheck");
	emit_meta(im, "platform", "x86-adr");
	if (im->command)
		emit_meta(im, "command", im->command);
	if (records_read(im) < 0)
		return -1;
	if (ferror(im->in))
		return error_set(im->err, "cannot read %s: %s", im->path, strerror(errno));
	return 0;
}

int import_pmemcheck(const char *log_path, const char *trace_path, struct import_result *result, struct error *err)
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

/* "fill (t.c:20)", "fill (in /bin/t)", "???". */
bool import_frame_find(const struct trace *t, uint64_t pc, struct symbol *symbol, struct arena *arena)
{
	const char *text, *place, *colon, *end;
	char key[32];

	snprintf(key, sizeof key, FRAME_KEY, pc);
	text = trace_meta(t, key);
	if (!text)
		return false;
	*symbol = (struct symbol){ .offset = pc }; /* of a symbol without object: the address itself */
	end = text + strlen(text);
	place = strstr(text, " (in ");
	if (place && end[-1] == ')') {
		if (strcmp(place, " (in \?\?\?)") != 0)
			symbol->object = arena_string(arena, place + 5, (size_t)(end - 1 - (place + 5)));
	} else if ((place = end[-1] == ')' ? memrchr(text, '(', (size_t)(end - text)) : NULL) && place > text) {
		colon = memrchr(place, ':', (size_t)(end - place));
		if (colon && isdigit((unsigned char)colon[1])) {
			symbol->file = arena_string(arena, place + 1, (size_t)(colon - place - 1));
			symbol->line = (uint32_t)atol(colon + 1);
			place--;
		} else {
			place = end;
		}
	} else {
		place = end;
	}
	if (place > text && strncmp(text, "???", 3) != 0)
		symbol->function = arena_string(arena, text, (size_t)(place - text));
	return true;
}
