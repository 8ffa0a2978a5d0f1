/* Runs one exploration: the seeds first, then inputs that flip the branch which the search picks.
 * It keeps the paths of all runs, because flips still to come need them. A run that did not take
 * the path the solver predicted counts as diverged. */
#include "explore/explore.h"

#include <stdlib.h>
#include <string.h>

#include "explore/graph/code.h"
#include "explore/path/token.h"
#include "explore/start_texts.h"
#include "util/hash.h"

/* the targets of an indirect jump, or the addresses of an access, that runs have had */
struct targets {
	VEC(uint64_t) values;
};

struct open { /* bytes of the input about which nothing is known */
	size_t index, len_bytes;
};

struct put_off { /* a flip that another exploration has claimed by this key */
	struct search_flip flip;
	uint64_t key;
};

struct explore {
	struct explore_options options;
	struct expr_pool *pool;
	struct objects objects;
	struct graph *graph;
	struct search *search;
	struct flipper *flipper;
	VEC(uint8_t *) seeds;
	size_t next_seed;
	VEC(size_t) bounds; /* where parts of the input begin */
	VEC(struct open) open;
	bool is_put[TEXTS];
	VEC(struct path *) paths;      /* by run */
	VEC(uint8_t *) inputs;         /* by run */
	struct map seen;               /* hashes of all inputs */
	struct map jumps;              /* place → struct targets */
	VEC(struct path_count) counts; /* ends with an empty one */
	/* places, as file offsets, of instructions that modified PM */
	struct map pm_seen;
	struct lines suspects;
	size_t nsearched; /* objects in which the suspects were searched */
	uint64_t steps, diverged;
	/* sharing with other explorations */
	struct explore_sharing sharing; /* claim is NULL if there are no others */
	struct map settled;             /* keys that other explorations have tried */
	/* keys that others claimed but do not seem to try; this exploration takes them */
	struct map forced;
	struct map runs; /* hash of an input → number of its run + 1 */
	VEC(struct put_off) flips_put_off;
	VEC(uint8_t *) seeds_put_off;
};

struct explore *explore_new(const struct explore_options *o)
{
	struct explore *e = xcalloc(1, sizeof *e);

	e->options = *o;
	e->pool = expr_pool_new((struct expr_memory){ xmalloc, free });
	e->graph = graph_new(&e->objects, o->cache);
	e->search = search_new(o->strategy, e->graph, o->random);
	e->flipper = flipper_new(o->solver, e->pool, o->solver_timeout_ms);
	*vec_add(&e->counts) = (struct path_count){ 0 };
	return e;
}

void explore_free(struct explore *e)
{
	flipper_free(e->flipper);
	search_free(e->search);
	graph_free(e->graph);
	for (size_t i = 0; i < e->paths.n; i++) {
		path_release(e->paths.at[i]);
		free(e->paths.at[i]);
		free(e->inputs.at[i]);
	}
	for (size_t i = 0; i < e->seeds.n; i++)
		free(e->seeds.at[i]);
	for (size_t i = 0; i < e->jumps.room; i++)
		if (e->jumps.slots[i].value) {
			vec_release(&((struct targets *)e->jumps.slots[i].value)->values);
			free(e->jumps.slots[i].value);
		}
	for (size_t i = 0; i < e->counts.n; i++)
		free(e->counts.at[i].what);
	for (size_t i = 0; i < e->seeds_put_off.n; i++)
		free(e->seeds_put_off.at[i]);
	vec_release(&e->seeds_put_off);
	vec_release(&e->flips_put_off);
	map_release(&e->settled);
	map_release(&e->forced);
	map_release(&e->runs);
	vec_release(&e->paths);
	vec_release(&e->inputs);
	vec_release(&e->seeds);
	vec_release(&e->bounds);
	vec_release(&e->open);
	vec_release(&e->counts);
	map_release(&e->seen);
	map_release(&e->jumps);
	map_release(&e->pm_seen);
	lines_release(&e->suspects);
	expr_pool_free(e->pool);
	objects_release(&e->objects);
	free(e);
}

static uint64_t input_hash(const struct explore *e, const uint8_t *bytes)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < e->options.len_bytes; i++)
		h = (h ^ bytes[i]) * 0x100000001b3ULL;
	return h;
}

/* Adds the input to those that are known. True: it was not known yet. */
static bool input_note(struct explore *e, const uint8_t *bytes)
{
	uint64_t h = input_hash(e, bytes);

	if (map_get(&e->seen, h))
		return false;
	map_set(&e->seen, h, e);
	return true;
}

/* Copies the input, and appends the present values of the path's words: 8 bytes for each word,
 * which the solver treats as more bytes of the input. */
static uint8_t *bytes_with_words(const struct explore *e, const uint8_t *bytes,
				 const struct path *p)
{
	uint8_t *copy = xcalloc(1, e->options.len_bytes + 8 * p->words.n + 1);

	memcpy(copy, bytes, e->options.len_bytes);
	for (size_t i = 0; i < p->words.n; i++)
		if (p->words.at[i].at == e->options.len_bytes + 8 * i)
			memcpy(copy + p->words.at[i].at, &p->words.at[i].value, 8);
	return copy;
}

static uint8_t *bytes_copy(const struct explore *e, const uint8_t *bytes)
{
	uint8_t *copy = xmalloc(e->options.len_bytes + 1);

	memcpy(copy, bytes, e->options.len_bytes);
	return copy;
}

void explore_seed(struct explore *e, const uint8_t *bytes)
{
	if (input_note(e, bytes))
		*vec_add(&e->seeds) = bytes_copy(e, bytes);
}

void explore_known(struct explore *e, const struct explore_input *in)
{
	input_note(e, in->bytes);
	for (size_t i = e->next_seed; i < e->seeds.n; i++)
		/* it was run already */
		if (memcmp(e->seeds.at[i], in->bytes, e->options.len_bytes) == 0) {
			uint8_t *next = e->seeds.at[e->next_seed];

			e->seeds.at[e->next_seed++] = e->seeds.at[i];
			e->seeds.at[i] = next;
		}
	if (in->parent != EXPLORE_NO_RUN)
		search_forget(e->search, in->parent, in->step);
}

void explore_fix(struct explore *e, uint64_t index, uint8_t value)
{
	flipper_fix(e->flipper, index, value);
}

void explore_allow_text(struct explore *e, size_t index, size_t len_bytes)
{
	*vec_add(&e->open) = (struct open){ index, len_bytes };
}

void explore_bound(struct explore *e, size_t index)
{
	*vec_add(&e->bounds) = index;
}

void explore_input_release(struct explore_input *in)
{
	free(in->bytes);
	in->bytes = NULL;
}

/* ---- choosing the next flip ---- */

/* Asks whether the step can have more than two outcomes, as a jump through a table can. */
static bool has_targets(const struct path_step *s)
{
	return s->kind == PATH_JUMP || s->kind == PATH_ADDRESS;
}

#define GUESSES_MAX 4     /* guesses per edge */
#define GUESSES_OF_WAYS 1 /* guesses per edge that leads to code that was run */

/* Tries an input for the other side although the path's conditions rule it out: leaves out
 * conditions that may have nothing to do with it, such as earlier decisions about the same bytes.
 * The run may take another path, so it counts as an input without a parent. Each edge gets a few
 * guesses. A library function that looks at the same byte repeatedly gets none, because its first
 * look was asked about. */
static bool guess_flip(struct explore *e, const struct search_flip *f, struct explore_input *in)
{
	const struct path *p = search_path(e->search, f->run);
	const struct path_step *s = &p->steps.at[f->step];
	const bool is_run = graph_is_own(e->graph, s->pc) && search_is_covered(e->search, s->other);

	if (s->kind != PATH_BRANCH && s->kind != PATH_TARGET)
		return false;
	if (!graph_is_own(e->graph, s->pc) ? flipper_is_repeated(e->flipper, p, f->step)
					   : is_run && !search_is_new_way(e->search, s))
		return false;
	if (!search_guess(e->search, f, is_run ? GUESSES_OF_WAYS : GUESSES_MAX))
		return false;
	if (flipper_guess(e->flipper, p, f->step, in->bytes, e->options.len_bytes) != SOLVER_YES)
		return false;
	in->parent = EXPLORE_NO_RUN;
	in->step = 0;
	return true;
}

/* Gives the end of the part of the input that contains the byte at index. */
static size_t part_end(const struct explore *e, size_t index)
{
	size_t end = e->options.len_bytes;

	for (size_t i = 0; i < e->bounds.n; i++)
		if (e->bounds.at[i] > index && e->bounds.at[i] < end)
			end = e->bounds.at[i];
	return end;
}

/* Replaces the word of the input by the word that it was compared with. The run may take another
 * path. */
static bool put_word(struct explore *e, const struct path_token *t, struct explore_input *in)
{
	in->parent = EXPLORE_NO_RUN;
	in->step = 0;
	return token_put(t, in->bytes, part_end(e, t->index)) &&
	       flipper_allows(e->flipper, in->bytes, e->options.len_bytes);
}

/* Changes the words for which the solver chose another length or number. Goes from the end of the
 * input to its beginning, because what follows a changed word moves. */
static bool words_put(struct explore *e, const struct path *p, struct explore_input *in)
{
	size_t before = SIZE_MAX;

	for (;;) {
		const struct path_word *next = NULL;
		uint64_t value = 0, v;

		for (size_t i = 0; i < p->words.n; i++) {
			const struct path_word *w = &p->words.at[i];

			if (w->at + 8 > e->options.len_bytes + 8 * p->words.n)
				continue;
			memcpy(&v, in->bytes + w->at, 8);
			if (v == w->value || w->index >= before ||
			    (next && w->index <= next->index))
				continue;
			next = w;
			value = v;
		}
		if (!next)
			break;
		if (!word_put(next, value, in->bytes, part_end(e, next->index)))
			return false;
		before = next->index;
	}
	if (before == SIZE_MAX)
		return true;
	in->parent = EXPLORE_NO_RUN;
	in->step = 0;
	return flipper_allows(e->flipper, in->bytes, e->options.len_bytes);
}

static bool ask_solver(struct explore *e, const struct search_flip *f, struct explore_input *in)
{
	const struct path *p = search_path(e->search, f->run);
	const struct path_step *s = &p->steps.at[f->step];
	struct targets *t = has_targets(s) ? map_get(&e->jumps, s->pc) : NULL;
	enum solver_answer answer;

	answer = flipper_ask(e->flipper, p, f->step, t ? t->values.at : NULL, t ? t->values.n : 0,
			     in->bytes, e->options.len_bytes + 8 * p->words.n);
	if (answer == SOLVER_YES && has_targets(s))
		search_again(e->search, f);
	return answer == SOLVER_YES ? words_put(e, p, in)
				    : answer == SOLVER_NO && guess_flip(e, f, in);
}

static bool make_flip(struct explore *e, const struct search_flip *f, struct explore_input *in)
{
	const struct path *p = search_path(e->search, f->run);
	const struct path_step *s = &p->steps.at[f->step];

	*in = (struct explore_input){ .bytes = bytes_with_words(e, e->inputs.at[f->run], p),
				      .parent = f->run,
				      .step = f->step };
	if ((s->kind == PATH_TOKEN ? put_word(e, &p->tokens.at[s->target], in)
				   : ask_solver(e, f, in)) &&
	    input_note(e, in->bytes)) {
		search_made(e->search, f);
		return true;
	}
	explore_input_release(in);
	return false;
}

/* ---- sharing with other explorations ---- */

void explore_share(struct explore *e, const struct explore_sharing *sharing)
{
	e->sharing = *sharing;
}

static uint64_t seed_key(const struct explore *e, const uint8_t *bytes)
{
	return hash_mix(1, input_hash(e, bytes)) | 1;
}

/* Gives the key of a flip. For a step with several outcomes, the key contains the outcomes known by
 * now, so that the solver can be asked about the step again when more are known. */
static uint64_t flip_key(const struct explore *e, const struct search_flip *f)
{
	const struct path_step *s = search_step(e->search, f);
	const struct targets *t = has_targets(s) ? map_get(&e->jumps, s->pc) : NULL;
	uint64_t sum = 0;

	for (size_t i = 0; t && i < t->values.n; i++)
		/* the order in which they came must not matter */
		sum += hash_mix(2, t->values.at[i]);
	return t ? hash_mix(f->key, sum) | 1 : f->key;
}

static bool is_ours(struct explore *e, uint64_t key)
{
	return map_get(&e->forced, key) || e->sharing.claim(key, e->sharing.arg);
}

void explore_settle(struct explore *e, uint64_t key)
{
	map_set(&e->settled, key, e);
}

uint32_t explore_find(const struct explore *e, const uint8_t *bytes)
{
	uintptr_t number = (uintptr_t)map_get(&e->runs, input_hash(e, bytes));

	return number ? (uint32_t)(number - 1) : EXPLORE_NO_RUN;
}

size_t explore_nput_off(struct explore *e)
{
	size_t n = 0;

	for (size_t i = 0; i < e->flips_put_off.n; i++) {
		const struct put_off p = e->flips_put_off.at[i];

		if (!map_get(&e->settled, p.key))
			e->flips_put_off.at[n++] = p;
		else if (flip_key(e, &p.flip) !=
			 p.key) /* it has outcomes that the other exploration did not ask about */
			search_again(e->search, &p.flip);
	}
	e->flips_put_off.n = n;
	n = 0;
	for (size_t i = 0; i < e->seeds_put_off.n; i++)
		if (explore_find(e, e->seeds_put_off.at[i]) == EXPLORE_NO_RUN)
			e->seeds_put_off.at[n++] = e->seeds_put_off.at[i];
		else
			free(e->seeds_put_off.at[i]);
	e->seeds_put_off.n = n;
	return n + e->flips_put_off.n;
}

void explore_claim_all(struct explore *e)
{
	explore_nput_off(e); /* drops those that were tried meanwhile */
	for (size_t i = 0; i < e->flips_put_off.n; i++) {
		map_set(&e->forced, e->flips_put_off.at[i].key, e);
		search_again(e->search, &e->flips_put_off.at[i].flip);
	}
	for (size_t i = 0; i < e->seeds_put_off.n; i++) {
		map_set(&e->forced, seed_key(e, e->seeds_put_off.at[i]), e);
		*vec_add(&e->seeds) = e->seeds_put_off.at[i];
	}
	e->flips_put_off.n = e->seeds_put_off.n = 0;
}

/* ---- choosing the next input ---- */

/* Gives the next seed. The first input is run even if another exploration claims it: it tells which
 * files are pools and how long a run takes. */
static bool seed_next(struct explore *e, struct explore_input *in)
{
	while (e->next_seed < e->seeds.n) {
		const uint8_t *bytes = e->seeds.at[e->next_seed++];
		uint64_t key = e->sharing.claim ? seed_key(e, bytes) : 0;

		if (key && !is_ours(e, key) && e->paths.n) {
			*vec_add(&e->seeds_put_off) = bytes_copy(e, bytes);
			continue;
		}
		*in = (struct explore_input){ .bytes = bytes_copy(e, bytes),
					      .parent = EXPLORE_NO_RUN,
					      .key = key };
		return true;
	}
	return false;
}

/* Flips a branch unless another exploration has claimed it. False if no input comes of it. */
static bool flip_shared(struct explore *e, const struct search_flip *f, struct explore_input *in)
{
	uint64_t key = flip_key(e, f), nunknown = flipper_stats(e->flipper)->unknown;

	if (map_get(&e->settled, key))
		return false;
	if (!is_ours(e, key)) {
		search_made(e->search, f);
		*vec_add(&e->flips_put_off) = (struct put_off){ *f, key };
		return false;
	}
	if (make_flip(e, f, in)) {
		in->key = key;
		return true;
	}
	explore_settle(e, key);
	e->sharing.failed(key, flipper_stats(e->flipper)->unknown > nunknown, e->sharing.arg);
	return false;
}

bool explore_next(struct explore *e, struct explore_input *in, bool (*is_stopped)(void *arg),
		  void *arg)
{
	struct search_flip f;

	if (seed_next(e, in))
		return true;
	while (!is_stopped(arg) && search_next(e->search, &f))
		if (e->sharing.claim ? flip_shared(e, &f, in) : make_flip(e, &f, in))
			return true;
	return false;
}

/* ---- after a run ---- */

static void jumps_note(struct explore *e, const struct path *p)
{
	for (size_t i = 0; i < p->steps.n; i++) {
		const struct path_step *s = &p->steps.at[i];
		struct targets *t;
		size_t k = 0;

		if (!has_targets(s) || !s->pc)
			continue;
		t = map_get(&e->jumps, s->pc);
		if (!t) {
			t = xcalloc(1, sizeof *t);
			map_set(&e->jumps, s->pc, t);
		}
		while (k < t->values.n && t->values.at[k] != s->value)
			k++;
		if (k == t->values.n)
			*vec_add(&t->values) = s->value;
	}
}

/* Asks whether the run took the same branches as its parent up to the flipped one, and there the
 * other side. */
static bool is_as_expected(const struct explore *e, const struct explore_input *in,
			   const struct path *p)
{
	const struct path *parent = search_path(e->search, in->parent);
	const struct path_step *a, *b;

	if (p->steps.n <= in->step)
		return false;
	for (size_t i = 0; i < in->step; i++) {
		a = &parent->steps.at[i];
		b = &p->steps.at[i];
		if (a->kind == PATH_TARGET && b->kind == PATH_TARGET)
			continue; /* these depend on where the jump went */
		if (a->pc != b->pc || a->went != b->went || a->kind != b->kind)
			return false;
	}
	a = &parent->steps.at[in->step];
	b = &p->steps.at[in->step];
	if (a->pc != b->pc || a->kind != b->kind)
		return false;
	return has_targets(a)           ? a->value != b->value
	       : a->kind == PATH_TARGET ? a->other == b->went
					: a->went == b->other;
}

static void counts_add(struct explore *e, const struct path *p)
{
	for (size_t i = 0; i < p->counts.n; i++) {
		size_t k = 0;

		while (e->counts.at[k].what &&
		       strcmp(e->counts.at[k].what, p->counts.at[i].what) != 0)
			k++;
		if (!e->counts.at[k].what) {
			e->counts.at[k] = (struct path_count){ xstrdup(p->counts.at[i].what), 0,
							       p->counts.at[i].is_loss };
			*vec_add(&e->counts) = (struct path_count){ 0 };
		}
		e->counts.at[k].n += p->counts.at[i].n;
	}
}

void explore_suspect(struct explore *e, const char *file, uint32_t line)
{
	lines_add(&e->suspects, file, line);
}

/* Finds the suspected stores (explore_suspect()) in objects that are new since the last call. */
static void suspects_find(struct explore *e)
{
	for (; e->suspects.list.n && e->nsearched < e->objects.paths.n; e->nsearched++) {
		struct lines_ranges ranges = { 0 };

		lines_find(&e->suspects, e->objects.paths.at[e->nsearched], &ranges);
		graph_suspect(e->graph,
			      objects_place(&e->objects, e->objects.paths.at[e->nsearched], 0),
			      &ranges);
		vec_release(&ranges.list);
	}
}

static void parts_set(struct explore *e, struct path *p)
{
	for (size_t i = 0; e->bounds.n > 1 && i < p->steps.n; i++) {
		uint32_t byte = flipper_byte(e->flipper, p->steps.at[i].term.id);

		for (size_t k = 0; byte != UINT32_MAX && k < e->bounds.n; k++)
			p->steps.at[i].part += e->bounds.at[k] <= byte;
	}
}

static void texts_put(struct explore *e, const struct path *p, const uint8_t *bytes)
{
	for (unsigned t = 0;
	     e->options.strategy->has_texts && e->open.n && e->paths.n > TEXTS_AFTER && t < TEXTS;
	     t++) {
		uint8_t *copy;

		if (e->is_put[t] || !text_is_asked_for(t, p))
			continue;
		e->is_put[t] = true;
		copy = bytes_copy(e, bytes);
		for (size_t i = 0; i < e->open.n; i++) {
			memset(copy + e->open.at[i].index, 0, e->open.at[i].len_bytes);
			text_fill(t, copy + e->open.at[i].index, e->open.at[i].len_bytes);
		}
		explore_seed(e, copy);
		free(copy);
	}
}

static void path_add(struct explore *e, const struct explore_input *in, struct path *p)
{
	bool is_flip = in->parent < e->paths.n && in->step < e->paths.at[in->parent]->steps.n,
	     is_expected = !is_flip || is_as_expected(e, in, p);

	*vec_add(&e->paths) = p;
	*vec_add(&e->inputs) = bytes_copy(e, in->bytes);
	map_set(&e->runs, input_hash(e, in->bytes), (void *)(uintptr_t)e->paths.n);
	e->steps += p->steps.n;
	e->diverged += !is_expected;
	parts_set(e, p);
	suspects_find(e);
	jumps_note(e, p);
	counts_add(e, p);
	texts_put(e, p, in->bytes);
	/* a run that diverged has a path of its own from the beginning */
	search_add(e->search, p, is_flip && is_expected ? in->step + 1 : 0);
}

int explore_done(struct explore *e, const struct explore_input *in, const char *file,
		 struct error *err)
{
	struct path *p = xcalloc(1, sizeof *p);
	int result = path_read(p, e->pool, &e->objects, file, err);

	path_add(e, in, p);
	return result;
}

int explore_take(struct explore *e, const struct explore_input *in, const char *file,
		 struct error *err)
{
	struct path *p = xcalloc(1, sizeof *p);

	if (path_read(p, e->pool, &e->objects, file, err) < 0) {
		path_release(p);
		free(p);
		return -1;
	}
	explore_known(e, in);
	path_add(e, in, p);
	return 0;
}

void explore_skip(struct explore *e)
{
	struct path *p = xcalloc(1, sizeof *p);

	*vec_add(&e->paths) = p;
	*vec_add(&e->inputs) = xcalloc(1, e->options.len_bytes + 1);
	search_add(e->search, p, 0);
}

bool explore_cover(struct explore *e, const char *object, uint64_t offset)
{
	uint64_t key = objects_place(&e->objects, object, offset), address;

	if (map_get(&e->pm_seen, key))
		return false;
	map_set(&e->pm_seen, key, e);
	address = code_address(object, offset);
	if (address)
		graph_cover(e->graph, objects_place(&e->objects, object, address));
	return true;
}

bool explore_is_covered(struct explore *e, const char *object, uint64_t offset)
{
	return map_get(&e->pm_seen, objects_place(&e->objects, object, offset)) != NULL;
}

struct explore_stats explore_stats(const struct explore *e)
{
	return (struct explore_stats){ .runs = e->paths.n,
				       .steps = e->steps,
				       .diverged = e->diverged,
				       .waiting = search_waiting(e->search) + e->flips_put_off.n +
						  e->seeds_put_off.n,
				       .blocks = search_ncovered(e->search),
				       .pm_known = graph_nknown(e->graph),
				       .pm_covered = graph_ncovered(e->graph),
				       .flips = *flipper_stats(e->flipper) };
}

const struct path_count *explore_counts(const struct explore *e)
{
	return e->counts.at;
}
