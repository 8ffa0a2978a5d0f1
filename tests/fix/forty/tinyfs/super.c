// SPDX-License-Identifier: GPL-2.0
/* Mount, which makes the file system if there is none yet. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tinyfs.h"

static void tfs_fill_super(struct tfs_super *ts)
{
	ts->s_nr_inodes = TFS_NR_INODES;
	ts->s_nr_blocks = TFS_NR_BLOCKS;
	pm_flush_buffer(ts, offsetof(struct tfs_super, s_journal), true);

	ts->s_magic = TFS_MAGIC;
	pm_flush_buffer(&ts->s_magic, sizeof(ts->s_magic), true);
}

/* Finds out which blocks are in use. No block may have two owners. */
static int tfs_scan_blocks(struct tfs_sb_info *sbi)
{
	struct tfs_inode *di;
	u64 i, nr;

	tfs_for_each_inode(sbi, di) {
		if (!di->i_valid)
			continue;
		nr = (di->i_size + TFS_BLOCK_SIZE - 1) / TFS_BLOCK_SIZE;
		if (nr > TFS_DIRECT)
			return -EUCLEAN;
		for (i = 0; i < nr; i++) {
			if (di->i_block[i] >= TFS_NR_BLOCKS)
				return -EUCLEAN;
			if (sbi->used[di->i_block[i]])
				return -EUCLEAN;
			sbi->used[di->i_block[i]] = true;
		}
	}
	return 0;
}

int tfs_mount(struct tfs_sb_info *sbi, const char *path)
{
	struct tfs_super *ts;
	int fd, err;

	fd = open(path, O_RDWR | O_CREAT, 0644);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, sizeof(struct tfs_image)) < 0) {
		err = -errno;
		goto out_close;
	}
	sbi->image = mmap(NULL, sizeof(struct tfs_image), PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, 0);
	if (sbi->image == MAP_FAILED) {
		err = -errno;
		goto out_close;
	}

	ts = &sbi->image->super;
	if (!ts->s_magic)
		tfs_fill_super(ts);
	err = -EUCLEAN;
	if (ts->s_magic != TFS_MAGIC || ts->s_nr_inodes != TFS_NR_INODES ||
	    ts->s_nr_blocks != TFS_NR_BLOCKS)
		goto out_unmap;

	tfs_journal_replay(sbi);
	err = tfs_scan_blocks(sbi);
	if (err)
		goto out_unmap;
	close(fd);
	return 0;

out_unmap:
	tfs_umount(sbi);
out_close:
	close(fd);
	return err;
}

void tfs_umount(struct tfs_sb_info *sbi)
{
	munmap(sbi->image, sizeof(struct tfs_image));
	sbi->image = NULL;
}
