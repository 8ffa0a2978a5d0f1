// A function that fences before and after as it is told, by bytes that stand for a newer instruction, and waits; a class that calls it with casts.
#include <cstdint>

static const int line_bytes = 64;
static unsigned long wait_cycles = 0;

static inline void full_fence()
{
	asm volatile("mfence" ::: "memory");
}

static inline void clean(char *data, int len, bool front, bool back)
{
	volatile char *ptr = (char *)((unsigned long)data & ~(unsigned long)(line_bytes - 1));

	if (front)
		full_fence();
	for (; ptr < data + len; ptr += line_bytes) {
		unsigned long until = wait_cycles;

		asm volatile(".byte 0x66; xsaveopt %0" : "+m"(*(volatile char *)(ptr)));
		while (until > wait_cycles)
			asm volatile("pause");
	}
	if (back)
		full_fence();
}

class page {
public:
	void insert(uint64_t k, uint64_t v)
	{
		keys[count] = k;
		values[count] = v;
		clean((char *)&values[count], sizeof(uint64_t), false, true);
		count++;
		clean((char *)&count, sizeof(count), false, true);
	}

	void remove()
	{
		count -= 1; /* BUG: missing-flush-fence */
		clean((char *)&count, sizeof(count), false, true);
	}

	page *next;

private:
	uint64_t count, keys[8], values[8];
};

void link(page *p, page *next);
void link(page *p, page *next)
{
	p->next = next; /* BUG: missing-flush-fence */
	clean((char *)&p->next, sizeof(p->next), false, true);
}
