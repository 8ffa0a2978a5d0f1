/* The model of files: litmus tests by number (tests/files/NAME.litmus), and random sequences of calls against another way to count.
 *
 * A litmus file has tests. `test NAME` begins one, in an empty folder; then calls and expectations, a line each:
 *
 *	profile ext4		of the tests that follow; at first it is the weakest
 *	make a			open(O_CREAT); `mkdir d`, and names d/a
 *	write a 0 1000 x	1000 bytes x at offset 0, one call; `dwrite`: with O_DSYNC; `append a 10 x`
 *	store a 0 8 x		to a mapping
 *	msync a 0 4096		with MS_SYNC
 *	truncate a 100		also `punch a 0 512`, and `reserve a 0 8192`: blocks without a size
 *	fsync a			also `fdatasync a`, `fsync .`, `fsync d`, `sync`
 *	rename a b		also `exchange a b`, `link a b`, `unlink a`
 *	states 4		a crash here can leave so many states, as the program can tell them apart
 *	state a=x512.488	this is one of them, exactly; names in order, nothing: the folder is empty
 *	never a=x512		and this is none */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/files.h"
#include "util/alloc.h"
#include "util/map.h"
#include "util/vec.h"

#define ROOT 1u
#define MAX_NAMES 64
#define MAX_CALLS 64
#define MAX_STATES 1000000u

/* ---- a folder as the program sees it, and the events of what it does ---- */

struct name {
	char path[32];
	uint32_t file;
};

struct disk {
	struct files *model;
	enum files_profile profile;
	uint64_t seq, size[MAX_NAMES];
	uint32_t nfiles, folder_flag[MAX_NAMES];
	struct name names[MAX_NAMES];
	size_t nnames;
	struct trace_site calls[MAX_CALLS];
	size_t ncalls;
};

static void event(struct disk *d, struct trace_event ev)
{
	ev.seq = ++d->seq;
	ev.thread = 1;
	ev.site = &d->calls[d->ncalls];
	files_step(d->model, &ev);
}

/* Events of one call have one site. */
static void next_call(struct disk *d)
{
	assert_true(++d->ncalls < MAX_CALLS);
	d->calls[d->ncalls].pc = d->ncalls;
}

static uint32_t new_file(struct disk *d, uint32_t flags)
{
	const uint32_t file = ++d->nfiles;

	d->size[file] = 0;
	d->folder_flag[file] = flags & PMT_FILE_FOLDER;
	event(d, (struct trace_event){ .kind = PMT_FILE, .arg = { file, 0, PMT_FILE_FOLLOWED | PMT_FILE_CREATED | flags } });
	return file;
}

static void disk_init(struct disk *d)
{
	*d = (struct disk){ .model = files_new(true) };
	new_file(d, PMT_FILE_FOLDER);
}

static struct name *find(struct disk *d, const char *path)
{
	for (size_t i = 0; i < d->nnames; i++)
		if (strcmp(d->names[i].path, path) == 0)
			return &d->names[i];
	return NULL;
}

static uint32_t file_of(struct disk *d, const char *path)
{
	struct name *n = find(d, path);

	if (strcmp(path, ".") == 0)
		return ROOT;
	if (!n)
		fail_msg("there is no %s", path);
	return n->file;
}

static uint32_t folder_of(struct disk *d, const char *path)
{
	const char *slash = strchr(path, '/');
	char folder[32];

	if (!slash)
		return ROOT;
	snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
	return file_of(d, folder);
}

static const char *base(const char *path)
{
	return strchr(path, '/') ? strchr(path, '/') + 1 : path;
}

static void set_name(struct disk *d, const char *path, uint32_t file)
{
	struct name *n = find(d, path);

	if (file == 0) {
		if (n)
			*n = d->names[--d->nnames];
		return;
	}
	if (!n)
		n = &d->names[d->nnames++];
	snprintf(n->path, sizeof n->path, "%s", path);
	n->file = file;
}

static void name_event(struct disk *d, enum pmt_kind kind, uint32_t file, const char *path, uint64_t how)
{
	event(d, (struct trace_event){ .kind = kind,
				       .arg = { file, folder_of(d, path), how },
				       .data = (const uint8_t *)base(path),
				       .data_len = (uint32_t)strlen(base(path)) });
	set_name(d, path, kind == PMT_UNNAME ? 0 : file);
}

static void do_make(struct disk *d, const char *path, uint32_t flags)
{
	name_event(d, PMT_NAME, new_file(d, flags), path, PMT_NAMED_MADE);
}

static void do_size(struct disk *d, uint32_t file, uint64_t size)
{
	if (d->size[file] == size)
		return;
	d->size[file] = size;
	event(d, (struct trace_event){ .kind = PMT_SIZE, .arg = { file, size } });
}

static void do_store(struct disk *d, uint32_t file, enum pmt_kind kind, uint64_t at, uint64_t n, char byte)
{
	uint8_t line[64];

	memset(line, byte, sizeof line);
	for (uint64_t part; n > 0; at += part, n -= part) {
		part = 64 - at % 64 < n ? 64 - at % 64 : n;
		event(d, (struct trace_event){ .kind = kind, .addr = PMT_ADDR(file, at), .data = line, .data_len = (uint32_t)part, .size_bytes = (uint32_t)part });
	}
}

static void do_write(struct disk *d, uint32_t file, uint64_t at, uint64_t n, char byte, bool is_synchronous)
{
	if (at + n > d->size[file])
		do_size(d, file, at + n);
	do_store(d, file, PMT_STORE_SYS, at, n, byte);
	event(d, (struct trace_event){ .kind = PMT_WRITE, .addr = PMT_ADDR(file, at), .arg = { n } });
	if (is_synchronous)
		event(d, (struct trace_event){ .kind = PMT_MSYNC, .addr = PMT_ADDR(file, at), .arg = { n, 4 } });
}

static void do_move(struct disk *d, const char *from, const char *to, bool is_exchange)
{
	const uint32_t file = file_of(d, from), other = find(d, to) ? find(d, to)->file : 0;
	char both[64];

	if (file == other)
		return;
	snprintf(both, sizeof both, "%s/%s", base(from), base(to));
	event(d, (struct trace_event){ .kind = PMT_MOVE,
				       .arg = { file, folder_of(d, from), folder_of(d, to), is_exchange ? 2 : 0, other },
				       .data = (const uint8_t *)both,
				       .data_len = (uint32_t)strlen(both) });
	set_name(d, from, is_exchange ? other : 0);
	set_name(d, to, file);
}

/* ---- sets of states ---- */

struct set {
	VEC(char *) at;
};

static void set_add(const char *state, void *arg)
{
	*vec_add(&((struct set *)arg)->at) = xstrdup(state);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void set_finish(struct set *s)
{
	size_t n = 0;

	if (s->at.n > 1)
		qsort(s->at.at, s->at.n, sizeof *s->at.at, compare);
	for (size_t i = 0; i < s->at.n; i++)
		if (n > 0 && strcmp(s->at.at[n - 1], s->at.at[i]) == 0)
			free(s->at.at[i]);
		else
			s->at.at[n++] = s->at.at[i];
	s->at.n = n;
}

static bool set_has(const struct set *s, const char *state)
{
	for (size_t i = 0; i < s->at.n; i++)
		if (strcmp(s->at.at[i], state) == 0)
			return true;
	return false;
}

static void set_release(struct set *s)
{
	for (size_t i = 0; i < s->at.n; i++)
		free(s->at.at[i]);
	vec_release(&s->at);
}

static struct set states_of(const struct disk *d)
{
	struct set s = { 0 };

	assert_true(files_each_state(d->model, d->profile, MAX_STATES, set_add, &s));
	set_finish(&s);
	return s;
}

/* ---- litmus tests ---- */

static int ntests, nof[FILES_PROFILES], nwrong;

static void wrong(const char *test, const char *line, const struct set *s)
{
	nwrong++;
	fprintf(stderr, "test %s: '%s' does not hold; %zu states:\n", test, line, s->at.n);
	for (size_t i = 0; i < s->at.n && i < 20; i++)
		fprintf(stderr, "\t'%s'\n", s->at.at[i]);
}

/* False: it is a call. */
static bool expect(const struct disk *d, const char *test, const char *line)
{
	const bool is_state = strncmp(line, "state", 5) == 0 && (line[5] == ' ' || !line[5]), is_never = strncmp(line, "never", 5) == 0;
	const char *wanted = strlen(line) > 6 ? line + 6 : "";
	struct set s;
	bool holds;

	if (!is_state && !is_never && strncmp(line, "states ", 7) != 0)
		return false;
	s = states_of(d);
	holds = is_state ? set_has(&s, wanted) : is_never ? !set_has(&s, wanted) : s.at.n == strtoul(line + 7, NULL, 10);
	if (!holds)
		wrong(test, line, &s);
	set_release(&s);
	return true;
}

static bool call(struct disk *d, const char *line)
{
	char word[16] = "", a[32] = "", b[32] = "", c[32] = "", e[8] = "";
	const int n = sscanf(line, "%15s %31s %31s %31s %7s", word, a, b, c, e);
	const uint64_t x = strtoull(b, NULL, 10), y = strtoull(c, NULL, 10);

	next_call(d);
	if (n == 2 && strcmp(word, "make") == 0)
		do_make(d, a, 0);
	else if (n == 2 && strcmp(word, "mkdir") == 0)
		do_make(d, a, PMT_FILE_FOLDER);
	else if (n == 5 && strcmp(word, "write") == 0)
		do_write(d, file_of(d, a), x, y, e[0], false);
	else if (n == 5 && strcmp(word, "dwrite") == 0)
		do_write(d, file_of(d, a), x, y, e[0], true);
	else if (n == 4 && strcmp(word, "append") == 0)
		do_write(d, file_of(d, a), d->size[file_of(d, a)], x, c[0], false);
	else if (n == 5 && strcmp(word, "store") == 0)
		do_store(d, file_of(d, a), PMT_STORE, x, y, e[0]);
	else if (n == 4 && strcmp(word, "msync") == 0)
		event(d, (struct trace_event){ .kind = PMT_MSYNC, .addr = PMT_ADDR(file_of(d, a), x), .arg = { y, 4 } });
	else if (n == 4 && strcmp(word, "msync.async") == 0)
		event(d, (struct trace_event){ .kind = PMT_MSYNC, .addr = PMT_ADDR(file_of(d, a), x), .arg = { y, 1 } });
	else if (n == 4 && strcmp(word, "sync-range") == 0)
		event(d, (struct trace_event){ .kind = PMT_SYNC_RANGE, .addr = PMT_ADDR(file_of(d, a), x), .arg = { y, 7 } });
	else if (n == 3 && strcmp(word, "truncate") == 0)
		do_size(d, file_of(d, a), x);
	else if (n == 4 && strcmp(word, "reserve") == 0)
		event(d, (struct trace_event){ .kind = PMT_FALLOCATE, .arg = { file_of(d, a), 1, x, y } });
	else if (n == 4 && strcmp(word, "punch") == 0)
		event(d, (struct trace_event){ .kind = PMT_FALLOCATE, .arg = { file_of(d, a), 3, x, y } });
	else if (n == 2 && strcmp(word, "fsync") == 0)
		event(d, (struct trace_event){ .kind = PMT_FSYNC, .arg = { file_of(d, a) } });
	else if (n == 2 && strcmp(word, "fdatasync") == 0)
		event(d, (struct trace_event){ .kind = PMT_FDATASYNC, .arg = { file_of(d, a) } });
	else if (n == 1 && strcmp(word, "sync") == 0)
		event(d, (struct trace_event){ .kind = PMT_FSYNC });
	else if (n == 3 && (strcmp(word, "rename") == 0 || strcmp(word, "exchange") == 0))
		do_move(d, a, b, word[0] == 'e');
	else if (n == 3 && strcmp(word, "link") == 0)
		name_event(d, PMT_NAME, file_of(d, a), b, PMT_NAMED_LINKED);
	else if (n == 2 && strcmp(word, "unlink") == 0)
		name_event(d, PMT_UNNAME, file_of(d, a), a, 0);
	else
		return false;
	return true;
}

static void run_litmus(const char *path)
{
	FILE *f = fopen(path, "re");
	struct disk d = { 0 };
	enum files_profile profile = FILES_WEAKEST;
	char line[512], test[64] = "", name[16];

	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n#")] = '\0';
		for (size_t n = strlen(line); n > 0 && line[n - 1] == ' ';)
			line[--n] = '\0';
		if (!line[0])
			continue;
		if (sscanf(line, "profile %15s", name) == 1) {
			profile = files_profile_find(name);
			assert_int_not_equal(profile, FILES_PROFILES);
		} else if (sscanf(line, "test %63s", test) == 1) {
			if (d.model)
				files_free(d.model);
			disk_init(&d);
			d.profile = profile;
			ntests++;
			nof[profile]++;
		} else if (!expect(&d, test, line) && !call(&d, line)) {
			fail_msg("%s: test %s: '%s' is no call", path, test, line);
		}
	}
	files_free(d.model);
	fclose(f);
}

static void test_litmus(void **state)
{
	glob_t found;

	(void)state;
	assert_int_equal(glob("tests/files/*.litmus", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		run_litmus(found.gl_pathv[i]);
	globfree(&found);
	assert_true(ntests >= 30);
	assert_true(nof[FILES_EXT4] >= 25);
	assert_true(nof[FILES_XFS] >= 15);
	assert_int_equal(nwrong, 0);
}

/* ---- another way ----
 *
 * After each call, all that the program sees is copied. A crash state takes each name, each size and each sector from any copy since
 * that thing was synced; names that a rename tied together since then, from the same one. The zeros of a shorter size need that
 * size, or a later one. */

#define FILES 2u
#define NAMES 3u
#define SECTORS 2u
#define SECTOR 512u
#define CALLS 7

struct snapshot {
	int name[NAMES]; /* the file, -1: none */
	uint64_t size[FILES];
	char byte[FILES][SECTORS];
	int size_at[FILES];      /* of a state: when it had this size */
	int cut[FILES][SECTORS]; /* of a copy: when a shorter size made it zero; 0: it did not */
};

struct history {
	struct snapshot at[CALLS + 1];
	int n; /* of calls so far; at[n] is now */
	int names_from, size_from[FILES], byte_from[FILES][SECTORS];
	int tied[NAMES]; /* the same number: tied */
};

static void render(const struct snapshot *s, struct set *out)
{
	char text[256] = "", *end = text;

	for (uint32_t n = 0; n < NAMES; n++) {
		const int file = s->name[n];

		if (file < 0)
			continue;
		end += sprintf(end, "%s%c", end > text ? " " : "", 'a' + (int)n);
		for (uint64_t at = 0, run; at < s->size[file]; at += run) {
			const char byte = s->byte[file][at / SECTOR];

			run = 1;
			while (at + run < s->size[file] && s->byte[file][(at + run) / SECTOR] == byte)
				run++;
			end += sprintf(end, "%s%c%llu", at ? "" : "=", byte ? byte : '.', (unsigned long long)run);
		}
	}
	set_add(text, out);
}

/* Chooses the rest of the things, from number `thing` on. */
static void choose(const struct history *h, struct snapshot *s, int thing, struct set *out)
{
	const int nsizes = NAMES, nbytes = nsizes + FILES, nall = nbytes + FILES * SECTORS;

	if (thing == nall) {
		render(s, out);
	} else if (thing < nsizes) {
		bool is_first = true;

		for (int n = 0; n < thing; n++)
			is_first &= h->tied[n] != h->tied[thing];
		for (int t = h->names_from; t <= (is_first ? h->n : h->names_from); t++) {
			for (uint32_t n = 0; is_first && n < NAMES; n++)
				if (h->tied[n] == h->tied[thing])
					s->name[n] = h->at[t].name[n];
			choose(h, s, thing + 1, out);
		}
	} else if (thing < nbytes) {
		const int file = thing - nsizes;

		for (int t = h->size_from[file]; t <= h->n; t++) {
			s->size[file] = h->at[t].size[file];
			s->size_at[file] = t;
			choose(h, s, thing + 1, out);
		}
	} else {
		const int file = (thing - nbytes) / (int)SECTORS, sector = (thing - nbytes) % (int)SECTORS;

		for (int t = h->byte_from[file][sector]; t <= h->n; t++) {
			if (t > h->byte_from[file][sector] && h->at[t].byte[file][sector] == h->at[t - 1].byte[file][sector])
				continue; /* as before */
			if (h->at[t].cut[file][sector] > s->size_at[file])
				continue;
			s->byte[file][sector] = h->at[t].byte[file][sector];
			choose(h, s, thing + 1, out);
		}
	}
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

static void synced(struct history *h, int file)
{
	h->size_from[file] = h->n;
	for (uint32_t i = 0; i < SECTORS; i++)
		h->byte_from[file][i] = h->n;
}

static void names_synced(struct history *h)
{
	h->names_from = h->n;
	for (uint32_t i = 0; i < NAMES; i++)
		h->tied[i] = (int)i;
}

static void tie(struct history *h, int a, int b)
{
	const int from = h->tied[b], to = h->tied[a];

	for (uint32_t i = 0; i < NAMES; i++)
		if (h->tied[i] == from)
			h->tied[i] = to;
}

/* A random call, in both. Files are made first, so that each has its number. */
static void random_call(struct disk *d, struct history *h, uint64_t *seed)
{
	struct snapshot *s = &h->at[h->n + 1];
	const int file = (int)(next_random(seed) % FILES), a = (int)(next_random(seed) % NAMES), b = (int)(next_random(seed) % NAMES),
		  sector = (int)(next_random(seed) % SECTORS);
	const uint32_t number = (uint32_t)file + 2;
	const char x[2] = { (char)('a' + a), 0 }, y[2] = { (char)('a' + b), 0 }, byte = (char)('p' + h->n);

	*s = h->at[h->n++];
	next_call(d);
	switch (next_random(seed) % 9) {
	case 0:
	case 1:
		if (s->size[file] < (uint64_t)(sector + 1) * SECTOR)
			s->size[file] = (uint64_t)(sector + 1) * SECTOR;
		s->byte[file][sector] = byte;
		s->cut[file][sector] = 0;
		do_write(d, number, (uint64_t)sector * SECTOR, SECTOR, byte, false);
		return;
	case 2:
		for (uint32_t i = (uint32_t)sector; i < SECTORS; i++) {
			s->cut[file][i] = s->byte[file][i] ? h->n : s->cut[file][i];
			s->byte[file][i] = 0;
		}
		s->size[file] = (uint64_t)sector * SECTOR;
		do_size(d, number, (uint64_t)sector * SECTOR);
		return;
	case 3:
		synced(h, file);
		event(d, (struct trace_event){ .kind = PMT_FSYNC, .arg = { number } });
		return;
	case 4:
		names_synced(h);
		event(d, (struct trace_event){ .kind = PMT_FSYNC, .arg = { ROOT } });
		return;
	case 5:
		if (s->name[a] >= 0 && s->name[a] != s->name[b]) {
			tie(h, a, b);
			s->name[b] = s->name[a];
			s->name[a] = -1;
			do_move(d, x, y, false);
		}
		return;
	case 6:
		if (s->name[a] >= 0 && s->name[b] >= 0 && s->name[a] != s->name[b]) {
			tie(h, a, b);
			s->name[b] = h->at[h->n - 1].name[a];
			s->name[a] = h->at[h->n - 1].name[b];
			do_move(d, x, y, true);
		}
		return;
	case 7:
		if (s->name[a] < 0) {
			s->name[a] = file;
			name_event(d, PMT_NAME, number, x, PMT_NAMED_LINKED);
		}
		return;
	default:
		if (s->name[a] >= 0) {
			s->name[a] = -1;
			name_event(d, PMT_UNNAME, number, x, 0);
		}
	}
}

static void check_sequence(uint64_t seed)
{
	struct history h = { .tied = { 0, 1, 2 } };
	struct snapshot s = { 0 };
	struct set want = { 0 }, have;
	uint64_t random = seed;
	struct disk d;

	disk_init(&d);
	for (uint32_t n = 0; n < NAMES; n++)
		h.at[0].name[n] = -1;
	for (uint32_t i = 0; i < FILES; i++)
		assert_int_equal(new_file(&d, 0), i + 2);
	for (int i = 0; i < CALLS; i++)
		random_call(&d, &h, &random);
	choose(&h, &s, 0, &want);
	set_finish(&want);
	have = states_of(&d);
	for (size_t i = 0; i < want.at.n || i < have.at.n; i++) {
		const char *w = i < want.at.n ? want.at.at[i] : "no more", *g = i < have.at.n ? have.at.at[i] : "no more";

		if (strcmp(w, g) != 0)
			fail_msg("seed %llu: state %zu is '%s', not '%s'", (unsigned long long)seed, i, g, w);
	}
	set_release(&want);
	set_release(&have);
	files_free(d.model);
}

static void test_random(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++)
		check_sequence(seed);
}

/* ---- journals in another way ----
 *
 * A machine that does what ext4 and XFS do, in all orders: it has the inodes in memory, the transaction that is running, and the disk. Between two calls, it may write
 * back a block of a file or all of it (which allocates its delayed blocks and moves its size on disk), write back one sector in its place, move the size inside an allocated
 * block, or commit; a crash leaves what was committed and what the disk has. The data of the last block, if it is new, is there with its size on XFS. The data of other new
 * blocks comes sector by sector later.
 * All states that it can come to are followed. Block 0 has two sectors here, block 1 one. */

#define SLOTS 3u /* sectors of a file: at 0, 512 and 4096 */
#define BLOCKS 2u
#define MACHINES_MAX 400000u
#define JOURNAL_CALLS 6

static const uint64_t slot_at[SLOTS] = { 0, 512, 4096 };
static const uint32_t slot_block[SLOTS] = { 0, 0, 1 };

/* What a transaction has: names, sizes, which blocks are allocated and which physical block that is. */
struct metadata {
	int8_t name[NAMES]; /* the file, -1: none */
	uint16_t size[FILES];
	uint8_t physical[FILES][BLOCKS]; /* 0: a hole */
	uint8_t is_zeroed[FILES];        /* sector 1 was cut off inside its block: zeros come with the commit */
};

struct machine {
	struct metadata running, committed;
	uint8_t is_changed[FILES], is_folder_changed; /* since the last commit */
	char data[FILES][BLOCKS + 1][8][2];            /* by physical block, sector in the block */
};

/* What the program sees: the same for all machines. */
struct seen {
	int8_t name[NAMES];
	uint16_t size[FILES];
	char byte[FILES][SLOTS];
	uint8_t is_dirty[FILES][SLOTS];
	uint8_t next_physical[FILES][BLOCKS];
	uint8_t is_allocated[FILES]; /* block 0 certainly is */
	bool is_loose;               /* a file was cut off in a delayed block: the model allows zeros in it longer than the machine does */
};

struct machines {
	VEC(struct machine) list;
	struct map known; /* hashes */
};

static uint64_t hash_of(const struct machine *m)
{
	const uint8_t *at = (const uint8_t *)m;
	uint64_t h = 1469598103934665603u;

	for (size_t i = 0; i < sizeof *m; i++)
		h = (h ^ at[i]) * 1099511628211u;
	return h ? h : 1;
}

static void machine_add(struct machines *all, const struct machine *m)
{
	const uint64_t h = hash_of(m);

	if (map_get(&all->known, h))
		return;
	assert_true(all->list.n < MACHINES_MAX);
	map_set(&all->known, h, all);
	*vec_add(&all->list) = *m;
}

static char *cell(struct machine *m, uint32_t file, uint32_t slot, uint32_t physical)
{
	return &m->data[file][slot_block[slot]][physical][slot == 1];
}

static void commit(struct machine *m)
{
	for (uint32_t f = 0; f < FILES; f++) {
		if (m->running.is_zeroed[f] && m->running.physical[f][0])
			*cell(m, f, 1, m->running.physical[f][0]) = 0;
		m->running.is_zeroed[f] = 0;
	}
	m->committed = m->running;
	memset(m->is_changed, 0, sizeof m->is_changed);
	m->is_folder_changed = 0;
}

enum how {
	NO_DATA,  /* allocates delayed blocks */
	NEW_DATA, /* and writes their data */
	ALL_DATA, /* and what was in its place before, too */
};

/* Writes back some blocks of a file: those whose bits are set. */
static void write_back(struct machine *m, const struct seen *s, uint32_t f, unsigned blocks, enum how how)
{
	const uint16_t end = blocks & 2 || s->size[f] < 4096 ? s->size[f] : 4096;
	uint8_t had[BLOCKS];

	memcpy(had, m->running.physical[f], sizeof had);
	for (uint32_t k = 0; k < SLOTS; k++) {
		uint8_t *physical = &m->running.physical[f][slot_block[k]];

		if (slot_at[k] >= s->size[f] || (!*physical && !s->is_dirty[f][k]) || (had[slot_block[k]] && how != ALL_DATA) || !(blocks >> slot_block[k] & 1))
			continue;
		if (!*physical) {
			*physical = s->next_physical[f][slot_block[k]];
			m->is_changed[f] = 1;
		}
		if (how == NO_DATA)
			continue;
		*cell(m, f, k, *physical) = s->byte[f][k];
		if (k == 1)
			m->running.is_zeroed[f] = 0;
	}
	if (m->running.size[f] < end) {
		m->is_changed[f] = 1;
		m->running.size[f] = end;
	}
}

static bool is_delayed(const struct machine *m, const struct seen *s, uint32_t f, uint32_t block)
{
	for (uint32_t k = 0; k < SLOTS; k++)
		if (slot_block[k] == block && slot_at[k] < s->size[f] && s->is_dirty[f][k] && !m->running.physical[f][block])
			return true;
	return false;
}

/* Follows all that may happen between two calls. */
static void settle(struct machines *all, const struct seen *s, enum files_profile profile)
{
	for (size_t i = 0; i < all->list.n; i++) {
		for (uint32_t f = 0; f < FILES; f++) {
			struct machine m;
			const uint32_t last = s->size[f] > 4096;

			for (uint32_t b = 0; b < BLOCKS; b++) {
				m = all->list.at[i];
				if (!is_delayed(&m, s, f, b))
					continue;
				write_back(&m, s, f, 1u << b, profile == FILES_EXT4 || (b == 0 && m.running.size[f] > 4096) ? NO_DATA : NEW_DATA);
				machine_add(all, &m);
			}
			m = all->list.at[i];
			if (last && m.running.physical[f][0] && m.running.size[f] < 4096) {
				m.running.size[f] = 4096;
				m.is_changed[f] = 1;
				machine_add(all, &m);
			}
			m = all->list.at[i];
			if (s->size[f] > 0 && m.running.physical[f][last] && m.running.size[f] < s->size[f]) {
				m.running.size[f] = s->size[f];
				m.is_changed[f] = 1;
				machine_add(all, &m);
			}
			for (uint32_t k = 0; k < SLOTS; k++) {
				m = all->list.at[i];
				if (slot_at[k] >= s->size[f] || !m.running.physical[f][slot_block[k]])
					continue;
				*cell(&m, f, k, m.running.physical[f][slot_block[k]]) = s->byte[f][k];
				if (k == 1 && s->byte[f][k])
					m.running.is_zeroed[f] = 0;
				if (s->byte[f][k])
					machine_add(all, &m);
			}
		}
		struct machine m = all->list.at[i];

		commit(&m);
		machine_add(all, &m);
	}
}

static void machine_states(const struct machines *all, struct set *out)
{
	for (size_t i = 0; i < all->list.n; i++) {
		struct machine m = all->list.at[i];
		const struct metadata *c = &m.committed;
		char text[256] = "", *end = text;

		for (uint32_t n = 0; n < NAMES; n++) {
			const int f = c->name[n];

			if (f < 0)
				continue;
			end += sprintf(end, "%s%c", end > text ? " " : "", 'a' + (int)n);
			for (uint64_t at = 0, run; at < c->size[f]; at += run) {
				char now, byte = 0;

				for (run = 0; at + run < c->size[f]; run++) {
					const uint64_t here = at + run;
					const uint32_t k = here < 512 ? 0 : here < 1024 ? 1 : 2, b = slot_block[k];

					now = (here >= 1024 && here < 4096) || !c->physical[f][b] ? 0 : *cell(&m, (uint32_t)f, k, c->physical[f][b]);
					if (run > 0 && now != byte)
						break;
					byte = now;
				}
				end += sprintf(end, "%s%c%llu", at ? "" : "=", byte ? byte : '.', (unsigned long long)run);
			}
		}
		set_add(text, out);
	}
}

/* What each machine does when the program calls. */
enum what { DO_NAMES, DO_SIZE, DO_WRITE, DO_FSYNC, DO_FSYNC_FOLDER, DO_REPLACE };

static void do_call(struct machine *m, const struct seen *s, enum what what, uint32_t f, const int8_t *changed)
{
	switch (what) {
	case DO_REPLACE:
		write_back(m, s, f, 3, NO_DATA);
		m->running.size[f] = s->size[f]; /* in an allocated block, the kernel moves it at the write; here it may come later, but not so late */
		/* fallthrough */
	case DO_NAMES:
		memcpy(m->running.name, s->name, sizeof s->name);
		for (uint32_t i = 0; i < FILES; i++)
			m->is_changed[i] |= changed[i];
		m->is_folder_changed = 1;
		return;
	case DO_SIZE:
		m->running.size[f] = s->size[f];
		m->is_changed[f] = 1;
		for (uint32_t b = 0; b < BLOCKS; b++)
			if ((b ? 4096u : 0u) >= s->size[f])
				m->running.physical[f][b] = 0;
		m->running.is_zeroed[f] = s->size[f] == 512 || m->running.is_zeroed[f];
		return;
	case DO_WRITE: return;
	case DO_FSYNC:
		write_back(m, s, f, 3, ALL_DATA);
		if (m->is_changed[f])
			commit(m);
		return;
	case DO_FSYNC_FOLDER:
		if (m->is_folder_changed)
			commit(m);
	}
}

static enum what random_journal_call(struct disk *d, struct seen *s, uint32_t *f, int8_t *changed, uint64_t *seed, int i)
{
	const int a = (int)(next_random(seed) % NAMES), b = (int)(next_random(seed) % NAMES);
	const char x[2] = { (char)('a' + a), 0 }, y[2] = { (char)('a' + b), 0 }, byte = (char)('p' + i);
	const struct seen old = *s;
	uint32_t k = (uint32_t)(next_random(seed) % SLOTS), number;

	*f = (uint32_t)(next_random(seed) % FILES);
	number = *f + 2;
	next_call(d);
	switch (next_random(seed) % 10) {
	case 0:
	case 1:
	case 2:
		if (s->size[*f] == 0)
			k = 0; /* holes are another matter */
		if (s->size[*f] < slot_at[k] + SECTOR)
			s->size[*f] = (uint16_t)(slot_at[k] + SECTOR);
		s->byte[*f][k] = byte;
		s->is_dirty[*f][k] = 1;
		do_write(d, number, slot_at[k], SECTOR, byte, false);
		return DO_WRITE;
	case 3:
		if (s->size[*f] <= slot_at[k])
			return DO_WRITE; /* nothing */
		s->size[*f] = (uint16_t)slot_at[k];
		s->is_loose |= k > 0 && !s->is_allocated[*f];
		s->is_allocated[*f] &= k > 0;
		for (uint32_t n = k; n < SLOTS; n++) {
			s->byte[*f][n] = 0;
			s->is_dirty[*f][n] = 0;
			if (slot_at[n] % 4096 == 0)
				s->next_physical[*f][slot_block[n]]++;
		}
		do_size(d, number, slot_at[k]);
		return DO_SIZE;
	case 4:
		s->is_allocated[*f] = s->size[*f] > 0;
		event(d, (struct trace_event){ .kind = PMT_FSYNC, .arg = { number } });
		return DO_FSYNC;
	case 5: event(d, (struct trace_event){ .kind = PMT_FSYNC, .arg = { ROOT } }); return DO_FSYNC_FOLDER;
	case 6:
	case 7:
		if (s->name[a] < 0 || s->name[a] == s->name[b])
			return DO_WRITE;
		*f = (uint32_t)s->name[a];
		s->name[b] = s->name[a];
		s->name[a] = -1;
		changed[*f] = 1;
		if (old.name[b] >= 0)
			changed[(int)old.name[b]] = 1;
		do_move(d, x, y, false);
		return old.name[b] >= 0 ? DO_REPLACE : DO_NAMES;
	case 8:
		if (s->name[a] >= 0)
			return DO_WRITE;
		s->name[a] = (int8_t)*f;
		changed[*f] = 1;
		name_event(d, PMT_NAME, number, x, PMT_NAMED_LINKED);
		return DO_NAMES;
	default:
		if (s->name[a] < 0)
			return DO_WRITE;
		changed[(int)s->name[a]] = 1;
		name_event(d, PMT_UNNAME, (uint32_t)s->name[a] + 2, x, 0);
		s->name[a] = -1;
		return DO_NAMES;
	}
}

static size_t check_journal(enum files_profile profile, uint64_t seed)
{
	struct machines now = { 0 }, next;
	struct machine first;
	struct seen s;
	struct set want = { 0 }, have;
	uint64_t random = seed;
	size_t nstates;
	struct disk d;

	memset(&first, 0, sizeof first);
	memset(&s, 0, sizeof s);
	memset(s.next_physical, 1, sizeof s.next_physical);
	memset(s.name, -1, sizeof s.name);
	disk_init(&d);
	d.profile = profile;
	for (uint32_t i = 0; i < FILES; i++) {
		assert_int_equal(new_file(&d, 0), i + 2);
		s.name[i] = (int8_t)i;
		name_event(&d, PMT_NAME, i + 2, i ? "b" : "a", PMT_NAMED_LINKED);
	}
	event(&d, (struct trace_event){ .kind = PMT_FSYNC });
	memcpy(first.running.name, s.name, sizeof s.name);
	first.committed = first.running;
	machine_add(&now, &first);
	for (int i = 0; i < JOURNAL_CALLS; i++) {
		int8_t changed[FILES] = { 0 };
		const struct seen before = s;
		uint32_t f;
		enum what what = random_journal_call(&d, &s, &f, changed, &random, i);

		if (what == DO_REPLACE && profile == FILES_XFS)
			what = DO_NAMES;

		next = (struct machines){ 0 };
		for (size_t k = 0; k < now.list.n; k++) {
			struct machine m = now.list.at[k];

			do_call(&m, what == DO_REPLACE ? &before : &s, what, f, changed);
			memcpy(m.running.name, s.name, sizeof s.name);
			machine_add(&next, &m);
		}
		vec_release(&now.list);
		map_release(&now.known);
		now = next;
		settle(&now, &s, profile);
	}
	machine_states(&now, &want);
	set_finish(&want);
	have = states_of(&d);
	for (size_t i = 0; i < want.at.n; i++)
		if (!set_has(&have, want.at.at[i]))
			fail_msg("%s, seed %llu: the model lacks '%s'", files_profile_name(profile), (unsigned long long)seed, want.at.at[i]);
	for (size_t i = 0; !s.is_loose && i < have.at.n; i++)
		if (!set_has(&want, have.at.at[i]))
			fail_msg("%s, seed %llu: only the model has '%s'", files_profile_name(profile), (unsigned long long)seed, have.at.at[i]);
	nstates = s.is_loose ? 0 : have.at.n;
	set_release(&want);
	set_release(&have);
	vec_release(&now.list);
	map_release(&now.known);
	files_free(d.model);
	return nstates;
}

static void test_random_journal(void **state)
{
	(void)state;
	for (enum files_profile p = FILES_EXT4; p <= FILES_XFS; p++) {
		size_t n = 0;

		for (uint64_t seed = 1; seed <= 300; seed++)
			n += check_journal(p, seed);
		assert_true(n > 1000);
	}
}

/* ---- for bench/witness: prints what a crash can leave before the first call, and after each ---- */

static const char *printed_calls, *printed_profile;

static void print_states(const struct disk *d)
{
	struct set s = states_of(d);

	for (size_t i = 0; i < s.at.n; i++)
		printf("state %s\n", s.at.at[i]);
	printf("end\n");
	set_release(&s);
}

static void print_litmus(void **state)
{
	FILE *f = fopen(printed_calls, "re");
	struct disk d;
	char line[512];

	(void)state;
	assert_non_null(f);
	disk_init(&d);
	d.profile = files_profile_find(printed_profile);
	assert_int_not_equal(d.profile, FILES_PROFILES);
	print_states(&d);
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!call(&d, line))
			fail_msg("'%s' is no call", line);
		print_states(&d);
	}
	files_free(d.model);
	fclose(f);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest printing[] = { cmocka_unit_test(print_litmus) };
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_litmus), cmocka_unit_test(test_random), cmocka_unit_test(test_random_journal) };

	if (argc == 3) {
		printed_profile = argv[1];
		printed_calls = argv[2];
		return cmocka_run_group_tests(printing, NULL, NULL);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
