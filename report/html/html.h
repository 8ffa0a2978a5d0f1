/* Declares what the files of this folder share: the page that is being written, and its parts. All
 * text from outside goes through put_text(), put_cut() and their like. No part uses a style or
 * handler attribute: the page's Content-Security-Policy forbids both. */
#ifndef REPORT_HTML_HTML_H
#define REPORT_HTML_HTML_H

#include "report/format.h"
#include "report/internal.h"

/* once the page has this size, further findings have no timeline and no memory */
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
	bool is_brief;     /* the page has reached PAGE_DETAIL_BYTES */
	/* which findings share an entry, as they are of one line */
	const struct report_spot *spots;
};

/* ---- embedded.c ---- */
extern const char page_style[], page_script[];

/* ---- escaped.c ---- */
void put_text(const struct page *p, const char *s); /* writes nothing for NULL */
/* Gives how many bytes of s to show: at most max_bytes, without cutting a character apart. */
size_t cut_at(const char *s, size_t max_bytes);
/* Writes the text up to max_bytes, and says how much is left out. */
void put_cut(const struct page *p, const char *s, size_t max_bytes);
/* Writes the text up to max_bytes, and ends it with … if something is left out. Writes no element,
 * so it can be used in attributes, titles and drawings. */
void put_short(const struct page *p, const char *s, size_t max_bytes);
/* writes lines for a <pre> */
void put_lines(const struct page *p, const char *s, size_t max_bytes);
void put_path(const struct page *p, const char *path);
void put_place(const struct page *p, const struct bug_frame *frame); /* "app.c:41" */
/* Writes the id of a finding's element. In a report of several tests the test's name is part of it,
 * since two tests may have findings of one id. */
void put_anchor(const struct page *p, const struct bug *b);
void put_count_of(const struct page *p, uint64_t n); /* writes 12345 as 12 345 */
void put_plural(const struct page *p, uint64_t n, const char *one, const char *many);
const char *role_text(const char *role);  /* "store that was lost" */
const char *role_class(const char *role); /* lost | kept | bad | neutral */

/* ---- parts ---- */
void put_head(const struct page *p, const char *title); /* writes all up to <body>: policy, style */
/* writes the script and the end of the page */
void put_tail(const struct page *p);
void put_coverage(const struct page *p);
void put_index(const struct page *p);
void put_groups(const struct page *p);
void put_progress(const struct page *p); /* for an exploration: which input showed what */
/* Writes finding i and all other findings of its line. */
void put_finding(const struct page *p, size_t i, size_t number);
void put_source(const struct page *p, const struct bug *b);
void put_timeline(const struct page *p, const struct evidence *e, const char *id);
void put_memory(const struct page *p, const struct evidence *e);
void put_recovery(const struct page *p, const struct bug *b);
/* Writes the table of recovery's reads that had a choice. */
void put_choices(const struct page *p, const struct bug *b);
void put_next(const struct page *p, const struct bug *b);
void put_patch(const struct page *p); /* the whole patch */
/* Writes the hunks of the patch that are near the bug. */
void put_patch_of(const struct page *p, const struct bug *b);
/* Writes one line with colours. */
void put_code(const struct page *p, const char *line, size_t len_bytes, bool *is_comment);

#endif
