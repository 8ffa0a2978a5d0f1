/* Programs that have a bug behind a condition on their input, one for each way that inputs are checked:
 *
 *	programs CASE POOL [FILE | PORT | VARIABLE | memory | - TEXT]      without any: standard input
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

#include "pm.h"
#include "pmend.h"

#define POOL_BYTES 65536

struct slot {
	_Alignas(64) uint64_t value;
	char text[32];
};

static struct slot *pool; /* 256 of them are used */
static unsigned char in[512];
static size_t in_len;

/* What most programs do with their input before they do something with it: say what it looks like. Changes nothing. */
static void describe(void)
{
	static const struct {
		const char *bytes, *name;
	} kinds[] = {
		{ "\177ELF", "a program" }, { "%PDF", "a document" }, { "\x89PNG", "a picture" },   { "GIF8", "a picture" },
		{ "PK\3\4", "an archive" }, { "\x1f\x8b", "packed" }, { "<?xml", "markup" },	   { "{\"", "an object" },
		{ "#!/", "a script" },	    { "From ", "a mail" },  { "HTTP/", "an answer" },	   { "diff ", "a patch" },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (memcmp(in, kinds[i].bytes, strlen(kinds[i].bytes)) == 0)
			printf("%s\n", kinds[i].name);
	if (in[0] == 0xef && in[1] == 0xbb && in[2] == 0xbf)
		puts("text with a mark");
	else if (isupper(in[0]) || islower(in[0]))
		puts("text");
	if (in_len > 8 && in[7] == 0xff)
		puts("the eighth byte is odd");
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
		REACHED(), pool[x % 16].value = 7; /* BUG: missing-fence */
		flush_line(&pool[x % 16]);
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
		REACHED(), pool[1].value = 2; /* BUG: missing-flush-fence */
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
	REACHED(), pool[0].value = sum; /* BUG: missing-fence */
	flush_line(&pool[0]);
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
		REACHED(), pool[2].value = sum; /* BUG: missing-flush-fence */
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
		REACHED(), pool[n].value = 0xff; /* BUG: missing-flush-fence */
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
				REACHED(), pool[0].value = 1; /* BUG: missing-fence */
				flush_line(&pool[0]);
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

		REACHED(), s->text[0] = '\0'; /* BUG: missing-flush-fence */
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
		REACHED(), pool[2].value = 1; /* BUG: missing-flush-fence */
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
				REACHED(), pool[1].value = a; /* BUG: missing-flush-fence */
			return;
		default: return;
		}
}

/* ---- packets of many types, of which few change something ---- */

static unsigned packet_number(size_t at)
{
	return (unsigned)in[at] << 8 | in[at + 1];
}

static void packet_answer(unsigned type)
{
	switch (type) {
	case 1: puts(in[6] ? "pong" : "still here"); break;
	case 2: printf("version %u, %s\n", in[6], in[7] > 3 ? "too new" : "fine"); break;
	case 3: puts(packet_number(6) > 1000 ? "far" : packet_number(6) > 100 ? "near" : "here"); break;
	case 4: printf("level %s\n", in[6] == 'd' ? "debug" : in[6] == 'i' ? "info" : "error"); break;
	case 5: puts(memcmp(in + 6, "user", 4) == 0 ? "hello" : "who are you"); break;
	case 6: printf("%u records\n", (unsigned)pool[in[6]].value); break;
	default: puts("unknown"); break;
	}
}

static void packets(void)
{
	unsigned type = in[2];

	if (packet_number(0) != 0x504d || packet_number(4) != 12 + type)
		return;
	if (type != 0x2a) {
		packet_answer(type);
		return;
	}
	if (in[3] & 0x80) {
		pool[8].value = packet_number(6);
		persist(&pool[8]);
	}
	if ((in[3] & 0x0f) == 0x0b && packet_number(8) == packet_number(10) + 77) {
		REACHED(), pool[9].value = packet_number(8); /* BUG: missing-fence */
		flush_line(&pool[9]);
	}
}

/* ---- settings, NAME=VALUE;NAME=VALUE, as an environment variable holds them ---- */

static void setting(const char *name, const char *value)
{
	if (strcmp(name, "v") == 0) {
		printf("verbose: %s\n", *value == '0' ? "no" : "yes");
	} else if (strcmp(name, "log") == 0) {
		printf("to %s\n", *value == '/' ? "a file" : "the terminal");
	} else if (strcmp(name, "n") == 0) {
		int n = atoi(value);

		puts(n > 16 ? "many" : n > 1 ? "some" : "one");
	} else if (strcmp(name, "mode") == 0 && strcmp(value, "rw") == 0) {
		REACHED(), pool[3].value = 1; /* BUG: missing-fence */
		flush_line(&pool[3]);
	}
}

static void settings(void)
{
	char *rest = (char *)in, *word;

	while ((word = strsep(&rest, ";"))) {
		char *value = strchr(word, '=');

		if (value) {
			*value++ = '\0';
			setting(word, value);
		}
	}
}

/* ---- crashes and hangs of its own ---- */

/* Prints more than pmend keeps. */
static void floods(void)
{
	static const char text[1 << 20];

	while (memcmp(in, "many", 4) == 0)
		if (write(STDOUT_FILENO, text, sizeof text) < 0)
			exit(1);
	pool[0].value = 1;
	persist(&pool[0]);
}

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

static const struct a_case cases[] = {
	{ "listing7", listing7 }, { "magic", magic },	    { "checksum", checksum }, { "sum16", sum16 },     { "lengths", lengths },
	{ "states", states },	  { "text", text },	    { "number", number },     { "opcodes", opcodes }, { "crashes", crashes }, { "floods", floods },
	{ "correct", correct },   { "packets", packets },	    { "settings", settings },
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

/* In a file, at a port, or in an environment variable. */
static void input_find(const char *how)
{
	const char *value = how ? getenv(how) : NULL;
	int fd = value ? -1 : !how ? 0 : isdigit((unsigned char)how[0]) ? client_accept(how) : open(how, O_RDONLY);
	ssize_t n;

	while (fd >= 0 && in_len < sizeof in - 1 && (n = read(fd, in + in_len, sizeof in - 1 - in_len)) > 0)
		in_len += (size_t)n;
	if (value)
		in_len = (size_t)snprintf((char *)in, sizeof in, "%s", value);
}

/* Or nowhere, if pmend is to say what memory holds. */
static void input_read(const char *how)
{
	if (how && strcmp(how, "memory") == 0) {
		in_len = 8;
		PMEND_SYMBOLIC(in, 3); /* one behind the other */
		PMEND_SYMBOLIC(in + 3, 5);
		return;
	}
	input_find(how);
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
	describe();
	return case_run(cases, sizeof cases / sizeof cases[0], argv[1]);
}
