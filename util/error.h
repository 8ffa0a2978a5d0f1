/* Why something failed, for the caller to show. Libraries fill it and return -1; only cmd/
 * prints. */
#ifndef UTIL_ERROR_H
#define UTIL_ERROR_H

struct error {
	char msg[1024];
};

/* Formats the message; always returns -1, so that `return error_set(err, …)` reads well. */
int error_set(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Our own bug: prints where and aborts. */
#define BUG(...) bug(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void bug(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
