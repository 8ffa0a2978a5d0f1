/* An instruction that makes a kind of event; with the calling context it is a site of the trace.
 * Calling contexts are nodes of a tree. */
#ifndef REC_CODE_H
#define REC_CODE_H

#include "valgrind/recorder/out/basics.h"

struct code {
	Addr pc;
	UInt size_bytes;
	UChar kind; /* enum pmt_kind */
	UChar arg;  /* the event's only argument, if has_arg; less than 128 */
	UChar has_arg;
	UInt node;         /* the calling context it ran in last; NEVER_NODE at first */
	struct site *site; /* the site that makes */
};
#define NO_NODE 0xffffffffu
#define NEVER_NODE 0xfffffffeu /* equal to no frame's */

struct site {
	struct pmt_site_state state;
	UInt number;
};

struct code *code_get(Addr pc, enum pmt_kind kind, UInt size_bytes);
/* for a kind that has an argument, or none */
struct code *code_get_arg(Addr pc, enum pmt_kind kind, UInt size_bytes, UChar arg);
/* of a store or load that was cut */
struct code *code_part(const struct code *whole, UInt size_bytes);
/* sets both; defines the site in the trace when it is new */
void code_site(struct code *c, UInt node);
UInt node_get(UInt parent, Addr pc, Bool is_signal);
/* addresses are about to mean other code: later sites and nodes get new numbers */
void code_forget(void);

#endif
