/* Imitates a container of Docker's: drops what its containers may not (capabilities) and refuses the system calls that its default seccomp profile refuses them, then
 * runs a command: `docker CMD [ARG]...`. The profile is a list of what is allowed; this is a list of what it leaves out, as far as the headers know names for it. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMESPACES (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
#define LOW(n) (offsetof(struct seccomp_data, args[n])) /* of an argument, on little-endian machines */

/* What a container of root's keeps. */
static const int kept[] = { CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FSETID, CAP_FOWNER, CAP_MKNOD, CAP_NET_RAW, CAP_SETGID, CAP_SETUID, CAP_SETFCAP, CAP_SETPCAP,
	CAP_NET_BIND_SERVICE, CAP_SYS_CHROOT, CAP_KILL, CAP_AUDIT_WRITE };

static const int refused[] = {
	SYS_acct, SYS_add_key, SYS_bpf, SYS_clock_adjtime, SYS_clock_settime, SYS_delete_module, SYS_finit_module, SYS_fsconfig, SYS_fsmount, SYS_fsopen,
	SYS_fspick, SYS_get_mempolicy, SYS_init_module, SYS_io_uring_enter, SYS_io_uring_register, SYS_io_uring_setup, SYS_kexec_load, SYS_keyctl,
	SYS_lookup_dcookie, SYS_mbind, SYS_mount, SYS_mount_setattr, SYS_move_mount, SYS_move_pages, SYS_name_to_handle_at, SYS_nfsservctl,
	SYS_open_by_handle_at, SYS_open_tree, SYS_perf_event_open, SYS_pivot_root, SYS_process_madvise, SYS_quotactl, SYS_quotactl_fd, SYS_reboot,
	SYS_request_key, SYS_set_mempolicy, SYS_setdomainname, SYS_sethostname, SYS_setns, SYS_settimeofday, SYS_swapoff, SYS_swapon, SYS_syslog,
	SYS_umount2, SYS_unshare, SYS_userfaultfd, SYS_vhangup,
};

static const uint32_t personalities[] = { 0, 8, 0x20000, 0x20008, 0xffffffff }; /* ADDR_NO_RANDOMIZE, which gdb wants, is none of them */

static struct sock_filter program[256];
static unsigned short length;

static void add(uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	program[length++] = (struct sock_filter){ .code = code, .jt = jt, .jf = jf, .k = k };
}

static void add_return(uint32_t action)
{
	add(BPF_RET | BPF_K, action, 0, 0);
}

/* Calls with this number come to the instructions that the caller adds next, others go on behind the first `skip` of these. */
static void add_number(uint32_t number, uint8_t skip)
{
	add(BPF_JMP | BPF_JEQ | BPF_K, number, 0, skip);
}

static void build(void)
{
	add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		add_number((uint32_t)refused[i], 1);
		add_return(SECCOMP_RET_ERRNO | EPERM);
	}
	add_number(SYS_clone3, 1);
	add_return(SECCOMP_RET_ERRNO | ENOSYS); /* its flags are out of a filter's sight */
	add_number(SYS_clone, 4);
	add(BPF_LD | BPF_W | BPF_ABS, LOW(0), 0, 0);
	add(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1);
	add_return(SECCOMP_RET_ERRNO | EPERM);
	add_return(SECCOMP_RET_ALLOW);
	add_number(SYS_personality, (uint8_t)(sizeof personalities / sizeof *personalities * 2 + 2));
	add(BPF_LD | BPF_W | BPF_ABS, LOW(0), 0, 0);
	for (size_t i = 0; i < sizeof personalities / sizeof *personalities; i++) {
		add_number(personalities[i], 1);
		add_return(SECCOMP_RET_ALLOW);
	}
	add_return(SECCOMP_RET_ERRNO | EPERM);
	add_return(SECCOMP_RET_ALLOW);
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	uint64_t keep = 0, have;

	if (syscall(SYS_capget, &header, data) < 0)
		return -1;
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		keep |= 1ull << kept[i];
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		if (!(keep >> cap & 1) && prctl(PR_CAPBSET_DROP, cap) < 0 && geteuid() == 0)
			return -1;
	have = (data[0].permitted | (uint64_t)data[1].permitted << 32) & keep;
	data[0] = (struct __user_cap_data_struct){ .effective = (uint32_t)have, .permitted = (uint32_t)have };
	data[1] = (struct __user_cap_data_struct){ .effective = (uint32_t)(have >> 32), .permitted = (uint32_t)(have >> 32) };
	return (int)syscall(SYS_capset, &header, data);
}

int main(int argc, char **argv)
{
	struct sock_fprog filter = { .filter = program };

	if (argc < 2)
		return fprintf(stderr, "usage: docker CMD [ARG]...\n"), 2;
	if (drop_capabilities() < 0)
		return perror("capabilities"), 2;
	build();
	filter.len = length;
	/* Docker's own containers may gain privileges; who is not root must do without, to be allowed a filter. */
	if ((prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0) &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0))
		return perror("seccomp"), 2;
	execvp(argv[1], argv + 1);
	return perror(argv[1]), 2;
}
