/* Every way in which C writes a store, each on a line of its own with what must be said about it:
 *
 *	TYPES: type field offset, type field offset…     from the innermost struct outwards; the offset of the first stored byte in the instance
 *
 * "|" separates the stores of a line, "?" precedes what only optimisation makes of them. Words before: CALL, the store is made in the function
 * called here; CALLED, there, and says nothing by itself; INLINED, that function is part of this one; WIDE, several stores that begin there.
 * Run with a file's name, the program makes these stores to persistent memory. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct inner {
	uint32_t a, b;
	uint64_t c;
};

struct middle {
	uint64_t tag;
	struct inner in;
	struct inner row[4];
};

struct bits {
	uint32_t low : 3, high : 29;
	uint64_t next;
};

typedef struct {
	uint64_t first;
	union {
		uint64_t number;
		struct inner pair;
		char text[16];
	};
	union {
		uint32_t word;
		uint8_t byte[4];
	} u;
} unnamed_t;

struct list {
	struct list *next, *prev;
};

struct outer {
	uint64_t id;
	struct middle mid;
	uint64_t slot[8];
	char name[32];
	struct list link;
	unnamed_t un;
	struct bits bits;
	_Atomic uint64_t counter;
	double real;
	int grid[3][5];
	long long wide[2] __attribute__((aligned(16)));
	uint64_t tail[];
};

#define FIELD(p, f) ((p)->f)
#define SET(p, f, v)               \
	do {                       \
		(p)->f = (v);      \
	} while (0)
#define LINK(l, at)                      \
	do {                             \
		(at)->next = (l)->next;  \
		(at)->prev = (l);        \
	} while (0)

static __attribute__((noinline)) void put64(uint64_t *at, uint64_t value)
{
	*at = value; /* TYPES: CALLED */
}

static inline __attribute__((always_inline)) void put64_inline(uint64_t *at, uint64_t value)
{
	__atomic_store_n(at, value, __ATOMIC_RELEASE);
}

static __attribute__((noinline)) void fill(struct inner *in, uint32_t value)
{
	in->b = value; /* TYPES: inner b 4 */
}

static __attribute__((noinline)) void copy_bytes(void *to, const void *from, size_t n)
{
	memcpy(to, from, n); /* TYPES: CALLED */
}

void assign(struct outer *o, uint64_t v, int i)
{
	o->id = v; /* TYPES: outer id 0 */
	o->mid.tag = v; /* TYPES: middle tag 0, outer mid.tag 8 */
	o->mid.in.c = v; /* TYPES: inner c 8, middle in.c 16, outer mid.in.c 24 */
	(*o).real = (double)v; /* TYPES: outer real 264 */
	o->link.next = &o->link; /* TYPES: list next 0, outer link.next 192 */
	o[1].id = v; /* TYPES: outer id 0 */
	o->id += v; /* TYPES: outer id 0 */
	o->id++; /* TYPES: outer id 0 */
	--o->mid.in.a; /* TYPES: inner a 0, middle in.a 8, outer mid.in.a 16 */
	o->id = o->mid.tag = v + 1; /* TYPES: outer id 0 | middle tag 0, outer mid.tag 8 | ? outer id..mid 0 */
	if ((o->id = v) != 0) /* TYPES: outer id 0 */
		(i & 1 ? &o->mid.in : &o->mid.row[1])->c = v; /* TYPES: inner c 8 */
}

void arrays(struct outer *o, struct inner *rows, uint64_t v, int i)
{
	rows[i].a = (uint32_t)v; /* TYPES: inner a 0 */
	rows[i + 1].c = v; /* TYPES: inner c 8 */
	o->slot[i & 7] = v; /* TYPES: outer slot[] 96 */
	o->slot[3] = v; /* TYPES: outer slot[] 120 | ? outer slot[] 112 */
	o->mid.row[2].b = (uint32_t)v; /* TYPES: inner b 4, middle row[].b 60, outer mid.row[].b 68 */
	o->grid[1][2] = (int)v; /* TYPES: outer grid[][] 300 */
	*(o->slot + 2) = v; /* TYPES: outer slot[] 112 */
	*(&o->slot[i & 7] - 2) = v; /* TYPES: outer slot[] 96 */
	o->un.u.byte[2] = (uint8_t)v; /* TYPES: unnamed_t u.byte[] 26, outer un.u.byte[] 234 */
}

void fields(struct outer *o, uint64_t v)
{
	o->bits.high = (uint32_t)v; /* TYPES: bits high 0, outer bits.high 240 | ? bits low..high 0, outer bits.low..high 240 */
	o->un.number = v; /* TYPES: unnamed_t number 8, outer un.number 216 */
	o->un.pair.b = (uint32_t)v; /* TYPES: inner b 4, unnamed_t pair.b 12, outer un.pair.b 220 */
	o->un.text[0] = (char)v; /* TYPES: unnamed_t text[] 8, outer un.text[] 216 */
}

void casts(void *raw, uint64_t v, struct outer *o)
{
	((struct inner *)raw)->c = v; /* TYPES: inner c 8 */
	*(uint64_t *)&o->real = v; /* TYPES: outer real 264 */
	*(uint64_t *)((char *)o + 8) = v; /* TYPES: middle tag 0, outer mid.tag 8 */
	*(volatile uint32_t *)&o->mid.in.a = (uint32_t)v; /* TYPES: inner a 0, middle in.a 8, outer mid.in.a 16 */
}

void locals(struct outer *o, uint64_t v, int i)
{
	struct inner *in = &o->mid.in;
	uint64_t *p = &o->slot[1], *q;

	in->c = v; /* TYPES: inner c 8, middle in.c 16, outer mid.in.c 24 */
	*p = v; /* TYPES: outer slot[] 104 */
	q = i ? &o->id : &o->mid.tag;
	*q = v; /* TYPES: CALLED */
}

void calls(struct outer *o, struct inner *in, const char *text, uint64_t v)
{
	put64(&o->mid.tag, v); /* TYPES: CALL middle tag 0, outer mid.tag 8 */
	put64(&in->c, v); /* TYPES: CALL inner c 8 */
	put64_inline(&o->id, v); /* TYPES: INLINED outer id 0 */
	fill(&o->mid.in, 7); /* TYPES: CALL inner b 4, middle in.b 12, outer mid.in.b 20 */
	fill(in, 7); /* TYPES: CALL inner b 4 */
	memcpy(o->name, text, strlen(text)); /* TYPES: CALL outer name[] 160 */
	memset(in, 0, v); /* TYPES: CALL inner a 0 */
	strcpy(o->name, text); /* TYPES: CALL outer name[] 160 */
	copy_bytes(&o->un.pair, text, v); /* TYPES: CALL inner a 0, unnamed_t pair.a 8, outer un.pair.a 216 */
	memcpy(o->mid.row, in, v); /* TYPES: CALL inner a 0, middle row[].a 24, outer mid.row[].a 32 */
}

void structs(struct outer *o, const struct inner *in, uint64_t v)
{
	o->mid.in = *in; /* TYPES: WIDE inner a..c 0, middle in 8, outer mid.in 16 */
	o->un.pair = (struct inner){ 1, 2, v }; /* TYPES: WIDE inner a 0, unnamed_t pair.a 8, outer un.pair.a 216 */
}

void atomics(struct outer *o, uint64_t v)
{
	__atomic_store_n(&o->id, v, __ATOMIC_RELEASE); /* TYPES: outer id 0 */
	atomic_store_explicit(&o->counter, v, memory_order_release); /* TYPES: outer counter 256 */
	atomic_fetch_add(&o->counter, v); /* TYPES: outer counter 256 */
	__sync_fetch_and_or(&o->mid.tag, v); /* TYPES: middle tag 0, outer mid.tag 8 */
	o->counter = v; /* TYPES: outer counter 256 */
	__atomic_exchange_n(&o->mid.in.c, v, __ATOMIC_ACQ_REL); /* TYPES: inner c 8, middle in.c 16, outer mid.in.c 24 */
}

#ifdef __x86_64__ /* Arm has no intrinsics for this */
#include <emmintrin.h>
void streams(struct outer *o, uint64_t v)
{
	_mm_stream_si64(&o->wide[1], (long long)v); /* TYPES: INLINED ?outer wide[] 344 */
	_mm_stream_si128((__m128i *)o->wide, _mm_set1_epi64x((long long)v)); /* TYPES: INLINED ?outer wide[] 336 */
}
#else
void streams(struct outer *o, uint64_t v)
{
	(void)o, (void)v;
}
#endif

void macros(struct outer *o, struct list *l, uint64_t v)
{
	FIELD(o, id) = v; /* TYPES: outer id 0 | ? outer id..mid 0 */
	SET(o, mid.tag, v); /* TYPES: middle tag 0, outer mid.tag 8 | ? outer id..mid 0 */
	LINK(l, &o->link); /* TYPES: list next 0, outer link.next 192 | list prev 8, outer link.prev 200 | ? list next..prev 0, outer link 192 */
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0666) : -1;
	struct outer *o;
	struct inner *in;
	char text[] = "sixteen and more", zero[64] = "";

	if (fd < 0 || ftruncate(fd, 8192) != 0)
		return 2;
	o = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (o == MAP_FAILED)
		return 2;
	in = (struct inner *)((char *)o + 4096);
	for (int i = 0; i < argc; i++) {
		assign(o, (uint64_t)argc, i);
		arrays(o, in, (uint64_t)argc, i);
		fields(o, (uint64_t)argc);
		casts(in, (uint64_t)argc, o);
		locals(o, (uint64_t)argc, i);
		calls(o, in, i ? text : zero, 16);
		structs(o, in, (uint64_t)argc);
		atomics(o, (uint64_t)argc);
		streams(o, (uint64_t)argc);
		macros(o, &o->link, (uint64_t)argc);
	}
	return munmap(o, 8192);
}
