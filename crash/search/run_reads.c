/* Notes which stores lazy runs read while they could be lost, and to what length the runs cut
 * files. Reads of --then do not count as reads of recovery, as in uses.c. */
#include "crash/search/run_reads.h"

#include "crash/search/surroundings.h"

static const char is_there;

struct read_bytes {
	struct map *sites;
	uint64_t from, mask; /* bit i is the byte at from + i */
};

static void note_site(const struct model_store *s, void *arg)
{
	const struct read_bytes *r = arg;

	for (uint64_t m = r->mask; m; m &= m - 1) {
		const uint64_t addr = r->from + (uint64_t)__builtin_ctzll(m);

		if (addr < s->addr || addr >= s->addr + s->size_bytes)
			continue;
		map_set(r->sites, site_id(s->site), (void *)&is_there);
		return;
	}
}

static void add_cuts(struct run_reads *r, uint64_t file, const struct file_cuts *cuts)
{
	while (r->files.n <= file)
		*vec_add(&r->files) = (struct file_cuts){ 0 };
	if (cuts->kept_bytes > r->files.at[file].kept_bytes)
		r->files.at[file].kept_bytes = cuts->kept_bytes;
	r->files.at[file].n += cuts->n;
	r->files.at[file].nreads += cuts->nreads;
}

void run_reads_note(struct run_reads *r, const struct walk *w, const struct state_set *set,
		    const struct run_decision *d, size_t n, const struct verdict *v)
{
	for (size_t i = 0; i < n; i++) {
		struct read_bytes b = { &r->sites, set->lines.at[d[i].line].addr + d[i].at,
					d[i].mask };

		if (!(d[i].flags & RUN_READ_CUT))
			add_cuts(r, PMT_FILE(b.from), &(struct file_cuts){ .nreads = 1 });
		if (i < v->ndecisions[PART_RECOVER] || i >= v->ndecisions[PART_THEN])
			model_each(w->model, b.from, 64 - (uint64_t)__builtin_clzll(b.mask),
				   note_site, &b);
	}
}

void run_reads_note_cuts(struct run_reads *r, const struct walk *w, const struct runner *runner)
{
	for (size_t i = 1; i < w->image.files.n; i++) {
		const struct crash_file *f = &w->image.files.at[i];
		const uint64_t cut = runner_cut(runner, (uint32_t)i);
		const bool is_cut = cut < f->size_bytes;

		if (f->path && f->exists)
			add_cuts(r, i,
				 &(struct file_cuts){ is_cut ? cut : f->size_bytes, is_cut, 0 });
	}
}

void run_reads_add(struct run_reads *r, const struct run_reads *more)
{
	map_add(&r->sites, &more->sites);
	for (size_t i = 0; i < more->files.n; i++)
		add_cuts(r, i, &more->files.at[i]);
}

static void cuts_pass(struct wire *m, struct file_cuts *c)
{
	wire_pass(m, c->kept_bytes);
	wire_pass(m, c->n);
	wire_pass(m, c->nreads);
}

void run_reads_pass(struct wire *m, struct run_reads *r)
{
	struct run_reads got = { 0 };

	wire_pass_set(m, m->is_received ? &got.sites : &r->sites);
	if (m->is_received)
		wire_pass_vec(m, &got.files, cuts_pass);
	else
		wire_pass_vec(m, &r->files, cuts_pass);
	run_reads_add(r, &got);
	run_reads_release(&got);
}

void run_reads_release(struct run_reads *r)
{
	map_release(&r->sites);
	vec_release(&r->files);
}
