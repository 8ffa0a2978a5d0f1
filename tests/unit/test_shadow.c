/* The shadow memory: every edge of XFDetector's two state machines, which commit writes can survive, what variables decide about; and random
 * events, after each of which it must agree with the model about what is durable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "crash/shadow/shadow.h"

#define DATA PMT_ADDR(1, 0)
#define OTHER PMT_ADDR(1, 0x1000)
#define VAR PMT_ADDR(1, 0x2000)
#define VAR2 PMT_ADDR(1, 0x2040)

struct fixture {
	struct model *model;
	struct shadow *shadow;
	uint64_t seq;
};

static void begin(struct fixture *f, const char *platform, struct commits *c)
{
	if (c)
		commits_seal(c);
	*f = (struct fixture){ .model = model_new(platform_find(platform), NULL) };
	f->shadow = shadow_new(f->model, NULL, c);
}

static void end(struct fixture *f)
{
	shadow_free(f->shadow);
	model_free(f->model);
}

static void event(struct fixture *f, enum pmt_kind kind, uint32_t thread, uint64_t addr, uint64_t value, uint32_t size_bytes)
{
	struct trace_event ev = { .seq = ++f->seq, .kind = kind, .thread = thread, .addr = addr };

	if (trace_is_store(kind)) {
		ev.data = (const uint8_t *)&value;
		ev.data_len = ev.size_bytes = size_bytes;
	}
	if (kind == PMT_MSYNC) {
		ev.arg[0] = 1;
		ev.arg[1] = value;
	}
	if (kind == PMT_FSYNC)
		ev.arg[0] = value;
	if (kind == PMT_DMB || kind == PMT_DSB)
		ev.arg[0] = value;
	if (kind == PMT_STORE_ORDERED)
		ev.arg[0] = PMT_ORDER_RELEASE;
	shadow_step(f->shadow, &ev, 0);
	model_step(f->model, &ev);
}

/* From now on the events are those of an arm64 recording. */
static void say_arm64(struct shadow *s, struct model *m)
{
	static const char text[] = "isa=arm64";
	struct trace_event ev = { .kind = PMT_META, .data = (const uint8_t *)text, .data_len = sizeof text - 1 };

	shadow_step(s, &ev, 0);
	model_step(m, &ev);
}

static void store(struct fixture *f, uint64_t addr, uint64_t value)
{
	event(f, PMT_STORE, 1, addr, value, 8);
}

static void persist(struct fixture *f, uint64_t addr)
{
	event(f, PMT_CLWB, 1, addr, 0, 0);
	event(f, PMT_SFENCE, 1, 0, 0, 0);
}

/* ---- the persistence state ---- */

/* What a letter does to the line of DATA; capitals: by another thread. */
static void operation(struct fixture *f, char letter)
{
	static const struct {
		char letter;
		enum pmt_kind kind;
		uint64_t addr, value;
	} table[] = {
		{ 's', PMT_STORE, DATA, 1 },	    { 'n', PMT_STORE_NT, DATA, 1 },  { 'a', PMT_STORE_RMW, DATA, 1 },
		{ 'k', PMT_STORE_SYS, DATA, 1 },    { 'w', PMT_CLWB, DATA, 0 },	     { 'o', PMT_CLFLUSHOPT, DATA, 0 },
		{ 'c', PMT_CLFLUSH, DATA, 0 },	    { 'f', PMT_SFENCE, 0, 0 },	     { 'm', PMT_MFENCE, 0, 0 },
		{ 'r', PMT_RMW_FENCE, 0, 0 },	    { 'l', PMT_LFENCE, 0, 0 },	     { 'x', PMT_STORE_RMW, OTHER, 1 },
		{ 'e', PMT_CLWB, OTHER, 0 },	    { 'y', PMT_MSYNC, DATA, MS_SYNC }, { 'q', PMT_MSYNC, DATA, MS_ASYNC },
		{ 'z', PMT_FSYNC, 0, 1 },	    { 'v', PMT_FSYNC, 0, 2 },	     { 'd', PMT_FSYNC, 0, 0 },
		{ 'p', PMT_MSYNC, OTHER, MS_SYNC }, { 't', PMT_STORE_ORDERED, DATA, 1 }, { '1', PMT_DC_CVAP, DATA, 0 },
		{ '2', PMT_DC_CVAC, DATA, 0 },	    { '3', PMT_DSB, 0, 15 },	     { '4', PMT_DSB, 0, 14 },
		{ '5', PMT_DMB, 0, 15 },
	};
	bool is_other = letter >= 'A' && letter <= 'Z';

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].letter == (is_other ? letter | 0x20 : letter)) {
			event(f, table[i].kind, is_other ? 2 : 1, table[i].addr, table[i].value, 8);
			return;
		}
	fail_msg("no operation '%c'", letter);
}

static const struct {
	const char *platform, *operations, *expected; /* a stroke: recorded on arm64; the state after each */
} persistence[] = {
	/* from unmodified */
	{ "x86-adr", "f", "U" }, { "x86-adr", "w", "U" }, { "x86-adr", "c", "U" }, { "x86-adr", "s", "M" }, { "x86-adr", "k", "M" },
	{ "x86-adr", "a", "M" }, { "x86-adr", "n", "W" },
	/* from modified: only a write-back of this line leads on */
	{ "x86-adr", "ss", "MM" }, { "x86-adr", "sf", "MM" }, { "x86-adr", "slef", "MMMM" }, { "x86-adr", "sx", "MM" },
	{ "x86-adr", "sw", "MW" }, { "x86-adr", "so", "MW" }, { "x86-adr", "sc", "MP" }, { "x86-adr", "sn", "MW" },
	/* from pending: fences of the thread that wrote back, of no other, no lfence; a second write-back changes nothing */
	{ "x86-adr", "swf", "MWP" }, { "x86-adr", "swm", "MWP" }, { "x86-adr", "swr", "MWP" }, { "x86-adr", "swx", "MWP" },
	{ "x86-adr", "swl", "MWW" }, { "x86-adr", "swF", "MWW" }, { "x86-adr", "swFf", "MWWP" }, { "x86-adr", "sWF", "MWP" },
	{ "x86-adr", "sWf", "MWW" }, { "x86-adr", "swWF", "MWWP" }, { "x86-adr", "sww", "MWW" }, { "x86-adr", "swwf", "MWWP" },
	{ "x86-adr", "sws", "MWM" }, { "x86-adr", "swsf", "MWMM" }, { "x86-adr", "swswf", "MWMWP" }, { "x86-adr", "swc", "MWP" },
	/* a locked store is a fence first; what it stores is modified */
	{ "x86-adr", "swa", "MWM" }, { "x86-adr", "nf", "WP" }, { "x86-adr", "nF", "WW" }, { "x86-adr", "nc", "WP" }, { "x86-adr", "nwf", "WWP" },
	{ "x86-adr", "ns", "WM" }, { "x86-adr", "nsf", "WMM" },
	/* from persisted */
	{ "x86-adr", "swfs", "MWPM" }, { "x86-adr", "swfn", "MWPW" }, { "x86-adr", "swfw", "MWPP" }, { "x86-adr", "swff", "MWPP" },
	{ "x86-adr", "swfc", "MWPP" }, { "x86-adr", "swfsf", "MWPMM" },
	/* the kernel writes back */
	{ "x86-adr", "sy", "MP" }, { "x86-adr", "sq", "MM" }, { "x86-adr", "sz", "MP" }, { "x86-adr", "sv", "MM" }, { "x86-adr", "sd", "MP" },
	{ "x86-adr", "sp", "MM" }, { "x86-adr", "ny", "WP" }, { "x86-adr", "nY", "WW" },
	/* what is visible is durable */
	{ "eadr", "s", "P" }, { "eadr", "n", "W" }, { "eadr", "nf", "WP" }, { "eadr", "nF", "WW" },
	/* only the kernel writes back */
	/* an amd64 recording on arm64: clflush waits, locked instructions complete nothing, non-temporal stores are plain */
	{ "arm64", "swf", "MWP" }, { "arm64", "scf", "MWP" }, { "arm64", "swr", "MWW" }, { "arm64", "swa", "MWM" }, { "arm64", "nf", "MM" },
	{ "arm64", "nwf", "MWP" }, { "arm64", "swF", "MWW" },
	/* dc and dsb */
	{ "arm64/", "s13", "MWP" }, { "arm64/", "s14", "MWW" }, { "arm64/", "s15", "MWW" }, { "arm64/", "s23", "MMM" }, { "arm64/", "t3", "MM" },
	{ "arm64-poc/", "s23", "MWP" },
	/* visible is durable, once it is visible for certain */
	{ "eadr/", "s", "W" }, { "eadr/", "s5", "WP" }, { "eadr/", "t", "P" }, { "eadr/", "sX", "WP" }, { "eadr/", "s1", "WW" },
	{ "msync", "swf", "MMM" }, { "msync", "sc", "MM" }, { "msync", "nf", "MM" }, { "msync", "sy", "MP" }, { "msync", "sys", "MPM" },
};

static void begin_recorded(struct fixture *f, const char *platform)
{
	char name[16];

	snprintf(name, sizeof name, "%.*s", (int)strcspn(platform, "/"), platform);
	begin(f, name, NULL);
	if (strchr(platform, '/'))
		say_arm64(f->shadow, f->model);
}

static void test_persistence(void **state)
{
	static const char letters[] = "UMWP";

	(void)state;
	for (size_t i = 0; i < sizeof persistence / sizeof *persistence; i++) {
		struct fixture f;

		begin_recorded(&f, persistence[i].platform);
		for (size_t k = 0; persistence[i].operations[k]; k++) {
			operation(&f, persistence[i].operations[k]);
			if (letters[shadow_byte(f.shadow, DATA + 7).state] != persistence[i].expected[k])
				fail_msg("%s: %s is %c after operation %zu, not %c", persistence[i].platform, persistence[i].operations,
					 letters[shadow_byte(f.shadow, DATA + 7).state], k + 1, persistence[i].expected[k]);
			assert_int_equal(shadow_byte(f.shadow, DATA + 8).state, SHADOW_UNMODIFIED); /* byte by byte */
		}
		end(&f);
	}
}

static void test_bytes(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "x86-adr", NULL);
	event(&f, PMT_STORE, 1, DATA + 60, 0x0807060504030201u, 8); /* over two lines */
	persist(&f, DATA);
	assert_int_equal(shadow_byte(f.shadow, DATA + 63).state, SHADOW_PERSISTED);
	assert_int_equal(shadow_byte(f.shadow, DATA + 64).state, SHADOW_MODIFIED);
	assert_true(shadow_is_persisted(f.shadow, DATA, 64));
	assert_false(shadow_is_persisted(f.shadow, DATA, 65));
	event(&f, PMT_STORE, 1, DATA + 61, 0x02, 1); /* what is there already */
	assert_int_equal(shadow_byte(f.shadow, DATA + 61).last.seq, 4);
	assert_int_equal(shadow_byte(f.shadow, DATA + 61).changed.seq, 1);
	assert_int_equal(shadow_byte(f.shadow, DATA + 62).last.seq, 1);
	for (unsigned i = 0; i < 1000; i++) /* the table of writes is made smaller now and then */
		event(&f, PMT_STORE, 1, DATA + i % 60, i, 1);
	for (unsigned i = 940; i < 1000; i++)
		assert_int_equal(shadow_byte(f.shadow, DATA + i % 60).last.seq, 5 + i);
	assert_int_equal(shadow_byte(f.shadow, DATA + 61).last.seq, 4);
	assert_int_equal(shadow_byte(f.shadow, DATA + 62).last.seq, 1);
	end(&f);
}

/* ---- the consistency state ---- */

static enum commit_state judge(const struct fixture *f, uint64_t addr, uint64_t value)
{
	const struct commit_var *v = commits_governor(shadow_commits(f->shadow), addr);
	struct shadow_byte b = shadow_byte(f->shadow, addr);
	const struct commit_write *w;

	return v ? commit_var_judge(v, (const uint8_t *)&value, shadow_is_persisted(f->shadow, v->addr, v->len_bytes), b.last.seq, b.changed.seq, &w)
		 : COMMIT_CONSISTENT;
}

/* D: the data changes; d: it is stored as it was; C: the variable gets a new value; c: the one that it has. Expected: the state after each,
 * if the variable's newest value survives: Consistent, Uncommitted, Stale. */
static const struct {
	const char *operations, *expected;
} consistency[] = {
	{ "C", "C" }, { "CC", "CC" },	       /* never stored to */
	{ "D", "U" }, { "DC", "UC" },	       /* committed by the next commit write */
	{ "DDC", "UUC" }, { "CDC", "CUC" },
	{ "DCD", "UCU" },		       /* changed after it */
	{ "DCC", "UCS" },		       /* a version too old */
	{ "DCCC", "UCSS" }, { "DCCD", "UCSU" }, { "DCCDC", "UCSUC" },
	{ "DCd", "UCC" },		       /* it is what was committed */
	{ "DCdC", "UCCC" },		       /* stored again for the next version */
	{ "DCCd", "UCSC" },		       /* ... and of this version, after all: nobody can tell */
	{ "DCc", "UCC" }, { "Dc", "UC" },      /* the same value again is the same commit */
	{ "DCcC", "UCCS" }, { "DcC", "UCS" },
};

static void test_consistency(void **state)
{
	static const char letters[] = "CUS";

	(void)state;
	for (size_t i = 0; i < sizeof consistency / sizeof *consistency; i++) {
		uint64_t data = 0, var = 0;
		struct commits c = { 0 };
		struct fixture f;

		commits_add_var(&c, VAR, 8, 0, false);
		begin(&f, "x86-adr", &c);
		for (size_t k = 0; consistency[i].operations[k]; k++) {
			switch (consistency[i].operations[k]) {
			case 'D': store(&f, DATA, ++data * 0x0101010101010101u); break;
			case 'd': store(&f, DATA, data * 0x0101010101010101u); break;
			case 'C': store(&f, VAR, ++var); break;
			case 'c': store(&f, VAR, var); break;
			}
			persist(&f, DATA);
			persist(&f, VAR);
			if (letters[judge(&f, DATA, var)] != consistency[i].expected[k])
				fail_msg("%s is %c after operation %zu, not %c", consistency[i].operations, letters[judge(&f, DATA, var)], k + 1,
					 consistency[i].expected[k]);
			assert_int_equal(judge(&f, VAR, var), COMMIT_CONSISTENT); /* of itself it decides nothing */
		}
		end(&f);
	}
}

/* An undo log: with each of the values that can survive. */
static void test_survivors(void **state)
{
	struct commits c = { 0 };
	struct fixture f;

	(void)state;
	commits_add_var(&c, VAR, 8, 0, false);
	begin(&f, "x86-adr", &c);
	store(&f, DATA, 1); /* the log */
	persist(&f, DATA);
	store(&f, VAR, 1);
	assert_int_equal(judge(&f, DATA, 0), COMMIT_UNCOMMITTED); /* the initial content survives */
	assert_int_equal(judge(&f, DATA, 1), COMMIT_CONSISTENT);
	persist(&f, VAR);
	assert_int_equal(judge(&f, DATA, 0), COMMIT_CONSISTENT); /* it cannot any more: nothing is said */
	store(&f, OTHER, 2);
	persist(&f, OTHER);
	assert_int_equal(judge(&f, OTHER, 1), COMMIT_UNCOMMITTED);
	store(&f, VAR, 0);
	assert_int_equal(judge(&f, OTHER, 1), COMMIT_UNCOMMITTED);
	assert_int_equal(judge(&f, OTHER, 0), COMMIT_CONSISTENT);
	assert_int_equal(judge(&f, DATA, 0), COMMIT_STALE);
	assert_int_equal(judge(&f, DATA, 1), COMMIT_CONSISTENT);
	assert_int_equal(judge(&f, DATA, 77), COMMIT_CONSISTENT); /* torn, or not known: nothing is said */
	/* both the first and the third write have this value, and none is durable: either may be what survives */
	store(&f, VAR, 1);
	assert_int_equal(judge(&f, DATA, 1), COMMIT_CONSISTENT);
	persist(&f, VAR);
	assert_int_equal(judge(&f, DATA, 1), COMMIT_STALE);
	assert_int_equal(judge(&f, OTHER, 1), COMMIT_STALE);
	end(&f);
}

/* What was durable when the variable was written again cannot come back. */
static void test_impossible(void **state)
{
	struct commits c = { 0 };
	struct fixture f;

	(void)state;
	commits_add_var(&c, VAR, 8, 0, false);
	begin(&f, "x86-adr", &c);
	store(&f, VAR, 1);
	persist(&f, VAR);
	store(&f, DATA, 1);
	store(&f, VAR, 2);
	assert_int_equal(judge(&f, DATA, 1), COMMIT_UNCOMMITTED);
	assert_int_equal(judge(&f, DATA, 2), COMMIT_CONSISTENT);
	assert_int_equal(judge(&f, DATA, 0), COMMIT_CONSISTENT); /* no crash shows this: nothing is said */
	end(&f);
}

/* One store writes data and variable: it belongs to the commit that it is. */
static void test_one_store(void **state)
{
	struct commits c = { 0 };
	struct fixture f;

	(void)state;
	commits_add_var(&c, VAR, 4, 0, false);
	begin(&f, "x86-adr", &c);
	store(&f, VAR, 0x100000001);
	assert_int_equal(judge(&f, VAR + 4, 1), COMMIT_CONSISTENT);
	event(&f, PMT_STORE, 1, VAR, 2, 4);
	assert_int_equal(judge(&f, VAR + 4, 2), COMMIT_STALE);
	end(&f);
}

static void test_pieces(void **state)
{
	struct commits c = { 0 };
	struct fixture f;

	(void)state;
	commits_add_var(&c, VAR, 16, 0, false);
	begin(&f, "x86-adr", &c);
	store(&f, DATA, 5);
	store(&f, VAR, 1);
	store(&f, VAR + 8, 1); /* the other half: still the same commit */
	{
		const struct commit_var *v = commits_governor(shadow_commits(f.shadow), DATA);
		struct shadow_byte b = shadow_byte(f.shadow, DATA);
		const uint64_t value[2] = { 1, 1 };
		const struct commit_write *w;

		assert_int_equal(commit_var_judge(v, (const uint8_t *)value, false, b.last.seq, b.changed.seq, &w), COMMIT_CONSISTENT);
		store(&f, OTHER, 1);
		store(&f, VAR + 8, 2); /* something came between: the next one */
		assert_int_equal(commit_judge(v, &v->writes.at[v->writes.n - 1], b.last.seq, b.changed.seq), COMMIT_STALE);
	}
	end(&f);
}

/* ---- declarations ---- */

static void test_ranges(void **state)
{
	struct commits c = { 0 };
	struct fixture f;

	(void)state;
	commits_add_var(&c, VAR, 8, 0, false);
	commits_add_var(&c, VAR2, 8, 0, false);
	commits_add_var(&c, PMT_ADDR(1, 0x3000), 8, 0, false); /* no range, and not the only one */
	commits_add_range(&c, VAR, DATA, 4);
	commits_add_range(&c, VAR2, OTHER, 8);
	commits_add_range(&c, PMT_ADDR(2, 0), DATA, 64); /* of no variable */
	begin(&f, "x86-adr", &c);
	store(&f, DATA, 0x1111111111111111u);
	store(&f, OTHER, 1);
	store(&f, VAR, 1);
	assert_int_equal(judge(&f, DATA, 1), COMMIT_CONSISTENT);
	assert_int_equal(judge(&f, OTHER, 0), COMMIT_UNCOMMITTED); /* the other variable's business */
	store(&f, VAR2, 1);
	assert_int_equal(judge(&f, OTHER, 1), COMMIT_CONSISTENT);
	store(&f, VAR, 2);
	assert_int_equal(judge(&f, DATA + 3, 2), COMMIT_STALE);
	assert_int_equal(judge(&f, DATA + 4, 2), COMMIT_CONSISTENT); /* outside */
	assert_int_equal(shadow_commits(f.shadow)->vars.at[2].scope, COMMIT_NOTHING);
	end(&f);
}

static void test_declared_late(void **state)
{
	struct commits c = { 0 };
	struct fixture f;

	(void)state;
	commits_add_var(&c, VAR, 8, 3, false);
	begin(&f, "x86-adr", &c);
	store(&f, DATA, 1);
	store(&f, VAR, 9);
	f.seq = 3; /* the annotation */
	store(&f, OTHER, 1);
	assert_int_equal(judge(&f, DATA, 9), COMMIT_CONSISTENT); /* initial content */
	assert_int_equal(judge(&f, OTHER, 9), COMMIT_UNCOMMITTED);
	store(&f, VAR, 1);
	store(&f, VAR, 2);
	assert_int_equal(judge(&f, DATA, 2), COMMIT_CONSISTENT); /* and never stale */
	assert_int_equal(judge(&f, OTHER, 2), COMMIT_STALE);
	end(&f);
}

static void test_recurrence(void **state)
{
	const struct commit_var *v;
	struct commits c = { 0 };
	struct fixture f;

	(void)state;
	commits_add_var(&c, VAR, 8, 0, true);
	begin(&f, "x86-adr", &c);
	v = &shadow_commits(f.shadow)->vars.at[0];
	assert_int_equal(v->scope, COMMIT_READ);
	assert_null(commit_var_other(v, &v->writes.at[0]));
	store(&f, DATA, 1);
	store(&f, VAR, 1);
	assert_memory_equal(commit_var_other(v, &v->writes.at[1]), "\0", 1);
	store(&f, VAR, 0);
	/* stored when the variable had this value before: then it was uncommitted */
	assert_true(commit_var_recurs(v, &v->writes.at[2], 1));
	assert_memory_equal(commit_var_other(v, &v->writes.at[2]), "\1", 1);
	store(&f, VAR, 5); /* never had it: a log that grows */
	assert_false(commit_var_recurs(v, &v->writes.at[3], 1));
	for (uint64_t i = 6; i < 6 + 3 * COMMITS_KEPT; i++)
		store(&f, VAR, i);
	assert_int_equal(v->writes.n, COMMITS_KEPT);
	assert_int_equal(judge(&f, DATA, 5), COMMIT_CONSISTENT); /* forgotten: nothing is said */
	assert_int_equal(judge(&f, DATA, 5 + 3 * COMMITS_KEPT), COMMIT_STALE);
	end(&f);
}

/* ---- what to watch ---- */

struct seen {
	uint64_t addr[8], mask[8];
	size_t n;
};

static void see(uint64_t addr, uint64_t mask, void *arg)
{
	struct seen *s = arg;

	s->addr[s->n] = addr;
	s->mask[s->n++] = mask;
}

static void test_doubtful(void **state)
{
	struct seen seen = { .n = 0 };
	struct commits c = { 0 };
	struct fixture f;

	(void)state;
	commits_add_var(&c, VAR, 8, 0, false);
	begin(&f, "x86-adr", &c);
	store(&f, DATA + 8, UINT64_MAX);
	store(&f, VAR, 1);
	assert_true(shadow_each_doubtful(f.shadow, 8, see, &seen)); /* with the initial content it is uncommitted */
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.addr[0], DATA);
	assert_int_equal(seen.mask[0], 0xff00);
	persist(&f, VAR);
	seen.n = 0;
	assert_true(shadow_each_doubtful(f.shadow, 8, see, &seen));
	assert_int_equal(seen.n, 0);
	store(&f, OTHER, 1); /* the latest comes first */
	store(&f, VAR, 2);
	store(&f, DATA + 64, 3);
	assert_false(shadow_each_doubtful(f.shadow, 2, see, &seen));
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.addr[0], DATA + 64);
	assert_int_equal(seen.addr[1], OTHER);
	end(&f);
}

/* ---- memory without content ---- */

static void give(struct fixture *f, uint64_t addr, uint64_t len_bytes)
{
	struct trace_event ev = { .seq = ++f->seq, .kind = PMT_UNDEFINED, .thread = 1, .addr = addr, .arg = { len_bytes } };

	shadow_step(f->shadow, &ev, 0);
}

/* Old bytes: nobody stored them, and they are durable; the rest of the line is as it was. */
static void test_old_bytes(void **state)
{
	struct trace_event old = { .kind = PMT_OLD, .thread = 1, .addr = DATA + 2, .arg = { 70 } };
	struct fixture f;

	(void)state;
	begin(&f, "x86-adr", NULL);
	store(&f, DATA, 1);
	store(&f, DATA + 72, 1);
	assert_false(shadow_is_persisted(f.shadow, DATA, 8));
	old.seq = ++f.seq;
	shadow_step(f.shadow, &old, 0);
	assert_true(shadow_is_persisted(f.shadow, DATA + 2, 6));
	assert_false(shadow_is_persisted(f.shadow, DATA, 2));
	assert_false(shadow_is_persisted(f.shadow, DATA + 72, 8));
	store(&f, DATA + 8, 1);
	assert_false(shadow_is_persisted(f.shadow, DATA + 8, 8));
	end(&f);
}

static void test_blocks(void **state)
{
	struct seen seen = { .n = 0 };
	struct fixture f;

	(void)state;
	begin(&f, "x86-adr", NULL);
	store(&f, DATA, 1);
	give(&f, DATA, 80);
	assert_non_null(shadow_uninitialised(f.shadow, DATA)); /* what was there before is nobody's */
	assert_null(shadow_uninitialised(f.shadow, DATA + 80));
	store(&f, DATA + 8, 0); /* a store of what is there counts */
	assert_null(shadow_uninitialised(f.shadow, DATA + 8));
	assert_int_equal(shadow_uninitialised(f.shadow, DATA + 16)->given.seq, 2);
	shadow_each_uninitialised(f.shadow, 3, 8, see, &seen); /* none that late */
	assert_int_equal(seen.n, 0);
	shadow_each_uninitialised(f.shadow, 2, 8, see, &seen);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.mask[0], ~(uint64_t)0xff00);
	assert_int_equal(seen.addr[1], DATA + 64);
	assert_int_equal(seen.mask[1], 0xffff);
	give(&f, OTHER, 8);
	store(&f, OTHER, 0); /* zeroed */
	give(&f, VAR, 8);
	seen.n = 0;
	shadow_each_uninitialised(f.shadow, 0, 2, see, &seen); /* the latest come first; what is initialised is forgotten */
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.addr[0], VAR);
	assert_int_equal(seen.addr[1], DATA);
	assert_null(shadow_uninitialised(f.shadow, OTHER));
	assert_non_null(shadow_uninitialised(f.shadow, VAR + 7));
	give(&f, DATA, 8); /* freed, and handed out again */
	assert_int_equal(shadow_uninitialised(f.shadow, DATA)->len_bytes, 8);
	assert_int_equal(shadow_uninitialised(f.shadow, DATA + 16)->len_bytes, 80);
	end(&f);
}

/* ---- against the model ---- */

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

#define NKINDS 15

static const struct trace_object pmdk_object = { .path = "/usr/lib/libpmem.so.1" };
static const struct trace_site pmdk_site = { .id = 1, .object = &pmdk_object };

static void random_event(uint64_t *seed, uint64_t seq, bool is_arm64, struct trace_event *ev, uint64_t *value)
{
	static const enum pmt_kind kinds[2][NKINDS] = {
		{ PMT_STORE, PMT_STORE, PMT_STORE, PMT_STORE_NT, PMT_STORE_RMW, PMT_STORE_SYS, PMT_CLWB, PMT_CLWB, PMT_CLFLUSHOPT, PMT_CLFLUSH, PMT_SFENCE,
		  PMT_MFENCE, PMT_RMW_FENCE, PMT_MSYNC, PMT_FSYNC },
		{ PMT_STORE, PMT_STORE, PMT_STORE_PAIR, PMT_STORE_SYS, PMT_STORE_ORDERED, PMT_STORE_ORDERED, PMT_ORDER, PMT_DC_CVAP, PMT_DC_CVAP,
		  PMT_DC_CVADP, PMT_DC_CVAC, PMT_DSB, PMT_DMB, PMT_MSYNC, PMT_FSYNC },
	};

	*ev = (struct trace_event){ .seq = seq, .kind = kinds[is_arm64][next(seed) % NKINDS], .thread = 1 + (uint32_t)next(seed) % 3,
				    .addr = DATA + next(seed) % 150, .arg[0] = next(seed) % 16 };
	ev->site = next(seed) % 2 ? &pmdk_site : NULL; /* PMDK's non-temporal stores are flushed on arm64; its dmb counts as complete */
	if (trace_is_flush(ev->kind))
		ev->size_bytes = is_arm64 && next(seed) % 4 == 0 ? 128 : 64;
	*value = next(seed) << 32 | next(seed);
	if (trace_is_store(ev->kind)) {
		ev->data = (const uint8_t *)value;
		ev->data_len = ev->size_bytes = 1 + (uint32_t)next(seed) % 8;
	}
	if (ev->kind == PMT_MSYNC) {
		ev->addr = next(seed) % 4 ? PMT_ADDR(2, 0) : DATA;
		ev->arg[0] = 64;
		ev->arg[1] = next(seed) % 2 ? MS_SYNC : MS_ASYNC;
	}
	if (ev->kind == PMT_FSYNC)
		ev->arg[0] = next(seed) % 8 ? 2 : 1;
}

static void test_model(void **state)
{
	static const char *const names[] = { "x86-adr", "eadr", "msync", "arm64", "arm64/", "arm64-poc/", "eadr/" };
	uint64_t seed = 1, value;

	(void)state;
	for (unsigned round = 0; round < 700; round++) {
		const char *name = names[round % 7];
		struct trace_event ev;
		struct fixture f;
		struct shadow *s;
		struct model *m;

		begin_recorded(&f, name);
		s = f.shadow;
		m = f.model;
		for (uint64_t seq = 1; seq < 60; seq++) {
			random_event(&seed, seq, strchr(name, '/'), &ev, &value);
			shadow_step(s, &ev, 0);
			model_step(m, &ev);
			for (uint64_t a = DATA; a < DATA + 192; a++)
				if (shadow_is_persisted(s, a, 1) != model_is_durable(m, a, 1))
					fail_msg("%s, round %u, event %u: byte %u is %sdurable for the model only", name, round, (unsigned)seq,
						 (unsigned)(a - DATA), model_is_durable(m, a, 1) ? "" : "not ");
		}
		end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_persistence), cmocka_unit_test(test_bytes),	  cmocka_unit_test(test_consistency),
		cmocka_unit_test(test_survivors),   cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_one_store),   cmocka_unit_test(test_pieces),	  cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_declared_late), cmocka_unit_test(test_recurrence), cmocka_unit_test(test_doubtful),
		cmocka_unit_test(test_old_bytes), cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
