/* Places where no sync can be written, and the reason. Each function has a file of its own. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Nobody knows behind the statement whether the file is open. */
static int may_be_closed(const char *path)
{
	int fd = path ? open(path, O_WRONLY | O_CREAT, 0644) : -1;

	if (fd >= 0 && write(fd, "text\n", 5) != 5) /* LEFT: whether the file is open behind the statement depends */
		return -1;
	return 0;
}

static int closed_at_once(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0644);

	if (fd < 0)
		return -1;
	if (write(fd, "text\n", 5) != 5 || close(fd) < 0) /* LEFT: the same statement closes the file */
		return -1;
	return 0;
}

static int by_path(const char *path)
{
	return truncate(path, 5); /* LEFT: truncate changes the file by its path */
}

static int next_of(const int *fds, int *i)
{
	if (write(fds[(*i)++], "text\n", 5) != 5) /* LEFT: cannot be evaluated again */
		return -1;
	return 0;
}

static int closed_on_success(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0644);

	if (fd < 0)
		return -1;
	if (write(fd, "text\n", 5) == 5) { /* LEFT: what the statement does depends on whether it worked */
		close(fd);
		return 0;
	}
	close(fd);
	return -1;
}

static bool by_value(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0644);
	bool is_fine = fd >= 0;

	if (!is_fine)
		return false;
	is_fine = write(fd, "text\n", 5) == 5; /* LEFT: no error handling of the function fits */
	close(fd);
	return is_fine;
}

static int in_folder(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT, 0644); /* LEFT: may be one in another folder than dirfd */

	if (fd < 0)
		return -1;
	if (fsync(fd) < 0) {
		close(fd);
		return -1;
	}
	return close(fd);
}

/* Both are wanted: the first sync where the file is closed, the second in each round. */
static int write_and_close(int fd)
{
	if (write(fd, "text\n", 5) != 5)
		return -1;
	if (fsync(fd) < 0)
		return -1;
	return close(fd);
}

static int each_round(void)
{
	for (int i = 0; i < 2; i++) {
		int fd = open(i ? "round.1" : "round.0", O_WRONLY | O_CREAT, 0644);

		if (fd < 0)
			return -1;
		if (write(fd, "text\n", 5) != 5) {
			close(fd);
			return -1;
		}
		if (fsync(fd) < 0) {
			close(fd);
			return -1;
		}
		close(fd);
	}
	return 0;
}

/* The file is another one behind the rotation. */
struct log {
	int fd, number;
};

static int rotate(struct log *l)
{
	char name[20];

	if (l->number > 0)
		close(l->fd);
	snprintf(name, sizeof name, "log.%d", ++l->number);
	l->fd = open(name, O_WRONLY | O_CREAT, 0644);
	return l->fd < 0 ? -1 : 0;
}

static int rotated(struct log *l)
{
	if (write(l->fd, "old\n", 4) != 4)
		return -1;
	if (fsync(l->fd) < 0)
		return -1;
	if (rotate(l) < 0)
		return -1;
	if (write(l->fd, "new\n", 4) != 4)
		return -1;
	if (fsync(l->fd) < 0)
		return -1;
	return 0;
}

static int chosen(int fd, int what)
{
	switch (what) {
	case 0: return 0;
	case 1:
		if (write(fd, "one\n", 4) != 4)
			return -1;
		if (fsync(fd) < 0)
			return -1;
		break;
	default: return -1;
	}
	puts("chosen");
	return 0;
}

int main(int argc, char **argv)
{
	struct log l = { 0 };
	int fds[1], i = 0, dirfd, fd;

	if (argc != 2 || chdir(argv[1]) < 0 || (dirfd = open(".", O_RDONLY)) < 0)
		return 2;
	close(open("cut", O_WRONLY | O_CREAT, 0644));
	fds[0] = open("next", O_WRONLY | O_CREAT, 0644);
	fd = open("made", O_WRONLY | O_CREAT, 0644);
	if (fds[0] < 0 || fd < 0 || write_and_close(fd) < 0)
		return 2;
	fd = open("chosen", O_WRONLY | O_CREAT, 0644);
	if (may_be_closed("may") < 0 || closed_at_once("closed") < 0 || by_path("cut") < 0)
		return 1;
	if (next_of(fds, &i) < 0 || closed_on_success("success") < 0 || !by_value("value"))
		return 1;
	if (in_folder(dirfd, "folder") < 0 || each_round() < 0 || rotate(&l) < 0 || rotated(&l) < 0)
		return 1;
	return chosen(fd, 1) < 0;
}
