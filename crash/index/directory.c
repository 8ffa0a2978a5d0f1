#include "crash/index/directory.h"

#include <stdlib.h>

#include "util/hash.h"

static void pass_checkpoint(struct wire *w, struct checkpoint *c)
{
	wire_pass(w, c->point);
	wire_pass(w, c->seq);
	frame_pass(w, &c->state);
	frame_pass(w, &c->image);
}

void directory_pass(struct wire *w, struct directory *d)
{
	wire_pass(w, d->identity);
	d->version = wire_string(w, d->version);
	d->platform = wire_string(w, d->platform);
	wire_pass(w, d->is_distrusting);
	wire_pass(w, d->stops);
	wire_pass(w, d->making);
	frame_pass(w, &d->plan);
	wire_pass(w, d->npoints);
	wire_pass_vec(w, &d->points, frame_pass);
	wire_pass_vec(w, &d->checkpoints, pass_checkpoint);
}

void directory_release(struct directory *d)
{
	free(d->version);
	free(d->platform);
	vec_release(&d->points);
	vec_release(&d->checkpoints);
}

uint64_t making_hash(const struct plan *p)
{
	uint64_t h = p->making.n;

	for (size_t i = 0; i < p->making.n; i++)
		if (p->making.at[i])
			h = hash_mix(h, i);
	return h;
}
