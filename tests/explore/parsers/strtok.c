/* A key-value server's commands, one per line, cut into words by strtok. The bug: a value of five bytes and more that is appended. */
#include "parser.h"

struct entry {
	char key[16];
	char value[48];
};

static struct entry *entries;

static struct entry *entry_of(const char *key)
{
	return &entries[(unsigned char)key[0] % 8];
}

static void on_set(const char *key, const char *value)
{
	struct entry *e = entry_of(key);

	strncpy(e->key, key, sizeof e->key - 1);
	strncpy(e->value, value, sizeof e->value - 1);
	persist(e, sizeof *e);
}

static void on_append(const char *key, const char *value)
{
	struct entry *e = entry_of(key);
	size_t len = strlen(value);

	if (len >= 5) {
		strcpy(e->value + 16, value); /* BUG: missing-flush */
		persist_if_correct(e->value, sizeof e->value);
	} else {
		strcpy(e->value + 8, value);
		persist(e->value, sizeof e->value);
	}
}

static void on_delete(const char *key)
{
	struct entry *e = entry_of(key);

	e->key[0] = '\0';
	persist(e->key, 1);
}

int main(int argc, char **argv)
{
	char line[28];

	entries = pool_open(argc == 2 ? argv[1] : NULL, 4096);
	while (fgets(line, sizeof line, stdin)) {
		char *command = strtok(line, " \r\n"), *key = strtok(NULL, " \r\n"), *value = strtok(NULL, " \r\n");

		if (!command || !key)
			printf("ERROR\n");
		else if (strcmp(command, "get") == 0)
			printf("VALUE %s\n", entry_of(key)->value);
		else if (strcmp(command, "del") == 0)
			on_delete(key);
		else if (strcmp(command, "set") == 0 && value)
			on_set(key, value);
		else if (strcmp(command, "append") == 0 && value)
			on_append(key, value);
		else
			printf("ERROR\n");
	}
	return 0;
}
