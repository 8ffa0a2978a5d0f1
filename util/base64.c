/* Encodes bytes as base64 and decodes them: each three bytes become four characters. Decoding
 * refuses anything but digits, and padding anywhere but at the end. */
#include "util/base64.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const uint8_t *bytes, size_t len_bytes)
{
	char *text = xmalloc((len_bytes + 2) / 3 * 4 + 1), *out = text;

	for (size_t i = 0; i < len_bytes; i += 3) {
		const size_t n = len_bytes - i < 3 ? len_bytes - i : 3;
		const uint32_t word = (uint32_t)bytes[i] << 16 |
				      (uint32_t)(n > 1 ? bytes[i + 1] : 0) << 8 |
				      (n > 2 ? bytes[i + 2] : 0);

		*out++ = digits[word >> 18];
		*out++ = digits[word >> 12 & 63];
		*out++ = n > 1 ? digits[word >> 6 & 63] : '=';
		*out++ = n > 2 ? digits[word & 63] : '=';
	}
	*out = '\0';
	return text;
}

/* Gives 64 if c is no digit. */
static uint32_t value_of(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (uint32_t)(at - digits) : 64;
}

uint8_t *base64_decode(const char *text, size_t *len_bytes)
{
	const size_t n = strlen(text),
		     npad = n >= 4 && text[n - 1] == '=' ? 1u + (text[n - 2] == '=') : 0;
	uint8_t *bytes = xmalloc(n / 4 * 3 + 1);
	uint32_t word = 0;

	*len_bytes = 0;
	for (size_t i = 0; i < n - npad; i++) {
		const uint32_t value = value_of(text[i]);

		if (n % 4 || value == 64) {
			free(bytes);
			return NULL;
		}
		word = word << 6 | value;
		if (i % 4 == 0)
			continue;
		bytes[(*len_bytes)++] = (uint8_t)(word >> (6 - 2 * (i % 4)));
	}
	return bytes;
}
