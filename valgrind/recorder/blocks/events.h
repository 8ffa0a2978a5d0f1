/* Called by instrumented code, when an address is likely in PM. */
#ifndef REC_EVENTS_H
#define REC_EVENTS_H

#include "valgrind/recorder/place/code.h"

/* after the store: its bytes are read from memory */
VG_REGPARM(2) void event_store(struct code *c, Addr a);
VG_REGPARM(2) void event_store_1(struct code *c, Addr a); /* plain ones of so many bytes */
VG_REGPARM(2) void event_store_2(struct code *c, Addr a);
VG_REGPARM(2) void event_store_4(struct code *c, Addr a);
VG_REGPARM(2) void event_store_8(struct code *c, Addr a);
/* an element of a string instruction; so many are left */
VG_REGPARM(3) void event_string(struct code *c, Addr a, ULong left);
VG_REGPARM(2) void event_load(struct code *c, Addr a);
VG_REGPARM(3) void event_masked_store(struct code *c, Addr a, ULong mask_lo, ULong mask_hi);
VG_REGPARM(0) void event_before_cas(void); /* other processes may be at the same word */
VG_REGPARM(3) void event_cas(struct code *store, Addr a, ULong succeeded);
/* The same where an atomic orders as its own bits say, the code's argument; a store that orders;
 * and one that loads only. */
VG_REGPARM(3) void event_atomic(struct code *store, Addr a, ULong succeeded);
VG_REGPARM(2) void event_ordered_store(struct code *c, Addr a);
VG_REGPARM(1) void event_order(struct code *c);
/* These two also learn where Valgrind keeps the thread's stack pointer; guest: its registers. */
VG_REGPARM(3) void event_flush(struct code *c, Addr a, const void *guest);
VG_REGPARM(2) void event_fence(struct code *c, const void *guest);
/* libpmemobj is called to log a range, given by its address or by the pool's number and the offset
 * in it. */
VG_REGPARM(3) void event_tx_add(struct code *c, Addr a, ULong len);
VG_REGPARM(0) void event_tx_add_oid(struct code *c, ULong uuid, ULong offset, ULong len);

#endif
