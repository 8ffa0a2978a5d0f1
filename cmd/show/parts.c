/* Has what both renderings of events need: names of arguments, fast printing of numbers, UTF-8. */
#include <ctype.h>

#include "cmd/show/show.h"

#define NUMBER(n) \
	{ \
		n, ARG_NUMBER \
	}
#define HEX(n) \
	{ \
		n, ARG_HEX \
	}
#define FILE_ARG \
	{ \
		"file", ARG_FILE \
	}

const struct arg_name arg_names[PMT_NKINDS][PMT_MAX_ARGS] = {
	[PMT_MSYNC] = { NUMBER("bytes"), HEX("flags") },
	[PMT_FSYNC] = { FILE_ARG },
	[PMT_FDATASYNC] = { FILE_ARG },
	[PMT_FILE] = { NUMBER("file"), NUMBER("size"), HEX("flags"), HEX("device"),
		       NUMBER("inode") },
	[PMT_SIZE] = { FILE_ARG, NUMBER("size") },
	[PMT_FALLOCATE] = { FILE_ARG, HEX("mode"), HEX("offset"), NUMBER("bytes") },
	[PMT_RENAME] = { FILE_ARG },
	[PMT_UNLINK] = { FILE_ARG },
	[PMT_MAP] = { HEX("at"), NUMBER("bytes"), HEX("prot") },
	[PMT_UNMAP] = { HEX("at"), NUMBER("bytes") },
	[PMT_PROTECT] = { HEX("at"), NUMBER("bytes"), HEX("prot") },
	[PMT_NOT_PM] = { NUMBER("bytes") },
	[PMT_IS_PM] = { NUMBER("bytes") },
	[PMT_SET_CLEAN] = { NUMBER("bytes") },
	[PMT_TX_BEGIN] = { NUMBER("tx") },
	[PMT_TX_END] = { NUMBER("tx") },
	[PMT_TX_ADD] = { NUMBER("bytes"), NUMBER("tx") },
	[PMT_TX_REMOVE] = { NUMBER("bytes"), NUMBER("tx") },
	[PMT_TX_JOIN] = { NUMBER("tx") },
	[PMT_TX_LEAVE] = { NUMBER("tx") },
	[PMT_TX_IGNORE] = { NUMBER("bytes") },
	[PMT_NOTE_FLUSH] = { NUMBER("bytes") },
	[PMT_COMMIT_VAR] = { NUMBER("bytes") },
	[PMT_COMMIT_RANGE] = { { "range", ARG_ADDR }, NUMBER("bytes") },
	[PMT_ASSERT_DURABLE] = { NUMBER("bytes") },
	[PMT_ASSERT_ORDERED] = { NUMBER("bytes"), { "before", ARG_ADDR }, NUMBER("bytes") },
	[PMT_IGNORE] = { NUMBER("bytes") },
	[PMT_PROCESS] = { NUMBER("pid"), NUMBER("parent") },
	[PMT_FORK] = { NUMBER("process") },
	[PMT_EXIT] = { NUMBER("status") },
	[PMT_SIGNAL] = { NUMBER("number") },
	[PMT_THREAD_BEGIN] = { NUMBER("thread") },
	[PMT_OUTPUT] = { NUMBER("fd"), NUMBER("bytes") },
	[PMT_INPUT] = { NUMBER("fd"), NUMBER("bytes") },
	[PMT_WRITE] = { NUMBER("bytes") },
	[PMT_OLD] = { NUMBER("bytes") },
	[PMT_NAME] = { FILE_ARG, { "folder", ARG_FILE }, NUMBER("how") },
	[PMT_UNNAME] = { FILE_ARG, { "folder", ARG_FILE } },
	[PMT_MOVE] = { FILE_ARG,
		       { "from", ARG_FILE },
		       { "to", ARG_FILE },
		       HEX("flags"),
		       NUMBER("replaced") },
	[PMT_SYNC_RANGE] = { NUMBER("bytes"), HEX("flags") },
	[PMT_LOCK] = { HEX("at"), HEX("flags"), NUMBER("bytes") },
	[PMT_UNLOCK] = { HEX("at"), HEX("flags"), NUMBER("bytes") },
	[PMT_ACQUIRE] = { HEX("at"), HEX("flags"), NUMBER("bytes") },
	[PMT_RELEASE] = { HEX("at"), HEX("flags"), NUMBER("bytes") },
	[PMT_SCHEDULE] = { NUMBER("switch"), NUMBER("why") },
	[PMT_FLUSH_VOLATILE] = { HEX("at") },
	[PMT_TX_ADD_CALL] = { NUMBER("bytes"), HEX("pool"), HEX("at") },
	[PMT_UNDEFINED] = { NUMBER("bytes") },
	[PMT_STORE_VECTOR] = { NUMBER("element") },
	[PMT_STORE_ORDERED] = { { "order", ARG_ORDER } },
	[PMT_ORDER] = { { "order", ARG_ORDER } },
	[PMT_DMB] = { { NULL, ARG_OPTION } },
	[PMT_DSB] = { { NULL, ARG_OPTION } },
};

uint32_t event_file(const struct trace_event *ev)
{
	if (trace_kinds[ev->kind].carries & PMT_HAS_ADDR)
		return PMT_FILE(ev->addr);
	if (ev->kind == PMT_FILE || arg_names[ev->kind][0].form == ARG_FILE)
		return (uint32_t)ev->arg[0];
	return 0;
}

void put_number(FILE *f, uint64_t n, int width)
{
	char digits[32];
	int i = sizeof digits;

	do {
		digits[--i] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while ((int)sizeof digits - i < width && i > 0)
		digits[--i] = ' ';
	fwrite_unlocked(digits + i, 1, sizeof digits - (size_t)i, f);
}

static const char hex_digits[] = "0123456789abcdef";

void put_hex(FILE *f, uint64_t n)
{
	char digits[18];
	int i = sizeof digits;

	do {
		digits[--i] = hex_digits[n & 15];
		n >>= 4;
	} while (n);
	digits[--i] = 'x';
	digits[--i] = '0';
	fwrite_unlocked(digits + i, 1, sizeof digits - (size_t)i, f);
}

void put_bytes(FILE *f, const uint8_t *p, size_t n)
{
	for (; n; n--, p++) {
		putc_unlocked(hex_digits[*p >> 4], f);
		putc_unlocked(hex_digits[*p & 15], f);
	}
}

size_t utf8_len(const uint8_t *p, size_t n)
{
	size_t len = p[0] < 0x80   ? 1
		     : p[0] < 0xc2 ? 0
		     : p[0] < 0xe0 ? 2
		     : p[0] < 0xf0 ? 3
		     : p[0] < 0xf5 ? 4
				   : 0,
	       i;

	if (len > n)
		return 0;
	for (i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* an overlong form, half of a surrogate pair, or beyond Unicode */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))
		return 0;
	return len;
}

bool is_text(const uint8_t *p, size_t n)
{
	size_t len;

	for (; n; p += len, n -= len) {
		len = utf8_len(p, n);
		if (!len || (iscntrl(p[0]) && p[0] != '\n' && p[0] != '\t' && p[0] != '\r'))
			return false;
	}
	return true;
}
