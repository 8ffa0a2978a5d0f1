#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kvlog.h"
#include "pm_arch.h"

/* Starts to write back a range. Nothing is durable before the next fence. */
static void pm_writeback(const void *addr, size_t len)
{
	char *line = (char *)((uintptr_t)addr & ~(PM_LINE - 1));
	const char *end = (const char *)addr + len;

	for (; line < end; line += PM_LINE)
		pm_line_writeback(line);
}

static void pm_sync(const void *addr, size_t len)
{
	pm_writeback(addr, len);
	pm_fence();
}

static uint32_t sum_text(uint32_t sum, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum = (sum ^ (unsigned char)text[i]) * 16777619u;
	return sum;
}

static uint32_t record_sum(const struct kv_record *r)
{
	uint32_t sum = sum_text(2166136261u, r->key, sizeof(r->key));

	return sum_text(sum, r->value, r->vlen);
}

static struct kv_record *record_at(struct kv_log *log, uint64_t offset)
{
	return (struct kv_record *)(log->data + offset);
}

/* The newest live record of a key. */
static struct kv_record *record_find(struct kv_log *log, const char *key)
{
	struct kv_record *found = NULL;

	for (uint64_t at = 0; at < log->tail; at += record_at(log, at)->size) {
		struct kv_record *r = record_at(log, at);

		if (r->state == KV_LIVE && strcmp(r->key, key) == 0)
			found = r;
	}
	return found;
}

static void log_format(struct kv_log *log)
{
	log->generation = 0;
	log->tail = 0;
	log->dropped = 0;
	pm_writeback(&log->generation, sizeof(log->generation));
	pm_writeback(&log->tail, sizeof(log->tail) + sizeof(log->dropped));
	pm_fence();
	log->magic = KVLOG_MAGIC;
	pm_sync(&log->magic, sizeof(log->magic));
}

struct kv_log *kv_open(const char *path, int create)
{
	struct kv_log *log;
	struct stat st;
	int fd = open(path, create ? O_RDWR | O_CREAT : O_RDWR, 0666);

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) != 0 || (create && ftruncate(fd, KVLOG_SIZE) != 0)) {
		close(fd);
		return NULL;
	}
	if (!create && st.st_size < KVLOG_SIZE) {
		close(fd);
		errno = ENODATA;
		return NULL;
	}
	log = mmap(NULL, KVLOG_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (log == MAP_FAILED)
		return NULL;
	if (log->magic != KVLOG_MAGIC) {
		if (!create) {
			kv_close(log);
			errno = ENODATA;
			return NULL;
		}
		log_format(log);
	}
	if (create) {
		log->generation++;
		pm_sync(&log->generation, sizeof(log->generation));
	}
	return log;
}

void kv_close(struct kv_log *log)
{
	munmap(log, KVLOG_SIZE);
}

/* Marks a record as superseded. */
static void record_kill(struct kv_log *log, struct kv_record *r)
{
	r->state = KV_DEAD;
	pm_writeback(&r->state, sizeof(r->state));
	log->dropped += r->size;
	pm_writeback(&log->dropped, sizeof(log->dropped));
	pm_fence();
}

int kv_put(struct kv_log *log, const char *key, const char *value)
{
	size_t vlen = strlen(value) + 1;
	size_t size = (sizeof(struct kv_record) + vlen + 7) & ~(size_t)7;
	struct kv_record *old, *r;

	if (strlen(key) > KVLOG_KEY_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (sizeof(*log) + log->tail + size > KVLOG_SIZE) {
		errno = ENOSPC;
		return -1;
	}

	old = record_find(log, key);
	r = record_at(log, log->tail);
	memset(r, 0, size);
	r->size = (uint32_t)size;
	r->vlen = (uint32_t)vlen;
	strcpy(r->key, key);
	memcpy(r->value, value, vlen);
	r->sum = record_sum(r);
	r->state = KV_LIVE;
	pm_sync(r, size);

	/* the record counts from here on */
	log->tail += size;
	pm_sync(&log->tail, sizeof(log->tail));

	if (old)
		record_kill(log, old);
	return 0;
}

int kv_del(struct kv_log *log, const char *key)
{
	struct kv_record *r = record_find(log, key);

	if (!r) {
		errno = ENOENT;
		return -1;
	}
	/* A crash in kv_put may have left older records of the key alive. They go
	 * first, or one of them would be back. */
	for (uint64_t at = 0; record_at(log, at) != r;) {
		struct kv_record *older = record_at(log, at);

		if (older->state == KV_LIVE && strcmp(older->key, key) == 0)
			record_kill(log, older);
		at += older->size;
	}
	record_kill(log, r);
	return 0;
}

const char *kv_get(struct kv_log *log, const char *key)
{
	struct kv_record *r = record_find(log, key);

	return r ? r->value : NULL;
}

/* Prints the newest values; -1 if a record is not what was put. */
int kv_verify(struct kv_log *log)
{
	uint64_t at = 0;

	while (at < log->tail) {
		struct kv_record *r = record_at(log, at);

		if (r->size < sizeof(*r) || r->size % 8 || at + r->size > log->tail ||
		    r->vlen > r->size - sizeof(*r) ||
		    (r->state != KV_LIVE && r->state != KV_DEAD) ||
		    r->sum != record_sum(r)) {
			fprintf(stderr, "kvlog: bad record at %llu\n", (unsigned long long)at);
			return -1;
		}
		if (r == record_find(log, r->key))
			printf("%s=%s\n", r->key, r->value);
		at += r->size;
	}
	return 0;
}
