/* No part of an exploration makes `pmend merge` crash, whoever wrote it: what is not sound is refused, and what is sound is added up, judged and shown. An input is what a part keeps, after
 * a byte that says of which command: even, of `pmend crash`; odd, of `pmend check`. Recovery is not run. */
#include <string.h>
#include <unistd.h>

#include "crash/findings/findings.h"
#include "crash/part.h"
#include "report/format.h"
#include "account/causes/causes.h"
#include "account/crash_report.h"
#include "account/evidence/evidence.h"
#include "distribute/shard/checks.h"
#include "distribute/shard/part_data.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/sample.h"
#include "trace/writer.h"

#define NSTORES 100u

static char g_path[64];
static struct plan *g_plan; /* of all inputs */

/* A place of the program. */
static void put(struct writer *w, enum pmt_kind kind, uint32_t size_bytes, uint64_t offset)
{
	static uint64_t pc;

	pc += 4;
	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0x400000 + pc, kind, size_bytes), .thread = 1, .addr = PMT_ADDR(1, offset), .data = &pc });
}

/* Stores at many places to few lines; some are flushed, some of these in time. */
static void write_trace(void)
{
	static const char platform[] = "platform=x86-adr", pool[] = "/mnt/pmem/pool";
	struct writer *w;
	struct error err;

	memory_file(NULL, 0, g_path); /* it stays open */
	FUZZ_EXPECT(writer_open(&w, g_path, &err) == 0);
	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0, PMT_PROCESS, 0), .thread = 1, .arg = { 1, 0 } });
	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0, PMT_META, 0), .thread = 1, .data = platform, .data_len = sizeof platform - 1 });
	writer_object(w, &(struct trace_object){ .va = 0x400000, .len_bytes = 0x1000, .path = (char *)"/nonexistent/app" });
	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0, PMT_FILE, 0), .thread = 1, .arg = { 1, 4096, 0, 1, 1 }, .data = pool, .data_len = sizeof pool - 1 });
	for (uint64_t i = 0; i < NSTORES; i++) {
		put(w, PMT_STORE, 8, i * 24 % 1024);
		if (i % 3)
			put(w, PMT_CLWB, 64, i * 24 % 1024 & ~63ull);
		if (i % 2)
			put(w, PMT_SFENCE, 0, 0);
	}
	FUZZ_EXPECT(writer_close(w, &err) == 0);
}

static void begin(void)
{
	struct error err;

	if (g_plan)
		return;
	write_trace();
	g_plan = plan_new(g_path, platform_find("x86-adr"), &err);
	FUZZ_EXPECT(g_plan);
}

static void show(struct report *r)
{
	struct report_options o = { .cwd = "/tmp" };
	size_t len_bytes;
	char *text;

	for (const struct report_format *format = report_formats; format->name; format++) {
		FILE *f = open_memstream(&text, &len_bytes);

		format->render(f, r, &o);
		fclose(f);
		free(text);
	}
	report_free(r);
}

/* ---- of an exploration ---- */

/* As part_decode() does, from what the sum was made of. False: it is refused. */
static bool decode(struct crash_result *r, const uint8_t *data, size_t size)
{
	struct wire m = { .bytes = malloc(size + 1), .n = size, .is_received = true };
	bool is_sound;

	*r = (struct crash_result){ 0 };
	memcpy(m.bytes, data, size);
	part_pass(&m, r);
	is_sound = !m.is_bad && m.at == m.n && part_is_sound(r, g_plan);
	wire_release(&m);
	if (!is_sound)
		crash_result_release(r);
	return is_sound;
}

/* What was read and is sent again is read again. */
static void round_trip(struct crash_result *r)
{
	struct crash_result again;
	struct wire m = { 0 };

	part_pass(&m, r);
	FUZZ_EXPECT(decode(&again, m.bytes, m.n));
	crash_result_release(&again);
	wire_release(&m);
}

static int conclude_nothing(uint64_t point, void *arg, struct error *err)
{
	(void)arg, (void)err;
	FUZZ_EXPECT(point > 0);
	return 0;
}

static void settle(struct crash_result *r)
{
	struct race_table *table = race_table_new(1);
	struct error err;

	race_turns_suppose(&r->race_turns, 1, table);
	race_table_clear(table);
	race_turns_replay(&r->race_turns, table, conclude_nothing, NULL, &err);
	races_settle(g_plan, table, false, r);
	race_table_free(table);
	bugs_sort(r);
	bugs_settle(r);
	first_crashes_settle(r);
	findings_sort(r);
}

/* Whatever files it names are none of ours. */
static void forget_objects(struct crash_result *r)
{
	for (int part = 0; part < PART_N; part++)
		for (size_t i = 0; i < r->objects[part].n; i++)
			r->objects[part].at[i].path[0] = '\0';
}

static void exploration_run(const uint8_t *data, size_t size)
{
	struct crash_setup s = { .options = { .trace = g_path, .jobs = 1 } };
	struct crash_result sum = { 0 }, part;
	struct report *r;
	struct error err;

	if (!decode(&part, data, size))
		return;
	round_trip(&part);
	part_add(&sum, &part);
	FUZZ_EXPECT(decode(&part, data, size));
	part_add(&sum, &part);
	settle(&sum);
	forget_objects(&sum);
	r = report_new();
	report_set_platform(r, "x86-adr");
	crash_report_add(r, g_plan, &sum, &s, "t.pmt");
	causes_fold(r, g_path, &s.libraries, NULL);
	report_finish(r);
	evidence_add(r, g_path, &s.libraries, &err);
	show(r);
	crash_result_release(&sum);
}

/* ---- of `pmend check` ---- */

static void checks_run(const uint8_t *data, size_t size)
{
	struct wire m = { .bytes = (uint8_t *)data, .n = size };
	char *text = part_data_encode(&m);
	const struct report_shard s = { .index = 1, .of = 1, .data = text };
	struct checks k = { 0 };
	struct error err;
	struct report *r;
	bool is_whole;

	if (checks_add(&k, &s, "part", &err) == 0) {
		(void)!checks_add(&k, &s, "part", &err);
		r = checks_sum(&k, &is_whole, &err);
		if (r) {
			report_finish(r);
			show(r);
		}
	}
	checks_release(&k);
	free(text);
}

static void part_run(const uint8_t *data, size_t size)
{
	begin();
	if (size > 0)
		(data[0] % 2 ? checks_run : exploration_run)(data + 1, size - 1);
}

/* Most of it are numbers of 8 bytes, and most of these are small. */
static size_t part_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static const uint64_t numbers[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 63, 64, 65, 255, 256, 1000, UINT32_MAX, (uint64_t)UINT32_MAX + 1, INT64_MAX, UINT64_MAX - 1, UINT64_MAX };
	const uint64_t number = numbers[(seed >> 8) % (sizeof numbers / sizeof *numbers)];

	if (size < 9 || seed % 3 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	memcpy(data + 1 + (seed >> 16) % (size - 8), &number, sizeof number);
	return size;
}

const struct fuzz_target fuzz_part = { .name = "part", .flags = "-max_len=32768", .run = part_run, .mutate = part_mutate };
