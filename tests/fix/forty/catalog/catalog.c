/*
 * catalog.c -- the catalogue of a small library, kept in a pmemobj pool
 *
 * Books are hashed by their number. The root keeps the totals, which must
 * always agree with the books: the front desk trusts them.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <libpmemobj.h>

#define CATALOG_POOL_SIZE PMEMOBJ_MIN_POOL
#define CATALOG_BUCKETS 4 /* small branches have few books */
#define TITLE_LEN 44

POBJ_LAYOUT_BEGIN(catalog);
POBJ_LAYOUT_ROOT(catalog, struct catalog);
POBJ_LAYOUT_TOID(catalog, struct book);
POBJ_LAYOUT_END(catalog);

struct title {
	uint32_t sum;
	char text[TITLE_LEN];
};

struct book {
	uint64_t number;
	uint32_t copies; /* that the library owns */
	uint32_t lent;
	struct title title;
	TOID(struct book) next;
};

struct catalog {
	uint64_t nbooks;
	uint64_t ncopies;
	uint64_t on_loan;
	uint64_t reserved;
	TOID(struct book) bucket[CATALOG_BUCKETS];
};

static PMEMobjpool *pop;
static TOID(struct catalog) cat;

static uint32_t
title_sum(const char *text)
{
	uint32_t sum = 5381;

	for (size_t i = 0; i < TITLE_LEN && text[i] != '\0'; i++)
		sum = sum * 33 + (unsigned char)text[i];
	return sum;
}

/*
 * title_set -- writes a title; the caller has it in its transaction
 */
static void
title_set(struct title *t, const char *text)
{
	memset(t->text, 0, sizeof(t->text));
	strncpy(t->text, text, sizeof(t->text) - 1);
	t->sum = title_sum(t->text);
}

static unsigned
bucket_of(uint64_t number)
{
	return (unsigned)(number * 2654435761u >> 7) % CATALOG_BUCKETS;
}

static TOID(struct book)
book_find(uint64_t number)
{
	TOID(struct book) b = D_RO(cat)->bucket[bucket_of(number)];

	while (!TOID_IS_NULL(b) && D_RO(b)->number != number)
		b = D_RO(b)->next;
	return b;
}

/*
 * book_unlink -- takes a book out of its chain, inside a transaction
 */
static void
book_unlink(TOID(struct book) book)
{
	unsigned h = bucket_of(D_RO(book)->number);
	TOID(struct book) prev = D_RO(cat)->bucket[h];

	if (TOID_EQUALS(prev, book)) {
		TX_ADD_FIELD(cat, bucket[h]);
		D_RW(cat)->bucket[h] = D_RO(book)->next;
		return;
	}

	while (!TOID_EQUALS(D_RO(prev)->next, book))
		prev = D_RO(prev)->next;
	TX_ADD_FIELD(prev, next);
	D_RW(prev)->next = D_RO(book)->next;
}

/*
 * catalog_add -- a new book, with so many copies
 */
static int
catalog_add(uint64_t number, uint32_t copies, const char *title)
{
	unsigned h = bucket_of(number);
	int ret = 0;

	if (!TOID_IS_NULL(book_find(number))) {
		errno = EEXIST;
		return -1;
	}

	TX_BEGIN(pop) {
		TOID(struct book) b = TX_ZNEW(struct book);

		D_RW(b)->number = number;
		D_RW(b)->copies = copies;
		title_set(&D_RW(b)->title, title);
		D_RW(b)->next = D_RO(cat)->bucket[h];

		TX_ADD_FIELD(cat, bucket[h]);
		D_RW(cat)->bucket[h] = b;
		TX_ADD_FIELD(cat, nbooks);
		D_RW(cat)->nbooks++;
		TX_ADD_FIELD(cat, ncopies);
		D_RW(cat)->ncopies += copies;
	} TX_ONABORT {
		ret = -1;
	} TX_END

	return ret;
}

/*
 * catalog_lend -- one copy leaves the house
 */
static int
catalog_lend(uint64_t number)
{
	TOID(struct book) b = book_find(number);
	int ret = 0;

	if (TOID_IS_NULL(b) || D_RO(b)->lent == D_RO(b)->copies) {
		errno = TOID_IS_NULL(b) ? ENOENT : EBUSY;
		return -1;
	}

	TX_BEGIN(pop) {
		TX_ADD_FIELD(b, lent);
		D_RW(b)->lent++;
		TX_ADD_FIELD(cat, on_loan);
		D_RW(cat)->on_loan++;
	} TX_ONABORT {
		ret = -1;
	} TX_END

	return ret;
}

/*
 * catalog_return -- one copy comes back
 */
static int
catalog_return(uint64_t number)
{
	TOID(struct book) b = book_find(number);
	int ret = 0;

	if (TOID_IS_NULL(b) || D_RO(b)->lent == 0) {
		errno = ENOENT;
		return -1;
	}

	TX_BEGIN(pop) {
		TX_SET(b, lent, D_RO(b)->lent - 1);
		TX_SET(cat, on_loan, D_RO(cat)->on_loan - 1);
	} TX_ONABORT {
		ret = -1;
	} TX_END

	return ret;
}

/*
 * catalog_retitle -- corrects the title of a book
 */
static int
catalog_retitle(uint64_t number, const char *title)
{
	TOID(struct book) b = book_find(number);
	int ret = 0;

	if (TOID_IS_NULL(b)) {
		errno = ENOENT;
		return -1;
	}

	TX_BEGIN(pop) {
		TX_ADD_FIELD(b, title);
		title_set(&D_RW(b)->title, title);
	} TX_ONABORT {
		ret = -1;
	} TX_END

	return ret;
}

/*
 * catalog_move -- copies that were entered under the wrong number
 */
static int
catalog_move(uint64_t from, uint64_t to, uint32_t copies)
{
	TOID(struct book) src = book_find(from);
	TOID(struct book) dst = book_find(to);
	int ret = 0;

	if (TOID_IS_NULL(src) || TOID_IS_NULL(dst) || from == to ||
	    D_RO(src)->copies - D_RO(src)->lent < copies) {
		errno = EINVAL;
		return -1;
	}

	TX_BEGIN(pop) {
		TX_ADD_FIELD(src, copies);
		D_RW(src)->copies -= copies;
		TX_ADD_FIELD(dst, copies);
		D_RW(dst)->copies += copies;
	} TX_ONABORT {
		ret = -1;
	} TX_END

	return ret;
}

/*
 * catalog_remove -- a book that nobody has on loan
 */
static int
catalog_remove(uint64_t number)
{
	TOID(struct book) b = book_find(number);
	int ret = 0;

	if (TOID_IS_NULL(b) || D_RO(b)->lent != 0) {
		errno = TOID_IS_NULL(b) ? ENOENT : EBUSY;
		return -1;
	}

	TX_BEGIN(pop) {
		book_unlink(b);
		TX_SET(cat, nbooks, D_RO(cat)->nbooks - 1);
		TX_SET(cat, ncopies, D_RO(cat)->ncopies - D_RO(b)->copies);
		TX_FREE(b);
	} TX_ONABORT {
		ret = -1;
	} TX_END

	return ret;
}

/*
 * catalog_list -- prints all books; the totals must agree with them
 */
static int
catalog_list(void)
{
	uint64_t nbooks = 0, ncopies = 0, on_loan = 0;

	for (unsigned h = 0; h < CATALOG_BUCKETS; h++) {
		TOID(struct book) b = D_RO(cat)->bucket[h];

		for (; !TOID_IS_NULL(b); b = D_RO(b)->next) {
			const struct book *book = D_RO(b);

			if (bucket_of(book->number) != h ||
			    book->lent > book->copies ||
			    book->title.sum != title_sum(book->title.text)) {
				fprintf(stderr, "book %" PRIu64 " is damaged\n",
				    book->number);
				return -1;
			}
			printf("%" PRIu64 " %s: %u of %u\n", book->number,
			    book->title.text, book->copies - book->lent,
			    book->copies);
			nbooks++;
			ncopies += book->copies;
			on_loan += book->lent;
		}
	}

	if (nbooks != D_RO(cat)->nbooks || ncopies != D_RO(cat)->ncopies ||
	    on_loan != D_RO(cat)->on_loan) {
		fprintf(stderr, "the totals are wrong\n");
		return -1;
	}
	printf("%" PRIu64 " books, %" PRIu64 " copies, %" PRIu64 " on loan\n",
	    nbooks, ncopies, on_loan);
	return 0;
}

/*
 * run_command -- one command of the command line, such as "lend 7"
 */
static int
run_command(const char *command)
{
	char word[8], text[TITLE_LEN];
	uint64_t a, b;
	uint32_t n;

	if (sscanf(command, "add %" SCNu64 " %u %43[^\n]", &a, &n, text) == 3)
		return catalog_add(a, n, text);
	if (sscanf(command, "move %" SCNu64 " %" SCNu64 " %u", &a, &b, &n) == 3)
		return catalog_move(a, b, n);
	if (sscanf(command, "title %" SCNu64 " %43[^\n]", &a, text) == 2)
		return catalog_retitle(a, text);
	if (sscanf(command, "%7s %" SCNu64, word, &a) == 2) {
		if (strcmp(word, "lend") == 0)
			return catalog_lend(a);
		if (strcmp(word, "return") == 0)
			return catalog_return(a);
		if (strcmp(word, "remove") == 0)
			return catalog_remove(a);
	}
	errno = EINVAL;
	return -1;
}

int
main(int argc, char *argv[])
{
	struct stat st;
	int ret = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: %s pool [command...]\n", argv[0]);
		return 2;
	}

	if (stat(argv[1], &st) != 0 || st.st_size == 0) {
		if (argc == 2) {
			printf("nothing there yet\n");
			return 0;
		}
		pop = pmemobj_create(argv[1], POBJ_LAYOUT_NAME(catalog),
		    CATALOG_POOL_SIZE, 0666);
	} else {
		pop = pmemobj_open(argv[1], POBJ_LAYOUT_NAME(catalog));
	}
	if (pop == NULL) {
		fprintf(stderr, "%s: %s\n", argv[1], pmemobj_errormsg());
		return 1;
	}

	cat = POBJ_ROOT(pop, struct catalog);
	for (int i = 2; i < argc && ret == 0; i++) {
		ret = run_command(argv[i]);
		if (ret != 0)
			perror(argv[i]);
	}
	if (ret == 0)
		ret = catalog_list();

	pmemobj_close(pop);
	return ret == 0 ? 0 : 1;
}
