/* Programs that have a bug behind a condition on their input, one for each way that inputs are checked:
 *
 *	programs CASE POOL [FILE | ARG]      without FILE: standard input; of the socket cases: a port
 *
 * A line that is marked BUG is reported when, and only when, the input leads there. Everything else is correct. Random bytes lead nowhere: each
 * case needs about 32 bits to be right. */
#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define POOL_BYTES 65536

struct slot {
	_Alignas(64) uint64_t value;
	char text[32];
};

static struct slot *pool; /* 256 of them are used */
static unsigned char in[512];
static size_t in_len;

static void flush(const void *addr)
{
#ifdef __x86_64__
	__asm__ volatile("clwb (%0)" : : "r"(addr) : "memory");
#else
	(void)addr;
#endif
}

static void fence(void)
{
#ifdef __x86_64__
	__asm__ volatile("sfence" : : : "memory");
#endif
}

static void persist(const void *addr)
{
	flush(addr);
	fence();
}

/* ---- AGAMOTTO's Listing 7: the branch that stores forgets the fence; the other one has more code, but changes nothing ---- */

static __attribute__((noinline)) uint64_t foo(uint64_t a)
{
	for (int i = 0; i < 8; i++)
		a = a % 3 ? a * 5 + 1 : a / 3;
	return a;
}

static void listing7(void)
{
	uint32_t x;

	memcpy(&x, in, 4);
	if (x != 0x5eed5eed) {
		uint64_t a = pool[x % 16].value;

		printf("%llu\n", (unsigned long long)foo(a));
	} else {
		pool[x % 16].value = 7; /* BUG: missing-fence */
		flush(&pool[x % 16]);
	}
}

/* ---- a magic number, then a version ---- */

static void magic(void)
{
	if (memcmp(in, "PMDB", 4) != 0)
		return;
	pool[0].value = 1;
	persist(&pool[0]);
	if (in[4] == 0x02 && in[5] == 0x31)
		pool[1].value = 2; /* BUG: missing-flush-fence */
}

/* ---- a header with a checksum ---- */

static uint32_t crc32(const unsigned char *p, size_t n)
{
	static uint32_t table[256];
	uint32_t crc = 0xffffffff;

	for (uint32_t i = 0; !table[255] && i < 256; i++) {
		uint32_t c = i;

		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
		table[i] = c;
	}
	for (size_t i = 0; i < n; i++)
		crc = table[(crc ^ p[i]) & 0xff] ^ crc >> 8;
	return ~crc;
}

static void checksum(void)
{
	uint32_t sum;

	memcpy(&sum, in, 4);
	if (in[4] != 'H' || sum != crc32(in + 4, 4))
		return;
	pool[0].value = sum; /* BUG: missing-fence */
	flush(&pool[0]);
}

static void sum16(void)
{
	uint16_t stored, sum = 0;

	memcpy(&stored, in, 2);
	for (int i = 2; i < 12; i++)
		sum = (uint16_t)(sum * 3 + in[i]);
	if (stored != sum || stored < 0x7000)
		return;
	pool[0].value = sum;
	persist(&pool[0]);
	if (in[4] + in[5] * 256 == 0x1234)
		pool[2].value = sum; /* BUG: missing-flush-fence */
}

/* ---- lengths: records of type, length, bytes ---- */

static void lengths(void)
{
	size_t at = 0;
	unsigned n = 0;

	while (at + 2 <= in_len && in[at] == 0xa5) {
		unsigned len = in[at + 1];

		if (len < 3 || len > 16 || at + 2 + len > in_len)
			return;
		pool[n].value = len;
		persist(&pool[n]);
		at += 2 + len;
		n++;
	}
	if (n == 3 && at == 20)
		pool[n].value = 0xff; /* BUG: missing-flush-fence */
}

/* ---- a state machine ---- */

static void states(void)
{
	enum { IDLE, OPEN, ARMED, READY } state = IDLE;

	for (size_t i = 0; i < in_len && i < 8; i++)
		switch (state) {
		case IDLE: state = in[i] == 'o' ? OPEN : IDLE; break;
		case OPEN: state = in[i] == 'a' ? ARMED : in[i] == 'c' ? IDLE : OPEN; break;
		case ARMED: state = in[i] == 'r' ? READY : IDLE; break;
		case READY:
			if (in[i] == '!') {
				pool[0].value = 1; /* BUG: missing-fence */
				flush(&pool[0]);
			}
			return;
		}
}

/* ---- commands in text ---- */

static struct slot *find(const char *key)
{
	unsigned h = 0;

	for (; *key; key++)
		h = h * 31 + (unsigned char)*key;
	return &pool[h % 64];
}

static void command(char *line)
{
	char *verb = strtok(line, " "), *key = strtok(NULL, " "), *value = strtok(NULL, " ");

	if (!verb || !key)
		return;
	if (strcmp(verb, "SET") == 0 && value) {
		struct slot *s = find(key);

		strncpy(s->text, value, sizeof s->text - 1);
		persist(s);
	} else if (strcmp(verb, "DEL") == 0) {
		struct slot *s = find(key);

		s->text[0] = '\0'; /* BUG: missing-flush-fence */
	} else if (strcmp(verb, "GET") == 0) {
		printf("%s\n", find(key)->text);
	}
}

static void text(void)
{
	char *rest = (char *)in, *line;

	while ((line = strsep(&rest, "\n")))
		command(line);
}

static void number(void)
{
	char *end;
	long n = strtol((char *)in, &end, 10);

	if (*end != ';' || n < 100000)
		return;
	pool[1].value = (uint64_t)n;
	persist(&pool[1]);
	if (n == 31415926)
		pool[2].value = 1; /* BUG: missing-flush-fence */
}

/* ---- a jump table ---- */

static void opcodes(void)
{
	uint64_t a = 0;

	for (size_t i = 0; i + 1 < in_len && i < 6; i += 2)
		switch (in[i]) {
		case 1: a += in[i + 1]; break;
		case 2: a *= in[i + 1]; break;
		case 3: a ^= in[i + 1]; break;
		case 4: a -= in[i + 1]; break;
		case 5: a <<= in[i + 1] & 7; break;
		case 6:
			pool[0].value = a;
			persist(&pool[0]);
			break;
		case 7:
			if (a == 300)
				pool[1].value = a; /* BUG: missing-flush-fence */
			return;
		default: return;
		}
}

/* ---- crashes and hangs of its own ---- */

static void crashes(void)
{
	if (memcmp(in, "boom", 4) == 0)
		*(volatile int *)8 = 1;
	if (memcmp(in, "loop", 4) == 0)
		for (;;)
			;
	pool[0].value = 1;
	persist(&pool[0]);
}

/* ---- without a bug ---- */

static void correct(void)
{
	if (memcmp(in, "GOOD", 4) != 0)
		return;
	pool[0].value = in[5];
	persist(&pool[0]);
	if (in[4] > 100) {
		pool[1].value = in[4];
		persist(&pool[1]);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "listing7", listing7 }, { "magic", magic },	    { "checksum", checksum }, { "sum16", sum16 },     { "lengths", lengths },
	{ "states", states },	  { "text", text },	    { "number", number },     { "opcodes", opcodes }, { "crashes", crashes },
	{ "correct", correct },
};

static void pool_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0666);

	if (fd < 0 || ftruncate(fd, POOL_BYTES) < 0)
		exit(2);
	pool = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pool == MAP_FAILED)
		exit(2);
	close(fd);
}

/* Serves one client. */
static int client_accept(const char *port)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 || bind(fd, (struct sockaddr *)&own, sizeof own) < 0 ||
	    listen(fd, 1) < 0)
		exit(2);
	return accept(fd, NULL, NULL);
}

static void input_read(const char *how)
{
	int fd = !how ? 0 : isdigit((unsigned char)how[0]) ? client_accept(how) : open(how, O_RDONLY);
	ssize_t n;

	while (fd >= 0 && in_len < sizeof in - 1 && (n = read(fd, in + in_len, sizeof in - 1 - in_len)) > 0)
		in_len += (size_t)n;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	pool_open(argv[2]);
	if (argc > 4)
		in_len = (size_t)snprintf((char *)in, sizeof in, "%s", argv[4]);
	else
		input_read(argv[3]);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (strcmp(cases[i].name, argv[1]) == 0) {
			cases[i].run();
			return 0;
		}
	return 2;
}
