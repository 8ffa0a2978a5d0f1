/* Base64, RFC 4648 section 4: bytes as text. */
#ifndef UTIL_BASE64_H
#define UTIL_BASE64_H

#include <stddef.h>
#include <stdint.h>

char *base64_encode(const uint8_t *bytes, size_t len_bytes); /* free() it */
/* NULL if the text is not base64. free() it. */
uint8_t *base64_decode(const char *text, size_t *len_bytes);

#endif
