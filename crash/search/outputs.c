/* Collects the outputs of recovery by hash, and the shapes of their lines. The shape of a line is
 * the line with each number replaced by the same character. A line of a new shape is a message, for
 * example that something was dropped: recovery has noticed the loss. */
#include "crash/search/outputs.h"

#include <ctype.h>
#include <stdlib.h>

void outputs_release(struct outputs *o)
{
	for (size_t i = 0; i < o->doubts.n; i++)
		free(o->doubts.at[i].state);
	vec_release(&o->doubts);
	map_release(&o->clean);
	map_release(&o->shapes);
}

bool outputs_has(const struct outputs *o, uint64_t hash)
{
	return map_get(&o->clean, hash) != NULL;
}

bool outputs_add(struct outputs *o, uint64_t hash)
{
	if (outputs_has(o, hash))
		return false;
	map_set(&o->clean, hash, o);
	return true;
}

void outputs_add_shape(struct outputs *o, uint64_t shape)
{
	map_set(&o->shapes, shape, o);
}

static struct output_doubt *find_doubt(const struct outputs *o, uint64_t hash)
{
	for (size_t i = 0; i < o->doubts.n; i++)
		if (o->doubts.at[i].hash == hash)
			return &o->doubts.at[i];
	return NULL;
}

bool outputs_wants(const struct outputs *o, uint64_t hash, uint64_t point)
{
	const struct output_doubt *known = find_doubt(o, hash);

	return !outputs_has(o, hash) && (known ? point < known->point : o->doubts.n < OUTPUTS_MAX);
}

void outputs_doubt(struct outputs *o, uint64_t hash, uint64_t point, char *state)
{
	struct output_doubt *known = find_doubt(o, hash);

	if (known)
		free(known->state);
	*(known ? known : vec_add(&o->doubts)) = (struct output_doubt){ hash, point, state };
}

void outputs_clear(struct outputs *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->doubts.n; i++)
		if (outputs_has(o, o->doubts.at[i].hash))
			free(o->doubts.at[i].state);
		else
			o->doubts.at[n++] = o->doubts.at[i];
	o->doubts.n = n;
}

void output_shapes(const char *text, size_t len, void (*f)(uint64_t shape, void *arg), void *arg)
{
	uint64_t h = 1;

	for (size_t i = 0; i < len; i++) {
		const bool is_digit = isxdigit((unsigned char)text[i]) &&
				      (isdigit((unsigned char)text[i]) ||
				       (i > 0 && isdigit((unsigned char)text[i - 1])));

		if (!is_digit || i == 0 || !isdigit((unsigned char)text[i - 1]))
			h = (h ^ (is_digit ? '0' : (uint8_t)text[i])) * 0x9e3779b97f4a7c15u;
		if (text[i] == '\n' || i + 1 == len) {
			f(h ^ h >> 32, arg);
			h = 1;
		}
	}
}

struct lookup {
	const struct outputs *outputs;
	bool is_known;
};

static void look_up(uint64_t shape, void *arg)
{
	struct lookup *l = arg;

	l->is_known &= map_get(&l->outputs->shapes, shape) != NULL;
}

bool outputs_know_shapes(const struct outputs *o, const char *text, size_t len)
{
	struct lookup l = { o, true };

	output_shapes(text, len, look_up, &l);
	return l.is_known;
}
