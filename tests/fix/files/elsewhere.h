/* What elsewhere.c and elsewhere_sync.c share. */
int durable(int fd);
int durable_parent(const char *path);
