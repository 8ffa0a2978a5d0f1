/* seating.c - who sits where in a hall: FILE audit | FILE (book NAME COUNT | cancel NAME | rename NAME NAME)... */
#include <libpmemobj.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SEATS 96
#define NAME_LEN 64

POBJ_LAYOUT_BEGIN(seating);
POBJ_LAYOUT_ROOT(seating, struct hall);
POBJ_LAYOUT_TOID(seating, struct booking);
POBJ_LAYOUT_END(seating);

struct booking {
	uint32_t first;
	uint32_t count;
	uint64_t which; /* the name that counts */
	TOID(struct booking) next;
	char names[2][NAME_LEN];
};

struct hall {
	uint64_t ntaken;
	uint8_t taken[SEATS];
	TOID(struct booking) bookings;
};

static const char *booking_name(TOID(struct booking) b)
{
	return D_RO(b)->names[D_RO(b)->which];
}

static TOID(struct booking) booking_find(TOID(struct hall) hall, const char *name, TOID(struct booking) *prev)
{
	TOID(struct booking) b = D_RO(hall)->bookings;

	*prev = TOID_NULL(struct booking);
	while (!TOID_IS_NULL(b) && strcmp(booking_name(b), name) != 0) {
		*prev = b;
		b = D_RO(b)->next;
	}
	return b;
}

/* The first of count free seats in a row, -1 if there are none. */
static int seats_find(TOID(struct hall) hall, uint32_t count)
{
	uint32_t run = 0;

	for (uint32_t i = 0; i < SEATS; i++) {
		run = D_RO(hall)->taken[i] ? 0 : run + 1;
		if (run == count)
			return (int)(i + 1 - count);
	}
	return -1;
}

/* Inside a transaction. */
static void seats_set(TOID(struct hall) hall, uint32_t first, uint32_t count, int taken)
{
	TX_ADD_FIELD(hall, ntaken);
	if (taken)
		D_RW(hall)->ntaken += count;
	else
		D_RW(hall)->ntaken -= count;
	pmemobj_tx_add_range_direct(&D_RW(hall)->taken[first], count);
	memset(&D_RW(hall)->taken[first], taken, count);
}

static int hall_book(PMEMobjpool *pop, const char *name, uint32_t count)
{
	TOID(struct hall) hall = POBJ_ROOT(pop, struct hall);
	TOID(struct booking) b;
	int first = seats_find(hall, count);
	int ret = 0;

	if (first < 0 || count == 0)
		return -1;
	TX_BEGIN(pop) {
		b = TX_ZNEW(struct booking);
		D_RW(b)->first = (uint32_t)first;
		D_RW(b)->count = count;
		strncpy(D_RW(b)->names[0], name, NAME_LEN - 1);
		D_RW(b)->next = D_RO(hall)->bookings;
		TX_ADD_FIELD(hall, bookings);
		D_RW(hall)->bookings = b;
		seats_set(hall, (uint32_t)first, count, 1);
	} TX_ONABORT {
		ret = -1;
	} TX_END

	return ret;
}

static int hall_cancel(PMEMobjpool *pop, const char *name)
{
	TOID(struct hall) hall = POBJ_ROOT(pop, struct hall);
	TOID(struct booking) prev;
	TOID(struct booking) b = booking_find(hall, name, &prev);
	int ret = 0;

	if (TOID_IS_NULL(b))
		return -1;
	TX_BEGIN(pop) {
		if (TOID_IS_NULL(prev)) {
			TX_ADD_FIELD(hall, bookings);
			D_RW(hall)->bookings = D_RO(b)->next;
		} else {
			TX_ADD_FIELD(prev, next);
			D_RW(prev)->next = D_RO(b)->next;
		}
		seats_set(hall, D_RO(b)->first, D_RO(b)->count, 0);
		TX_FREE(b);
	} TX_ONABORT {
		ret = -1;
	} TX_END

	return ret;
}

/* Without a transaction: the new name goes where the old one is not. */
static int hall_rename(PMEMobjpool *pop, const char *name, const char *to)
{
	TOID(struct hall) hall = POBJ_ROOT(pop, struct hall);
	TOID(struct booking) prev;
	TOID(struct booking) b = booking_find(hall, name, &prev);
	char *spare;

	if (TOID_IS_NULL(b))
		return -1;
	spare = D_RW(b)->names[!D_RO(b)->which];
	memset(spare, 0, NAME_LEN);
	strncpy(spare, to, NAME_LEN - 1);
	pmemobj_persist(pop, spare, NAME_LEN);
	D_RW(b)->which = !D_RO(b)->which;
	pmemobj_persist(pop, &D_RW(b)->which, sizeof(D_RO(b)->which));
	return 0;
}

static int hall_audit(PMEMobjpool *pop)
{
	TOID(struct hall) hall = POBJ_ROOT(pop, struct hall);
	uint8_t taken[SEATS] = { 0 };
	uint64_t ntaken = 0;

	for (TOID(struct booking) b = D_RO(hall)->bookings; !TOID_IS_NULL(b); b = D_RO(b)->next) {
		if (D_RO(b)->which > 1 || booking_name(b)[0] == 0 || D_RO(b)->count > SEATS || D_RO(b)->first > SEATS - D_RO(b)->count) {
			fprintf(stderr, "a booking is damaged\n");
			return 1;
		}
		printf("%s: %u from %u on\n", booking_name(b), D_RO(b)->count, D_RO(b)->first);
		memset(taken + D_RO(b)->first, 1, D_RO(b)->count);
		ntaken += D_RO(b)->count;
	}
	if (ntaken != D_RO(hall)->ntaken || memcmp(taken, D_RO(hall)->taken, SEATS) != 0) {
		fprintf(stderr, "%lu seats are booked, %lu are taken\n", (unsigned long)ntaken, (unsigned long)D_RO(hall)->ntaken);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop;
	struct stat st;
	int is_there, rc = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: %s FILE audit | FILE (book NAME COUNT | cancel NAME | rename NAME NAME)...\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	is_there = stat(argv[1], &st) == 0 && st.st_size > 0;
	if (strcmp(argv[2], "audit") == 0 && !is_there) {
		puts("nothing there yet");
		return 0;
	}
	pop = is_there ? pmemobj_open(argv[1], POBJ_LAYOUT_NAME(seating)) : pmemobj_create(argv[1], POBJ_LAYOUT_NAME(seating), PMEMOBJ_MIN_POOL, 0644);
	if (!pop) {
		fprintf(stderr, "%s: %s\n", argv[1], pmemobj_errormsg());
		return 1;
	}
	if (strcmp(argv[2], "audit") == 0)
		rc = hall_audit(pop);
	for (int i = 2; strcmp(argv[2], "audit") != 0 && i + 1 < argc; i++) {
		const char *op = argv[i], *name = argv[++i];

		if (strcmp(op, "cancel") == 0)
			rc = hall_cancel(pop, name);
		else if (strcmp(op, "book") == 0 && i + 1 < argc)
			rc = hall_book(pop, name, (uint32_t)atoi(argv[++i]));
		else if (strcmp(op, "rename") == 0 && i + 1 < argc)
			rc = hall_rename(pop, name, argv[++i]);
		else
			rc = -1;
		printf("%s %s: %s\n", op, name, rc ? "not possible" : "done");
	}
	pmemobj_close(pop);
	return rc != 0;
}
