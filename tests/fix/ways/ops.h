/* What ops.c fills in and ops_user.c calls. */
#include <stddef.h>
#include <stdint.h>

struct medium_ops {
	void (*push_out)(const void *from, size_t len);
	void (*settle)(void);
	void (*mixed)(const void *from, size_t len); /* not the same for all media */
};

const struct medium_ops *medium_ops_find(int kind);
