/* What the files of this folder share: the page that is being written, and its parts. Every string
 * from outside goes through put() or put_cut(). No part uses a style attribute or a handler
 * attribute: the page's Content-Security-Policy forbids both. */
#ifndef REPORT_HTML_HTML_H
#define REPORT_HTML_HTML_H

#include "report/format.h"
#include "report/internal.h"

/* once the page is as long, findings have no timeline and no memory any more */
#define PAGE_DETAIL_BYTES ((size_t)4 << 20)
#define OUTPUT_SHOWN_BYTES 4096u
#define MESSAGE_SHOWN_BYTES 2000u
#define NAME_SHOWN_BYTES 300u

struct page {
	FILE *f;
	const struct report *r; /* NULL: the page is about a trace */
	struct sources *sources;
	const char *cwd;   /* paths below it are shown relative to it; NULL: as they are */
	const char *patch; /* a unified diff that fixes some of the findings; NULL: none */
	bool is_brief;     /* the page is long already */
	const struct report_spot *spots; /* the findings of one line have one entry */
};

/* ---- embedded.c ---- */
extern const char page_style[], page_script[];

/* ---- escaped.c ---- */
void put_text(const struct page *p, const char *s); /* NULL: nothing */
/* how many bytes to show, so that no character is cut apart */
size_t cut_at(const char *s, size_t max_bytes);
void put_cut(const struct page *p, const char *s, size_t max_bytes); /* says how much is left out */
/* ends with … if it is cut: text alone, for attributes, titles and drawings */
void put_short(const struct page *p, const char *s, size_t max_bytes);
/* with line breaks, for <pre> */
void put_lines(const struct page *p, const char *s, size_t max_bytes);
void put_path(const struct page *p, const char *path);
void put_place(const struct page *p, const struct bug_frame *frame); /* "app.c:41" */
/* The id of a finding's element. Several tests may have a finding of the same id. */
void put_anchor(const struct page *p, const struct bug *b);
void put_count_of(const struct page *p, uint64_t n); /* 12 345 */
void put_plural(const struct page *p, uint64_t n, const char *one, const char *many);
const char *role_text(const char *role);  /* "store that was lost" */
const char *role_class(const char *role); /* lost | kept | bad | neutral */

/* ---- parts ---- */
void put_head(const struct page *p, const char *title); /* up to <body>: policy, style */
void put_tail(const struct page *p);                    /* the script, and the end */
void put_coverage(const struct page *p);
void put_index(const struct page *p);
void put_groups(const struct page *p);
void put_progress(const struct page *p); /* of an exploration: which input found what */
/* of bug i, and of all others of its line */
void put_finding(const struct page *p, size_t i, size_t number);
void put_source(const struct page *p, const struct bug *b);
void put_timeline(const struct page *p, const struct evidence *e, const char *id);
void put_memory(const struct page *p, const struct evidence *e);
void put_recovery(const struct page *p, const struct bug *b);
/* reads of recovery that had a choice */
void put_choices(const struct page *p, const struct bug *b);
void put_next(const struct page *p, const struct bug *b);
void put_patch(const struct page *p);                         /* whole */
void put_patch_of(const struct page *p, const struct bug *b); /* what of it is near a bug */
/* one line, coloured */
void put_code(const struct page *p, const char *line, size_t len_bytes, bool *is_comment);

#endif
