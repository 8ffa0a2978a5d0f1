/* lexicon.c - words and how often they were seen, in an arena: FILE check | FILE (see WORD | forget WORD)... */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#pragma GCC target("clwb")
#include <immintrin.h>
#endif

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef size_t usize;

#define MAGIC 0x6c657869636f6e31ull
#define ARENA_BYTES 4096

typedef struct {
	const void *ptr;
	usize len;
} Slice;

#define slice_of(x) ((Slice){ &(x), sizeof(x) })
#define slice_from(p, n) ((Slice){ (p), (n) })

typedef struct {
	bool is_ok;
	u32 value;
} Result;

#define Ok(v) ((Result){ true, (v) })
#define Err() ((Result){ false, 0 })

typedef struct {
	u32 next; /* offset of a Word, 0 at the end */
	u32 len;
	u64 seen; /* 0 if the word is forgotten */
	u64 sum;  /* of the text */
	u8 text[];
} Word;

typedef struct {
	u64 magic;
	u64 used;
	u64 head; /* offset of a Word, 0 if there is none */
	u8 bytes[ARENA_BYTES];
} Arena;

static void persist(Slice s)
{
	uintptr_t end = (uintptr_t)s.ptr + s.len;

	for (uintptr_t line = (uintptr_t)s.ptr & ~(uintptr_t)63; line < end; line += 64)
#if defined(__aarch64__)
		__asm__ volatile(".arch armv8.2-a\n\tdc cvap, %0" : : "r"(line) : "memory");
	__asm__ volatile("dsb ish" : : : "memory");
#else
		_mm_clwb((void *)line);
	_mm_sfence();
#endif
}

static u64 slice_sum(Slice s)
{
	u64 sum = 1469598103934665603ull;

	for (usize i = 0; i < s.len; i++)
		sum = (sum ^ ((const u8 *)s.ptr)[i]) * 1099511628211ull;
	return sum;
}

static Word *word_at(Arena *a, u64 at)
{
	return at ? (Word *)&a->bytes[at] : NULL;
}

static Result arena_alloc(Arena *a, usize n)
{
	u64 at = (a->used + 7) & ~7ull;

	if (n > ARENA_BYTES || at > ARENA_BYTES - n)
		return Err();
	a->used = at + n;
	persist(slice_of(a->used));
	return Ok((u32)at);
}

static Word *lexicon_find(Arena *a, Slice text)
{
	for (Word *w = word_at(a, a->head); w; w = word_at(a, w->next))
		if (w->len == text.len && memcmp(w->text, text.ptr, text.len) == 0)
			return w;
	return NULL;
}

static Result lexicon_add(Arena *a, Slice text)
{
	Result at = arena_alloc(a, sizeof(Word) + text.len);
	Word *w;

	if (!at.is_ok)
		return at;
	w = word_at(a, at.value);
	w->next = (u32)a->head;
	w->len = (u32)text.len;
	w->seen = 1;
	w->sum = slice_sum(text);
	memcpy(w->text, text.ptr, text.len);
	persist(slice_from(w, sizeof(*w) + text.len));
	a->head = at.value;
	persist(slice_of(a->head));
	return at;
}

static Result lexicon_see(Arena *a, Slice text)
{
	Word *w = lexicon_find(a, text);

	if (!w)
		return lexicon_add(a, text);
	w->seen++;
	persist(slice_of(w->seen));
	return Ok((u32)w->seen);
}

static Result lexicon_forget(Arena *a, Slice text)
{
	Word *w = lexicon_find(a, text);

	if (!w)
		return Err();
	w->seen = 0;
	persist(slice_of(w->seen));
	return Ok(0);
}

static int lexicon_check(Arena *a)
{
	for (Word *w = word_at(a, a->head); w; w = word_at(a, w->next)) {
		if (a->used > ARENA_BYTES || w->text + w->len > &a->bytes[a->used] || w->sum != slice_sum(slice_from(w->text, w->len))) {
			fprintf(stderr, "lexicon: the word at %zu is damaged\n", (usize)((u8 *)w - a->bytes));
			return 1;
		}
		if (w->seen)
			printf("%.*s %llu\n", (int)w->len, (const char *)w->text, (unsigned long long)w->seen);
	}
	return 0;
}

static Arena *arena_open(const char *path, bool create)
{
	int fd = open(path, create ? O_RDWR | O_CREAT : O_RDWR, 0644);
	struct stat st;
	Arena *a;

	if (fd < 0)
		return NULL;
	if (create && ftruncate(fd, sizeof(Arena)) != 0) {
		close(fd);
		return NULL;
	}
	if (fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof(Arena)) {
		close(fd);
		return NULL;
	}
	a = mmap(NULL, sizeof(Arena), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (a == MAP_FAILED)
		return NULL;
	if (a->magic == MAGIC)
		return a;
	if (!create)
		return NULL;
	a->used = 8; /* 0 is no word */
	persist(slice_of(a->used));
	a->magic = MAGIC;
	persist(slice_of(a->magic));
	return a;
}

int main(int argc, char **argv)
{
	bool is_check = argc > 2 && strcmp(argv[2], "check") == 0;
	Arena *a;

	if (argc < 3) {
		fprintf(stderr, "usage: %s FILE check | FILE (see WORD | forget WORD)...\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	a = arena_open(argv[1], !is_check);
	if (!a) {
		puts("nothing there");
		return !is_check;
	}
	if (is_check)
		return lexicon_check(a);
	for (int i = 2; i + 1 < argc; i += 2) {
		Slice text = slice_from(argv[i + 1], strlen(argv[i + 1]));
		Result r = strcmp(argv[i], "see") == 0 ? lexicon_see(a, text) : lexicon_forget(a, text);

		printf("%s %s: %s\n", argv[i], argv[i + 1], r.is_ok ? "done" : "not possible");
	}
	return 0;
}
