/* See explore_pools.h. */
#include "cmd/explore_pools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/putback.h"
#include "cmd/scratch.h"
#include "trace/trace.h"
#include "util/alloc.h"

static bool is_known(const struct pools *p, const char *path)
{
	for (size_t i = 0; i < p->list.n; i++)
		if (strcmp(p->list.at[i].path, path) == 0)
			return true;
	return false;
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

int pools_learn(struct pools *p, const char *trace, struct error *err)
{
	struct putback *before;
	names fresh = { 0 };
	int result = names_read(&fresh, p, trace, err);

	if (result == 0 && fresh.n) {
		before = putback_new(trace, err);
		result = before ? putback_end(before, true, err) : -1;
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

int pools_restore(const struct pools *p, struct error *err)
{
	for (size_t i = 0; i < p->list.n; i++) {
		const struct pool_copy *c = &p->list.at[i];

		if (!c->copy && unlink(c->path) < 0 && errno != ENOENT)
			return error_set(err, "cannot remove %s: %s", c->path, strerror(errno));
		if (c->copy && copy_file(c->copy, c->path) < 0)
			return error_set(err, "cannot put %s back: %s", c->path, strerror(errno));
	}
	return 0;
}

void pools_release(struct pools *p)
{
	for (size_t i = 0; i < p->list.n; i++) {
		if (p->list.at[i].copy)
			unlink(p->list.at[i].copy);
		free(p->list.at[i].path);
		free(p->list.at[i].copy);
	}
	vec_release(&p->list);
}
