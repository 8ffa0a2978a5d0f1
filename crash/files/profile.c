/* Asks which of the states at hand a profile of file systems allows. A journal decides about all of
 * a state together: it is allowed if the journal may end at one event that fits each of its names,
 * sizes and sectors. Sizes of files that no name leads to are not seen, and fit everything. */
#include <stdlib.h>
#include <string.h>

#include "crash/files/internal.h"
#include "util/hash.h"
#include "util/order.h"

static bool is_seen(uint32_t file, const void *arg)
{
	const struct layout *l = arg;

	for (size_t i = 0; i < l->paths.n; i++)
		if (l->paths.at[i].file == file)
			return true;
	return false;
}

static struct files_span span_of(const struct file_explorer *e, enum files_profile p)
{
	return files_span_of_names(e->walk.model, p, &e->items, is_seen, &e->layout);
}

bool file_profile_fits(const struct file_explorer *e, enum files_profile p)
{
	const struct files_span s = span_of(e, p);

	return !files_span_is_empty(&s);
}

bool file_profile_has(struct file_explorer *e, enum files_profile p)
{
	struct files_span s;

	if (p == FILES_WEAKEST)
		return true;
	file_layout(e);
	s = span_of(e, p);
	for (size_t i = e->nchosen; i < e->items.n; i++)
		if (e->items.at[i].kind == FILES_SECTOR &&
		    is_seen(PMT_FILE(e->items.at[i].key), &e->layout))
			files_span_narrow(e->walk.model, p, &e->items, i, e->items.at[i].version,
					  &s);
	return !files_span_is_empty(&s);
}

/* Does this version of the line's sector look like the content? */
static bool is_like(const struct file_explorer *e, size_t line, uint32_t content, uint32_t version)
{
	const struct layout *l = &e->layout;

	return memcmp(files_item_bytes(&e->items.at[l->lines.at[line].item], version),
		      state_content(&l->set, &l->set.lines.at[line], content),
		      l->lines.at[line].seen_bytes) == 0;
}

static bool is_sector(const struct file_explorer *e, size_t line)
{
	return e->items.at[e->layout.lines.at[line].item].kind == FILES_SECTOR;
}

/* Gives the span that allows this version of the line's sector. */
static struct files_span version_span(const struct file_explorer *e, enum files_profile p,
				      struct files_span s, size_t line, uint32_t version)
{
	files_span_narrow(e->walk.model, p, &e->items, e->layout.lines.at[line].item, version, &s);
	return s;
}

static bool is_content_allowed(const struct file_explorer *e, enum files_profile p,
			       const struct files_span *names, size_t line, uint32_t content)
{
	const struct files_item *it = &e->items.at[e->layout.lines.at[line].item];

	for (uint32_t v = 0; v < it->nversions; v++) {
		const struct files_span s = version_span(e, p, *names, line, v);

		if (!files_span_is_empty(&s) && is_like(e, line, content, v))
			return true;
	}
	return false;
}

uint64_t *file_profile_all(const struct file_explorer *e, enum files_profile p)
{
	const struct layout *l = &e->layout;
	const struct files_span names = span_of(e, p);
	uint64_t *all = states_all(&l->set);

	for (size_t i = 0; p != FILES_WEAKEST && i < l->lines.n; i++) {
		const struct state_line *line = &l->set.lines.at[i];
		uint32_t nleft = line->ncontents;

		for (uint32_t c = 0; is_sector(e, i) && c < line->ncontents; c++)
			if (!is_content_allowed(e, p, &names, i, c)) {
				all[line->set + c / 64] &= ~((uint64_t)1 << c % 64);
				nleft--;
			}
		if (nleft == 0) {
			free(all);
			return NULL;
		}
	}
	return all;
}

/* Does any version of a sector need another end of the journal than the names and sizes? */
static bool is_tied(const struct file_explorer *e, enum files_profile p,
		    const struct files_span *names)
{
	for (size_t i = 0; i < e->layout.lines.n; i++) {
		const struct files_item *it = &e->items.at[e->layout.lines.at[i].item];

		for (uint32_t v = 0; is_sector(e, i) && v < it->nversions; v++) {
			const struct files_span s = version_span(e, p, *names, i, v);

			if (!files_span_is_empty(&s) &&
			    (s.from != names->from || s.to != names->to))
				return true;
		}
	}
	return false;
}

uint64_t file_profile_key(const struct file_explorer *e, enum files_profile p, const uint64_t *all)
{
	const struct files_span names = span_of(e, p);
	uint64_t key = e->layout.hash;

	if (p == FILES_WEAKEST)
		return key;
	for (uint32_t w = 0; w < e->layout.set.nwords; w++)
		key = hash_mix(key, all[w]);
	/* then, which of the contents go together depends on how the names and sizes came to be */
	for (size_t i = 0; i < e->nchosen && is_tied(e, p, &names); i++)
		key = hash_mix(key, e->items.at[i].version);
	return key ? key : 1;
}

typedef VEC(uint64_t) events;

/* Lists the events at which the journal may end, as far as they make a difference. */
static void list_ends(const struct file_explorer *e, enum files_profile p,
		      const struct files_span *names, events *out)
{
	*vec_add(out) = names->from;
	for (size_t i = 0; i < e->layout.lines.n; i++) {
		const struct files_item *it = &e->items.at[e->layout.lines.at[i].item];

		for (uint32_t v = 0; is_sector(e, i) && v < it->nversions; v++) {
			const struct files_span s = version_span(e, p, *names, i, v);

			if (!files_span_is_empty(&s))
				*vec_add(out) = s.from;
		}
	}
	qsort(out->at, out->n, sizeof *out->at, order_u64);
}

/* Sets the item of a line to its newest version that is left and that a journal allows that ends at
 * this event. False: there is none. */
static bool choose_line(struct file_explorer *e, enum files_profile p,
			const struct files_span *names, const uint64_t *left, size_t line,
			uint64_t end)
{
	const struct state_line *l = &e->layout.set.lines.at[line];
	struct files_item *it = &e->items.at[e->layout.lines.at[line].item];

	for (uint32_t v = it->nversions; v-- > 0;) {
		const struct files_span s = version_span(e, p, *names, line, v);

		if (end < s.from || end > s.to)
			continue;
		for (uint32_t c = 0; c < l->ncontents; c++)
			if (bit_get(left + l->set, c) && is_like(e, line, c, v)) {
				it->version = v;
				return true;
			}
	}
	return false;
}

static bool choose_at(struct file_explorer *e, enum files_profile p, const struct files_span *names,
		      const uint64_t *left, uint64_t end)
{
	const struct layout *l = &e->layout;
	struct files_span s;

	for (size_t i = e->nchosen; i < e->items.n; i++) {
		struct files_item *it = &e->items.at[i];

		it->version = it->nversions - 1;
		/* the versions of a sector without a line look alike */
		while (it->kind == FILES_SECTOR && it->version > 0) {
			s = *names;
			files_span_narrow(e->walk.model, p, &e->items, i, it->version, &s);
			if (s.from <= end && end <= s.to)
				break;
			it->version--;
		}
	}
	for (size_t i = 0; i < l->lines.n; i++)
		if (!is_sector(e, i))
			e->items.at[l->lines.at[i].item].version =
				layout_version(l, i, states_newest_left(&l->set.lines.at[i], left));
		else if (!choose_line(e, p, names, left, i, end))
			return false;
	return true;
}

bool file_profile_state(struct file_explorer *e, enum files_profile p, const uint64_t *left)
{
	const struct files_span names = span_of(e, p);
	bool has_found = false;
	events ends = { 0 };

	if (files_span_is_empty(&names))
		return false;
	list_ends(e, p, &names, &ends);
	for (size_t i = ends.n; i-- > 0 && !has_found;)
		has_found = choose_at(e, p, &names, left, ends.at[i]);
	vec_release(&ends);
	return has_found;
}
