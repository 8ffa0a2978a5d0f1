/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tinyfs: a flat file system on persistent memory, in user space.
 *
 * Layout: one super block, TFS_NR_INODES inodes, TFS_NR_BLOCKS blocks of data.
 * Which blocks are in use follows from the inodes, and is found out at mount.
 */
#ifndef _TINYFS_H
#define _TINYFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t u32;
typedef uint64_t u64;

#define TFS_MAGIC	0x54494e59u
#define TFS_NAME_LEN	63
#define TFS_BLOCK_SIZE	128
#define TFS_NR_INODES	8
#define TFS_NR_BLOCKS	32
#define TFS_DIRECT	6

#define CACHELINE_SIZE	64
#define __cacheline_aligned	__attribute__((aligned(CACHELINE_SIZE)))

/* A rename on its way. It counts if j_valid is set. */
struct tfs_journal {
	u64	j_valid;
	u64	j_ino;
	char	j_name[TFS_NAME_LEN + 1];
} __cacheline_aligned;

struct tfs_super {
	u32	s_magic;
	u32	s_nr_inodes;
	u32	s_nr_blocks;
	struct tfs_journal s_journal;
} __cacheline_aligned;

struct tfs_inode {
	u64	i_valid;		/* set last by create */
	u64	i_size;			/* blocks beyond it do not count */
	u64	i_block[TFS_DIRECT];
	char	i_name[TFS_NAME_LEN + 1];
} __cacheline_aligned;

struct tfs_image {
	struct tfs_super super;
	struct tfs_inode inode[TFS_NR_INODES];
	char block[TFS_NR_BLOCKS][TFS_BLOCK_SIZE] __cacheline_aligned;
};

/* What is known about a mounted file system, in DRAM. */
struct tfs_sb_info {
	struct tfs_image *image;
	bool used[TFS_NR_BLOCKS];
};

#define tfs_for_each_inode(sbi, di)					\
	for ((di) = (sbi)->image->inode;				\
	     (di) < (sbi)->image->inode + TFS_NR_INODES; (di)++)

static inline void pm_wmb(void)
{
#if defined(__aarch64__)
	__asm__ volatile("dsb ish" : : : "memory");
#else
	__asm__ volatile("sfence" : : : "memory");
#endif
}

static inline void pm_flush_buffer(void *buf, size_t len, bool fence)
{
	uintptr_t p = (uintptr_t)buf & ~(uintptr_t)(CACHELINE_SIZE - 1);

	for (; p < (uintptr_t)buf + len; p += CACHELINE_SIZE) {
#if defined(__aarch64__)
		__asm__ volatile(".arch armv8.2-a\n\tdc cvap, %0" : : "r"(p) : "memory");
#else
		__asm__ volatile("clwb %0" : "+m"(*(volatile char *)p) : : "memory");
#endif
	}
	if (fence)
		pm_wmb();
}

/* inode.c */
struct tfs_inode *tfs_lookup(struct tfs_sb_info *sbi, const char *name);
int tfs_create(struct tfs_sb_info *sbi, const char *name);
int tfs_append(struct tfs_sb_info *sbi, const char *name, const char *buf, size_t len);
int tfs_truncate(struct tfs_sb_info *sbi, const char *name, size_t size);
int tfs_unlink(struct tfs_sb_info *sbi, const char *name);

/* rename.c */
int tfs_rename(struct tfs_sb_info *sbi, const char *from, const char *to);
void tfs_journal_replay(struct tfs_sb_info *sbi);

/* super.c */
int tfs_mount(struct tfs_sb_info *sbi, const char *path);
void tfs_umount(struct tfs_sb_info *sbi);

#endif
