/* Finds the folders whose files were followed, in the descriptions that recorded programs wrote.
 * If there are several, the folder of a crash state has one folder for each. A folder of --files
 * that lies below another one is found there. */
#include "crash/files/roots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"
#include "util/values.h"

static bool is_known(const struct file_roots *r, const char *path)
{
	for (size_t i = 0; i < r->list.n; i++)
		if (strcmp(r->list.at[i].recorded, path) == 0)
			return true;
	return false;
}

static void add(struct file_roots *r, const struct plan *p, const char *path)
{
	uint32_t file = 0;

	if (is_known(r, path))
		return;
	for (uint32_t i = 1; i <= trace_nfiles(p->trace) && !file; i++) {
		const struct trace_file *f = trace_file(p->trace, i);

		if (f && (f->flags & PMT_FILE_FOLDER) && strcmp(f->path, path) == 0)
			file = i;
	}
	*vec_add(&r->list) = (struct file_root){ .recorded = path, .file = file };
}

/* Gives the path of `inner` below `outer`: "x/y"; NULL if it is not there. */
static const char *below(const char *inner, const char *outer)
{
	const size_t len = strlen(outer);

	return strncmp(inner, outer, len) == 0 && inner[len] == '/' ? inner + len + 1 : NULL;
}

/* Gives the root that contains this one, and is in no other; NULL: there is none. */
static const struct file_root *outer_of(const struct file_roots *r, const struct file_root *inner)
{
	const struct file_root *outer = NULL;

	for (size_t i = 0; i < r->list.n; i++)
		if (below(inner->recorded, r->list.at[i].recorded) &&
		    (!outer || below(outer->recorded, r->list.at[i].recorded)))
			outer = &r->list.at[i];
	return outer;
}

static char *number_of(const struct file_roots *r, const struct file_root *root)
{
	const size_t i = (size_t)(root - r->list.at);

	return i ? xasprintf("dir%zu", i + 1) : xstrdup("dir");
}

static void place(struct file_roots *r, struct file_root *root)
{
	const struct file_root *outer = outer_of(r, root);
	char *name = number_of(r, outer ? outer : root);

	root->place = r->list.n == 1 ? xstrdup("")
		      : outer ? xasprintf("%s/%s", name, below(root->recorded, outer->recorded))
			      : xstrdup(name);
	if (outer)
		root->file = 0;
	free(name);
}

int file_roots_find(struct file_roots *r, const struct plan *p, struct error *err)
{
	const char *scratch = trace_meta(p->trace, "scratch_dir");
	bool is_any = false;
	size_t n = 0;

	*r = (struct file_roots){ 0 };
	/* each program that is started says all of them again */
	while (trace_meta_older(p->trace, "files", n))
		n++;
	for (size_t i = n; i-- > 0;)
		if (scratch && strcmp(trace_meta_older(p->trace, "files", i), scratch) == 0)
			add(r, p, scratch);
	for (size_t i = n; i-- > 0;)
		add(r, p, trace_meta_older(p->trace, "files", i));
	for (size_t i = 0; i < r->list.n; i++)
		is_any |= r->list.at[i].file != 0;
	for (size_t i = 0; i < r->list.n; i++)
		place(r, &r->list.at[i]);
	for (size_t i = 0; i < r->list.n; i++)
		*vec_add(&r->places) = r->list.at[i].place;
	if (is_any)
		return 0;
	error_set(err, "nothing could be explored: the program changed no file in %s%s",
		  n ? r->list.at[0].recorded : "a folder",
		  r->list.n > 1 ? " and the other folders of --files" : "");
	file_roots_release(r);
	return -1;
}

void file_roots_release(struct file_roots *r)
{
	for (size_t i = 0; i < r->list.n; i++)
		free(r->list.at[i].place);
	vec_release(&r->list);
	vec_release(&r->places);
}

const struct file_root *file_roots_of(const struct file_roots *r, uint32_t file)
{
	for (size_t i = 0; i < r->list.n; i++)
		if (r->list.at[i].file && r->list.at[i].file == file)
			return &r->list.at[i];
	return NULL;
}

char *file_roots_path(const struct file_root *root, const char *folder)
{
	return xasprintf("%s%s%s", folder, *root->place ? "/" : "", root->place);
}

char **file_roots_words(const struct file_roots *r, char *const *words, const char *folder)
{
	char **now = words_copy(words, 0), **next;

	for (size_t i = 0; i < r->list.n; i++) {
		char *name = number_of(r, &r->list.at[i]), *text = xasprintf("{%s}", name),
		     *path = file_roots_path(&r->list.at[i], folder);

		next = words_replaced(now, text, path);
		words_free(now);
		now = next;
		free(name);
		free(text);
		free(path);
	}
	return now;
}
