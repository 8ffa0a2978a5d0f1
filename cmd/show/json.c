/* Prints an event as a line of JSON, without jansson, which would build a tree for each of millions
 * of events. */
#include <string.h>

#include "cmd/show/show.h"

/* Prints a JSON string; bytes that are not UTF-8 become U+FFFD. */
static void put_string(FILE *f, const char *text, size_t n)
{
	const uint8_t *p = (const uint8_t *)text;
	size_t len;

	putc_unlocked('"', f);
	for (; n; p += len, n -= len) {
		len = utf8_len(p, n);
		if (!len) {
			fputs_unlocked("\\ufffd", f);
			len = 1;
		} else if (*p == '"' || *p == '\\') {
			putc_unlocked('\\', f);
			putc_unlocked(*p, f);
		} else if (*p < ' ') {
			fputs_unlocked("\\u00", f);
			put_bytes(f, p, 1);
		} else {
			fwrite_unlocked(p, 1, len, f);
		}
	}
	putc_unlocked('"', f);
}

static void put_key(FILE *f, const char *key)
{
	fputs_unlocked(",\"", f);
	fputs_unlocked(key, f);
	fputs_unlocked("\":", f);
}

static void put_string_at(FILE *f, const char *key, const char *text)
{
	if (text) {
		put_key(f, key);
		put_string(f, text, strlen(text));
	}
}

static void put_number_at(FILE *f, const char *key, uint64_t n)
{
	put_key(f, key);
	put_number(f, n, 0);
}

static void put_hex_at(FILE *f, const char *key, const uint8_t *p, size_t n)
{
	put_key(f, key);
	putc_unlocked('"', f);
	put_bytes(f, p, n);
	putc_unlocked('"', f);
}

static void put_symbol(FILE *f, const struct symbol *symbol)
{
	put_string_at(f, "function", symbol->function);
	put_string_at(f, "source", symbol->file);
	if (symbol->line)
		put_number_at(f, "line", symbol->line);
	if (symbol->column)
		put_number_at(f, "column", symbol->column);
}

static void put_stack(struct show *s, const struct trace_site *site)
{
	const struct frame *list;
	size_t n = locate_stack(s->locator, site, &list), i;
	FILE *f = s->out;

	put_key(f, "stack");
	putc_unlocked('[', f);
	for (i = 0; i < n; i++) {
		fputs_unlocked(i ? ",{\"pc\":" : "{\"pc\":", f);
		put_number(f, list[i].pc, 0);
		put_symbol(f, list[i].symbol);
		if (list[i].symbol->is_inlined)
			fputs_unlocked(",\"inlined\":true", f);
		if (list[i].is_signal)
			fputs_unlocked(",\"signal\":true", f);
		if (list[i].symbol->object) {
			put_string_at(f, "object", list[i].symbol->object);
			put_number_at(f, "offset", list[i].symbol->offset);
		}
		putc_unlocked('}', f);
	}
	putc_unlocked(']', f);
}

static void put_args(FILE *f, const struct trace_event *ev, uint32_t nargs)
{
	uint32_t i;

	put_key(f, "args");
	for (i = 0; i < nargs; i++) {
		putc_unlocked(i ? ',' : '[', f);
		put_number(f, ev->arg[i], 0);
	}
	putc_unlocked(']', f);
}

static void put_blob(FILE *f, const uint8_t *data, uint32_t len)
{
	if (is_text(data, len)) {
		put_key(f, "text");
		put_string(f, (const char *)data, len);
	} else {
		put_hex_at(f, "blob", data, len);
	}
}

void show_json(struct show *s, const struct trace_event *ev)
{
	const struct trace_kind *kind = &trace_kinds[ev->kind];
	const struct trace_file *file = trace_file(s->t, event_file(ev));
	const struct frame *place = locate(s->locator, ev->site);
	FILE *f = s->out;

	fputs_unlocked("{\"seq\":", f);
	put_number(f, ev->seq, 0);
	put_number_at(f, "process", ev->stream);
	put_number_at(f, "thread", ev->thread);
	put_string_at(f, "kind", kind->name);
	if (file)
		put_string_at(f, "file", file->path);
	if (kind->carries & PMT_HAS_ADDR)
		put_number_at(f, "offset", PMT_OFFSET(ev->addr));
	if (ev->size_bytes)
		put_number_at(f, "size", ev->size_bytes);
	if (kind->carries & PMT_HAS_VALUE)
		put_hex_at(f, "data", ev->data, ev->data_len);
	if (kind->nargs)
		put_args(f, ev, kind->nargs);
	if (kind->carries & PMT_HAS_BLOB)
		put_blob(f, ev->data, ev->data_len);
	if (place)
		put_symbol(f, place->symbol);
	if (s->stacks)
		put_stack(s, ev->site);
	fputs_unlocked("}\n", f);
}
