/* A file of sections, letter by letter through a table of states, with a callback for each thing that ends. The bug: a setting in the section "log" whose value
 * is of more than three letters. */
#include "parser.h"

enum state { LINE, SECTION, KEY, VALUE, COMMENT, NSTATES };
enum class { LETTER, OPEN, CLOSE, EQUALS, NEWLINE, HASH, OTHER, NCLASSES };

struct parser;
typedef void callback(struct parser *p);

struct parser {
	enum state state;
	char word[16], section[16], key[16];
	size_t len;
};

static struct store {
	char sections[8][16];
	uint64_t nsections __attribute__((aligned(64)));
	char log[64] __attribute__((aligned(64)));
	char value[64];
} *store;

static enum class class_of(char c)
{
	if (c >= 'a' && c <= 'z')
		return LETTER;
	switch (c) {
	case '[':
		return OPEN;
	case ']':
		return CLOSE;
	case '=':
		return EQUALS;
	case '\n':
		return NEWLINE;
	case '#':
		return HASH;
	}
	return OTHER;
}

static void on_section(struct parser *p)
{
	strcpy(p->section, p->word);
	if (store->nsections == 8)
		return;
	strcpy(store->sections[store->nsections], p->word);
	persist(store->sections[store->nsections], 16);
	store->nsections++;
	persist(&store->nsections, 8);
}

static void on_key(struct parser *p)
{
	strcpy(p->key, p->word);
}

static void on_value(struct parser *p)
{
	if (strcmp(p->section, "log") != 0) {
		strcpy(store->value, p->word);
		persist(store->value, sizeof store->value);
	} else if (p->len > 3) {
		strcpy(store->log, p->word); /* BUG: missing-flush */
		persist_if_correct(store->log, sizeof store->log);
	}
}

static const struct step {
	enum state next;
	callback *call;
} steps[NSTATES][NCLASSES] = {
	[LINE] = { [LETTER] = { KEY, NULL }, [OPEN] = { SECTION, NULL }, [HASH] = { COMMENT, NULL } },
	[SECTION] = { [LETTER] = { SECTION, NULL }, [CLOSE] = { COMMENT, on_section } },
	[KEY] = { [LETTER] = { KEY, NULL }, [EQUALS] = { VALUE, on_key } },
	[VALUE] = { [LETTER] = { VALUE, NULL }, [NEWLINE] = { LINE, on_value } },
	[COMMENT] = { [LETTER] = { COMMENT, NULL }, [OPEN] = { COMMENT, NULL }, [OTHER] = { COMMENT, NULL } },
};

static void feed(struct parser *p, char c)
{
	enum class class = class_of(c);
	const struct step *s = &steps[p->state][class];

	if (class == LETTER && p->len + 1 < sizeof p->word)
		p->word[p->len++] = c;
	p->word[p->len] = '\0';
	if (s->call)
		s->call(p);
	p->state = s->next;
	if (class != LETTER)
		p->len = 0;
}

int main(int argc, char **argv)
{
	FILE *in = argc == 3 ? fopen(argv[2], "rb") : NULL;
	struct parser p = { .state = LINE };
	int c;

	if (!in)
		return 2;
	store = pool_open(argv[1], sizeof *store);
	while ((c = getc(in)) != EOF)
		feed(&p, (char)c);
	fclose(in);
	return 0;
}
