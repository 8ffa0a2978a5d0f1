/* The sentence that a report says of an unsafe read: what is read, why it is unsafe, what to do about it. */
#include "session/race_text.h"

#include <inttypes.h>
#include <string.h>

bool race_is_semantic(const struct race *r)
{
	return r->kind == RACE_UNCOMMITTED || r->kind == RACE_STALE;
}

static const char *file_name(const struct plan *p, const struct race *r)
{
	const struct trace_file *f = trace_file(p->trace, PMT_FILE(r->addr));
	const char *slash = f && f->path ? strrchr(f->path, '/') : NULL;

	return slash ? slash + 1 : f && f->path ? f->path : "?";
}

static char *undurable_message(const struct race *r)
{
	if (!strstr(r->values, " or "))
		return xasprintf("before the store there is guaranteed to be durable, though all possible values are %s", r->values);
	return xasprintf("whose last store is not guaranteed to be durable: what it finds can be %s", r->values);
}

/* values: of a race for the same bytes, or NULL. */
static char *semantic_message(const struct race *r, const char *values)
{
	static const char stale[] = "of stale data: it was stored before the last two writes of the commit variable, of which the last survives; "
				    "store it anew for each commit, or let recovery read it only while the variable says that it is good";
	static const char late[] = "of uncommitted data: it was stored after the write of the commit variable that survives; "
				   "store and persist it before that, or let recovery overwrite it before it is read";
	static const char none[] = "of uncommitted data: it was stored while the commit variable has its initial value; "
				   "let recovery look at the variable first, and overwrite the data or leave it alone";
	const char *text = r->kind == RACE_STALE ? stale : r->commits[0].seq ? late : none;

	return values ? xasprintf("%s. Nor is the store always guaranteed to be durable: what it finds can be %s", text, values) : xstrdup(text);
}

static char *uninitialised_message(void)
{
	return xstrdup("of an allocated object to which nothing was stored before the crash: if they are zero, that is luck; initialise "
		       "the object in a constructor, allocate it zeroed, or publish it only when it is complete");
}

char *race_message(const struct plan *p, const struct race *r, const char *values)
{
	char *rest = race_is_semantic(r) ? semantic_message(r, values) : r->kind == RACE_UNINITIALISED ? uninitialised_message() : undurable_message(r);
	const char *porting = r->is_porting ? ". Only on arm64, where a crash may show a later store to a line without an earlier one; safe only if the later store is a "
					      "release, or if a barrier stands between" : "";
	char *text = xasprintf("recovery reads %" PRIu32 " byte%s at %s+0x%" PRIx64 " %s%s", r->len_bytes, r->len_bytes == 1 ? "" : "s",
			       file_name(p, r), (uint64_t)PMT_OFFSET(r->addr), rest, porting);

	free(rest);
	return text;
}
