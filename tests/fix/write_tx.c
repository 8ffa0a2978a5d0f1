/* Writes transactions as told, without a trace: BUILD_DIR LIBEXEC and a description on standard input, one call path a line,
 * ROLE FILE LINE COLUMN FUNCTION [FILE LINE COLUMN FUNCTION]…, innermost first. `interval`: must be in the transaction, `call`: the same, by libpmemobj; `within`: the same, and logged; `tx`: the same, in
 * one that is there already; `store`, `library`, `logged`: observed; `persist`: a bug of its own, which a flush and a fence mend. An empty line begins another bug. Prints what became of each bug, and the files that change. With
 * a third argument, it is interrupted when it tells of that, and prints how many files were not compiled with the change, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repair/repair.h"
#include "util/alloc.h"
#include "util/vec.h"

#define BUGS_MAX 256

typedef VEC(struct repair_place) places;

/* Interrupts at one stage. */
struct stop {
	const char *at;
	bool is_there;
};

static void stop_tell(const char *what, size_t done, size_t all, void *arg)
{
	struct stop *s = arg;

	(void)all;
	s->is_there |= strcmp(what, s->at) == 0 && done > 0;
}

static bool stop_is_there(void *arg)
{
	return ((struct stop *)arg)->is_there;
}

static struct repair_place parse(char *line, char **role)
{
	VEC(struct repair_frame) frames = { 0 };
	char *rest, *file;

	*role = strtok_r(line, " \n", &rest);
	while (*role && (file = strtok_r(NULL, " \n", &rest))) {
		struct repair_frame f = { .file = xstrdup(file) };

		f.line = (uint32_t)atoi(strtok_r(NULL, " \n", &rest));
		f.column = (uint32_t)atoi(strtok_r(NULL, " \n", &rest));
		f.function = xstrdup(strtok_r(NULL, " \n", &rest));
		*vec_add(&frames) = f;
	}
	return (struct repair_place){ .role = "store", .frames = frames.at, .nframes = frames.n };
}

int main(int argc, char **argv)
{
	static const char *const words[] = { [REPAIR_MENDED] = "mended", [REPAIR_DECLINED] = "left", [REPAIR_NOT_APPLICABLE] = "not applicable" };
	struct stop stop = { argc > 3 ? argv[3] : "", false };
	const struct repair_watch watch = { stop_tell, stop_is_there, &stop };
	struct repair_options options = { .watch = &watch };
	struct repair_bug *bugs = xcalloc(BUGS_MAX, sizeof *bugs);
	struct source_database db;
	const struct source_api *api;
	places observed = { 0 }, stores[BUGS_MAX] = { 0 };
	struct repair *r;
	struct error err;
	char line[4096], *role;
	size_t n = 1;

	if (argc < 3 || !(api = source_load(argv[2], &err)) || api->open(argv[1], &db, &err) < 0) {
		fprintf(stderr, "%s\n", argc >= 3 ? err.msg : "wrong usage");
		return 2;
	}
	while (fgets(line, sizeof line, stdin)) {
		struct repair_place p = parse(line, &role);

		if (!role && n == BUGS_MAX) {
			fprintf(stderr, "too many bugs\n");
			return 2;
		}
		if (!role) {
			n++;
			continue;
		}
		if (strcmp(role, "library") == 0 || strcmp(role, "call") == 0)
			p.role = "library";
		if (strcmp(role, "logged") == 0)
			p.role = "logged";
		if (strcmp(role, "interval") == 0 || strcmp(role, "within") == 0 || strcmp(role, "tx") == 0 || strcmp(role, "call") == 0) {
			bugs[n - 1].cure.kind = *role == 't' ? CURE_LOG : CURE_TX;
			*vec_add(&stores[n - 1]) = p;
		}
		if (strcmp(role, "persist") == 0)
			*vec_add(&stores[n - 1]) = p;
		if (strcmp(role, "within") == 0)
			p.role = "logged";
		bugs[n - 1].kind = strcmp(role, "persist") == 0 ? "missing-flush-fence" : "atomicity";
		*vec_add(&observed) = p;
	}
	r = repair_new(api, &db, &options);
	for (size_t i = 0; i < n; i++) {
		bugs[i].id = "";
		bugs[i].places = stores[i].at;
		bugs[i].nplaces = stores[i].n;
		bugs[i].cure.stores = stores[i].at;
		bugs[i].cure.nstores = stores[i].n;
		bugs[i].cure.observed = observed.at;
		bugs[i].cure.nobserved = observed.n;
		repair_add(r, &bugs[i]);
	}
	repair_plan(r);
	for (size_t i = 0; i < n; i++)
		printf("%s: %s\n", words[repair_outcome(r, i).status], repair_outcome(r, i).text);
	if (argc > 3)
		printf("=== unchecked\n%zu\n", repair_nunchecked(r));
	for (size_t i = 0; i < repair_nfiles(r); i++)
		printf("=== %s\n%s", strrchr(repair_file(r, i).path, '/') + 1, repair_file(r, i).after);
	return 0;
}
