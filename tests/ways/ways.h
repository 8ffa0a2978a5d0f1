/* Ways in which recovery can read PM: each reads the one word that a crash may have lost, and gives what it found there. ways.c calls them. */
#ifndef WAYS_H
#define WAYS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_AT 4096
#define POOL_BYTES (16 * PAGE_AT)
#define WORD_AT (2 * PAGE_AT) /* of the word, which is alone on its page */
#define FLAG_AT (4 * PAGE_AT) /* of a flag that says that the word is there */
#define ROOM_AT (8 * PAGE_AT) /* nothing is stored beyond this */
#define ROOM_BYTES (8 * PAGE_AT)
#define WORD_TEXT "survive" /* one word, with its final 0 */

/* Exit statuses of a way. */
#define CANNOT 77 /* this machine does not have it */
#define LOST 6

extern char *g_pool; /* mapped shared, readable and writable */
extern int g_fd;
extern const char *g_path, *g_self;
#define WORD (g_pool + WORD_AT)

static inline uint64_t word_kept(void)
{
	uint64_t w;

	memcpy(&w, WORD_TEXT, sizeof w);
	return w;
}

static inline uint64_t word_if(int is_kept)
{
	return is_kept ? word_kept() : 0;
}

/* Reads as recovery does. */
static inline uint64_t load(const void *from)
{
	return *(const volatile uint64_t *)from;
}

/* Ends the way with CANNOT unless it can be done here. */
static inline void need(int is_possible)
{
	if (!is_possible)
		_exit(CANNOT);
}

struct way {
	const char *name;
	uint64_t (*read)(void);
	int is_refused; /* no strategy can follow it, and pmend must say so */
};

extern const struct way ways_loads[], ways_files[], ways_buffers[], ways_strings[], ways_maps[], ways_processes[], ways_insns[];

#endif
