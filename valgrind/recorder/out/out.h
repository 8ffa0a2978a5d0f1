/* Writes records into the trace, in one stream per process. */
#ifndef REC_OUT_H
#define REC_OUT_H

#include "valgrind/recorder/out/basics.h"

Bool out_open(void);
/* Closes the trace, because the process ends or executes another program. If executing fails, call
 * out_resume(). */
void out_close(void);
void out_resume(void);
void out_fork_child(UInt stream);
UInt out_stream(void); /* the number of this process's stream */
UInt out_new_stream(void);

void out_attend(void);        /* something changed that must be checked before the next event */
void out_thread(UInt number); /* this thread runs from now on */
void out_node(UInt parent, Bool is_signal, Addr pc);
void out_site(UInt node, Addr pc, enum pmt_kind kind, UInt size_bytes);
void out_object(Addr va, SizeT len, ULong offset, const UChar *build_id, UInt build_id_len,
		const HChar *path);
void out_object_gone(Addr va, SizeT len);

#endif
