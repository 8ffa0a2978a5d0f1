// SPDX-License-Identifier: GPL-2.0
/*
 * tinyfs IMAGE CMD [ARG]... [, CMD [ARG]...]...
 *
 * Commands: create NAME, append NAME TEXT, truncate NAME SIZE, unlink NAME,
 * rename OLD NEW, fsck.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tinyfs.h"

/* The commands write text only. */
static int fsck_content(struct tfs_sb_info *sbi, struct tfs_inode *di)
{
	u64 pos;
	char c;

	for (pos = 0; pos < di->i_size; pos++) {
		c = sbi->image->block[di->i_block[pos / TFS_BLOCK_SIZE]][pos % TFS_BLOCK_SIZE];
		if (c < ' ' || c > '~')
			return -EUCLEAN;
	}
	return 0;
}

static int tfs_fsck(struct tfs_sb_info *sbi)
{
	struct tfs_inode *di;
	u64 pos;
	int err = 0;

	tfs_for_each_inode(sbi, di) {
		if (!di->i_valid)
			continue;
		if (!di->i_name[0] || tfs_lookup(sbi, di->i_name) != di ||
		    fsck_content(sbi, di)) {
			fprintf(stderr, "inode %td is damaged\n", di - sbi->image->inode);
			err = -EUCLEAN;
			continue;
		}
		printf("%s: ", di->i_name);
		for (pos = 0; pos < di->i_size; pos++)
			putchar(sbi->image->block[di->i_block[pos / TFS_BLOCK_SIZE]][pos % TFS_BLOCK_SIZE]);
		putchar('\n');
	}
	return err;
}

static int do_create(struct tfs_sb_info *sbi, char **arg)
{
	return tfs_create(sbi, arg[0]);
}

static int do_append(struct tfs_sb_info *sbi, char **arg)
{
	return tfs_append(sbi, arg[0], arg[1], strlen(arg[1]));
}

static int do_truncate(struct tfs_sb_info *sbi, char **arg)
{
	return tfs_truncate(sbi, arg[0], strtoul(arg[1], NULL, 10));
}

static int do_unlink(struct tfs_sb_info *sbi, char **arg)
{
	return tfs_unlink(sbi, arg[0]);
}

static int do_rename(struct tfs_sb_info *sbi, char **arg)
{
	return tfs_rename(sbi, arg[0], arg[1]);
}

static int do_fsck(struct tfs_sb_info *sbi, char **arg)
{
	(void)arg;
	return tfs_fsck(sbi);
}

static const struct {
	const char *name;
	int nr_args;
	int (*fn)(struct tfs_sb_info *sbi, char **arg);
} cmds[] = {
	{ "create",	1, do_create },
	{ "append",	2, do_append },
	{ "truncate",	2, do_truncate },
	{ "unlink",	1, do_unlink },
	{ "rename",	2, do_rename },
	{ "fsck",	0, do_fsck },
};

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static int run_cmd(struct tfs_sb_info *sbi, char **arg, int nr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		if (!strcmp(arg[0], cmds[i].name) && nr == cmds[i].nr_args + 1)
			return cmds[i].fn(sbi, arg + 1);
	}
	return -EINVAL;
}

int main(int argc, char **argv)
{
	struct tfs_sb_info sbi = { 0 };
	int first, last, err;

	if (argc < 3) {
		fprintf(stderr, "usage: tinyfs IMAGE CMD [ARG]... [, CMD [ARG]...]...\n");
		return 2;
	}
	err = tfs_mount(&sbi, argv[1]);
	if (err)
		goto out;
	for (first = 2; first < argc; first = last + 1) {
		for (last = first; last < argc && strcmp(argv[last], ","); last++)
			;
		err = run_cmd(&sbi, argv + first, last - first);
		if (err)
			break;
	}
	tfs_umount(&sbi);
out:
	if (err)
		fprintf(stderr, "tinyfs: %s\n", strerror(-err));
	return err ? 1 : 0;
}
