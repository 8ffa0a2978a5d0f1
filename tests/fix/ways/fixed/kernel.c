/* In the style of a kernel: macros of bytes, labels, a flag for the fence. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHELINE_SIZE 64
#define ALIGN_MASK (CACHELINE_SIZE - 1)
#define line_write_back(addr) asm volatile(".byte 0x66; xsaveopt %0" : "+m"(*(volatile char *)(addr)))
#define PERSISTENT_BARRIER() asm volatile("sfence\n" : : )

struct inode {
	uint64_t size, blocks, link[20];
};

static inline void flush_buffer(const void *buf, uint32_t len, bool wait)
{
	uint32_t i;

	len = len + ((unsigned long)(buf) & ALIGN_MASK);
	for (i = 0; i < len; i += CACHELINE_SIZE)
		line_write_back((const char *)buf + i);
	if (wait)
		PERSISTENT_BARRIER();
}

int grow(struct inode *i, uint64_t by);
int grow(struct inode *i, uint64_t by)
{
	int err = 0;

	i->size += by;
	flush_buffer(&i->size, sizeof(i->size), false);
	if (i->size > 1000) {
		err = -1;
		goto out;
	}
	i->blocks = i->size / 8;
	flush_buffer(&i->blocks, sizeof(i->blocks), false);
out:
	PERSISTENT_BARRIER();
	return err;
}

int shrink(struct inode *i, uint64_t by);
int shrink(struct inode *i, uint64_t by)
{
	int err = 0;

	if (i->size < by) {
		err = -1;
		goto out;
	}
	i->size -= by; /* BUG: missing-flush */
	flush_buffer(&i->size, sizeof(i->size), false);
	i->blocks = i->size / 8;
	flush_buffer(&i->blocks, sizeof(i->blocks), false);
out:
	PERSISTENT_BARRIER();
	return err;
}

void reset(struct inode *i);
void reset(struct inode *i)
{
	i->size = 0; /* BUG: missing-flush-fence */
	flush_buffer(&i->size, sizeof(i->size), false);
	PERSISTENT_BARRIER();
}
