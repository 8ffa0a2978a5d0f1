/* Every tests/litmus/NAME.litmus is a test. A line is an operation, a setting or an expectation about a crash right there:
 *
 *	platform x86-adr		once, before all else; this one is the default
 *	T1 store a 1			8 bytes; a…m are pages of file 1, n…z of file 2; `a+8` is 8 bytes further
 *	P2T1 store.nt b 5:4		another process; 4 bytes. Longer values repeat every 8 bytes: 5:16 is 5, 5
 *	T1 clwb a			also clflush, clflushopt, sfence, …: see ops[]
 *	T1 msync a 64 sync		or async
 *	states 4			so many distinct states
 *	state a=1 b+4=0:4		this is one of them
 *	never a=0 b=1			and this is none
 *	durable a+8			8 bytes are durable for good;  `lossy a+8`: they are not
 *
 * `#` begins a comment. */
#include <ctype.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "model/model.h"
#include "util/alloc.h"

#define NPAGES 26u
#define MENTIONS_MAX 16u

enum operands { NO_OPERANDS, VALUE, ADDR, RANGE, UNMAP_RANGE, SYNC_RANGE, FILE_NUMBER };

static const struct op {
	const char *name;
	enum pmt_kind kind;
	enum operands operands;
} ops[] = {
	{ "store", PMT_STORE, VALUE },
	{ "store.nt", PMT_STORE_NT, VALUE },
	{ "store.sys", PMT_STORE_SYS, VALUE },
	{ "rmw", PMT_STORE_RMW, VALUE },
	{ "cas.fail", PMT_RMW_FENCE, NO_OPERANDS },
	{ "load", PMT_LOAD, ADDR },
	{ "clflush", PMT_CLFLUSH, ADDR },
	{ "clflushopt", PMT_CLFLUSHOPT, ADDR },
	{ "clwb", PMT_CLWB, ADDR },
	{ "sfence", PMT_SFENCE, NO_OPERANDS },
	{ "mfence", PMT_MFENCE, NO_OPERANDS },
	{ "lfence", PMT_LFENCE, NO_OPERANDS },
	{ "msync", PMT_MSYNC, SYNC_RANGE },
	{ "fsync", PMT_FSYNC, FILE_NUMBER },
	{ "fdatasync", PMT_FDATASYNC, FILE_NUMBER },
	{ "unmap", PMT_UNMAP, UNMAP_RANGE },
	{ "set-clean", PMT_SET_CLEAN, RANGE },
	{ "note-flush", PMT_NOTE_FLUSH, RANGE },
	{ "note-fence", PMT_NOTE_FENCE, NO_OPERANDS },
	{ "thread-end", PMT_THREAD_END, NO_OPERANDS },
};

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

static uint64_t page_addr(unsigned page)
{
	return page < NPAGES / 2 ? PMT_ADDR(1, page * PMT_PAGE_BYTES) : PMT_ADDR(2, (page - NPAGES / 2) * PMT_PAGE_BYTES);
}

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

/* ---- words ---- */

/* "a+8" */
static const char *parse_addr(struct litmus *l, const char *s, uint64_t *addr)
{
	char *end;

	if (!s || !islower((unsigned char)*s))
		litmus_fail(l, "expected an address, not '%s'", s ? s : "");
	*addr = page_addr((unsigned)(*s++ - 'a'));
	if (*s == '+') {
		*addr += strtoul(s + 1, &end, 0);
		s = end;
	}
	return s;
}

/* "5" or "5:4" */
static void parse_value(struct litmus *l, const char *s, uint8_t *bytes, uint32_t *size_bytes)
{
	uint64_t value;
	char *end;

	if (!s)
		litmus_fail(l, "a value is missing");
	value = strtoull(s, &end, 0);
	*size_bytes = *end == ':' ? (uint32_t)strtoul(end + 1, &end, 0) : 8;
	if (end == s || *end || *size_bytes == 0 || *size_bytes > PMT_STORE_MAX_BYTES)
		litmus_fail(l, "bad value '%s'", s);
	for (uint32_t i = 0; i < *size_bytes; i++)
		bytes[i] = (uint8_t)(value >> 8 * (i % 8));
}

static uint64_t parse_number(struct litmus *l, const char *s)
{
	char *end;
	uint64_t n = s ? strtoull(s, &end, 0) : 0;

	if (!s || end == s || *end)
		litmus_fail(l, "expected a number, not '%s'", s ? s : "");
	return n;
}

/* ---- operations ---- */

static void run_op(struct litmus *l, const char *who, char **rest)
{
	struct trace_event ev = { .seq = ++l->seq, .thread = 1 };
	const char *name = strtok_r(NULL, " \t", rest), *word;
	const struct op *op = NULL;
	uint8_t bytes[PMT_STORE_MAX_BYTES];
	int end = 0;

	if (sscanf(who, "P%uT%u%n", &ev.stream, &ev.thread, &end) < 2 && sscanf(who, "T%u%n", &ev.thread, &end) < 1)
		litmus_fail(l, "no thread '%s'", who);
	for (size_t i = 0; name && i < sizeof ops / sizeof *ops; i++)
		if (strcmp(ops[i].name, name) == 0)
			op = &ops[i];
	if (!op)
		litmus_fail(l, "no operation '%s'", name ? name : "");
	ev.kind = op->kind;
	if (op->operands != NO_OPERANDS && op->operands != FILE_NUMBER) {
		word = parse_addr(l, strtok_r(NULL, " \t", rest), &ev.addr);
		if (*word)
			litmus_fail(l, "'%s' after an address", word);
	}
	switch (op->operands) {
	case VALUE:
		parse_value(l, strtok_r(NULL, " \t", rest), bytes, &ev.size_bytes);
		ev.data = bytes;
		ev.data_len = ev.size_bytes;
		break;
	case RANGE:
		ev.arg[0] = parse_number(l, strtok_r(NULL, " \t", rest));
		break;
	case UNMAP_RANGE:
		ev.arg[1] = parse_number(l, strtok_r(NULL, " \t", rest));
		break;
	case SYNC_RANGE:
		ev.arg[0] = parse_number(l, strtok_r(NULL, " \t", rest));
		word = strtok_r(NULL, " \t", rest);
		ev.arg[1] = word && strcmp(word, "sync") == 0 ? MS_SYNC : MS_ASYNC;
		break;
	case FILE_NUMBER:
		ev.arg[0] = parse_number(l, strtok_r(NULL, " \t", rest));
		break;
	case NO_OPERANDS:
	case ADDR:
		break;
	}
	word = strtok_r(NULL, " \t", rest);
	if (word)
		litmus_fail(l, "'%s' is too much", word);
	if (!l->model)
		l->model = model_new(l->platform, &(struct model_image){ image_read, image_write, l });
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
	char *word;

	while ((word = strtok_r(NULL, " \t", rest))) {
		struct mention *m = &s.mentions[s.n++];
		const char *p = parse_addr(l, word, &m->addr);

		if (*p != '=' || s.n == MENTIONS_MAX)
			litmus_fail(l, "bad state '%s'", word);
		parse_value(l, p + 1, m->bytes, &m->size_bytes);
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
	uint64_t addr;

	parse_addr(l, strtok_r(NULL, " \t", rest), &addr);
	return model_is_durable(l->model, addr, 8);
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
	} else if (isupper((unsigned char)*word)) {
		run_op(l, word, &rest);
	} else if (!l->model) {
		litmus_fail(l, "'%s' before the first operation", word);
	} else if (strcmp(word, "states") == 0) {
		uint64_t want = parse_number(l, strtok_r(NULL, " \t", &rest)), have = model_nstates(l->model);

		if (have != want) {
			model_each_choice(l->model, print_choice, NULL);
			litmus_fail(l, "%llu states, expected %llu", (unsigned long long)have, (unsigned long long)want);
		}
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
	glob_t found;
	int nfailed;

	if (glob("tests/litmus/*.litmus", 0, NULL, &found) != 0) {
		fputs("no tests/litmus/*.litmus: run this in the project's root\n", stderr);
		return 1;
	}
	tests = xcalloc(found.gl_pathc, sizeof *tests);
	for (size_t i = 0; i < found.gl_pathc; i++)
		tests[i] = (struct CMUnitTest){ .name = strrchr(found.gl_pathv[i], '/') + 1,
						.test_func = run_litmus,
						.initial_state = found.gl_pathv[i] };
	nfailed = _cmocka_run_group_tests("litmus", tests, found.gl_pathc, NULL, NULL);
	free(tests);
	globfree(&found);
	return nfailed ? 1 : 0;
}
