/* Runs recovery on one state of files, writes such a state as text, and reads that text. The text
 * lists what the state lost. Example: 12:n3=0,s2=1,2+512=0,m4+64=0 is a state at failure point 12.
 * The names with key 3 have version 0, the size of file 2 has version 1, the sector at offset 512
 * of file 2 and the line of memory at offset 64 of file 4 have version 0, and all else has its
 * newest version. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash/files/internal.h"

static bool is_memory(uint32_t file, const void *arg)
{
	const struct file_explorer *e = arg;
	const bool is_file = files_is_regular(e->walk.model, file);

	return is_file && !followed_has(&e->followed, file);
}

/* ---- lines of memory ---- */

void file_memory_release(struct file_explorer *e)
{
	for (size_t i = 0; i < e->memory.n; i++) {
		free(e->memory.at[i].contents);
		free(e->memory.at[i].changes);
	}
	e->memory.n = 0;
}

static void note_oldest(const struct model_lost *s, void *arg)
{
	struct files_change *oldest = arg;

	if (oldest->seq == 0 || s->seq < oldest->seq)
		*oldest = (struct files_change){ .site = s->site,
						 .seq = s->seq,
						 .addr = s->addr,
						 .stream = s->stream,
						 .thread = s->thread };
}

static void add_memory(const struct model_choice *c, void *arg)
{
	const size_t len = c->ncontents * c->len_bytes;
	struct file_explorer *e = arg;
	struct memory_line *m;

	if (!is_memory(PMT_FILE(c->addr), e))
		return;
	m = vec_add(&e->memory);
	*m = (struct memory_line){ .addr = c->addr,
				   .len_bytes = c->len_bytes,
				   .ncontents = (uint32_t)c->ncontents,
				   .contents = xmalloc(len),
				   .changes = xcalloc(c->ncontents, sizeof *m->changes) };
	memcpy(m->contents, c->contents, len);
	e->result->has_partial_lines |= c->is_partial;
	/* what a content lacks is what makes the next one */
	for (uint32_t v = 1; v < m->ncontents; v++)
		model_each_lost(e->walk.memory, m->addr,
				m->contents + (size_t)(v - 1) * m->len_bytes, note_oldest,
				&m->changes[v]);
}

static int by_addr(const void *a, const void *b)
{
	const struct memory_line *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void list_memory(struct file_explorer *e)
{
	file_memory_release(e);
	model_each_choice(e->walk.memory, add_memory, e);
	if (e->memory.n > 1)
		qsort(e->memory.at, e->memory.n, sizeof *e->memory.at, by_addr);
	for (size_t i = 0; i < e->memory.n; i++) {
		struct memory_line *m = &e->memory.at[i];

		if (m->ncontents < 2)
			continue;
		*vec_add(&e->items) = (struct files_item){ .kind = FILES_LINE,
							   .nversions = m->ncontents,
							   .version = m->ncontents - 1,
							   .key = m->addr,
							   .of = m->changes };
		m->item = e->items.n;
	}
}

/* ---- */

void file_point_begin(struct file_explorer *e)
{
	files_list_items(e->walk.model, is_memory, e, &e->items);
	list_memory(e);
	e->nchosen = 0;
	while (e->nchosen < e->items.n && (e->items.at[e->nchosen].kind == FILES_NAMES ||
					   e->items.at[e->nchosen].kind == FILES_SIZE))
		e->nchosen++;
}

void file_choose_newest(struct file_explorer *e)
{
	for (size_t i = 0; i < e->items.n; i++)
		e->items.at[i].version = e->items.at[i].nversions - 1;
}

void file_layout(struct file_explorer *e)
{
	if (e->has_layout)
		layout_release(&e->layout);
	e->has_layout = true;
	e->layout = (struct layout){ .model = e->walk.model,
				     .items = &e->items,
				     .memory = &e->memory,
				     .roots = &e->roots,
				     .is_memory = is_memory,
				     .arg = e };
	layout_make(&e->layout, runner_folder_path_max(e->runner));
}

int file_run_state(struct file_explorer *e, const struct allowed *allowed, struct verdict *v,
		   struct error *err)
{
	uint64_t *state;
	int result;

	file_layout(e);
	state = layout_state(&e->layout);
	runner_load_folder(e->runner, &e->layout.folder, &e->layout.set);
	recovery_set_moment(e->options->recovery, e->runner, e->plan,
			    e->walk.is_over ? UINT64_MAX : e->walk.seq);
	runner_begin(e->runner, state, false);
	result = verdict_run(v, e->runner, e->options->recovery, allowed, err);
	free(state);
	return result;
}

static void print_item(FILE *out, const struct files_item *i)
{
	switch (i->kind) {
	case FILES_NAMES: fprintf(out, "n%" PRIu64, i->key); break;
	case FILES_SIZE: fprintf(out, "s%" PRIu32, PMT_FILE(i->key)); break;
	case FILES_SECTOR:
	case FILES_LINE:
		fprintf(out, "%s%" PRIu32 "+%" PRIu64, i->kind == FILES_LINE ? "m" : "",
			PMT_FILE(i->key), (uint64_t)PMT_OFFSET(i->key));
		break;
	}
	fprintf(out, "=%" PRIu32, i->version);
}

char *file_state_text(const struct file_explorer *e)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	char before = ':';

	if (!out)
		alloc_die();
	fprintf(out, "%" PRIu64, e->walk.point);
	for (size_t i = 0; i < e->items.n; i++) {
		const struct files_item *it = &e->items.at[i];

		if (it->version + 1 == it->nversions)
			continue;
		putc(before, out);
		before = ',';
		print_item(out, it);
	}
	fclose(out);
	return text;
}

/* Reads the text of one item, such as s2=1, and sets the item's version; *at moves behind the text.
 * NULL: there is no such item or version. */
static struct files_item *parse_item(struct file_explorer *e, const char **at)
{
	for (size_t i = 0; i < e->items.n; i++) {
		struct files_item *it = &e->items.at[i];
		char *name = NULL, *end;
		size_t len = 0;
		FILE *out = open_memstream(&name, &len);
		unsigned long version;
		bool is_it;

		if (!out)
			alloc_die();
		print_item(out, it);
		fclose(out);
		len = (size_t)(strchr(name, '=') + 1 - name);
		is_it = strncmp(*at, name, len) == 0;
		free(name);
		if (!is_it)
			continue;
		version = strtoul(*at + len, &end, 10);
		if (end == *at + len || version >= it->nversions)
			return NULL;
		it->version = (uint32_t)version;
		*at = end;
		return it;
	}
	return NULL;
}

/* Moves *at behind a decimal number. False: there is none, or it has more than `max` digits. */
static bool take_digits(const char **at, size_t max)
{
	const size_t n = strspn(*at, "0123456789");

	*at += n;
	return n > 0 && n <= max;
}

static bool take(const char **at, char c)
{
	const bool is_there = **at == c;

	*at += is_there;
	return is_there;
}

/* Has the text of this length the form of one item with its version, as in n3=0, s2=1, 2+512=0 and
 * m4+64=0? */
static bool is_item_text(const char *at, size_t len)
{
	const char *const end = at + len;
	const bool is_named = take(&at, 'n') || take(&at, 's');

	if (!is_named)
		take(&at, 'm');
	return take_digits(&at, 9) && (is_named || (take(&at, '+') && take_digits(&at, 15))) &&
	       take(&at, '=') && take_digits(&at, 9) && at == end;
}

/* Does the text name the item that begins at `end` already before `end`? */
static bool is_named_before(const char *text, const char *end)
{
	const size_t len = strcspn(end, "=") + 1;

	for (const char *at = strpbrk(text, ":,"); at + 1 < end; at = strpbrk(at + 1, ","))
		if (strncmp(at + 1, end, len) == 0)
			return true;
	return false;
}

bool files_state_is_text(const char *text)
{
	const char *at = text;

	if (!take_digits(&at, 18))
		return false;
	for (char before = ':'; *at; before = ',') {
		const size_t len = strcspn(at + 1, ",");

		if (*at != before || !is_item_text(at + 1, len) || is_named_before(text, at + 1))
			return false;
		at += 1 + len;
	}
	return true;
}

int file_state_parse(struct file_explorer *e, const char *text, struct error *err)
{
	const char *at = strchr(text, ':');

	file_choose_newest(e);
	while (at && *at) {
		at++;
		if (!parse_item(e, &at) || (*at && *at != ','))
			return error_set(
				err,
				"--replay %s: the trace has no such state at this failure point; take the state from the replay line of a report of this trace",
				text);
	}
	return 0;
}
