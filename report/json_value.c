/* Makes JSON values: text of any bytes, which becomes UTF-8, and numbers cut to what JSON readers
 * take. */
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

void json_set_text(json_t *o, const char *key, const char *s)
{
	if (s)
		json_object_set_new(o, key, json_text(s));
}

void json_set_number(json_t *o, const char *key, uint64_t n)
{
	if (n)
		json_object_set_new(o, key, json_number(n));
}

const char *json_get_text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

uint64_t json_get_number(const json_t *o, const char *key)
{
	const json_int_t n = json_integer_value(json_object_get(o, key));

	return n > 0 ? (uint64_t)n : 0;
}
