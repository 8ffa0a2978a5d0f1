/* Learns which files are pools of the explored program, and puts them back before each run. A pool
 * is learned from the first trace that maps it. Slots above 0 get copies beside the pool, and the
 * words of the command line that name the pool then name the copy. */
#include "explore/session/pools.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pools/restore.h"
#include "util/files.h"
#include "trace/trace.h"
#include "util/alloc.h"

static char *slot_path(const struct pool_copy *c, unsigned slot)
{
	return slot ? xasprintf("%s.pmend-%d-%u", c->path, (int)getpid(), slot) : xstrdup(c->path);
}

static bool is_known(const struct pools *p, const char *path)
{
	bool is = false;

	for (size_t i = 0; !is && i < p->list.n; i++)
		for (unsigned slot = 0; !is && slot < p->nslots; slot++) {
			char *name = slot_path(&p->list.at[i], slot);

			is = strcmp(name, path) == 0;
			free(name);
		}
	return is;
}

typedef VEC(char *) names;

static int names_read(names *n, const struct pools *p, const char *trace, struct error *err)
{
	struct trace_event ev;
	struct trace *t;

	if (trace_open(&t, trace, err) < 0)
		return -1;
	while (trace_next(t, &ev)) {
		char *path;

		if (ev.kind != PMT_FILE || (ev.arg[2] & PMT_FILE_MEMORY))
			continue;
		path = xasprintf("%.*s", (int)ev.data_len, (const char *)ev.data);
		if (is_known(p, path))
			free(path);
		else
			*vec_add(n) = path;
	}
	trace_close(t);
	return 0;
}

static int pool_add(struct pools *p, char *path, struct error *err)
{
	struct pool_copy c = { .path = path };

	if (access(path, F_OK) == 0) {
		c.copy = xasprintf("%s/pool-%zu", p->folder, p->list.n);
		if (copy_file(path, c.copy) < 0)
			return error_set(err, "cannot copy %s: %s", path, strerror(errno));
	}
	*vec_add(&p->list) = c;
	return 0;
}

/* Reserves the pools. This comes before any file is put back, because another exploration may use
 * the pools. */
static int names_hold(struct pools *p, const names *n, struct error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < n->n; i++) {
		char *what;
		bool is_twice = false;

		for (size_t k = 0; k < i; k++)
			is_twice |= strcmp(n->at[k], n->at[i]) == 0;
		what = xasprintf("the pool %s", n->at[i]);
		if (!is_twice)
			result = reservations_add(&p->reserved, what, err);
		free(what);
	}
	return result;
}

int pools_learn(struct pools *p, const char *trace, struct error *err)
{
	struct restore *before;
	names fresh = { 0 };
	int result = names_read(&fresh, p, trace, err);

	if (result == 0)
		result = names_hold(p, &fresh, err);
	if (result == 0 && fresh.n) {
		before = restore_begin(trace, err);
		result = before ? restore_end(before, true, err) : -1;
	}
	for (size_t i = 0; i < fresh.n; i++) {
		if (result == 0 && !is_known(p, fresh.at[i]))
			result = pool_add(p, fresh.at[i], err);
		else
			free(fresh.at[i]);
	}
	vec_release(&fresh);
	return result;
}

/* ---- slots ---- */

static int pool_restore(const struct pool_copy *c, const char *path, struct error *err)
{
	if (!c->copy && unlink(path) < 0 && errno != ENOENT)
		return error_set(err, "cannot remove %s: %s", path, strerror(errno));
	if (c->copy && copy_file(c->copy, path) < 0)
		return error_set(err, "cannot put %s back: %s", path, strerror(errno));
	return 0;
}

int pools_restore(const struct pools *p, unsigned slot, struct error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < p->list.n; i++) {
		char *path = slot_path(&p->list.at[i], slot);

		result = pool_restore(&p->list.at[i], path, err);
		free(path);
	}
	return result;
}

/* Finds where a file name begins in a word such as NAME or --pool=NAME. */
static const char *name_in(const char *word)
{
	const char *equals = strchr(word, '=');

	return equals ? equals + 1 : word;
}

/* Does the name mean this path? Resolves the name's folder, because the file itself may not
 * exist. */
static bool is_name_of(const char *name, const char *path)
{
	const char *slash = strrchr(name, '/'), *path_slash = strrchr(path, '/');
	char *folder = slash ? xasprintf("%.*s", (int)(slash - name + 1), name) : xstrdup("."),
	     *real;
	bool is;

	if (!path_slash || strcmp(slash ? slash + 1 : name, path_slash + 1) != 0) {
		free(folder);
		return false;
	}
	real = realpath(folder, NULL);
	is = real && strlen(real) == (size_t)(path_slash - path) &&
	     strncmp(real, path, strlen(real)) == 0;
	free(real);
	free(folder);
	return is;
}

static bool is_named(const char *path, char *const *words)
{
	for (; *words; words++)
		if (is_name_of(*words, path) || is_name_of(name_in(*words), path))
			return true;
	return false;
}

const char *pools_unnamed(const struct pools *p, char *const *words, char *const *env)
{
	for (size_t i = 0; i < p->list.n; i++)
		if (!is_named(p->list.at[i].path, words) && !is_named(p->list.at[i].path, env))
			return p->list.at[i].path;
	return NULL;
}

void pools_rename(const struct pools *p, unsigned slot, char **words)
{
	for (size_t i = 0; slot && i < p->list.n; i++)
		for (char **w = words; *w; w++) {
			const char *name = is_name_of(*w, p->list.at[i].path) ? *w : name_in(*w);
			char *path, *renamed;

			if (!is_name_of(name, p->list.at[i].path))
				continue;
			path = slot_path(&p->list.at[i], slot);
			renamed = xasprintf("%.*s%s", (int)(name - *w), *w, path);
			free(path);
			free(*w);
			*w = renamed;
		}
}

void pools_release(struct pools *p)
{
	for (size_t i = 0; i < p->list.n; i++) {
		struct pool_copy *c = &p->list.at[i];

		for (unsigned slot = 1; slot < p->nslots; slot++) {
			char *path = slot_path(c, slot);

			unlink(path);
			free(path);
		}
		if (c->copy)
			unlink(c->copy);
		free(c->path);
		free(c->copy);
	}
	vec_release(&p->list);
	reservations_release(&p->reserved);
}
