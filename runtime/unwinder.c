/* Functions that our copy of libgcc's unwinder needs from a C library: memory and locks for frames
 * that somebody registers. Nobody registers frames with our copy: it finds frames by the loader's
 * tables, which needs neither. So these functions do nothing. */
#include <pthread.h>
#include <stdlib.h>

#include "internal.h"

void *malloc(size_t n)
{
	(void)n;
	return NULL;
}

void *calloc(size_t n, size_t each)
{
	(void)n, (void)each;
	return NULL;
}

void *realloc(void *p, size_t n)
{
	(void)p, (void)n;
	return NULL;
}

void free(void *p)
{
	(void)p;
}

void abort(void)
{
	rt_unsound("a call stack that cannot be walked");
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	(void)m;
	return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	(void)m;
	return 0;
}

int pthread_once(pthread_once_t *once, void (*init)(void))
{
	if (!*once)
		init();
	*once = 1;
	return 0;
}

/* Does nothing. The unwinder takes the presence of this function to mean that there may be
 * threads. */
int __pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int __pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
	(void)key, (void)destructor;
	return -1;
}
