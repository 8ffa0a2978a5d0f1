/* mailq.c - mail that waits for delivery: FILE check | FILE (post ADDRESS | retry | hold | deliver)... */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pqueue.h"

#define MAGIC 0x6d61696c712e3031ull
#define MAILS 12

struct mail {
	char to[96];
	PQ_ENTRY() link;
	uint64_t tries;
	uint64_t is_held;
};

PQ_HEAD(mail_list);

struct spool {
	uint64_t magic;
	char pad[56];
	struct mail_list waiting;
	char pad2[56];
	struct mail mails[MAILS];
};

/* A mail that is in no list is free. */
static struct mail *mail_unused(struct spool *s)
{
	char is_used[MAILS] = { 0 };
	struct mail *m;

	PQ_FOREACH(m, s, &s->waiting, mail, link)
		is_used[m - s->mails] = 1;
	for (int i = 0; i < MAILS; i++)
		if (!is_used[i])
			return &s->mails[i];
	return NULL;
}

static int spool_post(struct spool *s, const char *to)
{
	struct mail *m = mail_unused(s);

	if (!m || strlen(to) >= sizeof(m->to))
		return -1;
	memset(m->to, 0, sizeof(m->to));
	strcpy(m->to, to);
	pm_flush(m->to, sizeof(m->to));
	m->tries = 0;
	pm_flush(&m->tries, sizeof(m->tries));
	m->is_held = 0;
	pm_flush(&m->is_held, sizeof(m->is_held));
	PQ_INSERT_HEAD(s, &s->waiting, m, link);
	return 0;
}

/* Nobody was at home. */
static int spool_retry(struct spool *s)
{
	struct mail *m;

	PQ_FOREACH(m, s, &s->waiting, mail, link) {
		if (m->is_held)
			continue;
		m->tries++;
		pm_flush(&m->tries, sizeof(m->tries));
	}
	pm_drain();
	return 0;
}

static int spool_hold(struct spool *s)
{
	struct mail *m;

	PQ_FOREACH(m, s, &s->waiting, mail, link) {
		m->is_held = m->tries > 1;
		pm_flush(&m->is_held, sizeof(m->is_held));
	}
	pm_drain();
	return 0;
}

static int spool_deliver(struct spool *s)
{
	if (PQ_EMPTY(&s->waiting))
		return -1;
	PQ_REMOVE_HEAD(s, &s->waiting, mail, link);
	return 0;
}

static int spool_check(struct spool *s)
{
	struct mail *m;
	int n = 0;

	PQ_FOREACH(m, s, &s->waiting, mail, link) {
		if (++n > MAILS || !m->to[0] || !PQ_LINK_VALID(m, link)) {
			fprintf(stderr, "mailq: mail %d is damaged\n", n);
			return 1;
		}
		printf("%s: %llu%s\n", m->to, (unsigned long long)m->tries, m->is_held ? ", held" : "");
	}
	return 0;
}

static struct spool *spool_open(const char *path, int create)
{
	int fd = open(path, create ? O_RDWR | O_CREAT : O_RDWR, 0644);
	struct spool *s;
	struct stat st;

	if (fd < 0)
		return NULL;
	if ((create && ftruncate(fd, sizeof(struct spool)) != 0) || fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof(struct spool)) {
		close(fd);
		return NULL;
	}
	s = mmap(NULL, sizeof(struct spool), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (s == MAP_FAILED || (!create && s->magic != MAGIC))
		return NULL;
	if (s->magic != MAGIC) {
		s->magic = MAGIC;
		pm_persist(&s->magic, sizeof(s->magic));
	}
	return s;
}

int main(int argc, char **argv)
{
	int is_check = argc > 2 && strcmp(argv[2], "check") == 0;
	struct spool *s;

	if (argc < 3) {
		fprintf(stderr, "usage: %s FILE check | FILE (post ADDRESS | retry | hold | deliver)...\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	s = spool_open(argv[1], !is_check);
	if (!s) {
		puts("nothing there");
		return !is_check;
	}
	if (is_check)
		return spool_check(s);
	for (int i = 2; i < argc; i++) {
		const char *op = argv[i];
		int rc = -1;

		if (strcmp(op, "post") == 0 && i + 1 < argc)
			rc = spool_post(s, argv[++i]);
		else if (strcmp(op, "retry") == 0)
			rc = spool_retry(s);
		else if (strcmp(op, "hold") == 0)
			rc = spool_hold(s);
		else if (strcmp(op, "deliver") == 0)
			rc = spool_deliver(s);
		printf("%s: %s\n", op, rc ? "not possible" : "done");
	}
	return 0;
}
