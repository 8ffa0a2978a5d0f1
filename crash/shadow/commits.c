/* Keeps the commit writes of each commit variable that a crash may show, and judges stores by them.
 * A store is consistent if it comes between the surviving commit write and the one before. */
#include "crash/shadow/commits.h"

#include <string.h>

/* ---- declarations ---- */

void commits_add_var(struct commits *c, uint64_t addr, uint64_t len_bytes, uint64_t since_seq,
		     bool is_outside)
{
	struct commit_var *v;

	for (size_t i = 0; i < c->vars.n; i++) {
		v = &c->vars.at[i];
		if (v->addr != addr)
			continue;
		v->len_bytes = v->len_bytes > len_bytes ? v->len_bytes : len_bytes;
		if (!is_outside && v->scope == COMMIT_READ) {
			v->scope = COMMIT_ALL;
			v->since_seq = since_seq;
		}
		return;
	}
	if (len_bytes == 0)
		return;
	v = vec_add(&c->vars);
	*v = (struct commit_var){ .addr = addr,
				  .len_bytes = len_bytes,
				  .since_seq = since_seq,
				  .scope = is_outside ? COMMIT_READ : COMMIT_ALL };
}

void commits_add_range(struct commits *c, uint64_t var, uint64_t addr, uint64_t len_bytes)
{
	/* an index after commits_seal(); an address before */
	*vec_add(&c->ranges) = (struct commit_range){ addr, addr + len_bytes, var };
}

static int compare_vars(const void *a, const void *b)
{
	const struct commit_var *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct commit_range *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* The index of the last variable that begins at or before addr. */
static size_t var_before(const struct commits *c, uint64_t addr)
{
	size_t low = 0, high = c->vars.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->vars.at[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? low - 1 : SIZE_MAX;
}

static bool is_inside(const struct commit_var *v, uint64_t addr)
{
	return addr - v->addr < v->len_bytes;
}

void commits_seal(struct commits *c)
{
	size_t n = 0;

	if (c->vars.n > 0)
		qsort(c->vars.at, c->vars.n, sizeof *c->vars.at, compare_vars);
	for (size_t i = 0; i < c->ranges.n; i++) {
		struct commit_range r = c->ranges.at[i];
		size_t var = var_before(c, r.var);

		if (var == SIZE_MAX || !is_inside(&c->vars.at[var], r.var))
			continue;
		r.var = var;
		c->vars.at[var].scope = COMMIT_RANGES;
		c->ranges.at[n++] = r;
	}
	c->ranges.n = n;
	if (n > 0)
		qsort(c->ranges.at, n, sizeof *c->ranges.at, compare_ranges);
	for (size_t i = 0; i < c->vars.n && c->vars.n > 1; i++)
		if (c->vars.at[i].scope != COMMIT_RANGES)
			c->vars.at[i].scope = COMMIT_NOTHING;
}

void commits_release(struct commits *c)
{
	for (size_t i = 0; i < c->vars.n; i++) {
		struct commit_var *v = &c->vars.at[i];

		for (size_t k = 0; k < v->writes.n; k++)
			free(v->writes.at[k].value);
		vec_release(&v->writes);
		free(v->value);
	}
	vec_release(&c->vars);
	vec_release(&c->ranges);
}

struct commit_var *commits_touched(const struct commits *c, uint64_t addr, uint64_t len_bytes,
				   size_t *from)
{
	size_t i = var_before(c, addr);

	for (i = i == SIZE_MAX || i < *from ? *from : i;
	     i < c->vars.n && c->vars.at[i].addr < addr + len_bytes; i++)
		if (addr < c->vars.at[i].addr + c->vars.at[i].len_bytes) {
			*from = i + 1;
			return &c->vars.at[i];
		}
	return NULL;
}

struct commit_var *commits_governor(const struct commits *c, uint64_t addr)
{
	size_t own = var_before(c, addr), low = 0, high = c->ranges.n;

	if (own != SIZE_MAX && is_inside(&c->vars.at[own], addr))
		return NULL;
	if (c->vars.n == 1 && c->ranges.n == 0)
		return &c->vars.at[0];
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->ranges.at[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low && addr < c->ranges.at[low - 1].end ? &c->vars.at[c->ranges.at[low - 1].var]
						       : NULL;
}

/* ---- commit writes ---- */

static uint8_t *copy_value(const struct commit_var *v, const uint8_t *value)
{
	return memcpy(xmalloc(v->len_bytes), value, v->len_bytes);
}

static struct commit_write *latest(const struct commit_var *v)
{
	return &v->writes.at[v->writes.n - 1];
}

static void add_write(struct commit_var *v, const struct commit_write *w)
{
	if (v->writes.n == COMMITS_KEPT) {
		free(v->writes.at[0].value);
		memmove(&v->writes.at[0], &v->writes.at[1], (--v->writes.n) * sizeof *v->writes.at);
		v->base -= v->base > 0;
	}
	*vec_add(&v->writes) = *w;
}

static void overlay(struct commit_var *v, const struct trace_event *ev)
{
	v->from = ev->addr > v->addr ? ev->addr - v->addr : 0;
	v->to = ev->addr + ev->data_len - v->addr;
	v->to = v->to < v->len_bytes ? v->to : v->len_bytes;
	memcpy(v->value + v->from, ev->data + (v->addr + v->from - ev->addr), v->to - v->from);
}

void commit_var_store(struct commit_var *v, const struct trace_event *ev, const uint8_t *before,
		      bool is_durable)
{
	uint64_t from = v->from, to = v->to;
	struct commit_write w, *last;
	bool is_piece;

	if (!v->value) {
		v->value = copy_value(v, before);
		add_write(v, &(struct commit_write){ .last_seq = v->since_seq,
						     .value = copy_value(v, before) });
	} else if (is_durable) {
		v->base = v->writes.n - 1;
	}
	overlay(v, ev);
	last = latest(v);
	if (ev->seq <= v->since_seq) {
		memcpy(last->value, v->value, v->len_bytes);
		return;
	}
	/* several stores to different bytes of the variable count as one write if nothing it covers
	 * was stored in between */
	is_piece = last->first_seq && v->nstores == v->nstores_then &&
		   (v->from >= to || v->to <= from);
	v->nstores_then = v->nstores;
	if (memcmp(last->value, v->value, v->len_bytes) == 0) {
		last->last_seq = ev->seq;
		if (last->first_seq)
			last->site = ev->site;
		return;
	}
	w = (struct commit_write){ .first_seq = ev->seq,
				   .last_seq = ev->seq,
				   .site = ev->site,
				   .before_seq = last->last_seq,
				   .before = last->site,
				   .value = copy_value(v, v->value) };
	if (is_piece) {
		w.before_seq = last->before_seq;
		w.before = last->before;
	}
	add_write(v, &w);
}

/* ---- judging ---- */

/* The value before any write. It survives if nothing was written to the variable. */
static const struct commit_write unwritten;

enum commit_state commit_judge(const struct commit_var *v, const struct commit_write *w,
			       uint64_t last_seq, uint64_t changed_seq)
{
	if (last_seq <= v->since_seq)
		return COMMIT_CONSISTENT;
	if (changed_seq > w->last_seq)
		return COMMIT_UNCOMMITTED;
	return last_seq <= w->before_seq ? COMMIT_STALE : COMMIT_CONSISTENT;
}

/* The index of the first write that a crash can show. */
static size_t first_possible(const struct commit_var *v, bool is_durable)
{
	return is_durable && v->writes.n ? v->writes.n - 1 : v->base;
}

enum commit_state commit_var_judge(const struct commit_var *v, const uint8_t *value,
				   bool is_durable, uint64_t last_seq, uint64_t changed_seq,
				   const struct commit_write **w)
{
	enum commit_state state = COMMIT_CONSISTENT;

	*w = v->writes.n ? NULL : &unwritten;
	if (*w)
		return commit_judge(v, *w, last_seq, changed_seq);
	for (size_t i = v->writes.n; i-- > first_possible(v, is_durable);) {
		const struct commit_write *other = &v->writes.at[i];

		if (memcmp(other->value, value, v->len_bytes) != 0)
			continue;
		if (commit_judge(v, other, last_seq, changed_seq) == COMMIT_CONSISTENT)
			return COMMIT_CONSISTENT;
		if (!*w) {
			*w = other;
			state = commit_judge(v, other, last_seq, changed_seq);
		}
	}
	return state;
}

bool commit_var_doubts(const struct commit_var *v, bool is_durable, uint64_t last_seq,
		       uint64_t changed_seq)
{
	if (v->writes.n == 0)
		return commit_judge(v, &unwritten, last_seq, changed_seq) != COMMIT_CONSISTENT;
	for (size_t i = first_possible(v, is_durable); i < v->writes.n; i++)
		if (commit_judge(v, &v->writes.at[i], last_seq, changed_seq) != COMMIT_CONSISTENT)
			return true;
	return false;
}

bool commit_var_recurs(const struct commit_var *v, const struct commit_write *w, uint64_t last_seq)
{
	for (size_t i = v->writes.n; i-- > 0;)
		if (v->writes.at[i].last_seq < last_seq)
			return memcmp(v->writes.at[i].value, w->value, v->len_bytes) == 0;
	return false;
}

const uint8_t *commit_var_other(const struct commit_var *v, const struct commit_write *w)
{
	size_t at = w == &unwritten ? 0 : (size_t)(w - v->writes.at);

	if (v->writes.n == 0)
		return NULL;
	for (size_t i = at; i-- > 0;)
		if (memcmp(v->writes.at[i].value, w->value, v->len_bytes) != 0)
			return v->writes.at[i].value;
	for (size_t i = at + 1; i < v->writes.n; i++)
		if (memcmp(v->writes.at[i].value, w->value, v->len_bytes) != 0)
			return v->writes.at[i].value;
	return NULL;
}
