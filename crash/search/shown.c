/* Compares what a thread answers with what it has loaded. Only values that are hardly there by
 * chance count: numbers of two digits or more as a word of the text, and at least four bytes as
 * they were stored. */
#include "crash/search/shown.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define READS_MAX 256u /* of all threads; the oldest is given up */
#define NUMBER_LEAST 10u
#define BYTES_LEAST 4u

void shown_release(struct shown_list *s)
{
	vec_release(&s->reads);
	vec_release(&s->list);
}

void shown_load(struct shown_list *s, const struct trace_event *load,
		const struct shown_store *from)
{
	struct shown_read r = { .stream = load->stream,
				.thread = load->thread,
				.seq = load->seq,
				.by = from->op,
				.len_bytes = from->len_bytes };

	if (from->len_bytes > sizeof r.bytes)
		return;
	memcpy(r.bytes, from->bytes, from->len_bytes);
	if (s->reads.n == READS_MAX)
		memmove(s->reads.at, s->reads.at + 1, --s->reads.n * sizeof *s->reads.at);
	*vec_add(&s->reads) = r;
}

void shown_forget(struct shown_list *s, uint32_t stream, uint32_t thread)
{
	size_t n = 0;

	for (size_t i = 0; i < s->reads.n; i++)
		if (s->reads.at[i].stream != stream || s->reads.at[i].thread != thread)
			s->reads.at[n++] = s->reads.at[i];
	s->reads.n = n;
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* Does the text have this number as a word of its own? */
static bool says_number(const uint8_t *text, uint32_t n, uint64_t value)
{
	char word[24];
	const size_t len = (size_t)snprintf(word, sizeof word, "%" PRIu64, value);

	for (uint32_t i = 0; i + len <= n; i++)
		if (memcmp(text + i, word, len) == 0 && (i == 0 || !is_digit(text[i - 1])) &&
		    (i + len == n || !is_digit(text[i + len])))
			return true;
	return false;
}

static bool says(const struct trace_event *output, const struct shown_read *r)
{
	uint64_t value = 0;

	if (r->len_bytes <= sizeof value) {
		memcpy(&value, r->bytes, r->len_bytes);
		if (value >= NUMBER_LEAST && says_number(output->data, output->data_len, value))
			return true;
		if (value >> 24 == 0) /* most of the bytes are zeros */
			return false;
	}
	return r->len_bytes >= BYTES_LEAST && r->len_bytes <= output->data_len &&
	       memmem(output->data, output->data_len, r->bytes, r->len_bytes);
}

void shown_output(struct shown_list *s, const struct trace_event *output)
{
	for (size_t i = 0; i < s->reads.n; i++) {
		const struct shown_read *r = &s->reads.at[i];

		if (r->stream == output->stream && r->thread == output->thread && says(output, r))
			*vec_add(&s->list) = (struct shown){ r->by, r->seq, output->seq };
	}
}
