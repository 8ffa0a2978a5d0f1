/* A key-value store as a log: records are appended, a put supersedes older
 * records of its key, and a record that is superseded for good can be marked
 * dead in place. Everything below log->tail is valid. */
#ifndef KVLOG_H
#define KVLOG_H

#include <stddef.h>
#include <stdint.h>

#define KVLOG_MAGIC 0x314c56474f4c564bull
#define KVLOG_SIZE (64 * 1024)
#define KVLOG_KEY_MAX 23

enum kv_state { KV_LIVE = 1, KV_DEAD = 2 };

struct kv_record {
	uint32_t size;		/* of the record, a multiple of 8 */
	uint32_t vlen;
	uint32_t sum;		/* of key and value */
	uint32_t state;		/* enum kv_state; the only word that changes */
	char key[KVLOG_KEY_MAX + 1];
	char value[];
};

struct kv_log {
	uint64_t magic;
	uint64_t generation;	/* number of times that it was opened */
	char pad[48];
	uint64_t tail;		/* bytes of data[] in use */
	uint64_t dropped;	/* bytes of dead records, about */
	char pad2[48];
	char data[];
};

struct kv_log *kv_open(const char *path, int create);
void kv_close(struct kv_log *log);
int kv_put(struct kv_log *log, const char *key, const char *value);
int kv_del(struct kv_log *log, const char *key);
const char *kv_get(struct kv_log *log, const char *key);
int kv_verify(struct kv_log *log);

#endif
