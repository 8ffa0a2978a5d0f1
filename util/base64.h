/* Encodes bytes as text in base64 (RFC 4648 section 4), and decodes it. */
#ifndef UTIL_BASE64_H
#define UTIL_BASE64_H

#include <stddef.h>
#include <stdint.h>

char *base64_encode(const uint8_t *bytes, size_t len_bytes); /* free() it */
/* Gives the bytes that the text encodes, and their number; free() them. NULL if it is not
 * base64. */
uint8_t *base64_decode(const char *text, size_t *len_bytes);

#endif
