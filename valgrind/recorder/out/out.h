/* Records into the trace, and the streams of processes that it is made of. */
#ifndef REC_OUT_H
#define REC_OUT_H

#include "valgrind/recorder/out/basics.h"

Bool out_open(void);
/* the process ends, or becomes another program; out_resume() if it does not */
void out_close(void);
void out_resume(void);
void out_fork_child(UInt stream);
UInt out_new_stream(void);

void out_attend(void);        /* something changed that the next event must look at */
void out_thread(UInt number); /* this thread runs from here on */
void out_node(UInt parent, Bool is_signal, Addr pc);
void out_site(UInt node, Addr pc, enum pmt_kind kind, UInt size_bytes);
void out_object(Addr va, SizeT len, ULong offset, const UChar *build_id, UInt build_id_len,
		const HChar *path);
void out_object_gone(Addr va, SizeT len);

#endif
