/* pmend doctor: says what works on this machine, and what to do where something does not. It
 * records a small program and explores its crashes, so what it says has been tried. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/talk/wrap.h"
#include "doctor/doctor.h"
#include "record/machine.h"

enum { TEXT_COLUMN = 28 };

static void line_print(const char *label, const char *text)
{
	struct wrap w;

	wrap_begin(&w, stdout, TEXT_COLUMN);
	w.column = (unsigned)printf("%s", label);
	wrap_text(&w, text);
	wrap_end(&w);
}

static void text_print(const struct doctor_check *c, const struct doctor_finding *f)
{
	char label[64];

	snprintf(label, sizeof label, "%-8s %-18s", doctor_state_name(f->state), c->name);
	line_print(label, f->found);
	if (f->state == DOCTOR_OK)
		return;
	snprintf(label, sizeof label, "%-8s %-18s", "", "  used for:");
	line_print(label, c->used_for);
	snprintf(label, sizeof label, "%-8s %-18s", "", "  do:");
	if (f->todo)
		line_print(label, f->todo);
	fflush(stdout);
}

static void json_add(json_t *list, const struct doctor_check *c, const struct doctor_finding *f)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", json_string(c->name));
	json_object_set_new(o, "state", json_string(doctor_state_name(f->state)));
	json_object_set_new(o, "main", json_boolean(c->is_main));
	json_object_set_new(o, "used_for", json_string(c->used_for));
	json_object_set_new(o, "found", json_stringn_nocheck(f->found, strlen(f->found)));
	if (f->todo)
		json_object_set_new(o, "todo", json_stringn_nocheck(f->todo, strlen(f->todo)));
	json_array_append_new(list, o);
}

static void json_print(json_t *list, bool is_well)
{
	json_t *top = json_object();

	json_object_set_new(top, "pmend", json_string(PMEND_VERSION));
	json_object_set_new(top, "architecture", json_string(machine_own()->name));
	json_object_set_new(top, "works", json_boolean(is_well));
	json_object_set_new(top, "checks", list);
	json_dumpf(top, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(top);
}

static int doctor_examine(bool is_json)
{
	json_t *list = is_json ? json_array() : NULL;
	bool is_well = true;

	for (const struct doctor_check *c = doctor_checks; c->name; c++) {
		struct doctor_finding f = { 0 };

		c->run(&f);
		is_well &= !c->is_main || f.state != DOCTOR_MISSING;
		if (is_json)
			json_add(list, c, &f);
		else
			text_print(c, &f);
		doctor_finding_release(&f);
	}
	if (is_json)
		json_print(list, is_well);
	else
		puts(is_well ? "\npmend can record and crash programs on this machine."
			     : "\npmend cannot record and crash programs on this machine.");
	if (fflush(stdout))
		return CMD_FAILED;
	return is_well ? CMD_CLEAN : CMD_FAILED;
}

static int doctor_run(const struct command *c, int argc, char **argv)
{
	const char *format = "text", *probe = NULL;
	const struct option table[] = {
		{ "format", 0, "FORMAT", "text (default) or json", OPTION_STRING, &format },
		{ "probe", 0, "FILE",
		  "for the checks: act as the small program to record, on the pool FILE",
		  OPTION_STRING, &probe },
		{ 0 },
	};

	if (options_parse(c, table, OPTIONS_ANYWHERE, argc, argv) != 0)
		die_usage(c, "%s is not expected: doctor takes no operands", argv[0]);
	if (strcmp(format, "text") != 0 && strcmp(format, "json") != 0)
		die_usage(c, "--format is text or json, not '%s'", format);
	if (probe)
		return doctor_probe(probe) == 0 ? CMD_CLEAN : CMD_FAILED;
	return doctor_examine(strcmp(format, "json") == 0);
}

const struct command cmd_doctor = {
	.name = "doctor",
	.help = "check what works on this machine",
	.operands = "",
	.words = "",
	.run = doctor_run,
};
