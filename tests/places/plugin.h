/* What a program that loads the work on its pool from a shared object asks of it. */
#ifndef PLACES_PLUGIN_H
#define PLACES_PLUGIN_H

struct pool;

struct plugin {
	void (*first)(struct pool *p);
	void (*second)(struct pool *p);
	int (*wrong)(struct pool *p);
};

#endif
