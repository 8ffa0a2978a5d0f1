/* Reads the header of a trace file. While a program is still being recorded, the counters in the
 * header grow. */
#include "trace/header.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int header_read(struct pmt_header *h, const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return error_set(err, "cannot open %s: %s", path, strerror(errno));
	n = pread(fd, h, sizeof *h, 0);
	close(fd);
	if (n < 0)
		return error_set(err, "cannot read %s: %s", path, strerror(errno));
	if (n < (ssize_t)sizeof *h || memcmp(h->magic, PMT_MAGIC, sizeof h->magic) != 0)
		return error_set(err, "%s is not a trace", path);
	return 0;
}
