/* Turns planned changes of existing flushes into edits. */
#include "repair/amend/amend.h"

#include <string.h>

#include "repair/amend/internal.h"

/* Replaces the statement, which flushed and fenced, by a fence, written as the file writes
 * fences. */
static void leave_fence(struct repair *r, const struct amendment *a)
{
	struct idiom i;

	idiom_find(r, &a->at, &i);
	file_edit(a->at.file, a->at.stmt->begin, a->at.stmt->end - a->at.stmt->begin, i.fence.call);
}

/* Joins the one flush that remains with the fence that it shared with the moved one, if the file
 * has a call for both. */
static void join_rest(struct repair *r, const struct amendment *a)
{
	const struct source_node *flush = a->at.stmt->next, *fence = flush ? flush->next : NULL;
	const char *words;

	if (!fence || flush->kind != SOURCE_CALL || fence->kind != SOURCE_CALL ||
	    a->flush.does != DOES_FLUSH || a->needless == fence ||
	    join_is_shared(r, &a->at, a->at.stmt) ||
	    idiom_call_does(r, a->at.unit, fence) != DOES_FENCE ||
	    text_has_directive(a->at.file, a->at.stmt->begin, fence->end))
		return;
	words = join_words(r, &a->at, flush);
	if (!words)
		return;
	file_edit(a->at.file, flush->begin, flush->end - flush->begin, words);
	statement_remove(a->at.file, fence);
}

static void take_away(struct repair *r, const struct amendment *a)
{
	if (a->how == AMEND_MOVE && !a->leaves_fence && !a->words)
		join_rest(r, a);
	if (a->leaves_fence)
		leave_fence(r, a);
	else
		statement_remove(a->at.file, a->at.stmt);
	if (a->needless)
		statement_remove(a->at.file, a->needless);
}

static void widen(const struct amendment *a)
{
	if (a->addr)
		file_edit(a->at.file, a->flush.addr_begin, a->flush.addr_end - a->flush.addr_begin,
			  a->addr);
	file_edit(a->at.file, a->flush.len_begin, a->flush.len_end - a->flush.len_begin, a->len);
}

static void move(struct repair *r, struct amendment *a)
{
	struct insertion in = { .x = &a->at, .stmt = a->behind };
	struct range range = { .addr = a->flush.addr, .len = a->flush.len };
	const struct idiom_line *lines = NULL;
	struct idiom i;
	const char *why;

	if (a->needs_fence && a->flush.len && !a->words) {
		idiom_find(r, &a->at, &i);
		i.scope.call = NULL;
		lines = idiom_lines(r, &i, &range, true, true, false, &why);
	}
	if (!lines)
		*vec_add(&in.lines) = (struct idiom_line){
			.text = a->words ? a->words : text_of(r->code, a->at.file, a->at.stmt)
		};
	for (size_t k = 0; lines && lines[k].text; k++)
		*vec_add(&in.lines) = lines[k];
	take_away(r, a);
	insert_behind(r, &in);
	vec_release(&in.lines);
}

void amend_emit(struct repair *r)
{
	r->namended = r->durability->amendments.n;
	for (size_t i = 0; i < r->durability->amendments.n; i++) {
		struct amendment *a = &r->durability->amendments.at[i];

		switch (a->how) {
		case AMEND_WIDEN: widen(a); break;
		case AMEND_MOVE: move(r, a); break;
		case AMEND_HELPER:
			file_edit(a->helper_file, a->mend.at, a->mend.removed, a->mend.insert);
			break;
		case AMEND_REPLACE: take_away(r, a); break;
		}
	}
}
