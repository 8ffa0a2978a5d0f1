/* A whole object is written back where one line of it was stored to; and braces and conditions that stand only for what goes. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__aarch64__)
#define LINE_CLEAN(p) __asm__ volatile("dc cvap, %0" : : "r"(p) : "memory")
#define BARRIER() __asm__ volatile("dsb ish" : : : "memory")
#else
#define LINE_CLEAN(p) __asm__ volatile("clwb %0" : "+m"(*(volatile char *)(p)) : : "memory")
#define BARRIER() __asm__ volatile("sfence" : : : "memory")
#endif

#define RANGE_CLEAN(p, n)                                                   \
	do {                                                                \
		for (size_t at_ = 0; at_ < (n) + 63; at_ += 64)             \
			LINE_CLEAN((const char *)(p) + at_);                \
	} while (0)

enum { PAGES = 4, KEYS = 4 };

/* Three lines. */
struct page {
	uint64_t id, lsn;
	uint64_t keys[KEYS];
	char body[144];
};

struct file {
	uint64_t magic, npages;
	char pad[48];
	struct page pages[PAGES];
};

static void pages_make(struct file *f)
{
	for (int i = 0; i < PAGES; i++) {
		f->pages[i].id = (uint64_t)i;
		RANGE_CLEAN(&f->pages[i], sizeof(f->pages[i])); /* BUG: flush-clean 1 seldom */
	}
	BARRIER();
}

/* id and lsn may be in two lines: a page need not begin at one. */
static void pages_stamp(struct file *f, uint64_t lsn)
{
	for (int i = 0; i < PAGES; i++) {
		f->pages[i].id = (uint64_t)i;
		f->pages[i].lsn = lsn;
		RANGE_CLEAN(&f->pages[i], sizeof(f->pages[i])); /* BUG: flush-clean 1 seldom, suggested: the store in line 50 */
	}
	BARRIER();
}

static void page_fill(struct page *p, const char *text)
{
	p->id = 1;
	strncpy(p->body, text, sizeof(p->body));
	RANGE_CLEAN(p, sizeof(*p)); /* BUG: flush-clean 1 seldom, suggested: the store in line 59 */
	BARRIER();
}

/* One of its callers stores more than it does. */
static void page_note(struct page *p, uint64_t id)
{
	p->id = id;
	RANGE_CLEAN(p, sizeof(*p)); /* BUG: flush-clean 1 seldom, suggested: the store in line 67 */
	BARRIER();
}

static void pages_note(struct file *f)
{
	page_note(&f->pages[0], 1);
	f->pages[1].body[100] = 1;
	page_note(&f->pages[1], 2);
}

static void file_grow(struct file *f, int really)
{
	f->npages = PAGES;
	LINE_CLEAN(&f->npages);
	BARRIER();
	if (really) {
		LINE_CLEAN(&f->npages); /* BUG: flush-clean */
		pages_make(f);
	}
	if (f->magic)
		BARRIER(); /* BUG: redundant-fence */

	BARRIER(); /* BUG: redundant-fence */
}

static int file_shrink(struct file *f, int really)
{
	f->npages = 0;
	LINE_CLEAN(&f->npages);
	BARRIER();
	if (really)
		return 1;
	else
		LINE_CLEAN(&f->npages); /* BUG: flush-clean, suggested: something must replace */
	return 0;
}

int main(int argc, char **argv)
{
	struct file *f = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);

	pages_make(f);
	pages_stamp(f, 1);
	page_fill(&f->pages[0], argv[0]);
	pages_note(f);
	file_grow(f, argc);
	return file_shrink(f, argc);
}
