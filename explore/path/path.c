/* Reads a path file (include/pmpath.h). Records that contain code addresses are kept until the
 * whole file was read, because the objects of the run may be listed after them. */
#include "explore/path/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/path/values.h"
#include "pmpath.h"
#include "util/hash.h"
#include "util/map.h"

struct loaded { /* an object loaded in this run */
	uint64_t start, len_bytes, bias;
	place base;
	bool is_library;
};

struct later {
	struct pmp_record r;
	uint64_t *bytes;
};

struct reader {
	struct path *path;
	struct expr_pool *pool;
	struct objects *objects;
	VEC(bool) of_words;   /* per expression: whether it uses a symbol of a word */
	VEC(uint32_t) ids;    /* number in the file → number in the pool; 0 if none */
	VEC(uint32_t) tables; /* number in the file → number in the pool */
	VEC(struct loaded) loaded;
	values values;
	size_t ntargets;
	VEC(struct later) later; /* records with addresses */
};

place objects_place(struct objects *o, const char *path, uint64_t address)
{
	size_t i = 0;

	while (i < o->paths.n && strcmp(o->paths.at[i], path) != 0)
		i++;
	if (i == o->paths.n) {
		*vec_add(&o->paths) = xstrdup(path);
		*vec_add(&o->hashes) = hash_text(path);
	}
	return (uint64_t)(i + 1) << 48 | (address & 0xffffffffffffULL);
}

uint64_t objects_key(const struct objects *o, place p)
{
	size_t number = PLACE_OBJECT(p);

	return number && number <= o->hashes.n
		       ? hash_mix(o->hashes.at[number - 1], PLACE_ADDRESS(p))
		       : p;
}

bool objects_is_c_library(const char *path)
{
	static const char *const names[] = { "libc.so",  "ld-linux", "libm.so",   "libpthread",
					     "libdl.so", "librt.so", "vgpreload_" };
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strncmp(base, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

bool objects_is_library(const char *path)
{
	return objects_is_c_library(path) || strncmp(path, "/lib", 4) == 0 ||
	       strncmp(path, "/usr/lib", 8) == 0;
}

void objects_release(struct objects *o)
{
	for (size_t i = 0; i < o->paths.n; i++)
		free(o->paths.at[i]);
	vec_release(&o->paths);
	vec_release(&o->hashes);
}

static place place_of(const struct reader *r, uint64_t address)
{
	for (size_t i = 0; i < r->loaded.n; i++)
		if (address - r->loaded.at[i].start < r->loaded.at[i].len_bytes)
			return r->loaded.at[i].base + (address - r->loaded.at[i].bias);
	return 0;
}

/* ---- records ---- */

static uint32_t id_of(const struct reader *r, uint32_t id)
{
	return id < r->ids.n ? r->ids.at[id] : 0;
}

static int add_expr(struct reader *r, const struct pmp_record *rec, struct error *err)
{
	struct expr e = { .op = rec->op, .width = rec->width, .k = rec->k };
	uint32_t id;

	for (unsigned i = 0; i < 3; i++)
		e.arg[i] = id_of(r, rec->arg[i]);
	if (e.op == EXPR_TABLE)
		e.k = rec->k < r->tables.n ? r->tables.at[rec->k] : UINT32_MAX;
	if (e.op == EXPR_CONST)
		e.value = e.k; /* simplification looks at it */
	id = expr_raw(r->pool, &e);
	if (!id || rec->id > 1u << 30)
		return error_set(err, "expression %u is not well formed", rec->id);
	while (r->ids.n <= rec->id) {
		*vec_add(&r->ids) = 0;
		*vec_add(&r->of_words) = false;
	}
	r->ids.at[rec->id] = id;
	r->of_words.at[rec->id] =
		e.op == EXPR_INPUT && r->path->words.n && e.k >= r->path->words.at[0].at;
	for (unsigned i = 0; i < 3; i++)
		r->of_words.at[rec->id] |=
			rec->arg[i] < r->of_words.n && r->of_words.at[rec->arg[i]];
	r->path->nnodes++;
	return 0;
}

static int add_table(struct reader *r, const struct pmp_record *rec, const uint64_t *bytes,
		     struct error *err)
{
	if (rec->nbytes != EXPR_TABLE_ENTRIES * sizeof *bytes || rec->id != r->tables.n)
		return error_set(err, "table %u is not well formed", rec->id);
	*vec_add(&r->tables) = expr_table_add(r->pool, bytes);
	return 0;
}

static void add_object(struct reader *r, const struct pmp_record *rec, const uint64_t *bytes)
{
	char *name = xasprintf("%.*s", (int)rec->nbytes, (const char *)bytes);

	*vec_add(&r->loaded) =
		(struct loaded){ rec->x, rec->k, rec->y, objects_place(r->objects, name, 0),
				 objects_is_library(name) };
	free(name);
}

/* Makes the term "the expression is true" or "is false", without negations around the
 * expression. */
static struct solver_term term(const struct expr_pool *pool, uint32_t id, bool is_true)
{
	while (expr_at(pool, id)->op == EXPR_NOT) {
		id = expr_at(pool, id)->arg[0];
		is_true = !is_true;
	}
	return (struct solver_term){ id, is_true };
}

#define TARGETS_MAX 20000 /* per path */

/* Adds a step for each other target of the jump, as if it were a branch that was not taken. */
static void add_targets(struct reader *r, const struct path_step *jump)
{
	unsigned width = expr_at(r->pool, jump->target)->width;

	if (!values_find(r->pool, jump->target, &r->values))
		return;
	for (size_t i = 0; i < r->values.n && r->ntargets < TARGETS_MAX; i++) {
		struct path_step s = { .kind = PATH_TARGET,
				       .pc = jump->pc,
				       .went = jump->went,
				       .stack = jump->stack };
		struct val same =
			expr_binary(r->pool, EXPR_EQ, width, (struct val){ jump->target, 0 },
				    val_const(r->values.at[i]));

		s.other = place_of(r, r->values.at[i]);
		if (r->values.at[i] == jump->value || !s.other || !same.id)
			continue;
		s.term = term(r->pool, same.id, false);
		r->ntargets++;
		*vec_add(&r->path->steps) = s;
	}
}

static void add_word(struct reader *r, const struct pmp_record *rec)
{
	*vec_add(&r->path->words) =
		(struct path_word){ rec->flag == PMP_WORD_NUMBER, rec->k, rec->x, rec->y,
				    (uint64_t)rec->arg[1] << 32 | rec->arg[0] };
}

/* Asks whether the record is left out. Conditions on a word's length count only in the program's
 * own branches: what a library copies, and at which addresses, says nothing about the program. */
static bool is_left_out(const struct reader *r, const struct pmp_record *rec)
{
	if (rec->id >= r->of_words.n || !r->of_words.at[rec->id])
		return false;
	if (rec->kind != PMP_BRANCH)
		return true;
	for (size_t i = 0; i < r->loaded.n; i++)
		if (rec->k - r->loaded.at[i].start < r->loaded.at[i].len_bytes)
			return r->loaded.at[i].is_library;
	return false;
}

/* Gives the constant with which a byte is compared, plus 1; 0 if the condition is no such
 * comparison. A library function may compare with one byte of a set after the other in the same
 * place, and the constant tells these comparisons apart. */
static uint32_t wanted_byte(const struct expr_pool *pool, uint32_t id)
{
	const struct expr *e = expr_at(pool, id);

	for (unsigned i = 0; e->op == EXPR_EQ && i < 2; i++) {
		const struct expr *a = expr_at(pool, e->arg[i]), *b = expr_at(pool, e->arg[!i]);

		if (b->op == EXPR_ZEXT || b->op == EXPR_SEXT)
			b = expr_at(pool, b->arg[0]);
		if (a->op == EXPR_CONST && a->k <= UINT8_MAX && b->op == EXPR_INPUT)
			return 1 + (uint32_t)a->k;
	}
	return 0;
}

static void add_step(struct reader *r, const struct pmp_record *rec)
{
	struct path_step s = { .kind = PATH_BRANCH, .pc = place_of(r, rec->k), .value = rec->x };
	uint32_t id = id_of(r, rec->id);
	unsigned width;

	if (!id || is_left_out(r, rec))
		return;
	width = expr_at(r->pool, id)->width;
	s.stack = r->path->stacks.n ? (uint32_t)(r->path->stacks.n - 1) : 0;
	if (rec->kind == PMP_BRANCH) {
		if (width != 1)
			return;
		s.went = place_of(r, rec->x);
		s.other = place_of(r, rec->y);
		s.term = term(r->pool, id, rec->flag);
		s.wanted = wanted_byte(r->pool, s.term.id);
	} else {
		struct val same = expr_binary(r->pool, EXPR_EQ, width, (struct val){ id, 0 },
					      val_const(rec->x & expr_mask(width)));

		if (!same.id)
			return;
		s.kind = rec->flag == PMP_PIN_JUMP      ? PATH_JUMP
			 : rec->flag == PMP_PIN_ADDRESS ? PATH_ADDRESS
							: PATH_PIN;
		s.target = id;
		s.term = term(r->pool, same.id, true);
		s.went = rec->flag == PMP_PIN_JUMP ? place_of(r, rec->x) : 0;
		if (s.kind == PATH_JUMP)
			add_targets(r, &s);
	}
	*vec_add(&r->path->steps) = s;
}

/* Adds a comparison of words. Its condition is always true, so that code which looks at conditions
 * finds one that uses no byte. */
static void add_token(struct reader *r, const struct pmp_record *rec, const uint64_t *bytes)
{
	const struct expr yes = { .op = EXPR_CONST, .width = 1, .k = 1, .value = 1 };
	struct path_step s = { .kind = PATH_TOKEN,
			       .term = { expr_raw(r->pool, &yes), true },
			       .pc = place_of(r, rec->k) };
	struct path_token t = { .index = rec->x, .nbytes = rec->y };
	const struct path_stack *stack =
		r->path->stacks.n ? &r->path->stacks.at[r->path->stacks.n - 1] : NULL;

	s.value = rec->x * 31 + rec->y;
	for (size_t i = 0; i < rec->nbytes; i++) {
		*vec_add(&t.wanted) = ((const uint8_t *)bytes)[i];
		s.value = (s.value ^ t.wanted.at[i]) * 0x100000001b3ULL;
	}
	s.stack = stack ? (uint32_t)(r->path->stacks.n - 1) : 0;
	/* the comparison returns, whatever its result */
	s.went = s.other = stack && stack->n ? r->path->returns.at[stack->first] : 0;
	s.target = (uint32_t)r->path->tokens.n;
	*vec_add(&r->path->tokens) = t;
	*vec_add(&r->path->steps) = s;
}

static void add_stack(struct reader *r, const struct pmp_record *rec, const uint64_t *bytes)
{
	struct path_stack s = { .first = r->path->returns.n, .n = rec->nbytes / sizeof *bytes };

	for (size_t i = 0; i < s.n; i++)
		*vec_add(&r->path->returns) = place_of(r, bytes[i]);
	*vec_add(&r->path->stacks) = s;
}

static void add_bad(struct reader *r, const struct pmp_record *rec, const uint64_t *bytes)
{
	*vec_add(&r->path->bad) =
		(struct path_bad){ place_of(r, rec->k), rec->x, rec->y,
				   xasprintf("%.*s", (int)rec->nbytes, (const char *)bytes) };
}

static void add_jump(struct reader *r, const struct pmp_record *rec)
{
	*vec_add(&r->path->jumps) = (struct path_jump){ place_of(r, rec->k), place_of(r, rec->x) };
}

/* Handles a record that needs nothing that is read later. Keeps other records until the end of the
 * file. */
static int record_now(struct reader *r, const struct pmp_record *rec, const uint64_t *bytes,
		      struct error *err)
{
	switch ((enum pmp_kind)rec->kind) {
	case PMP_EXPR: return add_expr(r, rec, err);
	case PMP_TABLE: return add_table(r, rec, bytes, err);
	case PMP_OBJECT: add_object(r, rec, bytes); return 0;
	case PMP_COUNT:
		*vec_add(&r->path->counts) =
			(struct path_count){ .what = xasprintf("%.*s", (int)rec->nbytes,
							       (const char *)bytes),
					     .n = rec->k,
					     .is_loss = rec->op != 0 };
		return 0;
	case PMP_WORD: add_word(r, rec); return 0;
	case PMP_END: r->path->is_complete = true; return 0;
	case PMP_BRANCH:
	case PMP_PIN:
	case PMP_STACK:
	case PMP_JUMP:
	case PMP_COVER:
	case PMP_TOKEN:
	case PMP_BAD: {
		uint64_t *copy = rec->nbytes ? xmalloc(PMP_PAD(rec->nbytes)) : NULL;

		if (copy)
			memcpy(copy, bytes, PMP_PAD(rec->nbytes));
		*vec_add(&r->later) = (struct later){ *rec, copy };
		return 0;
	}
	}
	return error_set(err, "a record of unknown kind %u", rec->kind);
}

static void add_block(struct reader *r, const struct pmp_record *rec)
{
	*vec_add(&r->path->covered) = (struct path_block){ place_of(r, rec->k), (uint32_t)rec->x };
	if (!r->path->steps.n)
		r->path->nstart = r->path->covered.n;
}

static void record_later(struct reader *r, const struct pmp_record *rec, const uint64_t *bytes)
{
	switch (rec->kind) {
	case PMP_BRANCH:
	case PMP_PIN: add_step(r, rec); break;
	case PMP_STACK: add_stack(r, rec, bytes); break;
	case PMP_TOKEN: add_token(r, rec, bytes); break;
	case PMP_JUMP: add_jump(r, rec); break;
	case PMP_COVER: add_block(r, rec); break;
	case PMP_BAD: add_bad(r, rec, bytes); break;
	default: BUG("record of kind %u", rec->kind);
	}
}

/* ---- the file ---- */

static int records_read(struct reader *r, FILE *f, struct error *err)
{
	uint64_t *bytes = NULL;
	struct pmp_record rec;
	int result = 0;

	while (result == 0 && fread(&rec, sizeof rec, 1, f) == 1) {
		if (rec.nbytes > 1u << 20) {
			result = error_set(err, "a record of %u bytes", rec.nbytes);
			break;
		}
		bytes = xrealloc(bytes, PMP_PAD(rec.nbytes) + 8, 1);
		if (rec.nbytes && fread(bytes, PMP_PAD(rec.nbytes), 1, f) != 1)
			break; /* the file was cut off */
		result = record_now(r, &rec, bytes, err);
	}
	free(bytes);
	return result;
}

int path_read(struct path *p, struct expr_pool *pool, struct objects *objects, const char *file,
	      struct error *err)
{
	struct reader r = { .path = p, .pool = pool, .objects = objects };
	struct pmp_header h;
	FILE *f = fopen(file, "rb");
	int result = -1;

	*p = (struct path){ 0 };
	if (!f)
		return error_set(err, "cannot open %s: %s", file, strerror(errno));
	if (fread(&h, sizeof h, 1, f) != 1 || memcmp(h.magic, PMP_MAGIC, sizeof h.magic) != 0 ||
	    h.version != PMP_VERSION || h.record_bytes != sizeof(struct pmp_record)) {
		error_set(err, "%s is not a path file of this version", file);
	} else {
		result = records_read(&r, f, err);
		for (size_t i = 0; i < r.later.n; i++)
			record_later(&r, &r.later.at[i].r, r.later.at[i].bytes);
	}
	for (size_t i = 0; i < r.later.n; i++)
		free(r.later.at[i].bytes);
	vec_release(&r.later);
	vec_release(&r.ids);
	vec_release(&r.of_words);
	vec_release(&r.tables);
	vec_release(&r.loaded);
	vec_release(&r.values);
	fclose(f);
	return result;
}

void path_release(struct path *p)
{
	for (size_t i = 0; i < p->counts.n; i++)
		free(p->counts.at[i].what);
	for (size_t i = 0; i < p->bad.n; i++)
		free(p->bad.at[i].what);
	for (size_t i = 0; i < p->tokens.n; i++)
		vec_release(&p->tokens.at[i].wanted);
	vec_release(&p->tokens);
	vec_release(&p->words);
	vec_release(&p->steps);
	vec_release(&p->stacks);
	vec_release(&p->returns);
	vec_release(&p->covered);
	vec_release(&p->jumps);
	vec_release(&p->counts);
	vec_release(&p->bad);
}
