/* Writes a trace of any architecture: write_trace FILE.pmt WORD…
 *
 *	isa=arm64		a META event; also platform=arm64, lse2=1
 *	store@64		an event, with an offset in the only PM file; stores and flushes are of 8 and 64 bytes
 *	dsb:15			with an argument
 *	libpmem/dmb:11		by code of that library, not of the program */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/writer.h"

static void put_meta(struct writer *w, const char *text)
{
	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0, PMT_META, 0), .thread = 1, .data = text, .data_len = (uint32_t)strlen(text) });
}

static void put_event(struct writer *w, const char *word, uint64_t pc)
{
	const char *slash = strchr(word, '/'), *name = slash ? slash + 1 : word, *at = strchr(name, '@'), *argument = strchr(name, ':');
	char *kind_name = strndup(name, strcspn(name, "@:"));
	const uint64_t value = pc;
	uint32_t size_bytes = 0;
	enum pmt_kind kind;

	if (!trace_kind_by_name(kind_name, &kind)) {
		fprintf(stderr, "no kind '%s'\n", kind_name);
		exit(2);
	}
	if (trace_is_store(kind))
		size_bytes = 8;
	else if (trace_is_flush(kind))
		size_bytes = 64;
	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, (slash ? 0x500000 : 0x400000) + pc, kind, size_bytes),
						.thread = 1,
						.addr = PMT_ADDR(1, at ? strtoull(at + 1, NULL, 0) : 0),
						.arg = { argument ? strtoull(argument + 1, NULL, 0) : 0 },
						.data = &value });
	free(kind_name);
}

static void put_objects(struct writer *w)
{
	static const char pool[] = "/mnt/pmem/pool";

	writer_object(w, &(struct trace_object){ .va = 0x400000, .len_bytes = 0x1000, .path = (char *)"/usr/bin/app" });
	writer_object(w, &(struct trace_object){ .va = 0x500000, .len_bytes = 0x1000, .path = (char *)"/usr/lib/libpmem.so.1" });
	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0, PMT_FILE, 0), .thread = 1, .arg = { 1, 4096, 0, 1, 1 }, .data = pool,
						.data_len = sizeof pool - 1 });
}

int main(int argc, char **argv)
{
	bool has_objects = false;
	struct writer *w;
	struct error err;

	if (argc < 2 || writer_open(&w, argv[1], &err) < 0)
		return 2;
	writer_event(w, &(struct writer_event){ .site = writer_site(w, 0, 0, PMT_PROCESS, 0), .thread = 1, .arg = { 1, 0 } });
	for (int i = 2; i < argc; i++) {
		if (strchr(argv[i], '=')) {
			put_meta(w, argv[i]);
			continue;
		}
		if (!has_objects)
			put_objects(w);
		has_objects = true;
		put_event(w, argv[i], (uint64_t)i * 4);
	}
	return writer_close(w, &err) < 0 ? 2 : 0;
}
