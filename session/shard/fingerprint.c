/* Makes one number of all that an exploration depends on. A program is what a word of recovery's command lines names as a file; how many jobs there are and how long
 * they may take makes no difference to what parts come to. */
#include "session/shard/fingerprint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/crash_command.h"
#include "util/proc.h"
#include "util/sha256.h"
#include "util/sysroot.h"

static void put_digest(FILE *f, const void *data, size_t len_bytes)
{
	uint8_t digest[SHA256_BYTES];

	sha256(data, len_bytes, digest);
	for (size_t i = 0; i < sizeof digest; i++)
		fprintf(f, "%02x", digest[i]);
	fputc('\n', f);
}

/* The content of a regular file; -1: it cannot be read. */
static int put_file(FILE *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), result = -1;
	struct stat st;
	void *data;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		data = st.st_size > 0 ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
		if (data != MAP_FAILED) {
			put_digest(f, data, (size_t)st.st_size);
			result = 0;
		}
		if (data && data != MAP_FAILED)
			munmap(data, (size_t)st.st_size);
	}
	if (fd >= 0)
		close(fd);
	return result;
}

/* The programs and scripts that a command line names. Other files may be what recovery writes. */
static void put_programs(FILE *f, const struct runner_command *c)
{
	for (char **a = c ? c->argv : NULL; a && *a; a++) {
		char *program = a == c->argv ? proc_find(*a) : NULL;

		if (access(program ? program : *a, X_OK) == 0 && put_file(f, program ? program : *a) == 0)
			fprintf(f, "is word %td\n", a - c->argv);
		free(program);
	}
}

/* Its value is the next word. */
static bool is_left_out(const char *option)
{
	static const char *const list[] = { "--jobs", "--max-time", "--max-runs" };

	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (strcmp(option, list[i]) == 0)
			return true;
	return false;
}

static void put_options(FILE *f, const struct crash_setup *s)
{
	struct report *words = report_new();

	crash_command_tell(s, words);
	for (size_t i = 0; i < report_ncrash_options(words); i++)
		if (is_left_out(report_crash_option(words, i)))
			i++;
		else
			fprintf(f, "%s\n", report_crash_option(words, i));
	report_free(words);
}

char *fingerprint_text(const char *text, size_t len)
{
	uint8_t digest[SHA256_BYTES];
	char *hex = xmalloc(2 * SHA256_BYTES + 1);

	sha256(text, len, digest);
	for (size_t i = 0; i < SHA256_BYTES; i++)
		sprintf(hex + 2 * i, "%02x", digest[i]);
	return hex;
}

char *fingerprint_of(const struct crash_setup *s, uint32_t nparts, const char *trace, const struct word_list *checks, struct error *err)
{
	const struct runner_command *const commands[] = { s->recovery.recover, s->recovery.then, s->recovery.check, s->recovery.ready, s->recovery.dump };
	char *text, *hex = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		alloc_die();
	fprintf(f, "pmend " PMEND_VERSION "\nplatform %s\nparts %u\n", s->options.platform ? s->options.platform->name : "", nparts);
	put_options(f, s);
	if (checks)
		fputs("test\n", f);
	for (size_t i = 0; checks && i < checks->n; i++)
		fprintf(f, "%s\n", checks->item[i]);
	if (sysroot_identity())
		fprintf(f, "bundle %s\n", sysroot_identity());
	for (size_t i = 0; i < sizeof commands / sizeof *commands && !sysroot_identity(); i++)
		put_programs(f, commands[i]);
	if (s->stdin_path)
		put_file(f, s->stdin_path);
	if (put_file(f, trace) < 0)
		error_set(err, "cannot read %s: %s", trace, strerror(errno));
	else if (fflush(f) == 0)
		hex = fingerprint_text(text, len);
	fclose(f);
	free(text);
	return hex;
}
