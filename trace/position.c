/* Sends the state of a cursor through a wire, or receives it: per process, how far it is read and
 * what its encoder predicts; the waiting streams; and what events have said about files. For
 * example, a checkpoint after event 1,000,000 holds the definitions of the whole trace once, and
 * the position with prediction tables of that event, so a worker decodes event 1,000,001 without
 * reading the first million.
 *
 * A place in the file is sent as offset + 1, and 0 for NULL. What is received is not trusted: the
 * chunk that a process is in is checked against its hash again. */
#include "trace/position.h"

#include <string.h>

#include "trace/stream.h"
#include "util/hash.h"

uint64_t trace_identity(const struct trace *t)
{
	const struct chunks *c = t->chunks;
	uint64_t h = hash_mix(c->size_bytes, c->header.seq);

	for (size_t i = 0; i < c->list.n; i++) {
		uint64_t words[sizeof(struct pmt_chunk) / sizeof(uint64_t)];

		memcpy(words, c->base + c->list.at[i].offset, sizeof words);
		for (size_t j = 0; j < sizeof words / sizeof *words; j++)
			h = hash_mix(h, words[j]);
	}
	return h;
}

/* ---- definitions ---- */

void trace_pass_definitions(struct trace *t, struct wire *w)
{
	struct map numbers = { 0 };

	if (!w->is_received)
		tables_number_nodes(&t->opened->store, &numbers);
	tables_store_pass(&t->opened->store, w, &numbers);
	map_release(&numbers);
}

const struct trace_site *trace_site(const struct trace *t, uint64_t id)
{
	const struct tables_store *s = &t->opened->store;

	return id - 1 < s->sites.n ? s->sites.at[id - 1] : NULL;
}

/* ---- streams ---- */

/* Passes a pointer into the trace file: as offset + 1, or 0 for NULL. Gives the pointer. */
static const uint8_t *pass_place(const struct trace *t, struct wire *w, const uint8_t *p)
{
	const uint64_t at = wire_number(w, p ? (uint64_t)(p - t->chunks->base) + 1 : 0);

	w->is_bad |= at > t->chunks->size_bytes + 1;
	return at == 0 || w->is_bad ? NULL : t->chunks->base + at - 1;
}

/* Restores the header of the chunk that was being read, and checks that the position is inside
 * it. */
static void begin_again(struct trace *t, struct stream *s, struct wire *w)
{
	const uint8_t *base;

	w->is_bad |= s->chunk == 0 || s->chunk > s->last_chunk;
	if (w->is_bad)
		return;
	base = t->chunks->base + t->chunks->list.at[s->chunk - 1].offset;
	memcpy(&s->header, base, sizeof s->header);
	if (s->p)
		w->is_bad |= s->p < base + sizeof s->header || s->end < s->p ||
			     s->end > base + sizeof s->header + s->header.used ||
			     !chunk_is_right(t, s, &t->chunks->list.at[s->chunk - 1]);
}

static void pass_stream(struct trace *t, struct stream *s, struct wire *w,
			const struct map *numbers)
{
	wire_pass(w, s->is_started);
	wire_pass(w, s->is_in_chunk);
	wire_pass(w, s->is_cut);
	wire_pass(w, s->next_seq);
	wire_pass(w, s->nevents);
	wire_pass(w, s->nevents_before);
	wire_pass(w, s->chunk);
	wire_pass(w, s->last_chunk);
	wire_pass(w, s->nchunks);
	wire_pass(w, s->nforked);
	s->p = pass_place(t, w, s->p);
	s->end = pass_place(t, w, s->end);
	w->is_bad |= s->last_chunk > t->chunks->list.n;
	if (w->is_received && s->is_in_chunk)
		begin_again(t, s, w);
	tables_pass(&s->tables, w, &t->opened->store, numbers);
}

static void pass_waiting(struct trace *t, struct wire *w)
{
	const uint64_t now = wire_number(w, t->now ? (uint64_t)(t->now - t->streams) + 1 : 0);

	if (w->is_received) {
		w->is_bad |= now > t->nstreams;
		t->now = now && !w->is_bad ? &t->streams[now - 1] : NULL;
		t->waiting.n = 0;
	}
	for (uint64_t i = 0, n = wire_number(w, t->waiting.n); i < n && !w->is_bad; i++) {
		const uint64_t number = wire_number(
			w, w->is_received ? 0 : (uint64_t)(t->waiting.at[i] - t->streams));

		w->is_bad |= number >= t->nstreams;
		if (w->is_received && !w->is_bad)
			*vec_add(&t->waiting) = &t->streams[number];
	}
	wire_pass(w, t->limit);
}

/* ---- files ---- */

static const char *pass_text(struct wire *w, struct arena *a, const char *text)
{
	char *received = wire_string(w, (char *)text);

	if (!w->is_received)
		return text;
	text = arena_text(a, received);
	free(received);
	return text;
}

static void pass_files(struct trace *t, struct wire *w)
{
	struct files *f = &t->files;

	if (w->is_received)
		f->list.n = f->meta.n = 0;
	for (uint64_t i = 0, n = wire_number(w, f->list.n); i < n && !w->is_bad; i++) {
		struct trace_file *file = w->is_received ? vec_add(&f->list) : &f->list.at[i];

		file->path = pass_text(w, &t->names, w->is_received ? NULL : file->path);
		wire_pass(w, file->size_bytes);
		wire_pass(w, file->flags);
	}
	for (uint64_t i = 0, n = wire_number(w, f->meta.n); i < n && !w->is_bad; i++) {
		const char *text = pass_text(w, &t->names, w->is_received ? NULL : f->meta.at[i]);

		w->is_bad |= !text;
		if (w->is_received && text)
			*vec_add(&f->meta) = text;
	}
	f->unseen = pass_text(w, &t->names, f->unseen);
}

/* ---- all of it ---- */

static void pass_damage(struct trace *t, struct wire *w)
{
	char *damage = wire_string(w, t->damage);

	if (w->is_received) {
		free(t->damage);
		t->damage = damage;
	}
	wire_pass(w, t->is_cut_off);
	wire_pass(w, t->is_worse);
	wire_pass(w, t->is_at_end);
}

void trace_pass_position(struct trace *t, struct wire *w)
{
	struct map numbers = { 0 };

	if (!w->is_received && t->nstreams > 1)
		tables_number_nodes(&t->opened->store, &numbers);
	w->is_bad |= wire_number(w, t->nstreams) != t->nstreams;
	for (size_t i = 0; i < t->nstreams && !w->is_bad; i++)
		pass_stream(t, &t->streams[i], w, &numbers);
	map_release(&numbers);
	pass_waiting(t, w);
	wire_pass(w, t->last_seq);
	wire_pass(w, t->nevents);
	wire_pass(w, t->nforked);
	wire_pass(w, t->met.nobjects);
	wire_pass(w, t->met.nnodes);
	wire_pass(w, t->met.nsites);
	w->is_bad |= t->met.nobjects > t->opened->store.objects.n ||
		     t->met.nnodes > t->opened->store.nodes.n ||
		     t->met.nsites > t->opened->store.sites.n;
	pass_files(t, w);
	pass_damage(t, w);
}

void trace_pass_event(const struct trace *t, struct wire *w, struct trace_event *ev)
{
	const uint64_t site = wire_number(w, ev->site ? ev->site->id : 0);

	wire_pass(w, ev->seq);
	wire_pass(w, ev->kind);
	wire_pass(w, ev->stream);
	wire_pass(w, ev->thread);
	wire_pass(w, ev->size_bytes);
	wire_pass(w, ev->addr);
	for (size_t i = 0; i < PMT_MAX_ARGS; i++)
		wire_pass(w, ev->arg[i]);
	wire_pass(w, ev->data_len);
	ev->data = pass_place(t, w, ev->data);
	if (!w->is_received)
		return;
	ev->site = site ? trace_site(t, site) : NULL;
	w->is_bad |= (site && !ev->site) || (unsigned)ev->kind >= PMT_NKINDS ||
		     (ev->data_len && !ev->data) ||
		     (ev->data && ev->data_len > t->chunks->size_bytes -
							 (uint64_t)(ev->data - t->chunks->base));
}
