/* Declares the functions that instrumented code calls when an address is probably in PM. They write
 * events. */
#ifndef REC_EVENTS_H
#define REC_EVENTS_H

#include "valgrind/recorder/place/code.h"

/* Records a store. It is called after the store, whose bytes are read from memory. */
VG_REGPARM(2) void event_store(struct code *c, Addr a);
VG_REGPARM(2) void event_store_1(struct code *c, Addr a); /* plain stores of so many bytes */
VG_REGPARM(2) void event_store_2(struct code *c, Addr a);
VG_REGPARM(2) void event_store_4(struct code *c, Addr a);
VG_REGPARM(2) void event_store_8(struct code *c, Addr a);
/* Records an element that a string instruction stored; `left` elements follow. */
VG_REGPARM(3) void event_string(struct code *c, Addr a, ULong left);
VG_REGPARM(2) void event_load(struct code *c, Addr a);
VG_REGPARM(3) void event_masked_store(struct code *c, Addr a, ULong mask_lo, ULong mask_hi);
VG_REGPARM(0) void event_before_cas(void); /* other processes may use the same word */
VG_REGPARM(3) void event_cas(struct code *store, Addr a, ULong succeeded);
/* Three kinds of accesses that order: event_atomic() is like event_cas(), for an atomic that orders
 * as its own bits say (the code's argument); event_ordered_store() is for a store, event_order()
 * for a load. */
VG_REGPARM(3) void event_atomic(struct code *store, Addr a, ULong succeeded);
VG_REGPARM(2) void event_ordered_store(struct code *c, Addr a);
VG_REGPARM(1) void event_order(struct code *c);
/* Records a flush. event_flush() and event_fence() also learn where Valgrind keeps the thread's
 * stack pointer; guest: the thread's registers. */
VG_REGPARM(3) void event_flush(struct code *c, Addr a, const void *guest);
VG_REGPARM(2) void event_fence(struct code *c, const void *guest);
/* Records that libpmemobj is called to log a range. The range is given by its address or, in
 * event_tx_add_oid(), by the pool's number and an offset. */
VG_REGPARM(3) void event_tx_add(struct code *c, Addr a, ULong len);
VG_REGPARM(0) void event_tx_add_oid(struct code *c, ULong uuid, ULong offset, ULong len);

#endif
