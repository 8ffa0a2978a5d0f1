/* Macros of the file itself; braces on lines of their own, indentation by spaces. */
#include <stddef.h>
#include <stdint.h>

void write_back(const void *addr, size_t len);
void wait_for_it(void);

#define FLUSH(addr, len) write_back((addr), (len))
#define FENCE() wait_for_it()
#define PERSIST(addr, len)    \
    do                        \
    {                         \
        FLUSH(addr, len);     \
        FENCE();              \
    } while (0)

struct root
{
    uint64_t a, b, c;
};

void store(struct root *r, int n);
void store(struct root *r, int n)
{
    if (n)
        r->a = 1; /* BUG: missing-flush-fence */
    else
        r->b = 2; /* BUG: missing-flush */
    FENCE();
    if (n > 1)
    {
        r->c = 3;
        PERSIST(&r->c, sizeof r->c);
    }
    if ((r->a = 5)) /* BUG: missing-flush-fence */
        FENCE();
}
