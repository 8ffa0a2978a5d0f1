/* Answers questions about the shadow memory: about one byte, about lines that a commit variable
 * makes doubtful, about all that was stored. Nothing changes here. */
#include "crash/shadow/shadow_internal.h"

#include <string.h>

static enum shadow_state write_state(const struct line *l, const struct write *w)
{
	if (w->is_unordered)
		return w->is_durable ? SHADOW_PERSISTED : SHADOW_PENDING;
	if (w->w.seq <= l->durable_seq)
		return SHADOW_PERSISTED;
	return w->w.seq <= l->captured_seq ? SHADOW_PENDING : SHADOW_MODIFIED;
}

static enum shadow_state byte_state(const struct line *l, uint64_t i)
{
	return l->last[i] ? write_state(l, &l->writes.at[l->last[i] - 1]) : SHADOW_UNMODIFIED;
}

struct shadow_byte shadow_byte(const struct shadow *s, uint64_t addr)
{
	const struct line *l = shadow_line(s, addr);
	struct shadow_byte b = { 0 };

	if (!l)
		return b;
	b.state = byte_state(l, addr % SHADOW_LINE);
	if (l->last[addr % SHADOW_LINE])
		b.last = l->writes.at[l->last[addr % SHADOW_LINE] - 1].w;
	if (l->changed[addr % SHADOW_LINE])
		b.changed = l->writes.at[l->changed[addr % SHADOW_LINE] - 1].w;
	b.is_stored_again = l->stored_again >> addr % SHADOW_LINE & 1;
	return b;
}

bool shadow_is_persisted(const struct shadow *s, uint64_t addr, uint64_t len_bytes)
{
	for (uint64_t i = 0; i < len_bytes; i++) {
		enum shadow_state state = shadow_byte(s, addr + i).state;

		if (state == SHADOW_MODIFIED || state == SHADOW_PENDING)
			return false;
	}
	return true;
}

/* The variable of the last question, because the next one is often about the same. */
struct asked {
	const struct commit_var *var;
	bool is_durable;
};

static bool is_doubtful(const struct shadow *s, const struct line *l, uint64_t i,
			struct asked *asked)
{
	const struct commit_var *v = l->last[i] ? commits_governor(&s->commits, l->addr + i) : NULL;

	if (!v || v->scope == COMMIT_NOTHING)
		return false;
	if (v != asked->var)
		*asked = (struct asked){ v, shadow_is_persisted(s, v->addr, v->len_bytes) };
	return commit_var_doubts(v, asked->is_durable, l->writes.at[l->last[i] - 1].w.seq,
				 l->changed[i] ? l->writes.at[l->changed[i] - 1].w.seq : 0);
}

bool shadow_each_doubtful(const struct shadow *s, size_t max_lines,
			  void (*f)(uint64_t addr, uint64_t mask, void *arg), void *arg)
{
	struct asked asked = { 0 };
	size_t n = 0;

	for (const struct line *l = s->newest; l; l = l->older) {
		uint64_t mask = 0;

		for (uint64_t i = 0; i < SHADOW_LINE; i++)
			mask |= (uint64_t)is_doubtful(s, l, i, &asked) << i;
		if (!mask)
			continue;
		if (n++ == max_lines)
			return false;
		f(l->addr, mask, arg);
	}
	return true;
}

/* ---- everything that was stored ---- */

static uint64_t stored_mask(const struct line *l)
{
	uint64_t mask = 0;

	for (uint64_t i = 0; i < SHADOW_LINE; i++)
		mask |= (uint64_t)(l->last[i] != 0) << i;
	return mask;
}

static uint64_t last_seq(const struct line *l)
{
	return l->writes.n > 0 ? l->writes.at[l->writes.n - 1].w.seq : 0;
}

static int compare_recency(const void *a, const void *b)
{
	const struct line *x = *(const struct line *const *)a, *y = *(const struct line *const *)b;
	const uint64_t m = last_seq(x), n = last_seq(y);

	return m != n ? (m < n) - (m > n) : (x->addr > y->addr) - (x->addr < y->addr);
}

void shadow_each_stored(const struct shadow *s, size_t max_lines,
			void (*f)(uint64_t addr, uint64_t mask, void *arg), void *arg)
{
	const size_t n = s->lines.n;
	struct line **lines = xcalloc(n + 1, sizeof *lines);

	if (n > 0)
		memcpy(lines, s->lines.at, n * sizeof *lines);
	if (n > max_lines)
		qsort(lines, n, sizeof *lines, compare_recency);
	for (size_t i = 0; i < n && i < max_lines; i++)
		f(lines[i]->addr, stored_mask(lines[i]), arg);
	free(lines);
}
