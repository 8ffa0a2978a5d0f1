/* What the files of the recorder share. The recorder is a Valgrind tool: one process image, one thread of it at a time,
 * hence plain global state. It uses Valgrind's public tool interface and, in sys.h, a few system calls of its own. */
#ifndef REC_H
#define REC_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"

#include "pmtrace.h"
#include "pmtrace_encode.h"

/* ---- options (main.c) ---- */
extern const HChar *clo_trace_file, *clo_platform;
extern Bool clo_loads, clo_instructions, clo_check_stacks, clo_follow;
extern ULong g_ninstructions; /* of the program, if clo_instructions */

/* ---- code.c: an instruction that makes a kind of event; and with its caller, a site of the trace ---- */
struct code {
	Addr pc;
	UInt size_bytes;
	UChar kind; /* enum pmt_kind */
	UInt node;  /* the calling context it ran in last; NEVER_NODE at first */
	struct site *site; /* the site that makes */
};
#define NO_NODE 0xffffffffu
#define NEVER_NODE 0xfffffffeu /* equal to no frame's */

struct site {
	struct pmt_site_state state;
	UInt number;
};

struct code *code_get(Addr pc, enum pmt_kind kind, UInt size_bytes);
void code_site(struct code *c, UInt node); /* sets both; defines the site in the trace when it is new */
UInt node_get(UInt parent, Addr pc, Bool is_signal);
void code_forget(void); /* addresses are about to mean other code: later sites and nodes get new numbers */

/* ---- out.c: the trace file ---- */
Bool out_open(void);
void out_close(void); /* the process ends, or becomes another program; out_resume() if it does not */
void out_resume(void);
void out_fork_child(UInt stream);
UInt out_new_stream(void);
UInt out_file_id(ULong dev, ULong ino, Bool *is_new); /* the same in all recorded processes; 0: table full */
UInt out_file_find(ULong dev, ULong ino);		      /* 0: not PM */
uint64_t *out_file_size(UInt file); /* shared by all recorded processes */
Bool out_has_files(void);	 /* there is or was PM, in some process */
void out_lock(void);		 /* around a locked instruction on PM, when g_shared */
void out_unlock(void);
extern ULong g_shared;
void out_file_forget(UInt file);		      /* the inode may be used again for another file */

void out_attend(void); /* something changed that the next event must look at */
UInt out_bad_stack(void); /* counts one, for --check-stacks */
void out_node(UInt parent, Bool is_signal, Addr pc);
void out_site(UInt node, Addr pc, enum pmt_kind kind, UInt size_bytes);
void out_object(Addr va, SizeT len, ULong offset, const UChar *build_id, UInt build_id_len, const HChar *path);
void out_object_gone(Addr va, SizeT len);

/* ---- emit.c: events into the trace ---- */
void emit_place(struct code *c); /* finds the site of an event that the running thread makes now; each event begins with this */
void emit_store(struct code *c, ULong addr, const UChar *data); /* c->size_bytes of them */
void emit_addr(struct code *c, ULong addr);			/* a flush or load */
void emit_plain(struct code *c);				/* a fence */
void emit_args(struct code *c, const ULong *args);		/* a kind that has nothing but arguments */
/* Any other event, at the current instruction of the thread. Arguments as many as the kind has. */
void emit_event(ThreadId tid, enum pmt_kind kind, ULong addr, const ULong *args, const void *blob, UInt blob_len);

/* ---- stack.c: the call stack of the running thread ---- */
struct frame {
	Addr slot; /* where the return address lies: the frame is alive while the stack pointer is not above it */
	Addr ret;
	UInt node; /* of the calling context, NO_NODE until somebody asks */
	UInt is_signal; /* IS_SIGNAL, or anything else */
	ULong beyond; /* 0; all bits are set in the one beyond the last that there is room for */
};
#define IS_SIGNAL 1u
extern struct frame *g_top, *g_frames_end;
extern UInt g_thread;	 /* number of the running thread in the trace */
extern ThreadId g_tid;	 /* its Valgrind id */
extern const Addr *g_sp; /* where its stack pointer is, if that is known; else something that is no stack pointer */
extern ULong g_pending; /* nonzero: it flushed or stored non-temporally since its last fence */
#define FRAME_FAR_BYTES 16384u /* further from the top frame than this, the stack pointer is looked at closely */

UInt stack_node(void);
void stack_learn_sp(const Addr *sp);
void stack_run(ThreadId tid);
void stack_thread_begin(ThreadId tid);
void stack_thread_end(ThreadId tid);
UInt stack_thread_number(ThreadId tid);
void stack_signal(ThreadId tid, Bool on_altstack);
void stack_signal_return(ThreadId tid);
void stack_check(Addr pc);
VG_REGPARM(0) void stack_call_slow(void);   /* the top frame was pushed, but should not have been, or not there */
VG_REGPARM(1) void stack_return_slow(Addr sp); /* it was popped, but should not have been; sp is the stack pointer after the return */

/* ---- pm.c, ranges.c, files.c: what memory is PM ---- */
#define GRANULE_SHIFT 16
#define GRANULES (1u << 20)
#define GRANULE_REACH_BYTES 4096
extern UChar g_granules[GRANULES]; /* nonzero: PM may lie in this 64 KiB (modulo 64 GiB) */

struct range { /* a mapping, or a part of one */
	Addr va;
	SizeT len_bytes;
	ULong addr; /* PM address of va */
};
extern struct hit { /* where PM was found last */
	Addr va;
	SizeT room; /* so far from va, PMT_STORE_MAX_BYTES are PM still; 0 when there is no such thing */
	ULong addr;
} g_hit;
const struct range *pm_find(Addr a);
Bool pm_addr(Addr a, ULong *addr);
Bool pm_is_volatile(Addr a); /* certainly: anonymous memory, or a private mapping */
void pm_glob(const HChar *glob);
void pm_mapped(ThreadId tid, Addr va, SizeT len, UInt prot, UInt flags, Int fd, ULong offset);
void pm_unmapped(ThreadId tid, Addr va, SizeT len);
void pm_moved(ThreadId tid, Addr from, SizeT from_len, Addr to, SizeT to_len);
void pm_protected(ThreadId tid, Addr va, SizeT len, UInt prot);
void pm_each(Addr va, SizeT len, void (*f)(Addr va, ULong addr, SizeT len, void *arg), void *arg);
void pm_created(Int fd);
UInt pm_file_of_fd(Int fd); /* 0: not PM */
UInt pm_file_of_path(const HChar *path, Bool follow, UInt *nlink); /* follow: a symbolic link stands for its target */
void pm_file_gone(UInt file);
void pm_file_resized(ThreadId tid, UInt file, ULong size); /* file may be 0, and the size what it was */
void pm_register(Addr va, SizeT len); /* memory that a program declares to be PM */
void pm_unregister(Addr va, SizeT len);
UWord pm_registered(Addr va, SizeT len); /* 0 no, 1 yes, 2 in part */
void pm_written(ThreadId tid, Addr va, SizeT len); /* the kernel wrote there */
void pm_file_written(ThreadId tid, Int fd, ULong offset, SizeT len);

/* ---- the rest ---- */
Bool glob_match(const HChar *glob, const HChar *s);
extern Int g_exit_status;
void syscalls_before(ThreadId tid, UInt number, UWord *args, UInt nargs);
void syscalls_after(ThreadId tid, UInt number, UWord *args, UInt nargs, SysRes result);
/* A string of the program, which may be no string at all: then "" stands for it. */
const HChar *client_string(UWord a);
SizeT syscalls_written(ThreadId tid, Addr a, SizeT len);
Bool requests_handle(ThreadId tid, UWord *args, UWord *ret);
void objects_mapped(Addr a, SizeT len, Bool can_exec);
void objects_unmapped(Addr a, SizeT len);

#endif
