/* What a program calls in the shared object that does the work on its pool. */
#ifndef PLACES_PLUGIN_H
#define PLACES_PLUGIN_H

struct pool;

struct plugin {
	void (*first)(struct pool *p);
	void (*second)(struct pool *p);
	int (*wrong)(struct pool *p);
};

#endif
