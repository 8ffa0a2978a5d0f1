/* Describes an instruction that makes one kind of event. With its calling context it is a site of
 * the trace. Calling contexts are nodes of a tree. */
#ifndef REC_CODE_H
#define REC_CODE_H

#include "valgrind/recorder/out/basics.h"

struct code {
	Addr pc;
	UInt size_bytes;
	UChar kind; /* enum pmt_kind */
	UChar arg;  /* the event's only argument if has_arg; less than 128 */
	UChar has_arg;
	UInt node;         /* the calling context in which it ran last; NEVER_NODE at first */
	struct site *site; /* the site for `node` */
};
#define NO_NODE 0xffffffffu
#define NEVER_NODE 0xfffffffeu /* equal to no frame's node */

struct site {
	struct pmt_site_state state;
	UInt number;
};

struct code *code_get(Addr pc, enum pmt_kind kind, UInt size_bytes);
/* Gives the struct code of an instruction whose kind has one argument, or none. */
struct code *code_get_arg(Addr pc, enum pmt_kind kind, UInt size_bytes, UChar arg);
/* Gives a struct code for the part of a store or load that is in PM. */
struct code *code_part(const struct code *whole, UInt size_bytes);
/* Sets node and site of c. Defines the site in the trace if it is new. */
void code_site(struct code *c, UInt node);
UInt node_get(UInt parent, Addr pc, Bool is_signal);
/* Forgets sites and nodes, because code addresses are about to be reused: later ones get new
 * numbers. */
void code_forget(void);

#endif
