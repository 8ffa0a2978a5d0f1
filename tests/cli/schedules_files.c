/* Threads and a folder: DIR broken|correct. One writes a new version and syncs it, the other one gives it the name of the old one. The broken ones do so
 * without a lock, so the new one may get its name before it is synced; if nobody changes the threads, the first is done before the second begins. It fails
 * if the folder does not hold what it held at first: the file "data" with the text "old", and nothing else. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char g_data[4096], g_new[4096];
static int g_is_correct, g_folder;
static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;

static void lock(void)
{
	if (g_is_correct)
		pthread_mutex_lock(&g_lock);
}

static void unlock(void)
{
	if (g_is_correct)
		pthread_mutex_unlock(&g_lock);
}

static void *write_new(void *arg)
{
	int fd;

	lock();
	fd = open(g_new, O_WRONLY | O_CREAT, 0666);
	if (fd < 0 || write(fd, "new", 3) != 3 || fsync(fd) < 0)
		return NULL;
	close(fd);
	unlock();
	return arg;
}

static void *name_new(void *arg)
{
	lock();
	if (rename(g_new, g_data) == 0) /* BUG: rename-before-fsync */
		fsync(g_folder);
	unlock();
	return arg;
}

/* Names what came too late for that. */
static void name_late(void)
{
	if (access(g_new, F_OK) == 0 && rename(g_new, g_data) == 0)
		fsync(g_folder);
}

static int is_as_at_first(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	char text[4] = "";
	int n = 0, fd = open(g_data, O_RDONLY);

	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	if (fd >= 0 && read(fd, text, 3) != 3)
		return 0;
	if (fd >= 0)
		close(fd);
	return n == (fd >= 0) && (fd < 0 || strcmp(text, "old") == 0);
}

int main(int argc, char **argv)
{
	pthread_t a, b;

	if (argc != 3)
		return 2;
	snprintf(g_data, sizeof g_data, "%s/data", argv[1]);
	snprintf(g_new, sizeof g_new, "%s/new", argv[1]);
	if (!is_as_at_first(argv[1]))
		return 3;
	g_is_correct = strcmp(argv[2], "correct") == 0;
	g_folder = open(argv[1], O_RDONLY | O_DIRECTORY);
	pthread_create(&a, NULL, write_new, NULL);
	pthread_create(&b, NULL, name_new, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	name_late();
	return 0;
}
