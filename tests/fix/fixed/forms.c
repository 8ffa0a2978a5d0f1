/* Every form of statement that can hold a store. run.py makes a report of the marks; forms.fixed.c is what must come out. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void pm_flush(const void *addr, size_t len_bytes);
void pm_fence(void);
int work(int n);

struct node {
	uint64_t key, value;
	struct node *next;
	unsigned flag : 3;
	volatile int ready;
	char text[100];
	uint64_t table[32];
};

void simple(struct node *p);
void simple(struct node *p)
{
	p->key = 1; /* BUG: missing-flush */
	pm_flush(&p->key, sizeof p->key);
	pm_fence();
}

void both(struct node *p);
void both(struct node *p)
{
	p->value += 2; /* BUG: missing-flush-fence */
	pm_flush(&p->value, sizeof p->value);
	pm_fence();
	work(1);
}

void increment(struct node *p);
void increment(struct node *p)
{
	p->key++; /* BUG: missing-flush-fence */
	pm_flush(&p->key, sizeof p->key);
	pm_fence();
}

void after_if(struct node *p, int c);
void after_if(struct node *p, int c)
{
	if (c) {
		p->key = 1; /* BUG: missing-flush-fence */
		pm_flush(&p->key, sizeof p->key);
		pm_fence();
	}
	work(2);
}

void same_line(struct node *p, int c);
void same_line(struct node *p, int c)
{
	if (c) {
		p->key = 1; /* BUG: missing-flush-fence */
		pm_flush(&p->key, sizeof p->key);
		pm_fence();
	}
	work(2);
}

void if_else(struct node *p, int c);
void if_else(struct node *p, int c)
{
	if (c) {
		p->key = 1; /* BUG: missing-flush */
		pm_flush(&p->key, sizeof p->key);
	} else {
		p->value = 1; /* BUG: missing-flush */
		pm_flush(&p->value, sizeof p->value);
	}
	pm_fence();
}

void else_if(struct node *p, int c);
void else_if(struct node *p, int c)
{
	if (c) {
		work(1);
	} else if (c > 1) {
		p->key = 3; /* BUG: missing-flush-fence */
		pm_flush(&p->key, sizeof p->key);
		pm_fence();
	}
	work(2);
}

void condition(struct node *p);
void condition(struct node *p)
{
	if ((p->key = (uint64_t)work(1), pm_flush(&p->key, sizeof p->key), pm_fence(), p->key) > 3) /* BUG: missing-flush-fence */
		work(2);
}

void for_header(struct node *p);
void for_header(struct node *p)
{
	for (p->key = 0, pm_flush(&p->key, sizeof p->key), pm_fence(); work(1); p->value++, pm_flush(&p->value, sizeof p->value), pm_fence()) /* BUG: missing-flush */ /* BUG: missing-flush 2 */
		pm_fence();
}

void for_array(struct node *p, uint64_t v);
void for_array(struct node *p, uint64_t v)
{
	for (unsigned i = 0; i < 32; i++)
		p->table[i] = v; /* BUG: missing-flush-fence */
	pm_flush(p->table, 32 * sizeof *p->table);
	pm_fence();
}

void for_unknown(struct node *p, int n);
void for_unknown(struct node *p, int n)
{
	for (int i = 0; i < n; i++) {
		p->table[i] = 1; /* BUG: missing-flush-fence */
		pm_flush(&p->table[i], sizeof p->table[i]);
	}
	pm_fence();
}

void while_list(struct node *p);
void while_list(struct node *p)
{
	while (p) {
		p->key = 0; /* BUG: missing-flush-fence */
		pm_flush(&p->key, sizeof p->key);
		p = p->next;
	}
	pm_fence();
}

void do_while(struct node *p);
void do_while(struct node *p)
{
	do {
		p->key++; /* BUG: missing-flush-fence */
		pm_flush(&p->key, sizeof p->key);
		pm_fence();
	} while (work(3));
}

void cases(struct node *p, int c);
void cases(struct node *p, int c)
{
	switch (c) {
	case 1:
		p->key = 1; /* BUG: missing-flush */
		pm_flush(&p->key, sizeof p->key);
		break;
	case 2: p->key = 2; pm_flush(&p->key, sizeof p->key); break; /* BUG: missing-flush */
	default:
		p->key = 3; /* BUG: missing-flush */
		pm_flush(&p->key, sizeof p->key);
	}
	pm_fence();
}

void label(struct node *p);
void label(struct node *p)
{
	if (work(1))
		goto out;
	work(2);
out:
	p->key = 1; /* BUG: missing-flush-fence */
	pm_flush(&p->key, sizeof p->key);
	pm_fence();
}

void commas(struct node *p);
void commas(struct node *p)
{
	p->key = 1, p->value = 2; /* BUG: missing-flush */ /* BUG: missing-flush 2 */
	pm_flush(&p->key, sizeof p->key);
	pm_flush(&p->value, sizeof p->value);
	pm_fence();
}

void conditional(struct node *p, int c);
void conditional(struct node *p, int c)
{
	(void)(c ? (p->key = 1, pm_flush(&p->key, sizeof p->key), p->key) : (p->value = 2, pm_flush(&p->value, sizeof p->value), p->value)); /* BUG: missing-flush */ /* BUG: missing-flush 2 */
	pm_fence();
}

void and(struct node *p, int c);
void and(struct node *p, int c)
{
	if (c && (p->key = 5, pm_flush(&p->key, sizeof p->key), pm_fence(), p->key)) /* BUG: missing-flush-fence */
		work(1);
}

uint64_t returned(struct node *p);
uint64_t returned(struct node *p)
{
	uint64_t result = p->key = 7; /* BUG: missing-flush-fence */
	pm_flush(&p->key, sizeof p->key);
	pm_fence();
	return result;
}

uint64_t returned_old(struct node *p, int c);
uint64_t returned_old(struct node *p, int c)
{
	if (c) {
		uint64_t result = p->key++; /* BUG: missing-flush-fence */
		pm_flush(&p->key, sizeof p->key);
		pm_fence();
		return result;
	}
	return 0;
}

void declaration(struct node *p);
void declaration(struct node *p)
{
	uint64_t old = p->key++; /* BUG: missing-flush-fence */
	pm_flush(&p->key, sizeof p->key);
	pm_fence();

	work((int)old);
}

void argument(struct node *p);
void argument(struct node *p)
{
	work((int)(p->key = 9, pm_flush(&p->key, sizeof p->key), pm_fence(), p->key)); /* BUG: missing-flush-fence */
}

void chain(struct node *p, struct node *q);
void chain(struct node *p, struct node *q)
{
	p->key = q->key = 4; /* BUG: missing-flush */ /* BUG: missing-flush 2 */
	pm_flush(&p->key, sizeof p->key);
	pm_flush(&q->key, sizeof q->key);
	pm_fence();
}

#define SET(field, v) ((field) = (v))
#define SET_KEY(p, v)                 \
	do {                          \
		(p)->key = (v);       \
	} while (0)

void macros(struct node *p, struct node *q);
void macros(struct node *p, struct node *q)
{
	SET(p->key, 1); /* BUG: missing-flush */
	pm_flush(&p->key, sizeof p->key);
	SET_KEY(q, 2); /* BUG: missing-flush */
	pm_flush(&q->key, sizeof q->key);
	if (work(1)) {
		SET_KEY(q->next, 3); /* BUG: missing-flush */
		pm_flush(&q->next->key, sizeof q->next->key);
	}
	pm_fence();
}

void library(struct node *p, const char *s);
void library(struct node *p, const char *s)
{
	memcpy(p->text, s, 50); /* BUG: missing-flush */
	pm_flush(p->text, 50);
	memset(p->table, 0, sizeof p->table); /* BUG: missing-flush */
	pm_flush(p->table, sizeof p->table);
	strcpy(p->text, s); /* BUG: missing-flush */
	pm_flush(p->text, strlen(p->text) + 1);
	pm_fence();
}

char *library_returned(struct node *p, const char *s);
char *library_returned(struct node *p, const char *s)
{
	char *result = strcpy(p->text, s); /* BUG: missing-flush-fence */
	pm_flush(p->text, strlen(p->text) + 1);
	pm_fence();
	return result;
}

void bits(struct node *p);
void bits(struct node *p)
{
	p->flag = 1; /* BUG: missing-flush-fence */
	pm_flush(p, sizeof *p);
	pm_fence();
}

void stepping(char *to, const char *from, uint64_t *list);
void stepping(char *to, const char *from, uint64_t *list)
{
	int n = 0;

	while (*from) {
		*to++ = *from++; /* BUG: missing-flush */
		pm_flush(&to[-1], sizeof to[-1]);
	}
	list[n++] = 1; /* BUG: missing-flush */
	pm_flush(&list[n - 1], sizeof list[n - 1]);
	*list = (uint64_t)n; /* BUG: missing-flush */
	pm_flush(list, sizeof *list);
	pm_fence();
}

struct small {
	uint64_t a, b, c;
};

void fields(struct small *p);
void fields(struct small *p)
{
	p->a = 1; /* BUG: missing-flush-fence */
	p->b = 2; /* BUG: missing-flush-fence */
	p->c = 3; /* BUG: missing-flush-fence */
	pm_flush(p, sizeof *p);
	pm_fence();
}

void one_fence(struct node *p, struct node *q);
void one_fence(struct node *p, struct node *q)
{
	p->key = 1; /* BUG: missing-flush-fence */
	pm_flush(&p->key, sizeof p->key);
	q->key = 1; /* BUG: missing-flush-fence */
	pm_flush(&q->key, sizeof q->key);
	pm_fence();
	work(1);
	p->value = 1; /* BUG: missing-flush-fence */
	pm_flush(&p->value, sizeof p->value);
	pm_fence();
}

void struct_copy(struct small *p, const struct small *q);
void struct_copy(struct small *p, const struct small *q)
{
	*p = *q; /* BUG: missing-flush-fence */
	pm_flush(p, sizeof *p);
	pm_fence();
}

void atomics(struct node *p);
void atomics(struct node *p)
{
	__atomic_store_n(&p->key, 1, __ATOMIC_RELEASE); /* BUG: missing-flush */
	pm_flush(&p->key, sizeof p->key);
	pm_fence();
}

void only_fence(struct node *p);
void only_fence(struct node *p)
{
	p->key = 1;
	pm_flush(&p->key, sizeof p->key); /* BUG: missing-fence */
	pm_fence();
}

static void set(uint64_t *at, uint64_t value)
{
	*at = value;
}

void setter(struct node *p, struct node *q);
void setter(struct node *p, struct node *q)
{
	uint64_t in_volatile_memory[2];

	set(&in_volatile_memory[0], 2);
	set(&p->key, in_volatile_memory[0]); /* BUG: missing-flush-fence in set */
	pm_flush(&p->key, sizeof p->key);
	set(q->table, 1); /* BUG: missing-flush-fence in set */
	pm_flush(q->table, sizeof *q->table);
	pm_fence();
}

void comments(struct node *p, unsigned n);
void comments(struct node *p, unsigned n)
{
	p->key = 1; /* BUG: missing-flush-fence */ /* a comment that
						    * goes on */
	pm_flush(&p->key, sizeof p->key);
	pm_fence();
	work(1);
	for (unsigned i = 0; i < n; i++) {
		p->table[i] = i; // BUG: follows /* BUG: missing-flush-fence */
	}
	pm_flush(p->table, n * sizeof *p->table);
	pm_fence();
	work(2);
	p->value = 1; pm_flush(&p->value, sizeof p->value); pm_fence(); /* BUG: missing-flush-fence */ work(3);
}

void volatiles(struct node *p, void *base);
void volatiles(struct node *p, void *base)
{
	p->ready = 1; /* BUG: missing-flush */
	pm_flush((void *)&p->ready, sizeof p->ready);
	*(volatile uint64_t *)base = 2; /* BUG: missing-flush */
	pm_flush((void *)&*(volatile uint64_t *)base, sizeof(*(volatile uint64_t *)base));
	pm_fence();
}

struct node *find(int n);

void left(struct node *p);
void left(struct node *p)
{
	find(1)->key = 1; /* BUG: missing-flush, left: cannot be evaluated a second time */
	p = p->next = find(2); /* BUG: missing-flush, left: depends on */
	p->key = ({ p->next->value = 4; }); /* BUG: missing-flush 2, left: not in a block */
	while ((int)p->key++ < 3) /* BUG: missing-flush, left: value of the expression */
		pm_fence();
	p->next->next = p; /* BUG: missing-flush, left: the store may change what 'p->next->next' depends on */
	p->table[p->table[0]] = 1; /* BUG: missing-flush, left: the store may change what 'p->table[p->table[0]]' depends on */
}

struct record {
	uint64_t len, sum;
	char text[];
};

void what_follows(struct record *p, const char *text, size_t n);
void what_follows(struct record *p, const char *text, size_t n)
{
	p->len = n; /* BUG: missing-flush-fence */
	memcpy(p->text, text, n); /* BUG: missing-flush-fence */
	p->sum = 7; /* BUG: missing-flush-fence */
	pm_flush(p, sizeof *p + n);
	pm_fence();
}

void what_follows_another(struct record *p, struct record *q, const char *text, size_t n);
void what_follows_another(struct record *p, struct record *q, const char *text, size_t n)
{
	p->len = n; /* BUG: missing-flush-fence */
	pm_flush(&p->len, sizeof p->len);
	memcpy(q->text, text, n); /* BUG: missing-flush-fence */
	pm_flush(q->text, n);
	n = 1;
	q->sum = n; /* BUG: missing-flush-fence */
	pm_flush(&q->sum, sizeof q->sum);
	pm_fence();
}

void nested(struct node *p, unsigned n);
void nested(struct node *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < i; k++) {
			p->table[i - k] = k; /* BUG: missing-flush-fence */
			pm_flush(&p->table[i - k], sizeof p->table[i - k]);
		}
	pm_fence();
	work(1);
}

struct node *pops(struct node **head);
struct node *pops(struct node **head)
{
	struct node *p = *head;

	struct node *result = (*head = p->next, p); /* BUG: missing-flush-fence */
	pm_flush(head, sizeof *head);
	pm_fence();
	return result;
}

void else_of_another(struct node *p, int c)
{
	if (c > 0)
		if (c > 1) {
			p->key = 1; /* BUG: missing-flush */
			pm_flush(&p->key, sizeof p->key);
		} else {
			p->value = 2; /* BUG: missing-flush */
			pm_flush(&p->value, sizeof p->value);
		}
	else {
		p->ready = 3; /* BUG: missing-flush */
		pm_flush((void *)&p->ready, sizeof p->ready);
	}
	pm_fence();
}

void in_one_line(struct node *p, int c) { if (c) { p->key = 1; pm_flush(&p->key, sizeof p->key); } pm_fence(); } /* BUG: missing-flush */

void members(struct node *p, struct record *q, int c)
{
	if (c) {
		q->len = 1, q->sum = 2; /* BUG: missing-flush-fence *//* BUG: missing-flush-fence 2 */
		pm_flush(q, sizeof *q);
		pm_fence();
	}
	work(p != NULL);
}

void copies_text(struct node *p, const char *s)
{
	size_t i;

	for (i = 0; s[i] && i < sizeof p->text - 1; i++)
		p->text[i] = s[i]; /* BUG: missing-flush-fence */
	pm_flush(p->text, i * sizeof *p->text);
	pm_fence();
	work(1);
	for (i = 0; s[i++];) {
		p->text[i] = s[i]; /* BUG: missing-flush-fence */
		pm_flush(&p->text[i], sizeof p->text[i]);
	}
	pm_fence();
	work(2);
}

void under_condition(struct node *p)
{
	p->key = 1; /* BUG: missing-flush-fence */
	pm_flush(&p->key, sizeof p->key);
	pm_fence();
#ifndef NO_VALUE
	p->value = 2; /* BUG: missing-flush-fence */
	pm_flush(&p->value, sizeof p->value);
	pm_fence();
#endif
}

void tells(struct node *p)
{
	p->key = 1; /* BUG: missing-flush-fence */
	pm_flush(&p->key, sizeof p->key);
	pm_fence();
	p->value = (uint64_t)work(1); /* BUG: missing-flush-fence */
	pm_flush(&p->value, sizeof p->value);
	p->next
		->key = 3; /* BUG: missing-flush-fence */
	pm_flush(&p->next->key, sizeof p->next->key);
	pm_fence();
}

static void publish(uint64_t *to, uint64_t value)
{
	__atomic_store_n(to, value, __ATOMIC_RELEASE);
	pm_flush(to, sizeof *to);
	pm_fence();
}

void publishes(struct node *p)
{
	p->key = 1; /* BUG: missing-flush-fence */
	pm_flush(&p->key, sizeof p->key);
	pm_fence();
	__atomic_store_n(&p->value, 2, __ATOMIC_RELEASE); /* BUG: missing-flush-fence */
	pm_flush(&p->value, sizeof p->value);
	;
	p->table[3] = 4; /* BUG: missing-flush-fence */
	pm_flush(&p->table[3], sizeof p->table[3]);
	pm_fence();
	p->ready = 1; /* BUG: missing-flush-fence */
	pm_flush((void *)&p->ready, sizeof p->ready);
	p->table[9] = 5; /* BUG: missing-flush-fence */
	pm_flush(&p->table[9], sizeof p->table[9]);
	pm_fence();
	publish(&p->table[20], 6); /* BUG: missing-flush-fence in publish */
}

static void raise_it(struct record *q)
{
	q->sum = 1;
}

void raises(struct record *all, struct record *local, unsigned i)
{
	raise_it(&all[i]); /* BUG: missing-flush-fence in raise_it */
	pm_flush(&all[i].sum, sizeof all[i].sum);
	pm_fence();
	raise_it(local);
	pm_flush(&local->sum, sizeof local->sum);
}

uint64_t mix(uint64_t a); /* block.c: only computes */

void sums(struct record *q)
{
	q->len = 1; /* BUG: missing-flush-fence */
	q->sum = mix(q->len); /* BUG: missing-flush-fence */
	pm_flush(q, sizeof *q);
	pm_fence();
}
