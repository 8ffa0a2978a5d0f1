/* What a report says of the part of an exploration that it is. `data` is for 'pmend merge': all that the findings are made of. */
#include "report/internal.h"

void report_set_shard(struct report *r, const struct report_shard *s)
{
	r->shard = *s;
	r->shard.fingerprint = arena_text(&r->arena, s->fingerprint);
	r->shard.trace = arena_text(&r->arena, s->trace);
	r->shard.data = arena_text(&r->arena, s->data);
}

const struct report_shard *report_shard(const struct report *r)
{
	return r->shard.of ? &r->shard : NULL;
}

json_t *shard_json(const struct report_shard *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "index", json_number(s->index));
	json_object_set_new(o, "of", json_number(s->of));
	json_object_set_new(o, "failure_points", json_number(s->failure_points));
	json_object_set_new(o, "done", json_number(s->done));
	json_set_text(o, "fingerprint", s->fingerprint);
	json_set_text(o, "trace", s->trace);
	json_set_text(o, "data", s->data);
	return o;
}

bool shard_read(struct report *r, const json_t *o, const char **why)
{
	const struct report_shard s = { .index = (uint32_t)json_get_number(o, "index"),
					.of = (uint32_t)json_get_number(o, "of"),
					.failure_points = json_get_number(o, "failure_points"),
					.done = json_get_number(o, "done"),
					.fingerprint = json_get_text(o, "fingerprint"),
					.trace = json_get_text(o, "trace"),
					.data = json_get_text(o, "data") };

	*why = s.index == 0 || s.index > s.of ? "\"index\" is from 1 to \"of\"" :
	       s.done > s.failure_points      ? "\"done\" is more than \"failure_points\"" :
	       !s.fingerprint || !s.trace || !s.data ? "\"fingerprint\", \"trace\" or \"data\" is missing" : NULL;
	if (!*why)
		report_set_shard(r, &s);
	return !*why;
}
