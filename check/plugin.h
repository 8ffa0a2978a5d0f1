/* Loads oracles from shared objects (include/pmend_oracle.h). */
#ifndef CHECK_PLUGIN_H
#define CHECK_PLUGIN_H

#include "check/oracle.h"

struct plugin;

/* Loads an oracle. NULL with the reason if the file cannot be loaded, or is no oracle for this
 * pmend. Its code stays loaded until plugin_close(). */
struct plugin *plugin_open(const char *path, struct error *err);
void plugin_close(struct plugin *p);
const char *plugin_name(const struct plugin *p);

/* The functions with which oracles.c runs a plug-in; plugin_begin() gives its state. */
extern const struct oracle oracle_plugin;
void *plugin_begin(const struct plugin *p, struct check *c);

#endif
