/* JSON values of ours: text of any bytes, which becomes UTF-8, and numbers that fit. */
#include "report/internal.h"

json_t *json_text(const char *s)
{
	char *clean = escape_utf8(s);
	json_t *j = json_string(clean);

	free(clean);
	return j;
}

json_t *json_number(uint64_t n)
{
	return json_integer(n < INT64_MAX ? (json_int_t)n : INT64_MAX);
}
