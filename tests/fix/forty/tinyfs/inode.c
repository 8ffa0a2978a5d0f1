// SPDX-License-Identifier: GPL-2.0
/* Inodes and their blocks. */
#include <errno.h>
#include <string.h>

#include "tinyfs.h"

struct tfs_inode *tfs_lookup(struct tfs_sb_info *sbi, const char *name)
{
	struct tfs_inode *di;

	tfs_for_each_inode(sbi, di) {
		if (di->i_valid && !strcmp(di->i_name, name))
			return di;
	}
	return NULL;
}

static struct tfs_inode *tfs_new_inode(struct tfs_sb_info *sbi)
{
	struct tfs_inode *di;

	tfs_for_each_inode(sbi, di) {
		if (!di->i_valid)
			return di;
	}
	return NULL;
}

/* The block is in use once an inode points to it. */
static int tfs_new_block(struct tfs_sb_info *sbi, u64 *blocknr)
{
	u64 i;

	for (i = 0; i < TFS_NR_BLOCKS; i++) {
		if (sbi->used[i])
			continue;
		sbi->used[i] = true;
		*blocknr = i;
		return 0;
	}
	return -ENOSPC;
}

static inline void tfs_free_block(struct tfs_sb_info *sbi, u64 blocknr)
{
	sbi->used[blocknr] = false;
}

/* The size is one word: everything below it must be durable. */
static inline void tfs_set_size(struct tfs_inode *di, u64 size)
{
	di->i_size = size;
	pm_flush_buffer(&di->i_size, sizeof(di->i_size), true);
}

int tfs_create(struct tfs_sb_info *sbi, const char *name)
{
	struct tfs_inode *di;

	if (strlen(name) > TFS_NAME_LEN)
		return -ENAMETOOLONG;
	if (tfs_lookup(sbi, name))
		return -EEXIST;
	di = tfs_new_inode(sbi);
	if (!di)
		return -ENOSPC;

	di->i_size = 0;
	memset(di->i_name, 0, sizeof(di->i_name));
	strcpy(di->i_name, name);
	pm_flush_buffer(di, sizeof(*di), true);

	di->i_valid = 1;
	pm_flush_buffer(&di->i_valid, sizeof(di->i_valid), true);
	return 0;
}

int tfs_append(struct tfs_sb_info *sbi, const char *name, const char *buf, size_t len)
{
	struct tfs_inode *di = tfs_lookup(sbi, name);
	u64 pos, end, first, index;
	size_t off, n;
	char *block;
	int err;

	if (!di)
		return -ENOENT;
	pos = di->i_size;
	end = pos + len;
	if (end > TFS_DIRECT * TFS_BLOCK_SIZE)
		return -EFBIG;

	first = (pos + TFS_BLOCK_SIZE - 1) / TFS_BLOCK_SIZE;
	for (index = first; index * TFS_BLOCK_SIZE < end; index++) {
		err = tfs_new_block(sbi, &di->i_block[index]);
		if (err)
			goto out_free;
	}
	if (index > first)
		pm_flush_buffer(di->i_block, sizeof(di->i_block), false);

	while (pos < end) {
		off = pos % TFS_BLOCK_SIZE;
		n = TFS_BLOCK_SIZE - off;
		if (n > end - pos)
			n = end - pos;
		block = sbi->image->block[di->i_block[pos / TFS_BLOCK_SIZE]];
		memcpy(block + off, buf, n);
		pm_flush_buffer(block + off, n, false);
		buf += n;
		pos += n;
	}
	pm_wmb();

	tfs_set_size(di, end);
	return 0;

out_free:
	while (index-- > first)
		tfs_free_block(sbi, di->i_block[index]);
	return err;
}

int tfs_truncate(struct tfs_sb_info *sbi, const char *name, size_t size)
{
	struct tfs_inode *di = tfs_lookup(sbi, name);
	u64 i, nr;

	if (!di)
		return -ENOENT;
	if (size >= di->i_size)
		return size == di->i_size ? 0 : -EINVAL;

	nr = (di->i_size + TFS_BLOCK_SIZE - 1) / TFS_BLOCK_SIZE;
	tfs_set_size(di, size);
	for (i = (size + TFS_BLOCK_SIZE - 1) / TFS_BLOCK_SIZE; i < nr; i++)
		tfs_free_block(sbi, di->i_block[i]);
	return 0;
}

int tfs_unlink(struct tfs_sb_info *sbi, const char *name)
{
	struct tfs_inode *di = tfs_lookup(sbi, name);
	u64 i;

	if (!di)
		return -ENOENT;
	di->i_valid = 0;
	pm_flush_buffer(&di->i_valid, sizeof(di->i_valid), true);
	for (i = 0; i * TFS_BLOCK_SIZE < di->i_size; i++)
		tfs_free_block(sbi, di->i_block[i]);
	return 0;
}
