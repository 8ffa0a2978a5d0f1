/* What recovery sees, and that the next run sees the same again whatever the last one did. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/runner_fixture.h"

static void test_ends(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, 1, 0);
	world_start(&w);
	assert_int_equal(world_run_new(&w, TARGET " exit 0"), 0);
	assert_exit(&w, 0);
	assert_int_equal(world_run_new(&w, TARGET " exit 3"), 0);
	assert_exit(&w, 3);
	assert_null(w.result.why_unsound);
	assert_int_equal(w.result.nkilled, 0);
	assert_int_equal(world_run_new(&w, TARGET " segv"), 0);
	assert_int_equal(w.result.end, RUN_SIGNALLED);
	assert_int_equal(w.result.code, 11);
	assert_int_equal(world_run_new(&w, TARGET " nonsense"), 0);
	assert_exit(&w, 2);
	assert_string_equal(w.result.errors, "no such action\n");
	world_release(&w);
}

/* Each way to change a pool, and what is seen of it in the same run. */
static void test_restore(void **state)
{
	static const struct {
		const char *change, *then, *seen;
	} cases[] = {
		{ "put {} 0 77", "get {} 0 8192", "1048576: 77 101\n" },
		{ "put {} 500000 77", "get {} 0 500000", "1048576: 1 77\n" },
		{ "put-sys {} 8192 78", "get {} 8192", "1048576: 78\n" },
		{ "put-sys {} 1048575 79", "get {} 1048575", "1048576: 79\n" },
		{ "replace {}", "get {} 0 1 2", "3: 97 98 99\n" },
		{ "truncate {} 5000", "get {} 0 4999", "5000: 1 0\n" },
		{ "truncate {} 3000000", "get {} 0 2999999", "3000000: 1 0\n" },
		{ "punch {}", "get {} 0 8192", "1048576: 0 0\n" },
		{ "rename {} {2}", "get {2} 0", "1048576: 1\n" },
		{ "unlink {2}", "get {} 0", "1048576: 1\n" },
		{ "chmod {}", "exit 0", "" },
	};
	struct world w;

	(void)state;
	world_init(&w, 2, 0);
	world_start(&w);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(world_run_new(&w, TARGET " %s", cases[i].change), 0);
		if (w.result.end != RUN_EXITED || w.result.code != 0)
			fail_msg("%s: %d %d %s", cases[i].change, w.result.end, w.result.code, w.result.errors);
		assert_int_equal(world_run(&w, TARGET " %s", cases[i].then), 0);
		assert_output(&w, cases[i].seen);
		assert_int_equal(world_run_new(&w, TARGET " get {} 0 8192 500000 1048575"), 0);
		if (strcmp(w.result.output, "1048576: 1 101 0 0\n") != 0)
			fail_msg("after '%s': %s%s", cases[i].change, w.result.output, w.result.errors);
		assert_int_equal(world_run(&w, TARGET " get {2} 0 8192"), 0);
		assert_output(&w, "1048576: 2 102\n");
	}
	assert_int_equal(w.r->servers.n, 2 * sizeof cases / sizeof *cases + 2 - 1); /* 'get {} 0' comes twice; so no more */
	world_release(&w);
}

static int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700), got;

	if (fd < 0)
		return -1;
	got = write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
	close(fd);
	return got;
}

/* The user's own files stay as they are, even one that a crash image does not have. */
static void test_own_files(void **state)
{
	struct world w;
	char buf[16] = "";
	int fd;

	(void)state;
	world_init(&w, 2, 0);
	assert_int_equal(file_write(w.image.files.at[1].path, "mine"), 0);
	assert_int_equal(file_write(w.image.files.at[2].path, "mine"), 0);
	w.image.files.at[2].exists = false;
	world_start(&w);
	assert_int_equal(world_run_new(&w, TARGET " replace %s", w.image.files.at[1].path), 0);
	assert_exit(&w, 0);
	assert_int_equal(world_run_new(&w, TARGET " exists {2}"), 0);
	assert_exit(&w, 1);
	assert_int_equal(world_run_new(&w, TARGET " get {} 0"), 0);
	assert_output(&w, "1048576: 1\n");
	w.image.files.at[2].exists = true;
	world_load(&w);
	assert_int_equal(world_run(&w, TARGET " get {2} 0"), 0);
	assert_output(&w, "1048576: 2\n");
	for (int i = 1; i <= 2; i++) {
		fd = open(w.image.files.at[i].path, O_RDONLY);
		assert_int_equal(read(fd, buf, sizeof buf), 4);
		assert_string_equal(buf, "mine");
		close(fd);
	}
	world_release(&w);
}

/* A path that a file gets by a later rename is absent before, and {} keeps its meaning. */
static void test_other_paths(void **state)
{
	struct world w;
	const char *paths[3] = { NULL };
	char pool[128];

	(void)state;
	world_init(&w, 1, 0);
	snprintf(pool, sizeof pool, "%s/final", w.folder);
	assert_int_equal(file_write(pool, "mine"), 0);
	paths[0] = w.image.files.at[1].path;
	paths[1] = pool;
	w.o.paths = paths;
	w.o.pool = pool;
	world_start(&w);
	assert_int_equal(world_run_new(&w, TARGET " exists {}"), 0);
	assert_exit(&w, 1);
	assert_int_equal(world_run_new(&w, TARGET " rename {1} {}"), 0);
	assert_exit(&w, 0);
	assert_int_equal(world_run(&w, TARGET " get {} 0"), 0);
	assert_output(&w, "1048576: 1\n");
	free(w.image.files.at[1].path);
	w.image.files.at[1].path = xstrdup(pool);
	world_load(&w);
	assert_int_equal(world_run(&w, TARGET " get {} 0"), 0);
	assert_output(&w, "1048576: 1\n");
	world_release(&w);
}

static uint64_t image_blocks(const struct world *w)
{
	struct stat st;

	assert_int_equal(stat(w->r->images.files.at[0].image, &st), 0);
	return (uint64_t)st.st_blocks;
}

/* What a run read or wrote in empty space is given back: images stay as sparse as they are. */
static void test_sparse(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, 1, (uint64_t)1 << 30);
	world_start(&w);
	assert_int_equal(image_blocks(&w), 2 * 8);
	assert_int_equal(world_run_new(&w, TARGET " put {} 1000000000 9"), 0);
	assert_exit(&w, 0);
	assert_int_equal(world_run(&w, TARGET " get {} 1000000000"), 0);
	assert_output(&w, "1073741824: 9\n");
	assert_int_equal(world_run_new(&w, TARGET " get {} 0 8192 1000000000"), 0);
	assert_output(&w, "1073741824: 1 101 0\n");
	assert_true(image_blocks(&w) <= 3 * 8);
	world_release(&w);

	world_init(&w, 1, 16 << 20);
	world_start(&w);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(world_run_new(&w, TARGET " scan {}"), 0);
		assert_output(&w, "102\n");
		assert_int_equal(image_blocks(&w), 4096 * 8);
	}
	runner_begin(w.r, NULL, false);
	assert_true(image_blocks(&w) <= 300 * 8);
	world_release(&w);
}

static void test_lines(void **state)
{
	struct world w;
	uint64_t left[3] = { 3, 1, 2 };
	char path[128], *folder;
	struct stat st;
	uint8_t got[3];
	int fd;

	(void)state;
	world_init(&w, 1, POOL_BYTES + 32);
	world_add_line(&w, 1, 64, 3, 50);
	world_add_line(&w, 1, 40960, 2, 60);	    /* where the image has no data */
	world_add_line(&w, 1, POOL_BYTES, 2, 70); /* over the end of the file */
	world_start(&w);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(world_run_new(&w, TARGET " get {} 63 64 127 128 40960 1048576"), 0);
		assert_output(&w, "1048608: 0 52 52 0 61 71\n");
		assert_int_equal(runner_left(w.r)[0], 7);
		assert_int_equal(runner_left(w.r)[2], 3);
		runner_begin(w.r, left, false);
		assert_int_equal(world_run(&w, TARGET " get {} 64 40960 1048576"), 0);
		assert_output(&w, "1048608: 51 60 71\n");
		assert_memory_equal(runner_left(w.r), left, sizeof left);
	}
	folder = xasprintf("%s/out", w.folder);
	assert_int_equal(runner_export(w.r, left, folder, &w.err), 0);
	snprintf(path, sizeof path, "%s/pool1", folder);
	fd = open(path, O_RDONLY);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, POOL_BYTES + 32);
	assert_true(st.st_blocks < 100);
	assert_true(pread(fd, &got[0], 1, 64) == 1 && pread(fd, &got[1], 1, 8192) == 1 && pread(fd, &got[2], 1, 1048607) == 1);
	assert_memory_equal(got, ((uint8_t[]){ 51, 101, 71 }), 3);
	close(fd);
	free(folder);
	world_release(&w);
}

/* What recovery leaves is the same whatever ran before it, also in pages that held nothing, and pages that are gone are noticed. */
static void test_content(void **state)
{
	static const char *const changes[] = { "put {} 0 77", "put {} 500000 77", "put {} 500000 78", "put {} 500008 77", "truncate {} 5000", "punch {}" };
	enum { N = sizeof changes / sizeof *changes };
	uint64_t content[N], untouched;
	struct world w;

	(void)state;
	world_init(&w, 1, 0);
	world_add_line(&w, 1, 40960, 2, 60); /* where the image has no data */
	world_start(&w);
	assert_int_equal(world_run_new(&w, TARGET " exit 0"), 0);
	untouched = runner_content(w.r, 0, 0);
	assert_int_equal(runner_changes(w.r), 0);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < N; i++) {
			const int at = round ? N - 1 - i : i;
			uint64_t got;

			assert_int_equal(world_run_new(&w, TARGET " %s", changes[at]), 0);
			got = runner_content(w.r, 0, 0);
			assert_int_not_equal(got, untouched);
			assert_int_not_equal(runner_changes(w.r), 0);
			for (int k = 0; k < N && round; k++)
				assert_int_equal(got == content[k], k == at);
			content[at] = got;
		}
	assert_int_equal(world_run_new(&w, TARGET " exit 0"), 0);
	assert_int_equal(runner_content(w.r, 0, 0), untouched);
	world_release(&w);
}

static void test_spaces(void **state)
{
	struct world w;
	char *runtime, *pool, *copy;

	(void)state;
	world_init(&w, 1, 0);
	free(w.image.files.at[1].path);
	pool = xasprintf("%s/a b: c", w.folder);
	assert_int_equal(mkdir(pool, 0700), 0);
	copy = realpath(RUNTIME, NULL);
	runtime = xasprintf("%s/rt x.so", pool);
	assert_int_equal(symlink(copy, runtime), 0);
	free(copy);
	copy = xasprintf("%s/my target", pool);
	free(pool);
	pool = realpath(TARGET, NULL);
	assert_int_equal(symlink(pool, copy), 0);
	free(pool);
	w.image.files.at[1].path = xasprintf("%s/a b: c/my \"pool", w.folder);
	w.o.runtime = runtime;
	world_start(&w);
	assert_int_equal(world_run_new(&w, "'%s' put {} 3 4", copy), 0);
	assert_exit(&w, 0);
	assert_int_equal(world_run(&w, "\"%s\" g\\et '%s' 0 \"3\"", copy, w.image.files.at[1].path), 0);
	assert_output(&w, "1048576: 1 4\n");
	free(runtime);
	free(copy);
	world_release(&w);
}

static void test_splitting(void **state)
{
	static const char *const good[] = { "a", "b c", "d'e", "\\n\"", "", "{}x", NULL };
	struct error err;
	struct runner_command *c = runner_command_new("  a 'b c' \"d'e\" \"\\n\\\"\" ''\t{}\\x\n", &err);

	(void)state;
	assert_non_null(c);
	assert_true(argv_equal(c->argv, (char *const *)good));
	assert_true(runner_command_has_pool(c));
	runner_command_free(c);
	assert_null(runner_command_new("a 'b", &err));
	assert_null(runner_command_new("a \\", &err));
	assert_null(runner_command_new("  ", &err));
	c = runner_command_new("a {b} {12 {}", &err);
	assert_true(runner_command_has_pool(c));
	runner_command_free(c);
	c = runner_command_new("a {b} {12", &err);
	assert_false(runner_command_has_pool(c));
	runner_command_free(c);
}

/* A static program gets the image's path, and cannot be lazy. */
static void test_static(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, 1, 0);
	world_add_line(&w, 1, 64, 3, 50);
	world_start(&w);
	assert_int_equal(world_run_new(&w, TARGET_STATIC " put {} 0 7"), 0);
	assert_exit(&w, 0);
	assert_int_equal(world_run(&w, TARGET_STATIC " get {} 0 64"), 0);
	assert_output(&w, "1048576: 7 52\n");
	assert_null(w.result.why_unsound);
	runner_begin(w.r, NULL, true);
	assert_int_equal(world_run(&w, TARGET_STATIC " get {} 0 64"), 0);
	assert_output(&w, "1048576: 1 52\n");
	assert_non_null(w.result.why_unsound);
	assert_non_null(strstr(w.result.why_unsound, "statically"));
	assert_int_equal(world_run_new(&w, TARGET_STATIC " get %s 0", w.image.files.at[1].path), -1);
	assert_non_null(strstr(w.err.msg, "{}"));
	world_release(&w);

	world_init(&w, 1, 0);
	w.o.never_preload = true;
	w.o.runtime = NULL;
	world_start(&w);
	assert_int_equal(world_run_new(&w, TARGET " put {} 0 7"), 0);
	assert_int_equal(world_run(&w, TARGET " get {} 0"), 0);
	assert_output(&w, "1048576: 7\n");
	assert_int_equal(world_run(&w, TARGET " segv {}"), 0);
	assert_int_equal(w.result.code, 11);
	world_release(&w);
}

static void test_script(void **state)
{
	struct world w;
	char *path, *text, *target = realpath(TARGET, NULL);

	(void)state;
	world_init(&w, 1, 0);
	path = xasprintf("%s/recover.sh", w.folder);
	text = xasprintf("#!/bin/sh\n%s put \"$1\" 5 6 && exec %s get \"$1\" 0 5\n", target, target);
	assert_int_equal(file_write(path, text), 0);
	world_start(&w);
	assert_int_equal(world_run_new(&w, "%s {}", path), 0);
	assert_output(&w, "1048576: 1 6\n");
	assert_exit(&w, 0);
	free(path);
	free(text);
	free(target);
	world_release(&w);
}

static void test_environment(void **state)
{
	struct world w;
	char *input;

	(void)state;
	world_init(&w, 1, 0);
	input = xasprintf("%s/input", w.folder);
	assert_int_equal(file_write(input, "hello"), 0);
	w.o.stdin_path = input;
	world_start(&w);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(world_run_new(&w, TARGET " cat"), 0);
		assert_output(&w, "hello");
		assert_int_equal(world_run_new(&w, TARGET " nonblock"), 0);
		assert_output(&w, "0\n");
		assert_int_equal(world_run_new(&w, TARGET " env PMEM_IS_PMEM_FORCE"), 0);
		assert_output(&w, "1\n");
		assert_int_equal(world_run_new(&w, TARGET " env " RUN_ENV_SERVER), 0);
		assert_output(&w, "(none)\n");
	}
	assert_int_equal(world_run_new(&w, TARGET " env LD_BIND_NOW"), 0);
	assert_output(&w, "(none)\n");
	free(input);
	world_release(&w);
}

/* What cannot be bound before it runs, or has threads before main(), is run in another way. */
static void test_odd_programs(void **state)
{
	static const char *const libraries[] = { MISSING_LIBRARY, THREAD_LIBRARY };
	static const enum program_mode modes[] = { PROGRAM_FORK, PROGRAM_PRELOADED };
	struct world w;

	(void)state;
	for (int i = 0; i < 2; i++) {
		char *library = realpath(libraries[i], NULL);

		world_init(&w, 1, 0);
		setenv("LD_PRELOAD", library, 1);
		world_start(&w);
		unsetenv("LD_PRELOAD");
		for (int k = 0; k < 2; k++) {
			assert_int_equal(world_run_new(&w, TARGET " put {} 0 9"), 0);
			assert_exit(&w, 0);
			assert_int_equal(world_run_new(&w, TARGET " get {} 0"), 0);
			assert_output(&w, "1048576: 1\n");
		}
		assert_int_equal(w.r->servers.at[0]->mode, modes[i]);
		assert_false(w.r->servers.at[0]->can_bind);
		free(library);
		world_release(&w);
	}
}

static void test_objects(void **state)
{
	struct runner_command *c;
	struct error err;
	const struct trace_object *list;
	unsigned long long address = 0;
	struct world w;
	size_t n, i;

	(void)state;
	world_init(&w, 1, 0);
	world_start(&w);
	assert_int_equal(world_run_new(&w, TARGET " address"), 0);
	assert_int_equal(sscanf(w.result.output, "0x%llx", &address), 1);
	c = runner_command_new(TARGET " address", &err);
	n = runner_objects(w.r, c, &list);
	for (i = 0; i < n && !(address >= list[i].va && address < list[i].va + list[i].len_bytes);)
		i++;
	assert_true(i < n);
	assert_string_equal(strrchr(list[i].path, '/'), "/target");
	runner_command_free(c);
	world_release(&w);
}

/* What cannot be started says why; a crash in the program's own constructor is a crash of recovery. */
static void test_start_fails(void **state)
{
	struct world w;
	char *library = realpath(BAD_LIBRARY, NULL);

	(void)state;
	world_init(&w, 1, 0);
	world_start(&w);
	assert_int_equal(world_run_new(&w, "/nowhere/program {}"), -1);
	assert_non_null(strstr(w.err.msg, "/nowhere/program: No such file"));
	assert_int_equal(world_run_new(&w, TARGET_BAD " exit 0"), 0);
	assert_int_equal(w.result.end, RUN_SIGNALLED);
	assert_int_equal(w.result.code, 11);
	assert_int_equal(world_run_new(&w, TARGET " get {7} 0"), -1);
	assert_non_null(strstr(w.err.msg, "{7}"));
	world_release(&w);

	world_init(&w, 1, 0);
	setenv("LD_PRELOAD", library, 1);
	world_start(&w);
	unsetenv("LD_PRELOAD");
	assert_int_equal(world_run_new(&w, TARGET " exit 0"), -1);
	assert_non_null(strstr(w.err.msg, "died of SIGSEGV"));
	free(library);
	world_release(&w);

	world_init(&w, 1, 0);
	w.o.runtime = "/nowhere/libpmend_rt.so";
	assert_null(runner_new(&w.o, NULL, 0, &w.err));
	assert_non_null(strstr(w.err.msg, "/nowhere/libpmend_rt.so"));
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),	    cmocka_unit_test(test_restore),   cmocka_unit_test(test_own_files),
		cmocka_unit_test(test_other_paths), cmocka_unit_test(test_sparse),    cmocka_unit_test(test_lines),
		cmocka_unit_test(test_content),
		cmocka_unit_test(test_spaces),	    cmocka_unit_test(test_splitting), cmocka_unit_test(test_static),
		cmocka_unit_test(test_script),	    cmocka_unit_test(test_environment), cmocka_unit_test(test_objects),
		cmocka_unit_test(test_start_fails), cmocka_unit_test(test_odd_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
