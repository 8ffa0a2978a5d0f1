/* A server that talks to others, too: talks POOL PORT. What comes over those connections is not the input, however much depends on it: the only condition on the input
 * is the one in serve(). A process that it leaves behind hangs in a connection that nobody accepts. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "pm.h"

#define POOL_BYTES 4096

static uint64_t *pool;
static int heard;

static void check(int is_right)
{
	if (!is_right)
		exit(2);
}

/* A message from one end to the other, and what the receiver does with it. */
static void message_pass(int from, int to)
{
	unsigned char text[8] = { 0 };

	check(write(from, "message", 8) == 8);
	check(recv(to, text, sizeof text, MSG_WAITALL) == 8);
	for (size_t i = 0; i < sizeof text; i++)
		heard += text[i] > 'm' ? 3 : text[i] == 'e' ? 5 : 1;
	close(from);
	close(to);
}

static void talk_in_pair(void)
{
	int ends[2];

	check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	message_pass(ends[0], ends[1]);
}

/* With a server of its own at an address of this kind, the rest of which is made up. */
static void talk_to(struct sockaddr *address, socklen_t len, socklen_t room)
{
	int server = socket(address->sa_family, SOCK_STREAM, 0), client = socket(address->sa_family, SOCK_STREAM, 0);

	check(server >= 0 && client >= 0 && bind(server, address, len) == 0 && listen(server, 1) == 0);
	check(getsockname(server, address, &room) == 0 && connect(client, address, room) == 0);
	message_pass(client, accept(server, NULL, NULL));
	close(server);
}

/* A process in a session of its own. The waiting line of a server that accepts nobody is full sooner or later. */
static void hang_behind(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t len = sizeof address;
	int server = socket(AF_UNIX, SOCK_STREAM, 0);

	check(bind(server, (struct sockaddr *)&address, sizeof address.sun_family) == 0 && listen(server, 0) == 0);
	check(getsockname(server, (struct sockaddr *)&address, &len) == 0);
	if (fork() != 0)
		return;
	setsid();
	for (;;)
		connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, len);
}

static void serve(const char *port)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int server = socket(AF_INET, SOCK_STREAM, 0), on = 1, client;
	unsigned char in[4];

	check(setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 && bind(server, (struct sockaddr *)&own, sizeof own) == 0 && listen(server, 1) == 0);
	client = accept(server, NULL, NULL);
	check(recv(client, in, sizeof in, MSG_WAITALL) == sizeof in);
	if (in[2] == 'P') {
		*pool = 1;
		persist(pool);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT, 0666) : -1;

	check(fd >= 0 && ftruncate(fd, POOL_BYTES) == 0);
	pool = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	check(pool != MAP_FAILED);
	talk_in_pair();
	talk_to((struct sockaddr *)&address, sizeof address, sizeof address);
	talk_to((struct sockaddr *)&local, sizeof local.sun_family, sizeof local);
	hang_behind();
	serve(argv[2]);
	printf("%d\n", heard);
	return 0;
}
