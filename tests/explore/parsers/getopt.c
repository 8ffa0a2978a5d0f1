/* A tool that makes and changes a pool, with options by getopt. The bug: a forced growth to 64 blocks and more. */
#include "parser.h"

struct super {
	uint64_t blocks;
	uint64_t is_open __attribute__((aligned(64)));
	char label[32] __attribute__((aligned(64)));
};

static int usage(void)
{
	fprintf(stderr, "usage: getopt [-cfv] [-l LABEL] [-n BLOCKS] POOL\n");
	return 2;
}

int main(int argc, char **argv)
{
	int option, is_forced = 0, is_verbose = 0, must_close = 0;
	const char *label = NULL;
	unsigned long blocks = 0;
	struct super *super;

	while ((option = getopt(argc, argv, "cfvl:n:")) != -1)
		switch (option) {
		case 'c':
			must_close = 1;
			break;
		case 'f':
			is_forced = 1;
			break;
		case 'v':
			is_verbose = 1;
			break;
		case 'l':
			label = optarg;
			break;
		case 'n':
			blocks = strtoul(optarg, NULL, 10);
			break;
		default:
			return usage();
		}
	if (optind != argc - 1)
		return usage();
	super = pool_open(argv[optind], sizeof *super);
	super->is_open = 1;
	persist(&super->is_open, 8);
	if (label) {
		strncpy(super->label, label, sizeof super->label - 1);
		persist(super->label, sizeof super->label);
	}
	if (blocks >= 64 && !is_forced)
		fprintf(stderr, "so many blocks need -f\n");
	else if (blocks >= 64) {
		super->blocks = blocks; /* BUG: missing-flush */
		persist_if_correct(&super->blocks, 8);
	} else if (blocks) {
		super->blocks = blocks;
		persist(&super->blocks, 8);
	}
	if (is_verbose)
		printf("%lu blocks\n", (unsigned long)super->blocks);
	if (must_close) {
		super->is_open = 0;
		persist(&super->is_open, 8);
	}
	return 0;
}
