// SPDX-License-Identifier: GPL-2.0
/* A name does not change at once, so a rename goes through the journal. */
#include <errno.h>
#include <string.h>

#include "tinyfs.h"

static void tfs_journal_start(struct tfs_journal *j, u64 ino, const char *name)
{
	j->j_ino = ino;
	memset(j->j_name, 0, sizeof(j->j_name));
	strcpy(j->j_name, name);
	pm_flush_buffer(j, sizeof(*j), true);

	j->j_valid = 1;
	pm_flush_buffer(&j->j_valid, sizeof(j->j_valid), true);
}

static void tfs_journal_apply(struct tfs_sb_info *sbi, struct tfs_journal *j)
{
	struct tfs_inode *di = &sbi->image->inode[j->j_ino];

	memcpy(di->i_name, j->j_name, sizeof(di->i_name));
	pm_flush_buffer(di->i_name, sizeof(di->i_name), true);
}

static void tfs_journal_stop(struct tfs_journal *j)
{
	j->j_valid = 0;
	pm_flush_buffer(&j->j_valid, sizeof(j->j_valid), true);
}

int tfs_rename(struct tfs_sb_info *sbi, const char *from, const char *to)
{
	struct tfs_journal *j = &sbi->image->super.s_journal;
	struct tfs_inode *di = tfs_lookup(sbi, from);

	if (!di)
		return -ENOENT;
	if (strlen(to) > TFS_NAME_LEN)
		return -ENAMETOOLONG;
	if (tfs_lookup(sbi, to))
		return -EEXIST;

	tfs_journal_start(j, di - sbi->image->inode, to);
	tfs_journal_apply(sbi, j);
	tfs_journal_stop(j);
	return 0;
}

void tfs_journal_replay(struct tfs_sb_info *sbi)
{
	struct tfs_journal *j = &sbi->image->super.s_journal;

	if (!j->j_valid)
		return;
	tfs_journal_apply(sbi, j);
	tfs_journal_stop(j);
}
