/* Makes one hash of everything that an exploration depends on, including every file that a word of
 * a recovery command names. The number of jobs and the time limit are left out, because parts give
 * the same result with others. */
#include "distribute/shard/fingerprint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crash/setup/crash_command.h"
#include "util/proc.h"
#include "util/sha256.h"
#include "util/sysroot.h"

#define DIGEST_MAX_BYTES (64 << 20)

static void put_digest(FILE *f, const void *data, size_t len_bytes)
{
	uint8_t digest[SHA256_BYTES];

	sha256(data, len_bytes, digest);
	for (size_t i = 0; i < sizeof digest; i++)
		fprintf(f, "%02x", digest[i]);
	fputc('\n', f);
}

/* Hashes the content of a regular file. -1 if the path is no regular file, or cannot be read. */
static int put_content(FILE *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result = -1;
	struct stat st;
	void *data;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		data = st.st_size > 0
			       ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
			       : NULL;
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

/* Does a crash state provide this path? Then the file on disk makes no difference. */
static bool is_followed(const struct plan *p, const char *path)
{
	char *whole = realpath(path, NULL);
	bool is_one = false;

	for (size_t i = 0; p->paths.at[i] && !is_one; i++)
		is_one = strcmp(p->paths.at[i], path) == 0 ||
			 (whole && strcmp(p->paths.at[i], whole) == 0);
	free(whole);
	return is_one;
}

/* Hashes a file that a command names. A file that is large, or executable but not readable, counts
 * by its size and time. */
static void put_named(FILE *f, const struct plan *p, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || is_followed(p, path))
		return;
	if (st.st_size > DIGEST_MAX_BYTES || put_content(f, path) < 0)
		fprintf(f, "%jd bytes of %jd.%09ld\n", (intmax_t)st.st_size,
			(intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

static void put_words(FILE *f, const struct plan *p, const struct runner_command *c)
{
	for (char **a = c ? c->argv : NULL; a && *a; a++) {
		char *program = a == c->argv ? proc_find(*a) : NULL;

		fprintf(f, "word %td\n", a - c->argv);
		put_named(f, p, program ? program : *a);
		free(program);
	}
}

/* Asks whether the option is left out of the hash. Its value, the next word, is then left out,
 * too. */
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

char *fingerprint_of(const struct crash_setup *s, uint32_t nparts, const struct plan *p,
		     const struct word_list *checks, struct error *err)
{
	const struct runner_command *const commands[] = { s->recovery.recover, s->recovery.then,
							  s->recovery.check, s->recovery.ready,
							  s->recovery.dump };
	char *text, *hex = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		alloc_die();
	fprintf(f, "pmend " PMEND_VERSION "\nplatform %s\nparts %u\n",
		s->options.platform ? s->options.platform->name : "", nparts);
	put_options(f, s);
	if (checks)
		fputs("test\n", f);
	for (size_t i = 0; checks && i < checks->n; i++)
		fprintf(f, "%s\n", checks->item[i]);
	if (sysroot_identity())
		fprintf(f, "bundle %s\n", sysroot_identity());
	for (size_t i = 0; i < sizeof commands / sizeof *commands && !sysroot_identity(); i++)
		put_words(f, p, commands[i]);
	if (s->stdin_path)
		put_content(f, s->stdin_path);
	if (put_content(f, p->path) < 0)
		error_set(err, "cannot read %s: %s", p->path, strerror(errno));
	else if (fflush(f) == 0)
		hex = fingerprint_text(text, len);
	fclose(f);
	free(text);
	return hex;
}
