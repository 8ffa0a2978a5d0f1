/* Says why something failed. Libraries fill a struct error and return -1; only cmd/ prints it. */
#ifndef UTIL_ERROR_H
#define UTIL_ERROR_H

struct error {
	char msg[1024];
};

/* Formats the message; always returns -1, so that `return error_set(err, …)` reads well. */
int error_set(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A bug in pmend: prints the file and line, and aborts. */
#define BUG(...) bug(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void bug(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
