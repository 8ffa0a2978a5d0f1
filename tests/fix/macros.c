/* Macros of the file itself; braces on lines of their own, indentation by spaces. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

#define SET_IF(wanted, to, from, len) \
    do                                \
    {                                 \
        if (wanted)                   \
            memcpy(to, from, len);    \
        else                          \
            FENCE();                  \
    } while (0)

void copies(struct root *r, const uint64_t *from, int n);
void copies(struct root *r, const uint64_t *from, int n)
{
    SET_IF(1, r, from, sizeof *r); /* BUG: missing-flush-fence */
    SET_IF(n, &r->b, from, sizeof r->b); /* BUG: missing-flush-fence, left: under a condition of its own */
}

#define SET_MEMBER(p, member, value) ((p)->member = (value))

void sets(struct root *r);
void sets(struct root *r)
{
    SET_MEMBER(r, c, 4); /* BUG: missing-flush-fence */
}

struct flags
{
    unsigned low : 4, high : 4;
    uint64_t word;
};
#define LOW(f) (f)->low
#define WORD(f) (f)->word

void names(struct flags *f, uint64_t v[4], int i);
void names(struct flags *f, uint64_t v[4], int i)
{
    LOW(f) = 1; /* BUG: missing-flush-fence, left: is a bit-field */
    WORD(f) = v[i] = 2; /* BUG: missing-flush-fence *//* BUG: missing-flush-fence 2 */
}
