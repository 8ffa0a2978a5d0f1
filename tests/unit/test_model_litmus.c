/* Every tests/litmus/RULE/NAME.litmus is a test of the model; litmus.h says how they are written. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "tests/unit/litmus.h"
#include "util/alloc.h"

#define MENTIONS_MAX 16u

struct litmus {
	const char *path;
	unsigned line_number;
	struct model *model;
	const struct platform *platform;
	uint64_t seq;
	uint8_t memory[NPAGES][PMT_PAGE_BYTES];
};

#define litmus_fail(l, fmt, ...) fail_msg("%s:%u: " fmt, (l)->path, (l)->line_number, ##__VA_ARGS__)

/* ---- memory ---- */

static uint8_t *memory_at(struct litmus *l, uint64_t addr)
{
	unsigned page = (unsigned)(PMT_OFFSET(addr) / PMT_PAGE_BYTES) + (PMT_FILE(addr) == 2 ? NPAGES / 2 : 0);

	return &l->memory[page][addr % PMT_PAGE_BYTES];
}

static void image_read(void *arg, uint64_t addr, uint8_t *bytes, uint32_t len_bytes)
{
	memcpy(bytes, memory_at(arg, addr), len_bytes);
}

static void image_write(void *arg, uint64_t addr, const uint8_t *bytes, uint32_t len_bytes)
{
	memcpy(memory_at(arg, addr), bytes, len_bytes);
}

/* ---- operations ---- */

static void begin(struct litmus *l)
{
	if (!l->model)
		l->model = model_new(l->platform, &(struct model_image){ image_read, image_write, l });
}

static void tell_meta(struct litmus *l, const char *text)
{
	begin(l);
	model_step(l->model, &(struct trace_event){ .seq = l->seq, .kind = PMT_META, .data = (const uint8_t *)text, .data_len = (uint32_t)strlen(text) });
}

static void run_op(struct litmus *l, const char *who, char **rest)
{
	struct trace_event ev = { .seq = ++l->seq };
	uint8_t bytes[PMT_STORE_MAX_BYTES];
	struct error err;

	if (litmus_parse_op(who, rest, &ev, bytes, &err) < 0)
		litmus_fail(l, "%s", err.msg);
	begin(l);
	model_step(l->model, &ev);
}

/* ---- expectations ---- */

struct mention {
	uint64_t addr;
	uint32_t size_bytes;
	uint8_t bytes[PMT_STORE_MAX_BYTES];
	bool is_decided; /* its line has several contents: some of them agreed, or none */
};

struct state {
	struct litmus *litmus;
	struct mention mentions[MENTIONS_MAX];
	size_t n;
	bool is_possible;
};

static bool content_agrees(const struct state *s, const struct model_choice *c, const uint8_t *content)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct mention *m = &s->mentions[i];

		if (m->addr >= c->addr && m->addr < c->addr + c->len_bytes &&
		    memcmp(content + (m->addr - c->addr), m->bytes, m->size_bytes) != 0)
			return false;
	}
	return true;
}

/* Lines are independent: each must have one content that agrees with all that is said about the line. */
static void check_choice(const struct model_choice *c, void *arg)
{
	struct state *s = arg;
	bool is_any = false;

	for (size_t i = 0; i < c->ncontents && !is_any; i++)
		is_any = content_agrees(s, c, c->contents + i * c->len_bytes);
	if (!is_any)
		s->is_possible = false;
	for (size_t i = 0; i < s->n; i++)
		if (s->mentions[i].addr >= c->addr && s->mentions[i].addr < c->addr + c->len_bytes)
			s->mentions[i].is_decided = true;
}

static bool parse_and_check_state(struct litmus *l, char **rest)
{
	struct state s = { .litmus = l, .is_possible = true };
	struct error err;
	char *word;

	while ((word = strtok_r(NULL, " \t", rest))) {
		struct mention *m = &s.mentions[s.n++];
		const char *p = litmus_parse_addr(word, &m->addr, &err);

		if (!p || *p != '=' || s.n == MENTIONS_MAX || litmus_parse_value(p + 1, m->bytes, &m->size_bytes, &err) < 0)
			litmus_fail(l, "bad state '%s'", word);
	}
	model_each_choice(l->model, check_choice, &s);
	for (size_t i = 0; i < s.n; i++)
		if (!s.mentions[i].is_decided &&
		    memcmp(memory_at(l, s.mentions[i].addr), s.mentions[i].bytes, s.mentions[i].size_bytes) != 0)
			s.is_possible = false;
	return s.is_possible;
}

static void print_choice(const struct model_choice *c, void *arg)
{
	(void)arg;
	for (size_t i = 0; i < c->ncontents; i++) {
		print_message("  %#llx:", (unsigned long long)c->addr);
		for (uint32_t j = 0; j < 64; j++)
			print_message("%s%02x", j % 8 ? "" : " ", c->contents[i * c->len_bytes + j]);
		print_message("\n");
	}
}

static bool is_durable_word(struct litmus *l, char **rest)
{
	uint64_t addr = 0;
	struct error err;

	if (!litmus_parse_addr(strtok_r(NULL, " \t", rest), &addr, &err))
		litmus_fail(l, "%s", err.msg);
	return model_is_durable(l->model, addr, 8);
}

static void count_value(const uint8_t *value, void *arg)
{
	(void)value;
	++*(uint64_t *)arg;
}

static void check_values(struct litmus *l, char **rest)
{
	uint64_t addr = 0, want, have = 0;
	struct error err;

	if (!litmus_parse_addr(strtok_r(NULL, " \t", rest), &addr, &err) || litmus_parse_number(strtok_r(NULL, " \t", rest), &want, &err) < 0)
		litmus_fail(l, "%s", err.msg);
	if (!model_each_value(l->model, addr, 8, count_value, &have))
		litmus_fail(l, "too many values to list");
	if (have != want)
		litmus_fail(l, "%llu values, expected %llu", (unsigned long long)have, (unsigned long long)want);
}

static void run_line(struct litmus *l, char *line)
{
	char *rest, *word = strtok_r(line, " \t", &rest);
	const char *name;

	if (!word)
		return;
	if (strcmp(word, "platform") == 0) {
		name = strtok_r(NULL, " \t", &rest);
		l->platform = name ? platform_find(name) : NULL;
		if (!l->platform || l->model)
			litmus_fail(l, "bad platform '%s'", name ? name : "");
	} else if (strcmp(word, "meta") == 0) {
		name = strtok_r(NULL, " \t", &rest);
		if (!name || l->seq)
			litmus_fail(l, "bad meta '%s'", name ? name : "");
		tell_meta(l, name);
	} else if (isupper((unsigned char)*word)) {
		run_op(l, word, &rest);
	} else if (!l->model) {
		litmus_fail(l, "'%s' before the first operation", word);
	} else if (strcmp(word, "states") == 0) {
		uint64_t want, have = model_nstates(l->model);
		struct error err;

		if (litmus_parse_number(strtok_r(NULL, " \t", &rest), &want, &err) < 0)
			litmus_fail(l, "%s", err.msg);
		if (have != want) {
			model_each_choice(l->model, print_choice, NULL);
			litmus_fail(l, "%llu states, expected %llu", (unsigned long long)have, (unsigned long long)want);
		}
	} else if (strcmp(word, "values") == 0) {
		check_values(l, &rest);
	} else if (strcmp(word, "state") == 0) {
		if (!parse_and_check_state(l, &rest))
			litmus_fail(l, "a crash cannot leave this state");
	} else if (strcmp(word, "never") == 0) {
		if (parse_and_check_state(l, &rest))
			litmus_fail(l, "a crash can leave this state");
	} else if (strcmp(word, "durable") == 0) {
		if (!is_durable_word(l, &rest))
			litmus_fail(l, "not durable");
	} else if (strcmp(word, "lossy") == 0) {
		if (is_durable_word(l, &rest))
			litmus_fail(l, "durable");
	} else {
		litmus_fail(l, "no such thing as '%s'", word);
	}
}

static void run_litmus(void **path)
{
	static struct litmus l;
	char line[512];
	bool is_expecting = false;
	FILE *in;

	l = (struct litmus){ .path = *path, .platform = platforms[0] };
	in = fopen(l.path, "r");
	assert_non_null(in);
	while (fgets(line, sizeof line, in)) {
		l.line_number++;
		line[strcspn(line, "#\n")] = 0;
		is_expecting |= strncmp(line, "states ", 7) == 0;
		run_line(&l, line);
	}
	fclose(in);
	assert_true(is_expecting);
	model_free(l.model);
	l.model = NULL;
}

int main(void)
{
	struct CMUnitTest *tests;
	struct error err;
	glob_t found;
	int nfailed;

	if (litmus_find(&found, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	tests = xcalloc(found.gl_pathc, sizeof *tests);
	for (size_t i = 0; i < found.gl_pathc; i++)
		tests[i] = (struct CMUnitTest){ .name = found.gl_pathv[i] + strlen(LITMUS_FOLDER),
						.test_func = run_litmus,
						.initial_state = found.gl_pathv[i] };
	nfailed = _cmocka_run_group_tests("litmus", tests, found.gl_pathc, NULL, NULL);
	free(tests);
	globfree(&found);
	return nfailed ? 1 : 0;
}
