/* A damaged trace gives what was before the damage, and says so. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/sample.h"

#define MAX_STREAMS 8

static const struct sample_options small = { .seed = 7, .nevents = 90, .nstreams = 3, .chunk_bytes = 250,
					     .has_forks = true };

/* What reading a damaged copy gave. */
struct outcome {
	bool is_open, is_whole; /* is_whole: all events, as they were written */
	bool is_cut_off;
	size_t nevents;
	char message[1024]; /* of trace_open() or trace_damage(); empty if there was none */
};

/* Reads path and checks that each process has a prefix of the sample's events. */
static void read_prefix(const struct sample *s, const char *path, const char *what, size_t where, struct outcome *o)
{
	size_t next[MAX_STREAMS] = { 0 };
	struct trace_event ev;
	struct error err;
	struct trace *t;

	*o = (struct outcome){ .is_whole = true };
	if (trace_open(&t, path, &err) < 0) {
		strcpy(o->message, err.msg);
		o->is_whole = false;
		return;
	}
	o->is_open = true;
	for (; trace_next(t, &ev); o->nevents++) {
		const char *difference;
		size_t *i;

		assert_in_range(ev.stream, 0, MAX_STREAMS - 1);
		i = &next[ev.stream];
		while (*i < s->events.n && s->events.at[*i].event.stream != ev.stream)
			++*i;
		if (*i == s->events.n)
			fail_msg("%s %zu: more events than were written", what, where);
		difference = sample_difference(&s->events.at[*i], &ev, false);
		if (difference)
			fail_msg("%s %zu, event %zu: %s differs", what, where, *i + 1, difference);
		++*i;
		o->is_whole = o->is_whole && ev.seq == *i && ev.seq == o->nevents + 1;
	}
	o->is_whole = o->is_whole && o->nevents == s->events.n;
	if (trace_damage(t))
		snprintf(o->message, sizeof o->message, "%s", trace_damage(t));
	o->is_cut_off = trace_is_cut_off(t);
	if (o->is_cut_off && !o->is_whole)
		fail_msg("%s %zu: events are lost, and only a kill is told: %s", what, where, o->message);
	trace_close(t);
}

static void truncation_at_every_byte(void **state)
{
	size_t len, most = 0;
	struct outcome o;
	struct sample s;

	(void)state;
	sample_init(&s, &small);
	for (len = s.len_bytes; len-- > 0;) {
		assert_int_equal(ftruncate(s.fd, (off_t)len), 0);
		read_prefix(&s, s.path, "length", len, &o);
		if (o.message[0] == '\0')
			fail_msg("length %zu of %zu: no message", len, s.len_bytes);
		assert_int_equal(o.is_open, len >= PMT_HEADER_BYTES);
		assert_true(o.nevents < s.events.n);
		most = o.nevents > most ? o.nevents : most;
	}
	assert_int_equal(most, s.events.n - 1); /* only the last event is lost when the last byte is */
	sample_release(&s);
}

static void every_bit_flip(void **state)
{
	struct outcome o;
	struct sample s;
	size_t i;

	(void)state;
	sample_init(&s, &small);
	for (i = 0; i < s.len_bytes; i++) {
		if (i == sizeof(struct pmt_header))
			i = PMT_HEADER_BYTES; /* nothing in between */
		for (int bit = 0; bit < 8; bit++) {
			uint8_t byte = s.bytes[i] ^ (uint8_t)(1 << bit);

			assert_int_equal(pwrite(s.fd, &byte, 1, (off_t)i), 1);
			read_prefix(&s, s.path, "flip at", i, &o);
			if (!o.is_whole && o.message[0] == '\0')
				fail_msg("flip of bit %d at %zu: not noticed", bit, i);
		}
		assert_int_equal(pwrite(s.fd, &s.bytes[i], 1, (off_t)i), 1);
	}
	sample_release(&s);
}

/* Random nonsense with right checksums: nothing to compare with, it must only come to an end. */
static void nonsense_with_right_checksums(void **state)
{
	struct pmt_chunk chunk;
	struct trace_event ev;
	struct error err;
	struct sample s;
	struct trace *t;

	(void)state;
	sample_init(&s, &small);
	memcpy(&chunk, s.bytes + PMT_HEADER_BYTES, sizeof chunk);
	for (uint32_t i = 0; i < 4000; i++) {
		uint8_t *payload = s.bytes + PMT_HEADER_BYTES + sizeof chunk;
		uint8_t old = payload[i % chunk.used];

		payload[i % chunk.used] = (uint8_t)(i * 2654435761u >> 24);
		chunk.hash = pmt_chunk_hash(PMT_VERSION, &chunk, payload);
		memcpy(s.bytes + PMT_HEADER_BYTES, &chunk, sizeof chunk);
		assert_int_equal(pwrite(s.fd, s.bytes, s.len_bytes, 0), s.len_bytes);
		assert_int_equal(trace_open(&t, s.path, &err), 0);
		while (trace_next(t, &ev))
			assert_non_null(ev.site);
		trace_close(t);
		payload[i % chunk.used] = old;
	}
	sample_release(&s);
}

static struct pmt_chunk *chunk_at(struct sample *s, size_t index)
{
	size_t offset = PMT_HEADER_BYTES;

	while (index-- > 0)
		offset += ((struct pmt_chunk *)(s->bytes + offset))->capacity;
	assert_true(offset < s->len_bytes);
	return (struct pmt_chunk *)(s->bytes + offset);
}

static void check_changed(struct sample *s, const char *message, struct outcome *o)
{
	char path[64];
	int fd = memory_file(s->bytes, s->len_bytes, path);

	read_prefix(s, path, "changed", 0, o);
	close(fd);
	if (!strstr(o->message, message))
		fail_msg("\"%s\" does not say \"%s\"", o->message, message);
}

static const struct sample_options one_chunk = { .seed = 1, .nevents = 50, .nstreams = 1, .chunk_bytes = 1 << 20 };

static void a_killed_recorder_leaves_an_open_chunk(void **state)
{
	struct outcome o;
	struct sample s;

	(void)state;
	sample_init(&s, &one_chunk);
	chunk_at(&s, 0)->state = PMT_CHUNK_OPEN;
	chunk_at(&s, 0)->hash = 0;
	((struct pmt_header *)s.bytes)->finished = 0;
	check_changed(&s, "recording was cut off", &o);
	assert_true(o.is_whole && o.is_cut_off);
	/* an event that another process was numbering is missing */
	((struct pmt_header *)s.bytes)->seq++;
	check_changed(&s, "recording was cut off", &o);
	assert_false(o.is_cut_off);
	sample_release(&s);
}

static void a_full_disk_is_told(void **state)
{
	struct outcome o;
	struct sample s;

	(void)state;
	sample_init(&s, &one_chunk);
	((struct pmt_header *)s.bytes)->error = ENOSPC;
	check_changed(&s, "after 50 events", &o);
	assert_non_null(strstr(o.message, "No space left on device"));
	assert_true(o.is_whole);
	sample_release(&s);
}

static void a_last_chunk_need_not_fill_its_capacity(void **state)
{
	struct outcome o;
	struct sample s;

	(void)state;
	sample_init(&s, &one_chunk);
	chunk_at(&s, 0)->capacity += 12345;
	((struct pmt_header *)s.bytes)->end += 12345;
	check_changed(&s, "", &o);
	assert_string_equal(o.message, "");
	assert_true(o.is_whole);
	sample_release(&s);
}

static void a_missing_chunk_stops_its_process_only(void **state)
{
	struct outcome o;
	struct sample s;

	(void)state;
	sample_init(&s, &(struct sample_options){ .seed = 5, .nevents = 300, .nstreams = 2, .chunk_bytes = 300 });
	chunk_at(&s, 1)->number += 7;
	check_changed(&s, "missing", &o);
	assert_in_range(o.nevents, 100, 290);
	sample_release(&s);
}

/* The recorder begins a chunk where it has just copied one from. */
static void the_last_chunk_may_come_first(void **state)
{
	struct pmt_chunk *first, *last;
	struct outcome o;
	struct sample s;
	size_t n = 1, len;
	uint8_t *moved;

	(void)state;
	sample_init(&s, &(struct sample_options){ .seed = 5, .nevents = 300, .nstreams = 1, .chunk_bytes = 300 });
	first = chunk_at(&s, 0);
	while ((uint8_t *)chunk_at(&s, n) + chunk_at(&s, n)->capacity < s.bytes + s.len_bytes)
		n++;
	last = chunk_at(&s, n);
	len = (size_t)(s.bytes + s.len_bytes - (uint8_t *)last); /* it need not fill its capacity */
	last->capacity = (uint32_t)len;
	((struct pmt_header *)s.bytes)->end = s.len_bytes;
	moved = malloc(len);
	assert_true(n > 2 && moved);
	memcpy(moved, last, len);
	memmove((uint8_t *)first + len, first, (size_t)((uint8_t *)last - (uint8_t *)first));
	memcpy(first, moved, len);
	check_changed(&s, "", &o);
	assert_string_equal(o.message, "");
	assert_true(o.is_whole);

	/* killed after the copy, before the new number: what is left of the old one does not count */
	((struct pmt_header *)s.bytes)->seq = first->first_seq - 1;
	first->number--;
	first->used = 0;
	s.events.n = first->first_seq - 1;
	check_changed(&s, "recording was cut off", &o);
	assert_true(o.is_whole && o.is_cut_off);
	free(moved);
	sample_release(&s);
}

/* Its children would otherwise take their own sites for their parent's. */
static void a_child_whose_fork_is_lost_is_not_read(void **state)
{
	struct sample_options o = { .nevents = 400, .nstreams = 4, .chunk_bytes = 4000, .has_forks = true };
	struct outcome outcome;
	struct sample s;

	(void)state;
	for (o.seed = 1; o.seed <= 50; o.seed++) {
		sample_init(&s, &o);
		for (size_t offset = PMT_HEADER_BYTES; offset < s.len_bytes;) {
			struct pmt_chunk *chunk = (struct pmt_chunk *)(s.bytes + offset);

			chunk->hash ^= chunk->stream == 0 && chunk->number == 0;
			offset += chunk->capacity;
		}
		check_changed(&s, "the checksum is wrong", &outcome);
		assert_int_equal(outcome.nevents, 0);
		sample_release(&s);
	}
}

static void check_open_fails(const void *bytes, size_t len_bytes, const char *message)
{
	struct error err;
	struct trace *t;
	char path[64];
	int fd = memory_file(bytes, len_bytes, path);

	assert_int_equal(trace_open(&t, path, &err), -1);
	if (!strstr(err.msg, message))
		fail_msg("\"%s\" does not say \"%s\"", err.msg, message);
	close(fd);
}

static void files_that_are_no_traces(void **state)
{
	struct { struct pmt_header h; uint8_t rest[PMT_HEADER_BYTES]; } file = { 0 };
	struct error err;
	struct trace *t;

	(void)state;
	check_open_fails("", 0, "empty file");
	check_open_fails("#!/bin/sh\n", 10, "not a pmend trace");
	check_open_fails("PMT", 3, "truncated");
	check_open_fails(&file, sizeof file, "not a pmend trace");
	memcpy(file.h.magic, PMT_MAGIC, 8);
	file.h.header_bytes = PMT_HEADER_BYTES;
	check_open_fails(&file, sizeof file, "header is damaged");
	file.h.version = PMT_VERSION + 1;
	check_open_fails(&file, sizeof file, "newer pmend");
	file.h.version = PMT_VERSION;
	check_open_fails(&file, 100, "truncated");
	assert_int_equal(trace_open(&t, "/", &err), -1);
	assert_non_null(strstr(err.msg, "a directory"));
	assert_int_equal(trace_open(&t, "/nonexistent", &err), -1);
	assert_non_null(strstr(err.msg, "No such file"));
	assert_int_equal(trace_open(&t, "/dev/null", &err), -1);
	assert_non_null(strstr(err.msg, "not a regular file"));
}

static void hash_sees_every_bit_and_the_length(void **state)
{
	static uint64_t (*const hashes[])(const void *data, uint32_t len_bytes) = { pmt_hash, pmt_hash_lanes };
	uint8_t data[75];

	(void)state;
	for (uint32_t i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)(i * 37);
	for (size_t k = 0; k < sizeof hashes / sizeof *hashes; k++)
		for (uint32_t len = 1; len <= sizeof data; len++) {
			const uint64_t hash = hashes[k](data, len);

			assert_int_equal(hash, hashes[k](data, len));
			assert_int_not_equal(hash, hashes[k](data, len - 1));
			for (uint32_t bit = 0; bit < 8 * len; bit++) {
				data[bit / 8] ^= (uint8_t)(1 << bit % 8);
				assert_int_not_equal(hash, hashes[k](data, len));
				data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			}
		}
}

/* Whose checksums have no lanes. */
static void files_of_version_2(void **state)
{
	struct outcome outcome;
	struct pmt_chunk chunk;
	struct sample s;

	(void)state;
	sample_init(&s, &small);
	((struct pmt_header *)s.bytes)->version = 2;
	for (size_t at = PMT_HEADER_BYTES; at < s.len_bytes; at += chunk.capacity) {
		memcpy(&chunk, s.bytes + at, sizeof chunk);
		chunk.hash = pmt_chunk_hash(2, &chunk, s.bytes + at + sizeof chunk);
		memcpy(s.bytes + at, &chunk, sizeof chunk);
	}
	assert_int_equal(pwrite(s.fd, s.bytes, s.len_bytes, 0), s.len_bytes);
	read_prefix(&s, s.path, "version", 2, &outcome);
	assert_true(outcome.is_whole);
	assert_string_equal(outcome.message, "");
	((struct pmt_header *)s.bytes)->version = 3;
	check_changed(&s, "the checksum is wrong", &outcome);
	sample_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(truncation_at_every_byte),
		cmocka_unit_test(every_bit_flip),
		cmocka_unit_test(nonsense_with_right_checksums),
		cmocka_unit_test(a_killed_recorder_leaves_an_open_chunk),
		cmocka_unit_test(a_full_disk_is_told),
		cmocka_unit_test(a_last_chunk_need_not_fill_its_capacity),
		cmocka_unit_test(a_missing_chunk_stops_its_process_only),
		cmocka_unit_test(the_last_chunk_may_come_first),
		cmocka_unit_test(a_child_whose_fork_is_lost_is_not_read),
		cmocka_unit_test(files_that_are_no_traces),
		cmocka_unit_test(hash_sees_every_bit_and_the_length),
		cmocka_unit_test(files_of_version_2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
