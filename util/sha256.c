/* SHA-256 of a piece of memory (FIPS 180-4). The standard's constants, fractions of square and cube
 * roots of primes, are computed here instead of listed; a test compares with the standard's
 * examples. */
#include "util/sha256.h"

#include <string.h>

#define BLOCK_BYTES 64u

/* Gives the first 32 bits after the point of the square (power 2) or cube root (power 3) of n.
 * Finds, bit by bit, the largest r with r² ≤ n·2^64, or r³ ≤ n·2^96. */
static uint32_t root_fraction(uint32_t n, unsigned power)
{
	unsigned __int128 low = 0;

	/* the square root of 19 and the cube root of 311 are below 2^4 */
	for (int bit = 35; bit >= 0; bit--) {
		const unsigned __int128 r = low | (unsigned __int128)1 << bit;
		const unsigned __int128 limit = (unsigned __int128)n << (32 * power);

		if ((power == 2 ? r * r : r * r * r) <= limit)
			low = r;
	}
	return (uint32_t)low;
}

static uint32_t next_prime(uint32_t n)
{
	for (n++;; n++) {
		uint32_t d = 2;

		while (d * d <= n && n % d)
			d++;
		if (d * d > n)
			return n;
	}
}

static uint32_t rotate(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static void block(uint32_t h[8], const uint32_t k[64], const uint8_t *p)
{
	uint32_t w[64], v[8];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
		       (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		       (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(v, h, sizeof v);
	for (int i = 0; i < 64; i++) {
		const uint32_t a = v[0], e = v[4];
		const uint32_t one = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
				     ((e & v[5]) ^ (~e & v[6])) + k[i] + w[i];
		const uint32_t two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
				     ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof *v);
		v[4] += one;
		v[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		h[i] += v[i];
}

void sha256(const void *data, size_t len_bytes, uint8_t digest[SHA256_BYTES])
{
	const uint8_t *p = data;
	uint8_t last[2 * BLOCK_BYTES] = { 0 };
	uint32_t h[8], k[64], prime = 1;
	size_t left = len_bytes % BLOCK_BYTES, blocks = left < BLOCK_BYTES - 8 ? 1 : 2;

	for (int i = 0; i < 64; i++) {
		prime = next_prime(prime);
		k[i] = root_fraction(prime, 3);
		if (i < 8)
			h[i] = root_fraction(prime, 2);
	}
	for (size_t i = 0; i + BLOCK_BYTES <= len_bytes; i += BLOCK_BYTES)
		block(h, k, p + i);
	memcpy(last, p + len_bytes - left, left);
	last[left] = 0x80;
	for (int i = 0; i < 8; i++)
		last[blocks * BLOCK_BYTES - 1 - (size_t)i] =
			(uint8_t)((uint64_t)len_bytes * 8 >> 8 * i);
	for (size_t i = 0; i < blocks; i++)
		block(h, k, last + i * BLOCK_BYTES);
	for (size_t i = 0; i < SHA256_BYTES; i++)
		digest[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}
