/* Turns the records of a pmemcheck log into events: stores, flushes, fences, registered files. Text
 * that is no record becomes a log event. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "trace/import_internal.h"

static void emit_news(struct import *im, const struct import_news *news)
{
	const struct import_file *f = news->file ? &im->map.files.at[news->file - 1] : NULL;
	const struct import_range *r = &news->range;
	size_t len = f ? strlen(f->path) : 0;

	if (news->is_new_file)
		import_emit(im, PMT_FILE, 0, (struct import_stack){ 0 },
			    (struct writer_event){ .arg = { news->file, f->size_bytes,
							    f->is_memory ? PMT_FILE_MEMORY : 0 },
						   .data = f->path,
						   .data_len = len < 4096 ? (uint32_t)len : 4096 });
	else if (news->is_new_size)
		import_emit(im, PMT_SIZE, 0, (struct import_stack){ 0 },
			    (struct writer_event){ .arg = { news->file, f->size_bytes } });
	if (r->len_bytes)
		import_emit(im, PMT_MAP, 0, (struct import_stack){ 0 },
			    (struct writer_event){ .addr = PMT_ADDR(r->file, r->offset),
						   .arg = { r->va, r->len_bytes, 3 } });
}

/* Reads ";0x1f" or "0x1f". The log writes hexadecimal digits in lower case; a capital letter begins
 * a message that Valgrind put there. */
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

/* ---- Records. Each function gets the text after the record's name. ---- */

static int store_piece(struct import *im, uint64_t va, uint64_t *addr, uint64_t *len_bytes)
{
	struct import_news news;
	struct error why;

	if (import_map_find(&im->map, va, addr, len_bytes))
		return 0;
	if (import_map_add_memory(&im->map, va, &news, &why) < 0)
		return import_bad(im, why.msg);
	emit_news(im, &news);
	return import_map_find(&im->map, va, addr, len_bytes)
		       ? 0
		       : import_bad(im, "the address is impossible");
}

static int record_store(struct import *im, const char *p)
{
	uint64_t va, value, size, addr, len;
	struct import_stack stack = { 0 };
	const char *fields;

	if (!take_hex(&p, &va) || !take_hex(&p, &value) || !take_hex(&p, &size) || size == 0 ||
	    size > 8 || (size & (size - 1)) || va + size < va)
		return import_bad(im, "cannot read this store");
	fields = im->text.at;
	/* the C++ name operator| contains a '|' */
	while (*p == ';' && im->end == '|' && !import_stack_is_whole(p)) {
		size_t offset = (size_t)(p - fields);

		if (import_text_join(im) < 0)
			return -1;
		fields = im->text.at;
		p = fields + offset;
	}
	if (im->end == EOF)
		return 0; /* the log was cut off in the middle of this record */
	if (*p && *p != ';' && im->end == '|')
		return import_bad(im, "cannot read this store");
	if (import_stack_take(im, *p == ';' ? p : "", &stack) < 0)
		return -1;
	for (; size; size -= len, va += len, value >>= 8 * (len & 7)) {
		if (store_piece(im, va, &addr, &len) < 0)
			return -1;
		len = len < size ? len : size;
		import_emit(im, PMT_STORE, (uint32_t)len, stack,
			    (struct writer_event){ .addr = addr, .data = &value });
	}
	return 0;
}

static int record_flush(struct import *im, const char *p)
{
	uint64_t va, size, addr, len, line;

	if (!take_hex(&p, &va) || !take_hex(&p, &size) || (*p && im->end == '|'))
		return import_bad(im, "cannot read this flush");
	/* a flush instruction: pmemcheck logs its operand, not the beginning of the line */
	if (size == PMT_LINE_BYTES)
		size = 1;
	for (; size; size -= len, va += len) {
		bool is_pm = import_map_find(&im->map, va, &addr, &len);

		/* flushes of memory that is not PM are logged, too */
		len = is_pm ? len : import_map_gap(&im->map, va);
		len = len < size ? len : size;
		if (!is_pm)
			continue;
		for (line = addr & ~(uint64_t)(PMT_LINE_BYTES - 1); line < addr + len;
		     line += PMT_LINE_BYTES)
			import_emit(im, PMT_CLWB, PMT_LINE_BYTES, (struct import_stack){ 0 },
				    (struct writer_event){ .addr = line });
	}
	return 0;
}

static int record_fence(struct import *im, const char *p)
{
	(void)p;
	import_emit(im, PMT_SFENCE, 0, (struct import_stack){ 0 }, (struct writer_event){ 0 });
	return 0;
}

/* Finds the numbers of "path;0xbase;0xsize;0xoffset". The path may contain anything, also ';'. NULL
 * if they are not there. */
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
		if (import_text_join(im) < 0)
			return -1;
		p = im->text.at + offset;
	}
	if (im->end == EOF)
		return 0; /* the log was cut off in the middle of this record */
	if (!numbers)
		return import_bad(im, "cannot read this file's registration");
	path = strndup(p, (size_t)(numbers - p));
	if (!take_hex(&numbers, &r.va) || !take_hex(&numbers, &r.len_bytes) ||
	    !take_hex(&numbers, &r.offset) || (*numbers && im->end == '|'))
		result = import_bad(im, "cannot read this file's registration");
	else if (import_map_register(&im->map, path, &r, &news, &why) < 0)
		result = import_bad(im, why.msg);
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
	bool is_bare; /* a record without fields; a message of Valgrind may follow */
	bool is_last; /* the last record of its line, and nothing may follow */
	int (*read)(struct import *im, const char *p);
};

static const struct record_kind record_kinds[] = {
	{ "STORE;", false, false, record_store }, { "FLUSH;", false, false, record_flush },
	{ "FENCE", true, false, record_fence },   { "REGISTER_FILE;", false, false, record_file },
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

int import_record(struct import *im)
{
	const struct record_kind *k = record_kind(im);

	if (k)
		return k->read(im, im->text.at + strlen(k->name));
	if (im->text.at[0])
		import_emit_text(im, PMT_LOG, im->text.at);
	return 0;
}
