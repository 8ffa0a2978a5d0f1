/* Parses "I/N", and makes sure that a part is written to a file as JSON: 'pmend merge' and
 * --continue read it there. */
#include "cmd/shard_option.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static struct shard parse(const struct command *c, const char *text)
{
	char *slash, *end;
	unsigned long index = strtoul(text, &slash, 10),
		      of = *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;

	if (!isdigit((unsigned char)text[0]) || *slash != '/' ||
	    !isdigit((unsigned char)slash[1]) || *end || of == 0 || of > SHARDS_MAX || index == 0 ||
	    index > of)
		die_usage(c, "--shard is I/N, part I of N, such as 2/7, not '%s'", text);
	return (struct shard){ (uint32_t)index, (uint32_t)of };
}

struct shard shard_option_set(const struct command *c, const struct shard_options *o,
			      struct reporting *r, bool has_trace)
{
	struct shard shard;

	if (!o->shard && !o->part)
		return (struct shard){ 0 };
	if (!o->shard)
		die_usage(c, "--continue needs --shard");
	if (!has_trace)
		die_usage(
			c,
			"--shard needs a trace, the same for all parts, since two recordings of a program are seldom equal: first 'pmend record -o FILE.pmt -- CMD'");
	shard = parse(c, o->shard);
	if (o->part && r->output && strcmp(o->part, r->output) != 0)
		die_usage(c, "--continue saves the part in %s, so -o cannot name %s", o->part,
			  r->output);
	if (o->part)
		r->output = o->part;
	if (!r->output)
		die_usage(
			c,
			"--shard writes its part to a file: give -o PART.json, or --continue PART.json");
	if (r->format && strcmp(r->format, "json") != 0)
		die_usage(c, "a part is written as JSON; 'pmend merge' makes other reports");
	r->format = "json";
	return shard;
}
