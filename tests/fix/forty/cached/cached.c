/*
 * cached - the protocol. Requests come from standard input, one a line:
 *
 *   set KEY DATA    STORED | SERVER_ERROR out of memory
 *   get KEY         VALUE DATA | NOT_FOUND
 *   touch KEY TIME  TOUCHED | NOT_FOUND
 *   delete KEY      DELETED | NOT_FOUND
 *   flush_all       OK
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cached.h"
#include "pm.h"

#define LINE_MAX_LENGTH 256

struct settings settings;

typedef struct conn {
	char rbuf[LINE_MAX_LENGTH];
	char wbuf[LINE_MAX_LENGTH];
	size_t wlen;
} conn;

/* Reads one line. Returns false at the end. */
static bool conn_read(conn *c)
{
	size_t n = 0;
	char ch;

	while (read(STDIN_FILENO, &ch, 1) == 1) {
		if (ch == '\n') {
			c->rbuf[n] = '\0';
			return true;
		}
		if (n < sizeof(c->rbuf) - 1)
			c->rbuf[n++] = ch;
	}
	return false;
}

/* Sends what out_string() put together. */
static void conn_transmit(conn *c)
{
	if (write(STDOUT_FILENO, c->wbuf, c->wlen) != (ssize_t)c->wlen && settings.verbose)
		perror("write");
	c->wlen = 0;
}

static void out_string(conn *c, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(c->wbuf, sizeof(c->wbuf) - 1, fmt, ap);
	va_end(ap);
	c->wlen = n;
	c->wbuf[c->wlen++] = '\n';
}

static void process_set_command(conn *c, const char *key, const char *data)
{
	item *old = do_item_get(key);
	item *it = do_item_alloc(key, data, strlen(data));

	if (!it) {
		out_string(c, "SERVER_ERROR out of memory");
		return;
	}
	if (old)
		do_item_replace(old, it);
	else
		do_item_link(it);
	out_string(c, "STORED");
}

static void process_command(conn *c)
{
	char *save = NULL;
	char *cmd = strtok_r(c->rbuf, " ", &save);
	char *key = strtok_r(NULL, " ", &save);
	char *arg = strtok_r(NULL, "", &save);
	item *it;

	if (cmd && !key && !strcmp(cmd, "flush_all")) {
		do_flush_all();
		out_string(c, "OK");
		return;
	}
	if (!cmd || !key) {
		out_string(c, "ERROR");
		return;
	}
	if (!strcmp(cmd, "set") && arg) {
		process_set_command(c, key, arg);
		return;
	}

	it = do_item_get(key);
	if (!it) {
		out_string(c, "NOT_FOUND");
	} else if (!strcmp(cmd, "get")) {
		out_string(c, "VALUE %.*s", (int)it->nbytes, it->data);
	} else if (!strcmp(cmd, "touch") && arg) {
		do_item_touch(it, strtoull(arg, NULL, 10));
		out_string(c, "TOUCHED");
	} else if (!strcmp(cmd, "delete")) {
		do_item_unlink(it);
		out_string(c, "DELETED");
	} else {
		out_string(c, "ERROR");
	}
}

static void event_loop(conn *c)
{
	while (conn_read(c)) {
		process_command(c);
#ifdef WITH_PM
		if (settings.pm)
			pm_drain();
#endif
		conn_transmit(c);
	}
}

static int usage(void)
{
	fputs("usage: cached [-v] [-c] [-p FILE]\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	bool check = false;
	conn c = { .wlen = 0 };
	int opt;

	while ((opt = getopt(argc, argv, "cp:v")) != -1) {
		switch (opt) {
		case 'c':
			check = true;
			break;
		case 'v':
			settings.verbose++;
			break;
#ifdef WITH_PM
		case 'p':
			settings.pm = true;
			settings.path = optarg;
			break;
#endif
		default:
			return usage();
		}
	}
	if (items_init() != 0)
		return 1;
	if (check)
		return items_check() ? 1 : 0;
	event_loop(&c);
	return 0;
}
