/* Copies between our memory and the program's, which may be PM: bytes that are read there are
 * decided, bytes that are written there are marked. If an address is inaccessible, the functions
 * return false; there is no fault. */
#include <string.h>

#include "pm.h"

bool rt_copy_in(void *to, uint64_t from, size_t n)
{
	bool is_pm = maps_touch(from, n);
	size_t left;

	if (is_pm) {
		maps_read(from, n);
		maps_open(from, n);
	}
	left = gate_copy(to, (const void *)from, n);
	if (is_pm)
		maps_close(from, n);
	return left == 0;
}

bool rt_copy_out(uint64_t to, const void *from, size_t n)
{
	bool is_pm = maps_touch(to, n);
	size_t left;

	if (is_pm) {
		maps_read_private(to, n);
		maps_open(to, n);
	}
	left = gate_copy((void *)to, from, n);
	if (is_pm) {
		maps_written(to, n - left);
		maps_close(to, n);
	}
	return left == 0;
}

bool rt_copy_string(char *to, uint64_t from, size_t room)
{
	size_t n = 0;

	while (n < room) {
		size_t piece = maps_touch(from + n, 1) ? 1 : 64 - (from + n) % 64;

		if (piece > room - n)
			piece = room - n;
		if (!rt_copy_in(to + n, from + n, piece))
			return false;
		if (memchr(to + n, 0, piece))
			return true;
		n += piece;
	}
	return false;
}
