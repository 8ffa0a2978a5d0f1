/* Asks the gate of repair/effects/: BUILD_DIR LIBEXEC FILE. On standard input, lines `edit AT REMOVED LENGTH`, each followed by so many bytes, tell a change;
 * `judge` ends it. Prints why the gate refuses it, or `allowed`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repair/effects/gate.h"
#include "repair/repair.h"
#include "util/alloc.h"

static void read_edit(struct file *f, const char *line)
{
	unsigned at, removed;
	size_t len;
	char *text;

	if (sscanf(line, "edit %u %u %zu", &at, &removed, &len) != 3)
		exit(2);
	text = xcalloc(1, len + 1);
	if (fread(text, 1, len, stdin) != len)
		exit(2);
	file_edit(f, at, removed, text);
}

static void judge(struct repair *r, struct file *f)
{
	const char *why;

	f->after = file_edited(r->code, f, 0, f->len_bytes);
	r->changed.n = 0;
	*vec_add(&r->changed) = f;
	why = gate_refusal(r);
	printf("%s\n", why ? why : "allowed");
	codebase_forget_edits(r->code);
}

int main(int argc, char **argv)
{
	const struct repair_options options = { 0 };
	const struct source_api *api;
	struct source_database db;
	struct error err;
	struct source_unit *u;
	struct repair *r;
	struct file *f;
	const char *why;
	char line[256];

	if (argc < 4 || !(api = source_load(argv[2], &err)) || api->open(argv[1], &db, &err) < 0) {
		fprintf(stderr, "%s\n", argc >= 4 ? err.msg : "wrong usage");
		return 2;
	}
	r = repair_new(api, &db, &options);
	u = unit_open(r->code, argv[3], &why);
	f = file_open(r->code, argv[3]);
	if (!u || !f) {
		fprintf(stderr, "%s\n", u ? "no such file" : why);
		return 2;
	}
	while (fgets(line, sizeof line, stdin))
		if (strncmp(line, "edit ", 5) == 0)
			read_edit(f, line);
		else if (strcmp(line, "judge\n") == 0)
			judge(r, f);
	repair_free(r);
	api->close(&db);
	return 0;
}
