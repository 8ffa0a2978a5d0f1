#include "tests/unit/runner_fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "serve/processes.h"

void world_init(struct world *w, uint32_t npools, uint64_t size_bytes)
{
	uint64_t sizes[8] = { 0 };

	*w = (struct world){ .folder = "/tmp/pmend-test-XXXXXX" };
	assert_non_null(mkdtemp(w->folder));
	for (uint32_t i = 1; i <= npools; i++)
		sizes[i] = size_bytes ? size_bytes : POOL_BYTES;
	image_init(&w->image, sizes, npools + 1);
	for (uint32_t i = 1; i <= npools; i++) {
		struct crash_file *f = &w->image.files.at[i];

		f->path = xasprintf("%s/pool%u", w->folder, i);
		f->exists = true;
		f->size_bytes = sizes[i];
		image_write(&w->image, PMT_ADDR(i, 0), (uint8_t[]){ (uint8_t)i }, 1);
		image_write(&w->image, PMT_ADDR(i, 8192), (uint8_t[]){ (uint8_t)(100 + i) }, 1);
	}
	w->set.line_bytes = 64;
	w->o = (struct runner_options){ .runtime = RUNTIME, .timeout_ms = 30000, .output_bytes = 4096 };
}

void world_start(struct world *w)
{
	w->r = runner_new(&w->o, NULL, 0, &w->err);
	if (!w->r)
		fail_msg("%s", w->err.msg);
	world_load(w);
}

void world_load(struct world *w)
{
	runner_load(w->r, &w->image, &w->set);
	runner_begin(w->r, NULL, false);
}

void world_release(struct world *w)
{
	char *folder = w->r ? xstrdup(w->r->folder) : NULL;

	runner_free(w->r);
	if (folder)
		assert_int_equal(access(folder, F_OK), -1);
	free(folder);
	image_release(&w->image);
	vec_release(&w->set.lines);
	vec_release(&w->set.bytes);
	tree_remove(w->folder);
}

int world_run(struct world *w, const char *fmt, ...)
{
	struct runner_command *c;
	char line[4096];
	va_list ap;
	int got;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	c = runner_command_new(line, &w->err);
	assert_non_null(c);
	got = runner_command_run(w->r, c, &w->result, &w->err);
	runner_command_free(c);
	if (got < 0)
		print_message("%s: %s\n", line, w->err.msg);
	return got;
}

/* Contents of one value each: first_value, first_value + 1… */
void world_add_line(struct world *w, uint32_t file, uint64_t offset, uint32_t ncontents, uint8_t first_value)
{
	struct state_line *l = vec_add(&w->set.lines);

	*l = (struct state_line){ .addr = PMT_ADDR(file, offset), .ncontents = ncontents, .words = (ncontents + 63) / 64,
				  .contents = w->set.bytes.n, .set = w->set.nwords };
	w->set.nwords += l->words;
	for (uint32_t i = 0; i < ncontents; i++)
		for (uint32_t k = 0; k < w->set.line_bytes; k++)
			*vec_add(&w->set.bytes) = (uint8_t)(first_value + i);
}

bool process_is_alive(pid_t pid)
{
	char path[64], stat[512], *end, state = 'X';

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (process_read(path, stat, sizeof stat) > 0 && (end = strrchr(stat, ')')))
		sscanf(end + 1, " %c", &state);
	return state != 'X' && state != 'Z';
}

pid_t read_pid(const char *path)
{
	for (int i = 0; i < WAITS; i++) {
		FILE *f = fopen(path, "r");
		int pid = 0;

		if (f && fscanf(f, "%d", &pid) != 1)
			pid = 0;
		if (f)
			fclose(f);
		if (pid > 0)
			return pid;
		usleep(WAIT_US);
	}
	fail_msg("%s does not appear", path);
	return -1;
}
