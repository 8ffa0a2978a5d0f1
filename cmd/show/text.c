/* Prints an event as text: number, thread, kind, where, how much, what, and the source line.
 *
 *	      12  T1  store         pool+0x40  8  0x2a  update (app.c:41)
 *	      13  T1  clwb          pool+0x40  64  update (app.c:42) */
#include <stdlib.h>
#include <string.h>

#include "cmd/show/show.h"
#include "report/escape.h"

#define KIND_WIDTH 12
#define BLOB_SHOWN_BYTES 32 /* bytes of a binary blob; JSON has all of it */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Gives the file's base name, or its whole path if an earlier file has the same base name. */
static const char *label(struct show *s, uint32_t file)
{
	const struct trace_file *f = trace_file(s->t, file);
	const char *name;
	size_t i;

	if (!f || !f->path)
		return "?";
	while (s->labels.n <= file)
		*vec_add(&s->labels) = NULL;
	if (!s->labels.at[file]) {
		name = base_name(f->path);
		for (i = 0; i < s->labels.n; i++)
			if (s->labels.at[i] && strcmp(s->labels.at[i], name) == 0)
				name = f->path;
		s->labels.at[file] = xstrdup(name);
	}
	return s->labels.at[file];
}

static void label_forget(struct show *s, uint32_t file)
{
	if (file < s->labels.n) {
		free(s->labels.at[file]);
		s->labels.at[file] = NULL;
	}
}

/* Prints text that comes from the program: it must not move the cursor or break the line. */
static void put_safe(FILE *f, const char *text, size_t len)
{
	size_t n;

	for (; len; len -= n, text += n) {
		n = 1;
		if ((unsigned char)*text >= ' ' && (unsigned char)*text < 0x7f && *text != '\\') {
			putc_unlocked(*text, f);
			continue;
		}
		while ((unsigned char)*text >= 0x80 && n < len && (unsigned char)text[n] >= 0x80)
			n++;
		if ((unsigned char)*text >= 0x80) {
			escape_text(f, text, n);
			continue;
		}
		fputs_unlocked("\\x", f);
		put_bytes(f, (const uint8_t *)text, 1);
	}
}

static void put_safe_string(FILE *f, const char *text)
{
	put_safe(f, text, strlen(text));
}

static void put_address(struct show *s, uint64_t addr)
{
	put_safe_string(s->out, label(s, PMT_FILE(addr)));
	putc_unlocked('+', s->out);
	put_hex(s->out, PMT_OFFSET(addr));
}

static void put_value(FILE *f, const uint8_t *data, uint32_t len)
{
	uint64_t v = 0;
	uint32_t i;

	fputs_unlocked("  ", f);
	if (len > 8) {
		put_bytes(f, data, len);
		return;
	}
	for (i = 0; i < len; i++)
		v |= (uint64_t)data[i] << (8 * i);
	put_hex(f, v);
}

static void put_blob(FILE *f, const uint8_t *data, uint32_t len)
{
	fputs_unlocked("  ", f);
	if (is_text(data, len)) {
		putc_unlocked('"', f);
		put_safe(f, (const char *)data, len);
		putc_unlocked('"', f);
		return;
	}
	put_number(f, len, 0);
	fputs_unlocked(" bytes: ", f);
	put_bytes(f, data, len < BLOB_SHOWN_BYTES ? len : BLOB_SHOWN_BYTES);
	if (len > BLOB_SHOWN_BYTES)
		fputs_unlocked("...", f);
}

static void put_order(FILE *f, uint64_t order)
{
	static const char *const names[] = { "acquire", "release", "atomic" };
	bool is_first = true;

	for (unsigned i = 0; i < 3; i++) {
		if (!(order >> i & 1))
			continue;
		if (!is_first)
			putc_unlocked('+', f);
		fputs_unlocked(names[i], f);
		is_first = false;
	}
	if (is_first)
		fputs_unlocked("none", f);
}

static void put_arg(struct show *s, const struct arg_name *a, uint64_t n)
{
	fputs_unlocked("  ", s->out);
	if (a->form == ARG_OPTION) {
		fputs_unlocked(trace_barrier_option(n), s->out);
		return;
	}
	fputs_unlocked(a->name ? a->name : "arg", s->out);
	putc_unlocked('=', s->out);
	switch (a->form) {
	case ARG_NONE:
	case ARG_NUMBER: put_number(s->out, n, 0); break;
	case ARG_HEX: put_hex(s->out, n); break;
	case ARG_FILE: put_safe_string(s->out, n ? label(s, (uint32_t)n) : "all"); break;
	case ARG_ADDR: put_address(s, n); break;
	case ARG_ORDER: put_order(s->out, n); break;
	case ARG_OPTION: break;
	}
}

static void put_place(FILE *f, const struct symbol *symbol, uint64_t pc)
{
	put_safe_string(f, symbol->function ? symbol->function : "??");
	if (symbol->line && symbol->file) {
		fputs_unlocked(" (", f);
		put_safe_string(f, base_name(symbol->file));
		putc_unlocked(':', f);
		put_number(f, symbol->line, 0);
		putc_unlocked(')', f);
	} else if (symbol->object) {
		fputs_unlocked(" (", f);
		put_safe_string(f, base_name(symbol->object));
		putc_unlocked('+', f);
		put_hex(f, symbol->offset);
		putc_unlocked(')', f);
	} else if (!symbol->function) {
		fputs_unlocked(" (", f);
		put_hex(f, pc);
		putc_unlocked(')', f);
	}
}

static void put_stack(struct show *s, const struct trace_site *site)
{
	const struct frame *list;
	size_t n = locate_stack(s->locator, site, &list), i;

	for (i = 0; i < n; i++) {
		if (list[i].is_signal)
			fputs_unlocked("              <signal handler called>\n", s->out);
		fputs_unlocked(i == 0 ? "              at " : "              by ", s->out);
		put_place(s->out, list[i].symbol, list[i].pc);
		fputs_unlocked(list[i].symbol->is_inlined ? " [inlined]\n" : "\n", s->out);
	}
}

static void put_head(struct show *s, const struct trace_event *ev)
{
	put_number(s->out, ev->seq, 8);
	fputs_unlocked("  ", s->out);
	if (s->many_processes) {
		putc_unlocked('P', s->out);
		put_number(s->out, ev->stream, 0);
	}
	putc_unlocked('T', s->out);
	put_number(s->out, ev->thread, 0);
	fputs_unlocked("  ", s->out);
	fputs_unlocked(trace_kinds[ev->kind].name, s->out);
}

/* Prints spaces up to the next column, because fields begin in columns, and lines do not end with
 * spaces. */
static void put_padding(FILE *f, const char *name)
{
	size_t len;

	for (len = strlen(name); len < KIND_WIDTH; len++)
		putc_unlocked(' ', f);
}

void show_text(struct show *s, const struct trace_event *ev)
{
	const struct trace_kind *kind = &trace_kinds[ev->kind];
	const struct frame *place = s->stacks ? NULL : locate(s->locator, ev->site);
	uint32_t i;

	if (ev->kind == PMT_RENAME || ev->kind == PMT_FILE)
		label_forget(s, (uint32_t)ev->arg[0]);
	put_head(s, ev);
	if (kind->carries || kind->nargs || ev->size_bytes || place)
		put_padding(s->out, kind->name);
	if (kind->carries & PMT_HAS_ADDR) {
		fputs_unlocked("  ", s->out);
		put_address(s, ev->addr);
	}
	if (ev->size_bytes) {
		fputs_unlocked("  ", s->out);
		put_number(s->out, ev->size_bytes, 0);
	}
	if (kind->carries & PMT_HAS_VALUE)
		put_value(s->out, ev->data, ev->data_len);
	for (i = 0; i < kind->nargs; i++)
		put_arg(s, &arg_names[ev->kind][i], ev->arg[i]);
	if (kind->carries & PMT_HAS_BLOB)
		put_blob(s->out, ev->data, ev->data_len);
	if (place) {
		fputs_unlocked("  ", s->out);
		put_place(s->out, place->symbol, place->pc);
	}
	putc_unlocked('\n', s->out);
	if (s->stacks)
		put_stack(s, ev->site);
}
