/* No JSON report makes pmend crash, whatever is done with it: shown, compared, added to another, unfolded. What was read and written as JSON reads the same.
 * The mutator changes values of the tree as often as letters of the text, since few changes of the text are still JSON. */
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "report/bug.h"
#include "report/filter.h"
#include "report/format.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/sample.h"

static char *render(const struct report *r, report_render *as, size_t *len_bytes)
{
	struct report_options o = { .cwd = "/tmp" };
	char *text;
	FILE *f = open_memstream(&text, len_bytes);

	as(f, r, &o);
	fclose(f);
	return text;
}

static struct report *read_text(const void *text, size_t len_bytes, struct error *err)
{
	char path[64];
	int fd = memory_file(text, len_bytes, path);
	struct report *r = report_read(path, err);

	close(fd);
	return r;
}

/* Written, read and written again. */
static void round_trip(const struct report *r)
{
	size_t first_bytes, second_bytes;
	char *first = render(r, report_json, &first_bytes), *second;
	struct error err;
	struct report *again = read_text(first, first_bytes, &err);

	if (!again)
		fprintf(stderr, "%s\n%s\n", err.msg, first);
	FUZZ_EXPECT(again);
	second = render(again, report_json, &second_bytes);
	if (strcmp(first, second) != 0)
		fprintf(stderr, "%s\n%s\n", first, second);
	FUZZ_EXPECT(strcmp(first, second) == 0);
	report_free(again);
	free(first);
	free(second);
}

static void show(const struct report *r)
{
	size_t len_bytes;
	FILE *f;
	char *text;

	for (const struct report_format *format = report_formats; format->name; format++)
		free(render(r, format->render, &len_bytes));
	f = open_memstream(&text, &len_bytes);
	suppressions_generate(f, r);
	fclose(f);
	free(text);
}

static void add_to_another(const struct report *r)
{
	struct report *sum = report_new();

	report_add_run(sum, r, NULL);
	report_add_run(sum, r, &(struct bug_input){ .file = "input", .command = "./a input", .size = 5 });
	report_finish(sum);
	show(sum);
	report_free(sum);
}

static void subtract(struct report *r, const void *text, size_t len_bytes)
{
	struct error err;
	char path[64];
	int fd = memory_file(text, len_bytes, path);
	struct baseline *known = baseline_open(path, &err);

	FUZZ_EXPECT(known);
	report_subtract(r, known);
	FUZZ_EXPECT(report_nbugs(r) == 0);
	baseline_close(known);
	close(fd);
}

static void report_run(const uint8_t *data, size_t size)
{
	struct error err = { "" };
	struct report *r = read_text(data, size, &err);

	if (!r) {
		FUZZ_EXPECT(err.msg[0] != '\0');
		return;
	}
	show(r);
	round_trip(r);
	add_to_another(r);
	report_fold(r);
	report_limit(r, BUG_PERFORMANCE);
	show(r);
	subtract(r, data, size);
	report_free(r);
	r = read_text(data, size, &err);
	report_unfold(r);
	for (size_t i = 0; i < report_nbugs(r); i++)
		FUZZ_EXPECT(report_origin(r, i) < report_norigins(r));
	show(r);
	report_free(r);
}

/* ---- the mutator ---- */

struct choice {
	unsigned seed;
	size_t left; /* values until the chosen one */
};

static unsigned next(struct choice *c)
{
	c->seed = c->seed * 1103515245u + 12345u;
	return c->seed >> 8;
}

static size_t count(json_t *v)
{
	size_t n = 1, i;
	const char *key;
	json_t *child;

	if (json_is_object(v))
		json_object_foreach (v, key, child)
			n += count(child);
	else
		json_array_foreach (v, i, child)
			n += count(child);
	return n;
}

static json_t *another(struct choice *c, json_t *v)
{
	static const json_int_t numbers[] = { 0, 1, -1, 255, 256, 4294967295, 4294967296, INT64_MAX, INT64_MIN };

	switch (next(c) % 9) {
	case 0: return json_null();
	case 1: return json_boolean(next(c) % 2);
	case 2: return json_integer(numbers[next(c) % (sizeof numbers / sizeof *numbers)]);
	case 3: return json_string("");
	case 4: return json_string("x\n\x1b[31m\xc3\xa9<&\"'%s");
	case 5: return json_pack("[O]", v);
	case 6: return json_pack("[OO]", v, v);
	case 7: return json_pack("{s:O}", "count", v);
	default: return json_real(1e300);
	}
}

/* Changes the chosen value below v; true when that is done. */
static bool change(struct choice *c, json_t *v)
{
	const char *key;
	json_t *child;
	void *next_key;
	size_t i;

	if (json_is_object(v))
		json_object_foreach_safe (v, next_key, key, child) {
			if (c->left-- == 0) {
				if (next(c) % 3 == 0)
					json_object_del(v, key);
				else
					json_object_set_new(v, key, another(c, child));
				return true;
			}
			if (change(c, child))
				return true;
		}
	else
		json_array_foreach (v, i, child) {
			if (c->left-- == 0) {
				if (next(c) % 3 == 0)
					json_array_remove(v, i);
				else if (next(c) % 2)
					json_array_append(v, child);
				else
					json_array_set_new(v, i, another(c, child));
				return true;
			}
			if (change(c, child))
				return true;
		}
	return false;
}

static size_t report_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	struct choice c = { .seed = seed };
	json_t *top = next(&c) % 2 ? json_loadb((const char *)data, size, 0, NULL) : NULL;
	size_t len_bytes;
	json_t *copy;
	char *text;

	if (!top)
		return LLVMFuzzerMutate(data, size, max_size);
	copy = json_deep_copy(top); /* of its own: a value that is in two places would be changed in both */
	json_decref(top);
	c.left = next(&c) % count(copy);
	change(&c, copy);
	text = json_dumps(copy, JSON_COMPACT);
	json_decref(copy);
	if (!text)
		return LLVMFuzzerMutate(data, size, max_size);
	len_bytes = strlen(text);
	if (len_bytes <= max_size)
		memcpy(data, text, size = len_bytes);
	free(text);
	return size;
}

const struct fuzz_target fuzz_report = { .name = "report", .flags = "-max_len=8192", .run = report_run, .mutate = report_mutate };
