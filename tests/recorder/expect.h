/* A test program knows its own trace: beside each operation it appends, as a line of JSON, the event that `pmend show
 * --format json` must print for it. run.py compares. Appending makes no PM event and no fence: it is plain code on
 * volatile memory that calls nothing, and is written to $EXPECT_FILE at the end (or at once, see expect_at_once). */
#ifndef EXPECT_H
#define EXPECT_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPECT_MAX_POOLS 64

/* A mapping of a part of a file. The latest mapping that contains an address counts. */
struct expect_pool {
	const char *path;
	char *base;
	uint64_t bytes, offset;
};

static struct expect_pool expect_pools[EXPECT_MAX_POOLS];
static int expect_npools;
static char expect_buf[4 << 20];
static size_t expect_len;
static int expect_fd = -2;
static int expect_at_once; /* write each line at once, for processes that fork or die */

#define CHECK(condition)                                                                                  \
	do {                                                                                              \
		if (!(condition)) {                                                                       \
			dprintf(2, "%s:%d: the program itself failed: %s\n", __FILE__, __LINE__, #condition); \
			_exit(99);                                                                        \
		}                                                                                         \
	} while (0)

static inline void expect_write(void)
{
	const char *path = getenv("EXPECT_FILE");

	if (expect_fd == -2)
		expect_fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
	if (expect_fd >= 0)
		CHECK(write(expect_fd, expect_buf, expect_len) == (ssize_t)expect_len);
	expect_len = 0;
}

__attribute__((destructor)) static inline void expect_finish(void)
{
	expect_write();
}

static inline void expect_char(char c)
{
	if (expect_len < sizeof(expect_buf))
		expect_buf[expect_len++] = c;
}

static inline void expect_text(const char *s)
{
	while (*s)
		expect_char(*s++);
}

static inline void expect_number(uint64_t n)
{
	char digits[20];
	int i = 0;

	do
		digits[i++] = (char)('0' + n % 10);
	while (n /= 10);
	while (i)
		expect_char(digits[--i]);
}

static inline void expect_key_text(const char *key, const char *text)
{
	expect_text(",\"");
	expect_text(key);
	expect_text("\":\"");
	expect_text(text);
	expect_char('"');
}

static inline void expect_key_number(const char *key, uint64_t n)
{
	expect_text(",\"");
	expect_text(key);
	expect_text("\":");
	expect_number(n);
}

static inline void expect_hex(const volatile unsigned char *p, size_t len_bytes)
{
	expect_text(",\"data\":\"");
	for (size_t i = 0; i < len_bytes; i++) {
		expect_char("0123456789abcdef"[p[i] >> 4]);
		expect_char("0123456789abcdef"[p[i] & 15]);
	}
	expect_char('"');
}

static inline void expect_pool(const char *path, volatile void *base, uint64_t bytes, uint64_t offset)
{
	CHECK(expect_npools < EXPECT_MAX_POOLS);
	expect_pools[expect_npools++] = (struct expect_pool){path, (char *)base, bytes, offset};
}

static inline void expect_place(const volatile void *ptr)
{
	for (int i = expect_npools - 1; i >= 0; i--) {
		const struct expect_pool *p = &expect_pools[i];
		uint64_t at = (uint64_t)ptr - (uint64_t)p->base;

		if (at < p->bytes) {
			expect_key_text("file", p->path);
			expect_key_number("offset", p->offset + at);
			return;
		}
	}
	expect_key_text("file", "not in any pool");
}

static inline void expect_begin(const char *kind)
{
	expect_text("{\"kind\":\"");
	expect_text(kind);
	expect_char('"');
}

static inline void expect_where(int line, const char *function)
{
	if (line)
		expect_key_number("line", (uint64_t)line);
	if (function)
		expect_key_text("function", function);
}

static inline void expect_end(void)
{
	expect_text("}\n");
	if (expect_at_once)
		expect_write();
}

/* Expects a store, with the bytes that memory holds now. */
static inline void expect_store(const char *kind, const volatile void *ptr, uint64_t size, int line, const char *function)
{
	expect_begin(kind);
	expect_place(ptr);
	expect_key_number("size", size);
	expect_hex((const volatile unsigned char *)ptr, size);
	expect_where(line, function);
	expect_end();
}

/* Expects a store with an argument: an order, or the bytes of an element. */
static inline void expect_store_arg(const char *kind, const volatile void *ptr, uint64_t size, uint64_t arg, int line, const char *function)
{
	expect_begin(kind);
	expect_place(ptr);
	expect_key_number("size", size);
	expect_hex((const volatile unsigned char *)ptr, size);
	expect_text(",\"args\":[");
	expect_number(arg);
	expect_char(']');
	expect_where(line, function);
	expect_end();
}

/* Expects n elements of `size` bytes, upwards or downwards. */
static inline void expect_stores(const char *kind, const volatile void *ptr, uint64_t size, int n, int down, int line, const char *function)
{
	for (int i = 0; i < n; i++)
		expect_store(kind, (const volatile char *)ptr + (down ? -1 : 1) * i * (int64_t)size, size, line, function);
}

/* Expects what a string instruction stores: one event per line of 64 bytes, the last line first if
 * it goes downwards. ptr is its first element. */
static inline void expect_string(const volatile void *ptr, uint64_t size, uint64_t n, int down, int line, const char *function)
{
	const volatile char *start = (const volatile char *)ptr - (down ? (n - 1) * size : 0), *end = start + n * size;

	while (start < end) {
		const volatile char *cut = down ? (const volatile char *)((uint64_t)(end - 1) & ~(uint64_t)63) : (const volatile char *)(((uint64_t)start | 63) + 1);

		cut = cut < start ? start : cut > end ? end : cut;
		if (down)
			expect_store_arg("store-vector", cut, (uint64_t)(end - cut), size, line, function);
		else
			expect_store_arg("store-vector", start, (uint64_t)(cut - start), size, line, function);
		*(down ? &end : &start) = cut;
	}
}

/* Expects a flush or a load: an address without bytes. */
static inline void expect_addr(const char *kind, const volatile void *ptr, uint64_t size, int line, const char *function)
{
	expect_begin(kind);
	expect_place(ptr);
	expect_key_number("size", size);
	expect_where(line, function);
	expect_end();
}

static inline void expect_event(const char *kind, int line, const char *function)
{
	expect_begin(kind);
	expect_where(line, function);
	expect_end();
}

/* Expects a write by the kernel, in pieces that do not cross lines of 64 bytes. */
static inline void expect_sys(const volatile void *ptr, uint64_t bytes)
{
	const volatile char *p = (const volatile char *)ptr;

	while (bytes) {
		uint64_t piece = 64 - ((uint64_t)p & 63);

		if (piece > bytes)
			piece = bytes;
		expect_store("store-sys", p, piece, 0, NULL);
		p += piece;
		bytes -= piece;
	}
}

/* Expects one or more events of this kind inside the range ("any": any store or flush; "copy": any
 * store or sfence). The replay of the trace proves that they are enough. */
static inline void expect_cover(const char *kind, const volatile void *ptr, uint64_t bytes)
{
	expect_begin("cover");
	expect_key_text("of", kind);
	expect_place(ptr);
	expect_key_number("size", bytes);
	expect_end();
}

/* Expects an event with exactly these arguments, such as EXPECT_ARGS("size", 2, file, bytes).
 * EXPECT_ANY stands for any value. */
#define EXPECT_ANY UINT64_MAX
static inline void expect_args(const char *kind, const volatile void *ptr, const char *text, int nargs, const uint64_t *args)
{
	expect_begin(kind);
	if (ptr)
		expect_place(ptr);
	if (text)
		expect_key_text("text", text);
	expect_text(",\"args\":[");
	for (int i = 0; i < nargs; i++) {
		if (i)
			expect_char(',');
		if (args[i] == EXPECT_ANY)
			expect_text("null");
		else
			expect_number(args[i]);
	}
	expect_char(']');
	expect_end();
}

#define ARGS(kind, ptr, ...)                                                                    \
	do {                                                                                    \
		const uint64_t args_[] = {__VA_ARGS__};                                         \
		expect_args(kind, ptr, NULL, (int)(sizeof(args_) / sizeof(args_[0])), args_);   \
	} while (0)

/* The events follow the statement that causes them, on one line, so that __LINE__ is the line of both. */
#define STORE_KIND(kind, ptr, size, ...)                               \
	do {                                                           \
		__VA_ARGS__;                                           \
		expect_store(kind, ptr, size, __LINE__, __func__);     \
	} while (0)
#define STORE_ARG(kind, ptr, size, arg, ...)                                       \
	do {                                                                       \
		__VA_ARGS__;                                                       \
		expect_store_arg(kind, ptr, size, arg, __LINE__, __func__);        \
	} while (0)
#define STORE(ptr, size, ...) STORE_KIND("store", ptr, size, __VA_ARGS__)
#define STORE_NT(ptr, size, ...) STORE_KIND("store-nt", ptr, size, __VA_ARGS__)
#define STORE_RMW(ptr, size, ...) STORE_KIND("store-rmw", ptr, size, __VA_ARGS__)
#define FLUSH(kind, ptr, ...)                                          \
	do {                                                           \
		__VA_ARGS__;                                           \
		expect_addr(kind, ptr, 64, __LINE__, __func__);        \
	} while (0)
#define FENCE(kind, ...)                                               \
	do {                                                           \
		__VA_ARGS__;                                           \
		expect_event(kind, __LINE__, __func__);                \
	} while (0)

/* Expects a plain store with its call chain: "f < main" means that f stored and main called it. */
static inline void expect_stack_store(const volatile void *ptr, uint64_t size, int line, const char *chain)
{
	expect_begin("store");
	expect_place(ptr);
	expect_key_number("size", size);
	expect_hex((const volatile unsigned char *)ptr, size);
	expect_where(line, NULL);
	expect_key_text("chain", chain);
	expect_end();
}
#define STORE_CHAIN(ptr, size, chain, ...)                             \
	do {                                                           \
		__VA_ARGS__;                                           \
		expect_stack_store(ptr, size, __LINE__, chain);        \
	} while (0)

/* Gives dir/name in memory that is never freed. */
static inline const char *pool_path(const char *dir, const char *name)
{
	static char paths[EXPECT_MAX_POOLS][512];
	static int n;

	CHECK(n < EXPECT_MAX_POOLS);
	snprintf(paths[n], sizeof(paths[n]), "%s/%s", dir, name);
	return paths[n++];
}

static inline char *pool_map_at(const char *path, uint64_t bytes, void *at, int flags)
{
	int fd = open(path, O_RDWR | O_CREAT, 0666);
	char *p;

	CHECK(fd >= 0);
	CHECK(ftruncate(fd, (off_t)bytes) == 0);
	p = (char *)mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);
	CHECK(p != MAP_FAILED);
	close(fd);
	expect_pool(path, p, bytes, 0);
	return p;
}

static inline char *pool_map(const char *path, uint64_t bytes)
{
	return pool_map_at(path, bytes, NULL, 0);
}

#endif
