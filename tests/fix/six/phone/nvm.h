/* nvm.h - files of persistent memory, mapped. What persists depends on what the machine keeps when the power fails. */
#ifndef NVM_H
#define NVM_H

#include <stddef.h>

enum nvm_granularity {
	NVM_GRANULARITY_BYTE, /* caches are kept, too */
	NVM_GRANULARITY_LINE,
};

#define NVM_F_NODRAIN (1u << 0)

struct nvm_map;

typedef void (*nvm_persist_fn)(const void *p, size_t n);
typedef void (*nvm_flush_fn)(const void *p, size_t n);
typedef void (*nvm_drain_fn)(void);
typedef void *(*nvm_memcpy_fn)(void *dst, const void *src, size_t n, unsigned flags);

/* Returns 0, -1 if it cannot be mapped, 1 if it is not there. */
int nvm_map_new(struct nvm_map **map, const char *path, size_t size, int create);
void nvm_map_delete(struct nvm_map **map);
void *nvm_map_get_address(const struct nvm_map *map);

nvm_persist_fn nvm_get_persist_fn(const struct nvm_map *map);
nvm_flush_fn nvm_get_flush_fn(const struct nvm_map *map);
nvm_drain_fn nvm_get_drain_fn(const struct nvm_map *map);
nvm_memcpy_fn nvm_get_memcpy_fn(const struct nvm_map *map);

#endif
