/* Keeps what events have said so far about PM files and about the recording. Strings are freed only
 * when the trace is closed, because callers keep pointers to them. */
#include "trace/files.h"

#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>

#define MAX_UNSEEN_BYTES 2048 /* of the text that names all reasons */
/* The upper bits of a PM address are the file's number. */
#define MAX_FILE (((uint64_t)1 << (64 - PMT_OFFSET_BITS)) - 1)

static struct trace_file *known_file(const struct files *f, uint64_t file)
{
	return file < f->list.n && f->list.at[file].path ? &f->list.at[file] : NULL;
}

const struct trace_file *files_find(const struct files *f, uint64_t file)
{
	return known_file(f, file);
}

static void note_file(struct files *f, struct arena *arena, const struct trace_event *ev)
{
	uint64_t file = ev->arg[0];
	size_t i, old = f->list.n;

	if (file == 0 || file > MAX_FILE)
		return;
	if (file >= old) {
		vec_reserve(&f->list, file + 1);
		for (i = old; i <= file; i++)
			f->list.at[i] = (struct trace_file){ 0 };
		f->list.n = file + 1;
	}
	f->list.at[file] = (struct trace_file){
		.path = arena_string(arena, ev->data, ev->data_len),
		.size_bytes = ev->arg[1],
		.flags = (uint32_t)ev->arg[2],
	};
}

static void note_fallocate(struct trace_file *file, uint64_t mode, uint64_t offset,
			   uint64_t len_bytes)
{
	if (mode & FALLOC_FL_KEEP_SIZE)
		return;
	if (mode & FALLOC_FL_COLLAPSE_RANGE)
		file->size_bytes -= len_bytes < file->size_bytes ? len_bytes : file->size_bytes;
	else if (mode & FALLOC_FL_INSERT_RANGE)
		file->size_bytes += len_bytes;
	else if (offset + len_bytes > file->size_bytes)
		file->size_bytes = offset + len_bytes;
}

/* Adds a reason once, while there is room for it. */
static void note_unseen(struct files *f, struct arena *arena, const char *why)
{
	char *both;

	if (!f->unseen) {
		f->unseen = why;
	} else if (!strstr(f->unseen, why) && strlen(f->unseen) + strlen(why) < MAX_UNSEEN_BYTES) {
		both = xasprintf("%s; %s", f->unseen, why);
		f->unseen = arena_text(arena, both);
		free(both);
	}
}

/* Does this name the recorded command, or its folder? Programs that it executes say theirs, too. */
static bool is_of_command(const char *meta)
{
	return strncmp(meta, "argv.", 5) == 0 || strncmp(meta, "cwd=", 4) == 0;
}

void files_note(struct files *f, struct arena *arena, const struct trace_event *ev)
{
	struct trace_file *file;

	if (ev->kind == PMT_FILE) {
		note_file(f, arena, ev);
		return;
	}
	if (ev->kind == PMT_META) {
		const char *text = arena_string(arena, ev->data, ev->data_len);

		if (ev->stream == 0 || !is_of_command(text))
			*vec_add(&f->meta) = text;
		return;
	}
	if (ev->kind == PMT_INCOMPLETE) {
		note_unseen(f, arena, arena_string(arena, ev->data, ev->data_len));
		return;
	}
	if (ev->kind != PMT_SIZE && ev->kind != PMT_FALLOCATE && ev->kind != PMT_RENAME)
		return;
	file = known_file(f, ev->arg[0]);
	if (!file)
		return;
	if (ev->kind == PMT_SIZE)
		file->size_bytes = ev->arg[1];
	else if (ev->kind == PMT_FALLOCATE)
		note_fallocate(file, ev->arg[1], ev->arg[2], ev->arg[3]);
	else
		file->path = arena_string(arena, ev->data, ev->data_len);
}

const char *files_meta(const struct files *f, const char *key, size_t nth)
{
	size_t len = strlen(key), i;

	for (i = f->meta.n; i-- > 0;)
		if (strncmp(f->meta.at[i], key, len) == 0 && f->meta.at[i][len] == '=' &&
		    nth-- == 0)
			return f->meta.at[i] + len + 1;
	return NULL;
}

void files_release(struct files *f)
{
	vec_release(&f->list);
	vec_release(&f->meta);
}
