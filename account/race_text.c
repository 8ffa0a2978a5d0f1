/* Writes the sentence about an unsafe read: what is read, why it is unsafe, what to do about it. */
#include "account/race_text.h"

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
		return xasprintf("before the store is durable, although all possible values are %s",
				 r->values);
	return xasprintf("whose last store may not be durable: the value read can be %s",
			 r->values);
}

/* Writes the sentence about a read that a commit variable forbids; free() it. values: those of a
 * race for the same bytes, or NULL. */
static char *semantic_message(const struct race *r, const char *values)
{
	static const char stale[] =
		"of stale data, stored before the last two writes of the commit variable; store it again for each commit, or let "
		"recovery read it only while the variable says that it is valid";
	static const char late[] =
		"of uncommitted data, stored after the surviving write of the commit variable; persist it before that write, or let "
		"recovery overwrite it before reading it";
	static const char none[] =
		"of uncommitted data, stored while the commit variable has its initial value; let recovery check the variable "
		"first, and ignore or overwrite the data";
	const char *text = r->kind == RACE_STALE ? stale : r->commits[0].seq ? late : none;

	return values ? xasprintf("%s. The store may also not be durable: the value read can be %s",
				  text, values)
		      : xstrdup(text);
}

static char *uninitialised_message(const struct race *r)
{
	return xasprintf(
		"of an allocated object to which nothing was stored before the crash; their value is undefined%s%s: initialise the object in a "
		"constructor, allocate it zeroed, or publish it only when it is complete",
		r->values ? ", and " : "", r->values ? r->values : "");
}

char *race_message(const struct plan *p, const struct race *r, const char *values)
{
	char *rest = race_is_semantic(r)             ? semantic_message(r, values)
		     : r->kind == RACE_UNINITIALISED ? uninitialised_message(r)
						     : undurable_message(r);
	const char *porting =
		r->is_porting
			? ". Only on arm64, where a crash can lose a store and keep a later one to the same line; safe only if the "
			  "later store is a release, or if a barrier is between them"
			: "";
	char *text = xasprintf("recovery reads %" PRIu32 " byte%s at %s+0x%" PRIx64 " %s%s",
			       r->len_bytes, r->len_bytes == 1 ? "" : "s", file_name(p, r),
			       (uint64_t)PMT_OFFSET(r->addr), rest, porting);

	free(rest);
	return text;
}
