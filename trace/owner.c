/* Decides by tables of paths whose code a frame is: the user's or a library's. What is installed
 * below /usr/local is the user's, unless --library says otherwise. */
#include "trace/owner.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/str.h"

/* Does the file's name begin with the text, does the path begin with it, or does the path contain
 * it? */
enum how { NAME, PATH, PART };

struct rule {
	enum how how;
	const char *text;
	enum owner owner;
};

/* The first row that matches counts. */
static const struct rule objects[] = {
	{ NAME, "libpmend_rt.so", OWNER_PMEND }, { NAME, "libpmem", OWNER_PMDK },
	{ NAME, "libc.so", OWNER_RUNTIME },      { NAME, "libc-", OWNER_RUNTIME },
	{ NAME, "libpthread", OWNER_RUNTIME },   { NAME, "ld-linux", OWNER_RUNTIME },
	{ NAME, "libgcc_s", OWNER_RUNTIME },     { NAME, "libstdc++", OWNER_RUNTIME },
	{ NAME, "libc++", OWNER_RUNTIME },       { PATH, "/usr/lib/", OWNER_SYSTEM },
	{ PATH, "/lib/", OWNER_SYSTEM },         { PATH, "/lib64/", OWNER_SYSTEM },
};

static const struct rule files[] = {
	{ NAME, "pmend.h", OWNER_PMEND },          { PATH, "/usr/include/", OWNER_SYSTEM },
	{ PATH, "/usr/lib/", OWNER_SYSTEM },       { PART, "/include/c++/", OWNER_SYSTEM },
	{ PART, "/lib/gcc/", OWNER_SYSTEM },       { PART, "/lib/clang/", OWNER_SYSTEM },
	{ PATH, "/rustc/", OWNER_SYSTEM },         { PATH, "/usr/src/rustc-", OWNER_SYSTEM },
	{ PART, "cargo/registry/", OWNER_SYSTEM },
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool is_match(const struct rule *r, const char *path, const char *base)
{
	switch (r->how) {
	case NAME: return str_begins(base, r->text);
	case PATH: return str_begins(path, r->text);
	case PART: return strstr(path, r->text) != NULL;
	}
	BUG("rule %d", (int)r->how);
}

static enum owner find_rule(const struct rule *rules, size_t n, const char *path)
{
	const char *base = str_base_name(path);

	for (size_t i = 0; i < n; i++)
		if (is_match(&rules[i], path, base))
			return rules[i].owner;
	return OWNER_USER;
}

enum owner owner_of_object(const char *path)
{
	return find_rule(objects, COUNT(objects), path);
}

enum owner owner_of_site(const struct trace_site *site)
{
	const struct trace_object *o = site ? site->object : NULL;

	return !o ? OWNER_USER : o->owner ? (enum owner)(o->owner - 1) : owner_of_object(o->path);
}

/* ---- frames ---- */

/* Turns "/usr/bin/../include/x.h", as debug information may have it, into "/usr/include/x.h".
 * free() it. */
static char *straighten(const char *path)
{
	char *copy = xstrdup(path), *up;

	while ((up = strstr(copy, "/../")) && up > copy) {
		char *before = up;

		while (before > copy && before[-1] != '/')
			before--;
		if (before == copy || strncmp(before, "../", 3) == 0)
			break;
		memmove(before, up + 4, strlen(up + 4) + 1);
	}
	return copy;
}

static bool globs(const char *glob, const char *path)
{
	return fnmatch(glob, strchr(glob, '/') ? path : str_base_name(path), 0) == 0;
}

static bool is_named(const struct libraries *l, const char *path)
{
	for (size_t i = 0; l && path && i < l->n; i++) {
		const char *glob = l->globs[i];
		char *deeper;
		bool is_it = globs(glob, path);

		if (!is_it && strchr(glob, '/') && *glob != '/' && *glob != '*') {
			deeper = xasprintf("*/%s", glob);
			is_it = globs(deeper, path);
			free(deeper);
		}
		if (is_it)
			return true;
	}
	return false;
}

static enum owner owner_of_file(const struct libraries *l, const char *file)
{
	char *path = strstr(file, "/../") ? straighten(file) : NULL;
	enum owner o = find_rule(files, COUNT(files), path ? path : file);

	if (o == OWNER_USER && is_named(l, path ? path : file))
		o = OWNER_LIBRARY;
	free(path);
	return o;
}

enum owner owner_of_code(const struct libraries *l, const char *object, const char *file,
			 const char *function)
{
	enum owner o = object ? owner_of_object(object) : OWNER_USER;

	if (o == OWNER_USER && file)
		o = owner_of_file(l, file);
	/* gcc links its atomics for arm64 (__aarch64_ldadd8_relax, …) into the program itself */
	if (o == OWNER_USER && !file && function && str_begins(function, "__aarch64_"))
		o = OWNER_RUNTIME;
	return o == OWNER_USER && is_named(l, object) ? OWNER_LIBRARY : o;
}

/* ---- what PMDK decides itself ---- */

/* These libraries decide themselves what to flush; libpmem and libpmem2 do what the program
 * asks. */
static const char *const deciders[] = { "libpmemobj", "libpmemlog", "libpmemblk", "libpmempool" };

/* Functions of these libraries by which the program asks for a flush or a fence. */
static const char *const asked_for[] = { "pmemobj_persist", "pmemobj_xpersist", "pmemobj_flush",
					 "pmemobj_xflush",  "pmemobj_drain",    "pmemobj_mem*" };

static const char *const makers[] = { "pmemobj_create*", "pmemlog_create*", "pmemblk_create*",
				      "pmempool_create*" };

static bool is_listed(const char *const *globs, size_t n, const char *text)
{
	for (size_t i = 0; text && i < n; i++)
		if (fnmatch(globs[i], text, 0) == 0)
			return true;
	return false;
}

static const char *decider_of(const char *object)
{
	for (size_t i = 0; object && i < COUNT(deciders); i++) {
		size_t len = strlen(deciders[i]);

		if (strncmp(str_base_name(object), deciders[i], len) == 0 &&
		    str_base_name(object)[len] == '.')
			return deciders[i];
	}
	return NULL;
}

const char *owner_decider(const char *object, const char *function)
{
	const char *name = decider_of(object);

	return name && !is_listed(asked_for, COUNT(asked_for), function) ? name : NULL;
}

bool owner_makes_pool(const char *object, const char *function)
{
	return decider_of(object) && is_listed(makers, COUNT(makers), function);
}

bool owner_is_libpmem(const struct trace_object *o)
{
	const char *base = o ? strrchr(o->path, '/') : NULL;

	return base && strncmp(base, "/libpmem", 8) == 0;
}
