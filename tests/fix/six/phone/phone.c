/* phone.c - a book of phone numbers: FILE check | FILE (add NAME NUMBER | drop NAME | call NAME)... */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "nvm.h"

#define MAGIC 0x70686f6e652e3031ull
#define ENTRIES 8
#define NAME_LEN 72
#define NUMBER_LEN 40

struct entry {
	uint64_t is_used;
	uint64_t calls;
	char name[NAME_LEN];
	char number[NUMBER_LEN];
};

struct image {
	uint64_t magic;
	char pad[56];
	struct entry entries[ENTRIES];
};

struct book {
	struct nvm_map *map;
	struct image *image;
	nvm_persist_fn persist;
	nvm_drain_fn drain;
	nvm_memcpy_fn copy;
};

static struct entry *book_find(const struct book *b, const char *name)
{
	for (int i = 0; i < ENTRIES; i++) {
		struct entry *e = &b->image->entries[i];

		if (name ? e->is_used && strcmp(e->name, name) == 0 : !e->is_used)
			return e;
	}
	return NULL;
}

static int book_add(struct book *b, const char *name, const char *number)
{
	struct entry *e = book_find(b, NULL);
	char name_buf[NAME_LEN] = { 0 };
	char number_buf[NUMBER_LEN] = { 0 };

	if (!e || book_find(b, name) || !*name || strlen(name) >= NAME_LEN || strlen(number) >= NUMBER_LEN)
		return -1;
	strcpy(name_buf, name);
	strcpy(number_buf, number);
	e->calls = 0;
	b->persist(&e->calls, sizeof(e->calls));
	b->copy(e->name, name_buf, sizeof(name_buf), NVM_F_NODRAIN);
	b->copy(e->number, number_buf, sizeof(number_buf), NVM_F_NODRAIN);
	b->drain();
	e->is_used = 1;
	b->persist(&e->is_used, sizeof(e->is_used));
	return 0;
}

static int book_drop(struct book *b, const char *name)
{
	struct entry *e = book_find(b, name);

	if (!e)
		return -1;
	e->is_used = 0;
	b->persist(&e->is_used, sizeof(e->is_used));
	return 0;
}

static int book_call(struct book *b, const char *name)
{
	struct entry *e = book_find(b, name);

	if (!e)
		return -1;
	e->calls++;
	b->persist(&e->calls, sizeof(e->calls));
	printf("calling %s\n", e->number);
	return 0;
}

static int book_check(const struct book *b)
{
	for (int i = 0; i < ENTRIES; i++) {
		const struct entry *e = &b->image->entries[i];

		if (!e->is_used)
			continue;
		if (!e->name[0] || e->name[NAME_LEN - 1] || !e->number[0] || e->number[NUMBER_LEN - 1]) {
			fprintf(stderr, "phone: entry %d is damaged\n", i);
			return 1;
		}
		printf("%s %s, called %llu times\n", e->name, e->number, (unsigned long long)e->calls);
	}
	return 0;
}

static int book_open(struct book *b, const char *path, int create)
{
	int rc = nvm_map_new(&b->map, path, sizeof(struct image), create);

	if (rc != 0)
		return rc;
	b->image = nvm_map_get_address(b->map);
	b->persist = nvm_get_persist_fn(b->map);
	b->drain = nvm_get_drain_fn(b->map);
	b->copy = nvm_get_memcpy_fn(b->map);
	if (b->image->magic == MAGIC)
		return 0;
	if (!create) {
		nvm_map_delete(&b->map);
		return 1;
	}
	b->image->magic = MAGIC;
	b->persist(&b->image->magic, sizeof(b->image->magic));
	return 0;
}

int main(int argc, char **argv)
{
	int is_check = argc > 2 && strcmp(argv[2], "check") == 0;
	struct book b;
	int rc;

	if (argc < 3) {
		fprintf(stderr, "usage: %s FILE check | FILE (add NAME NUMBER | drop NAME | call NAME)...\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	rc = book_open(&b, argv[1], !is_check);
	if (rc != 0) {
		puts(rc > 0 ? "nothing there" : "cannot be opened");
		return rc < 0;
	}
	if (is_check)
		return book_check(&b);
	for (int i = 2; i + 1 < argc; i++) {
		const char *op = argv[i], *name = argv[++i];

		if (strcmp(op, "add") == 0 && i + 1 < argc)
			rc = book_add(&b, name, argv[++i]);
		else if (strcmp(op, "drop") == 0)
			rc = book_drop(&b, name);
		else if (strcmp(op, "call") == 0)
			rc = book_call(&b, name);
		else
			rc = -1;
		printf("%s %s: %s\n", op, name, rc ? "not possible" : "done");
	}
	nvm_map_delete(&b.map);
	return 0;
}
