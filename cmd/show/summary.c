/* Prints totals of a trace: by kind, by thread, files, bytes stored, the objects whose code made
 * events. Memory grows with threads, sites and files. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "cmd/show/show.h"
#include "report/escape.h"
#include "util/map.h"

struct thread_total {
	uint32_t stream, thread;
	uint64_t nevents;
};

struct summary {
	uint64_t nevents, nbytes_stored;
	uint64_t by_kind[PMT_NKINDS];
	struct map threads; /* stream and thread → index in by_thread plus 1 */
	VEC(struct thread_total) by_thread;
	struct map sites, nodes; /* those that were seen */
	VEC(char *) objects;
	VEC(char *) meta; /* "key=value" */
};

struct summary *summary_new(void)
{
	return xcalloc(1, sizeof(struct summary));
}

void summary_free(struct summary *m)
{
	size_t i;

	for (i = 0; i < m->objects.n; i++)
		free(m->objects.at[i]);
	for (i = 0; i < m->meta.n; i++)
		free(m->meta.at[i]);
	vec_release(&m->objects);
	vec_release(&m->meta);
	vec_release(&m->by_thread);
	map_release(&m->threads);
	map_release(&m->sites);
	map_release(&m->nodes);
	free(m);
}

static void thread_add(struct summary *m, const struct trace_event *ev)
{
	uint64_t key = (uint64_t)ev->stream << 32 | ev->thread;
	uintptr_t index = (uintptr_t)map_get(&m->threads, key);

	if (!index) {
		*vec_add(&m->by_thread) = (struct thread_total){ ev->stream, ev->thread, 0 };
		index = m->by_thread.n;
		map_set(&m->threads, key, (void *)index);
	}
	m->by_thread.at[index - 1].nevents++;
}

static void object_add(struct summary *m, const struct trace_object *o)
{
	size_t i;

	if (!o || !o->path)
		return;
	for (i = 0; i < m->objects.n; i++)
		if (strcmp(m->objects.at[i], o->path) == 0)
			return;
	*vec_add(&m->objects) = xstrdup(o->path);
}

static void site_add(struct summary *m, const struct trace_site *site)
{
	const struct trace_node *node;

	if (!site || map_get(&m->sites, site->id))
		return;
	map_set(&m->sites, site->id, m);
	object_add(m, site->object);
	for (node = site->node; node && !map_get(&m->nodes, (uintptr_t)node); node = node->parent) {
		map_set(&m->nodes, (uintptr_t)node, m);
		object_add(m, node->object);
	}
}

void summary_add(struct summary *m, const struct trace_event *ev)
{
	m->nevents++;
	m->by_kind[ev->kind]++;
	if (trace_kinds[ev->kind].carries & PMT_HAS_VALUE)
		m->nbytes_stored += ev->data_len;
	if (ev->kind == PMT_META && ev->stream == 0 &&
	    (ev->data_len < 6 || memcmp(ev->data, "frame:", 6) != 0))
		*vec_add(&m->meta) = strndup((const char *)ev->data, ev->data_len);
	thread_add(m, ev);
	site_add(m, ev->site);
}

static const char *flags_text(uint32_t flags)
{
	return flags & PMT_FILE_MEMORY    ? ", memory, not a file"
	       : flags & PMT_FILE_DEVICE  ? ", a device"
	       : flags & PMT_FILE_CREATED ? ", created by the program"
					  : "";
}

static const char *meta_value(const char *meta)
{
	const char *equals = strchr(meta, '=');

	return equals ? equals + 1 : "";
}

/* Prints the command line as one line; the recorder writes argv.0=…, argv.1=…. */
static void command_text(const struct summary *m, FILE *out)
{
	bool is_first = true;
	size_t i;

	for (i = 0; i < m->meta.n; i++)
		if (strncmp(m->meta.at[i], "argv.", 5) == 0) {
			escape_printf(out, "%s %s", is_first ? "command:" : "",
				      meta_value(m->meta.at[i]));
			is_first = false;
		}
	if (!is_first)
		fputc('\n', out);
	for (i = 0; i < m->meta.n; i++)
		if (strncmp(m->meta.at[i], "argv.", 5) != 0) {
			escape_printf(out, "%.*s: %s", (int)strcspn(m->meta.at[i], "="),
				      m->meta.at[i], meta_value(m->meta.at[i]));
			fputc('\n', out);
		}
}

void summary_text(const struct summary *m, struct show *s)
{
	const struct trace_file *f;
	FILE *out = s->out;
	uint32_t file;
	size_t i;

	command_text(m, out);
	fprintf(out, "%" PRIu64 " events, %" PRIu64 " bytes stored, %" PRIu64 " bytes of trace\n",
		m->nevents, m->nbytes_stored, trace_size_bytes(s->t));
	for (i = 0; i < PMT_NKINDS; i++)
		if (m->by_kind[i])
			fprintf(out, "  %-20s %12" PRIu64 "\n", trace_kinds[i].name, m->by_kind[i]);
	fputs("threads:\n", out);
	for (i = 0; i < m->by_thread.n; i++)
		fprintf(out, "  process %" PRIu32 " thread %" PRIu32 ": %" PRIu64 " events\n",
			m->by_thread.at[i].stream, m->by_thread.at[i].thread,
			m->by_thread.at[i].nevents);
	fputs("files:\n", out);
	for (file = 1; file <= trace_nfiles(s->t); file++)
		if ((f = trace_file(s->t, file))) {
			escape_printf(out, "  %s: %" PRIu64 " bytes%s", f->path, f->size_bytes,
				      flags_text(f->flags));
			fputc('\n', out);
		}
	fputs("objects with code that made events:\n", out);
	for (i = 0; i < m->objects.n; i++) {
		escape_printf(out, "  %s", m->objects.at[i]);
		fputc('\n', out);
	}
}

static json_t *text_json(const char *text)
{
	json_t *j = json_string(text);

	return j ? j : json_string("?"); /* it is not UTF-8 */
}

static json_t *files_json(const struct trace *t)
{
	json_t *list = json_array();
	const struct trace_file *f;
	uint32_t file;

	for (file = 1; file <= trace_nfiles(t); file++)
		if ((f = trace_file(t, file)))
			json_array_append_new(list, json_pack("{s:o, s:I, s:b, s:b, s:b}", "path",
							      text_json(f->path), "size",
							      (json_int_t)f->size_bytes, "created",
							      f->flags & PMT_FILE_CREATED, "memory",
							      f->flags & PMT_FILE_MEMORY, "device",
							      f->flags & PMT_FILE_DEVICE));
	return list;
}

static json_t *meta_json(const struct summary *m)
{
	json_t *meta = json_object();
	size_t i;

	for (i = 0; i < m->meta.n; i++) {
		char *equals = strchr(m->meta.at[i], '='), *key;

		if (!equals)
			continue;
		key = strndup(m->meta.at[i], (size_t)(equals - m->meta.at[i]));
		json_object_set_new(meta, key, text_json(equals + 1));
		free(key);
	}
	return meta;
}

void summary_json(const struct summary *m, struct show *s)
{
	json_t *kinds = json_object(), *threads = json_array(), *objects = json_array(), *all;
	size_t i;

	for (i = 0; i < PMT_NKINDS; i++)
		if (m->by_kind[i])
			json_object_set_new(kinds, trace_kinds[i].name,
					    json_integer((json_int_t)m->by_kind[i]));
	for (i = 0; i < m->by_thread.n; i++)
		json_array_append_new(threads, json_pack("{s:i, s:i, s:I}", "process",
							 m->by_thread.at[i].stream, "thread",
							 m->by_thread.at[i].thread, "events",
							 (json_int_t)m->by_thread.at[i].nevents));
	for (i = 0; i < m->objects.n; i++)
		json_array_append_new(objects, text_json(m->objects.at[i]));
	all = json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "events",
			(json_int_t)m->nevents, "bytes_stored", (json_int_t)m->nbytes_stored,
			"trace_bytes", (json_int_t)trace_size_bytes(s->t), "kinds", kinds,
			"threads", threads, "files", files_json(s->t), "objects", objects, "meta",
			meta_json(m));
	json_dumpf(all, s->out, JSON_INDENT(2));
	fputc('\n', s->out);
	json_decref(all);
}
