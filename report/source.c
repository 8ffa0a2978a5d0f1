/* Reads lines of source files. The names come from debug info, which may name anything: only
 * regular files are opened, and files larger than any source are ignored. A file that changed after
 * the program was built shows its new lines. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/internal.h"
#include "util/sysroot.h"

#define SOURCE_MAX_BYTES ((off_t)32 << 20)

struct source {
	char *name; /* the name that was asked for */
	char *path; /* the path where it was found; NULL: nowhere */
	char *data;
	VEC(size_t) starts;        /* offset of each line in the text, and of the end */
	struct source *next, *all; /* next: same hash; all: every file, for freeing */
};

struct sources {
	VEC(char *) folders;
	struct map by_name;
	struct source *all;
};

struct sources *sources_new(void)
{
	return xcalloc(1, sizeof(struct sources));
}

void sources_free(struct sources *s)
{
	struct source *file, *next;
	size_t i;

	for (file = s->all; file; file = next) {
		next = file->all;
		free(file->name);
		free(file->path);
		free(file->data);
		vec_release(&file->starts);
		free(file);
	}
	for (i = 0; i < s->folders.n; i++)
		free(s->folders.at[i]);
	vec_release(&s->folders);
	map_release(&s->by_name);
	free(s);
}

void sources_add_folder(struct sources *s, const char *folder)
{
	for (size_t i = 0; i < s->folders.n; i++)
		if (strcmp(s->folders.at[i], folder) == 0)
			return;
	*vec_add(&s->folders) = xstrdup(folder);
}

/* Reads the whole file; NULL if it is not a readable source. */
static char *file_read(const char *path, size_t *len)
{
	char *place = sysroot_path(path);
	int fd = open(place, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	char *data = NULL;
	ssize_t n;

	free(place);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > SOURCE_MAX_BYTES)
		goto out;
	data = xmalloc((size_t)st.st_size);
	for (*len = 0; *len < (size_t)st.st_size; *len += (size_t)n) {
		n = read(fd, data + *len, (size_t)st.st_size - *len);
		if (n <= 0)
			break;
	}
out:
	close(fd);
	return data;
}

static bool source_open(struct source *file, char *path)
{
	size_t len, i;

	file->data = file_read(path, &len);
	if (!file->data) {
		free(path);
		return false;
	}
	file->path = path;
	*vec_add(&file->starts) = 0;
	for (i = 0; i < len; i++)
		if (file->data[i] == '\n')
			*vec_add(&file->starts) = i + 1;
	if (len && file->data[len - 1] != '\n')
		/* the last line may lack its newline; treat it as if it had one */
		*vec_add(&file->starts) = len + 1;
	return true;
}

static void source_search(const struct sources *s, struct source *file)
{
	size_t i;

	for (i = 0; file->name[0] != '/' && i < s->folders.n; i++)
		if (source_open(file, xasprintf("%s/%s", s->folders.at[i], file->name)))
			return;
	source_open(file, xstrdup(file->name));
}

static const struct source *source_find(struct sources *s, const char *name)
{
	uint64_t hash = hash_text(name);
	struct source *first = map_get(&s->by_name, hash), *file;

	for (file = first; file; file = file->next)
		if (strcmp(file->name, name) == 0)
			return file;
	file = xcalloc(1, sizeof *file);
	file->name = xstrdup(name);
	file->next = first;
	file->all = s->all;
	s->all = file;
	map_set(&s->by_name, hash, file);
	source_search(s, file);
	return file;
}

const char *source_line(struct sources *s, const char *file, uint32_t line, size_t *len)
{
	const struct source *found = source_find(s, file);
	const char *text;

	if (line == 0 || line >= found->starts.n)
		return NULL;
	text = found->data + found->starts.at[line - 1];
	*len = found->starts.at[line] - found->starts.at[line - 1] - 1;
	if (*len && text[*len - 1] == '\r')
		--*len;
	return text;
}

const char *source_path(struct sources *s, const char *file)
{
	return source_find(s, file)->path;
}
