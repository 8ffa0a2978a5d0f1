/* What the writer writes, the reader reads. PMEND_SEED=N repeats one seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/sample.h"
#include "trace/writer.h"

static struct trace *open_path(const char *path)
{
	struct error err;
	struct trace *t;

	if (trace_open(&t, path, &err) < 0)
		fail_msg("%s", err.msg);
	return t;
}

static void check_sample(const struct sample_options *o)
{
	struct trace_event ev;
	struct sample s;
	struct trace *t;
	const char *difference;
	size_t n = 0;

	sample_init(&s, o);
	t = open_path(s.path);
	for (; trace_next(t, &ev); n++) {
		assert_true(n < s.events.n);
		difference = sample_difference(&s.events.at[n], &ev, true);
		if (difference)
			fail_msg("seed %llu, event %zu (%s): %s differs", (unsigned long long)o->seed, n + 1,
				 trace_kinds[ev.kind].name, difference);
	}
	if (trace_damage(t))
		fail_msg("seed %llu: %s", (unsigned long long)o->seed, trace_damage(t));
	assert_int_equal(n, s.events.n);
	assert_true(trace_finished(t));
	assert_false(trace_next(t, &ev));
	assert_int_equal(trace_size_bytes(t), s.len_bytes);
	trace_close(t);
	sample_release(&s);
}

static void check_seeds(struct sample_options o)
{
	const char *only = getenv("PMEND_SEED");
	uint64_t first = only ? strtoull(only, NULL, 0) : 1, last = only ? first : 40;

	print_message("seeds %llu to %llu\n", (unsigned long long)first, (unsigned long long)last);
	for (o.seed = first; o.seed <= last; o.seed++)
		check_sample(&o);
}

static void one_stream_round_trip(void **state)
{
	(void)state;
	check_seeds((struct sample_options){ .nevents = 3000, .nstreams = 1, .chunk_bytes = PMT_CHUNK_BYTES });
}

static void small_chunks_round_trip(void **state)
{
	(void)state;
	check_seeds((struct sample_options){ .nevents = 1000, .nstreams = 1, .chunk_bytes = 200 });
}

static void several_streams_are_merged_by_number(void **state)
{
	(void)state;
	check_seeds((struct sample_options){ .nevents = 2000, .nstreams = 5, .chunk_bytes = 1000 });
}

static void forked_streams_start_with_their_parents_tables(void **state)
{
	(void)state;
	check_seeds((struct sample_options){ .nevents = 3000, .nstreams = 8, .chunk_bytes = 700, .has_forks = true });
}

static void no_events_is_a_whole_trace(void **state)
{
	(void)state;
	check_sample(&(struct sample_options){ .seed = 1, .nevents = 0, .nstreams = 1, .chunk_bytes = 4096 });
}

static void site_ids_are_unique_across_streams(void **state)
{
	struct trace_event ev;
	struct sample s;
	struct trace *t;
	const struct trace_site *seen[4096] = { NULL };

	(void)state;
	sample_init(&s, &(struct sample_options){
				.seed = 3, .nevents = 2000, .nstreams = 4, .chunk_bytes = 999, .has_forks = true });
	t = open_path(s.path);
	while (trace_next(t, &ev)) {
		assert_in_range(ev.site->id, 1, 4095);
		assert_true(!seen[ev.site->id] || seen[ev.site->id] == ev.site);
		seen[ev.site->id] = ev.site;
	}
	trace_close(t);
	sample_release(&s);
}

struct fixture {
	int fd;
	char path[64];
	struct writer *w;
};

static void fixture_init(struct fixture *f)
{
	struct error err;

	f->fd = memory_file(NULL, 0, f->path);
	assert_int_equal(writer_open(&f->w, f->path, &err), 0);
}

static struct trace *fixture_read(struct fixture *f)
{
	struct error err;

	assert_int_equal(writer_close(f->w, &err), 0);
	return open_path(f->path);
}

static void emit(struct writer *w, enum pmt_kind kind, const uint64_t *args, const char *blob)
{
	struct writer_event ev = { .thread = 1, .site = writer_site(w, 0, 0, kind, 0) };

	if (args)
		memcpy(ev.arg, args, trace_kinds[kind].nargs * sizeof *args);
	ev.data = blob;
	ev.data_len = blob ? (uint32_t)strlen(blob) : 0;
	writer_event(w, &ev);
}

/* One far ahead of the other, the first closed before the other has come to its end. */
static void cursors_share_what_is_defined(void **state)
{
	struct trace_event ev, again;
	struct sample s;
	struct trace *t, *second;

	(void)state;
	sample_init(&s, &(struct sample_options){ .seed = 5, .nevents = 2000, .nstreams = 4, .chunk_bytes = 999, .has_forks = true });
	t = open_path(s.path);
	for (int i = 0; i < 700; i++)
		assert_true(trace_next(t, &ev));
	second = trace_cursor(t);
	for (int i = 0; i < 700; i++) {
		assert_true(trace_next(second, &again));
		assert_null(sample_difference(&s.events.at[i], &again, true));
	}
	assert_ptr_equal(ev.site, again.site);
	for (int i = 700; i < 1400; i++) {
		assert_true(trace_next(second, &again));
		assert_true(trace_next(t, &ev));
		assert_ptr_equal(ev.site, again.site);
		assert_int_equal(ev.seq, again.seq);
	}
	trace_close(t);
	for (size_t i = 1400; i < s.events.n; i++) {
		assert_true(trace_next(second, &again));
		assert_null(sample_difference(&s.events.at[i], &again, true));
	}
	assert_false(trace_next(second, &again));
	assert_null(trace_damage(second));
	trace_close(second);
	sample_release(&s);
}

static void files_and_meta_are_kept_up_to_date(void **state)
{
	struct trace_event ev;
	struct fixture f;
	struct trace *t;

	(void)state;
	fixture_init(&f);
	emit(f.w, PMT_META, NULL, "platform=x86-adr");
	emit(f.w, PMT_FILE, (uint64_t[]){ 2, 4096, PMT_FILE_CREATED, 1, 1 }, "/pm/a");
	emit(f.w, PMT_SIZE, (uint64_t[]){ 2, 8192 }, NULL);
	emit(f.w, PMT_FALLOCATE, (uint64_t[]){ 2, 0, 8192, 4096 }, NULL);
	emit(f.w, PMT_RENAME, (uint64_t[]){ 2 }, "/pm/b");
	emit(f.w, PMT_META, NULL, "platform=eadr");
	t = fixture_read(&f);

	assert_null(trace_meta(t, "platform"));
	assert_true(trace_next(t, &ev));
	assert_string_equal(trace_meta(t, "platform"), "x86-adr");
	assert_null(trace_meta(t, "plat"));
	assert_null(trace_file(t, 2));
	assert_true(trace_next(t, &ev));
	assert_string_equal(trace_file(t, 2)->path, "/pm/a");
	assert_int_equal(trace_file(t, 2)->size_bytes, 4096);
	assert_int_equal(trace_file(t, 2)->flags, PMT_FILE_CREATED);
	assert_null(trace_file(t, 1));
	assert_null(trace_file(t, 3));
	assert_int_equal(trace_nfiles(t), 2);
	assert_true(trace_next(t, &ev));
	assert_int_equal(trace_file(t, 2)->size_bytes, 8192);
	assert_true(trace_next(t, &ev));
	assert_int_equal(trace_file(t, 2)->size_bytes, 12288);
	assert_true(trace_next(t, &ev));
	assert_string_equal(trace_file(t, 2)->path, "/pm/b");
	assert_true(trace_next(t, &ev));
	assert_string_equal(trace_meta(t, "platform"), "eadr");
	assert_false(trace_next(t, &ev));
	trace_close(t);
	close(f.fd);
}

static void store_at(struct writer *w, uint64_t pc)
{
	static uint32_t depth; /* a new site each time, or an old one would keep its object */
	uint32_t node = writer_node(w, 0, ++depth, false);

	writer_event(w, &(struct writer_event){ .thread = 1, .site = writer_site(w, node, pc, PMT_SFENCE, 0) });
}

static const char *next_object(struct trace *t)
{
	struct trace_event ev;

	assert_true(trace_next(t, &ev));
	return ev.site->object ? ev.site->object->path : "none";
}

static void a_site_has_the_object_mapped_when_it_is_defined(void **state)
{
	struct trace_object a = { .va = 0x1000, .len_bytes = 0x4000, .path = (char *)"a", .build_id_len = 3 };
	struct trace_object b = { .va = 0x2000, .len_bytes = 0x1000, .path = (char *)"b" };
	struct trace_event ev;
	struct fixture f;
	struct trace *t;

	(void)state;
	fixture_init(&f);
	store_at(f.w, 0x1000);
	writer_object(f.w, &a);
	store_at(f.w, 0xfff);
	store_at(f.w, 0x1000);
	store_at(f.w, 0x4fff);
	store_at(f.w, 0x5000);
	writer_object(f.w, &b); /* over the middle of a */
	store_at(f.w, 0x1fff);
	store_at(f.w, 0x2000);
	store_at(f.w, 0x3000);
	writer_object_gone(f.w, 0x2800, 0x1000); /* b's end and a's second part's beginning */
	store_at(f.w, 0x27ff);
	store_at(f.w, 0x2800);
	store_at(f.w, 0x3800);
	t = fixture_read(&f);
	assert_string_equal(next_object(t), "none");
	assert_string_equal(next_object(t), "none");
	assert_string_equal(next_object(t), "a");
	assert_string_equal(next_object(t), "a");
	assert_string_equal(next_object(t), "none");
	assert_string_equal(next_object(t), "a");
	assert_string_equal(next_object(t), "b");
	assert_string_equal(next_object(t), "a");
	assert_string_equal(next_object(t), "b");
	assert_string_equal(next_object(t), "none");
	assert_string_equal(next_object(t), "a");
	assert_false(trace_next(t, &ev));
	assert_null(trace_damage(t));
	trace_close(t);
	close(f.fd);
}

static void a_full_disk_fails_at_close(void **state)
{
	struct writer *w;
	struct error err;

	(void)state;
	if (access("/dev/full", W_OK) != 0)
		skip();
	assert_int_equal(writer_open(&w, "/dev/full", &err), 0);
	emit(w, PMT_SFENCE, NULL, NULL);
	assert_int_equal(writer_close(w, &err), -1);
	assert_non_null(strstr(err.msg, "No space left"));
}

static void writing_into_a_missing_folder_fails_at_open(void **state)
{
	struct writer *w;
	struct error err;

	(void)state;
	assert_int_equal(writer_open(&w, "/nonexistent/x.pmt", &err), -1);
	assert_non_null(strstr(err.msg, "/nonexistent/x.pmt: No such file"));
}

static void kinds_are_found_by_name(void **state)
{
	enum pmt_kind kind;

	(void)state;
	for (int k = 0; k < PMT_NKINDS; k++)
		if (trace_kinds[k].name) {
			assert_true(trace_kind_by_name(trace_kinds[k].name, &kind));
			assert_int_equal(kind, k);
			assert_in_range(trace_kinds[k].nargs, 0, PMT_MAX_ARGS);
		}
	assert_false(trace_kind_by_name("no-such-kind", &kind));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_stream_round_trip),
		cmocka_unit_test(small_chunks_round_trip),
		cmocka_unit_test(several_streams_are_merged_by_number),
		cmocka_unit_test(forked_streams_start_with_their_parents_tables),
		cmocka_unit_test(no_events_is_a_whole_trace),
		cmocka_unit_test(site_ids_are_unique_across_streams),
		cmocka_unit_test(cursors_share_what_is_defined),
		cmocka_unit_test(files_and_meta_are_kept_up_to_date),
		cmocka_unit_test(a_site_has_the_object_mapped_when_it_is_defined),
		cmocka_unit_test(a_full_disk_fails_at_close),
		cmocka_unit_test(writing_into_a_missing_folder_fails_at_open),
		cmocka_unit_test(kinds_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
