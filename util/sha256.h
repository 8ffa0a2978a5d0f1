/* Computes SHA-256 (FIPS 180-4) of a piece of memory. */
#ifndef UTIL_SHA256_H
#define UTIL_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32u

void sha256(const void *data, size_t len_bytes, uint8_t digest[SHA256_BYTES]);

#endif
