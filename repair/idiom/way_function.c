/* Finds which parameters of a function say what it flushes. The function is run on invented
 * addresses and lengths (run.c), and the flushed lines show it: if f(0x10000000, 200) flushes four
 * lines, it takes an address and a number of bytes. A function that cannot be run, but has a
 * telling name, is taken to have a pointer and a number of bytes. */
#include <ctype.h>
#include <string.h>

#include "repair/idiom/internal.h"

enum { LONG_BYTES = 200, SHORT_BYTES = 8 };

struct trial {
	struct repair *r;
	const struct source_unit *u;
	const struct source_function *f;
	const struct run_value *given; /* values of the other parameters */
	int addr, len;
	bool is_end;                       /* `len` is no length but the end of the range */
	const struct source_node *aligned; /* see run_function() */
};

static bool run(const struct trial *t, uint64_t addr, uint64_t len, struct effect *e)
{
	struct run_value args[RUN_ARGUMENTS] = { 0 }, this = { 0 };

	for (size_t i = 0; t->given && i < t->f->nparameters && i < RUN_ARGUMENTS; i++)
		args[i] = t->given[i];
	if (t->addr == WAY_THIS)
		this = (struct run_value){ true, addr };
	else if (t->addr >= 0)
		args[t->addr] = (struct run_value){ true, addr };
	if (t->len >= 0)
		args[t->len] = (struct run_value){ true, t->is_end ? addr + len : len };
	run_function(t->r, t->u, t->f, this, args, t->aligned, e);
	return e->is_followed && !e->stores;
}

/* Counts the flushed lines, if they are the first lines of the range without a gap; otherwise 0. */
static unsigned lines_in_row(const struct effect *e)
{
	unsigned n = 0;

	while (n < RUN_LINES && e->lines[n])
		n++;
	for (unsigned i = n; i < RUN_LINES; i++)
		if (e->lines[i])
			return 0;
	return n;
}

static unsigned does_of(const struct effect *e)
{
	return (e->flushes ? DOES_FLUSH : 0) | (e->fences ? DOES_FENCE : 0);
}

/* Tries a range that begins inside a line and ends early in another one. A helper that steps from
 * the address, and not from the beginning of its line, misses the last line. */
static bool takes_last_line(const struct trial *t)
{
	enum { INTO_LINE_BYTES = 48, BYTES = 96, LINES = (INTO_LINE_BYTES + BYTES + 63) / 64 };
	struct effect e;

	return run(t, RUN_BASE + INTO_LINE_BYTES, BYTES, &e) && lines_in_row(&e) >= LINES;
}

/* Ranges to try: bytes into a line where the range begins, and its length. */
static const uint64_t ranges[][2] = { { 0, 8 },  { 0, 200 }, { 48, 96 }, { 63, 2 },
				      { 1, 64 }, { 56, 8 },  { 56, 9 } };
enum { NRANGES = sizeof ranges / sizeof ranges[0] };

static unsigned lines_wanted(size_t range)
{
	return (unsigned)(ranges[range][0] + ranges[range][1] + 63) / 64;
}

bool way_is_whole(struct repair *r, const struct source_unit *u, const struct source_function *f,
		  const struct source_node *aligned, bool is_longer)
{
	static const struct run_value nothing[RUN_ARGUMENTS];
	const struct way *w = way_of_function(r, u, f);
	struct trial t = { .r = r,
			   .u = u,
			   .f = f,
			   .given = nothing,
			   .addr = w->addr,
			   .len = w->len,
			   .aligned = aligned };
	struct effect e;

	for (size_t i = 0; i < NRANGES; i++)
		if (!run(&t, RUN_BASE + ranges[i][0], ranges[i][1] + (is_longer ? ranges[i][0] : 0),
			 &e) ||
		    lines_in_row(&e) != lines_wanted(i))
			return false;
	return true;
}

/* Asks whether the function flushes only lines of each range, but not all of them. is_by_length: it
 * must also flush more than one line of a longer range. */
static bool leaves_out(const struct trial *t, bool is_by_length)
{
	unsigned nleft = 0, most = 0;
	struct effect e;

	for (size_t i = 0; i < NRANGES; i++) {
		unsigned n = 0;

		if (!run(t, RUN_BASE + ranges[i][0], ranges[i][1], &e)) {
			if (e.stores)
				return false;
			continue; /* a range of less than a line may be impossible to run */
		}
		for (unsigned k = 0; k < RUN_LINES; k++) {
			if (e.lines[k] && k >= lines_wanted(i))
				return false;
			n += e.lines[k];
		}
		nleft += n < lines_wanted(i);
		most = n > most ? n : most;
	}
	return nleft > 0 && most > (is_by_length ? 1 : 0);
}

static bool may_be_length(const struct source_parameter *p)
{
	return p->is_integer &&
	       (!p->type || (!text_has_word(p->type, "bool") && !text_has_word(p->type, "_Bool")));
}

static bool find_left_out(struct trial *t, bool is_by_length)
{
	int n = t->f->nparameters < RUN_ARGUMENTS ? (int)t->f->nparameters : RUN_ARGUMENTS;
	int addr = WAY_NO_ARGUMENT, len = WAY_NO_ARGUMENT, nfound = 0;

	for (int i = 0; i < n; i++)
		for (int k = 0; t->f->parameters[i].is_pointer && k < n; k++) {
			t->addr = i;
			t->len = k;
			if (k == i || !may_be_length(&t->f->parameters[k]) ||
			    !leaves_out(t, is_by_length))
				continue;
			addr = i;
			len = k;
			nfound++;
		}
	t->addr = addr;
	t->len = len;
	return nfound == 1;
}

bool way_leaves_out(struct repair *r, const struct source_unit *u, const struct source_function *f,
		    int *addr, int *len)
{
	static const struct run_value nothing[RUN_ARGUMENTS];
	struct trial t = { .r = r, .u = u, .f = f, .given = nothing };

	if (!f->body || f->is_template || (!find_left_out(&t, true) && !find_left_out(&t, false)))
		return false;
	*addr = t.addr;
	*len = t.len;
	return true;
}

static struct way with_length(const struct trial *t)
{
	struct way w = { .does = DOES_FLUSH, .addr = t->addr, .len = t->len };
	struct effect few, many;
	unsigned n;

	if (!run(t, RUN_BASE, SHORT_BYTES, &few) || !few.flushes ||
	    !run(t, RUN_BASE, LONG_BYTES, &many))
		return w;
	n = lines_in_row(&many);
	w.does = does_of(&many);
	if (n == LONG_BYTES)
		w.unit = WAY_LINES;
	else if ((n == (LONG_BYTES + 63) / 64 || n == LONG_BYTES / 64 + 2) &&
		 lines_in_row(&few) <= 2) {
		w.is_short = !takes_last_line(t);
		/* one line more than needed is harmless */
		w.unit = w.is_short ? WAY_NONE : t->is_end ? WAY_BOUNDS : WAY_RANGE;
	}
	return w;
}

static uint32_t object_bytes(const struct trial *t)
{
	return t->addr >= 0 ? t->f->parameters[t->addr].target_bytes : 0;
}

static bool is_of_bytes(const char *type)
{
	return !type || strstr(type, "void") || strstr(type, "char") || strstr(type, "int8_t") ||
	       strstr(type, "byte");
}

static struct way without_length(const struct trial *t)
{
	struct way w = { .does = DOES_FLUSH, .addr = t->addr, .len = WAY_NO_ARGUMENT };
	uint32_t bytes = object_bytes(t);
	bool is_typed = t->addr == WAY_THIS || !is_of_bytes(t->f->parameters[t->addr].type);
	struct effect e;
	unsigned n;

	if (!run(t, RUN_BASE, 0, &e) || !e.flushes)
		return w;
	n = lines_in_row(&e);
	w.does = does_of(&e);
	if (!is_typed)
		w.unit = n == 1 ? WAY_LINE : WAY_NONE;
	else if (t->addr == WAY_THIS ? n > 0 : n > 0 && n >= (bytes + 63) / 64)
		w.unit = WAY_OBJECT;
	return w;
}

static bool may_be_address(const struct source_parameter *p)
{
	return p->is_pointer ||
	       (p->is_integer && p->type && (strstr(p->type, "intptr") || strstr(p->type, "addr")));
}

static bool try_way(struct trial *t, int addr, int len, struct way *w)
{
	t->addr = addr;
	t->len = len;
	*w = len >= 0 ? with_length(t) : without_length(t);
	return w->unit != WAY_NONE || w->is_short;
}

/* Guesses the way by the types of the parameters, if the name promises a flush or fence. */
static void guess(const struct source_function *f, unsigned does, struct way *w)
{
	int addr = WAY_NO_ARGUMENT, len = WAY_NO_ARGUMENT;

	for (size_t i = 0; i < f->nparameters; i++) {
		if (f->parameters[i].is_pointer && is_of_bytes(f->parameters[i].type))
			addr = addr == WAY_NO_ARGUMENT ? (int)i : addr;
		else if (f->parameters[i].is_integer)
			len = len == WAY_NO_ARGUMENT ? (int)i : len;
	}
	*w = (struct way){ .does = does & (DOES_FLUSH | DOES_FENCE), .addr = addr, .len = len };
	if (does == DOES_FENCE && f->nparameters == 0)
		w->unit = WAY_FENCE;
	else if (does & DOES_FLUSH && addr >= 0 && len >= 0 && f->nparameters == 2)
		w->unit = WAY_RANGE;
}

static bool find_by_running(struct trial *t, struct way *w)
{
	const struct source_function *f = t->f;
	int n = f->nparameters < RUN_ARGUMENTS ? (int)f->nparameters : RUN_ARGUMENTS;
	struct effect e;

	for (int i = 0; i < n; i++)
		for (int k = 0; may_be_address(&f->parameters[i]) && k < n; k++)
			if (k != i && f->parameters[k].is_integer && !t->given[k].is_known &&
			    try_way(t, i, k, w))
				return true;
	t->is_end = true;
	for (int i = 0; i < n; i++)
		for (int k = 0; may_be_address(&f->parameters[i]) && k < n; k++)
			if (k != i && may_be_address(&f->parameters[k]) && try_way(t, i, k, w))
				return true;
	t->is_end = false;
	for (int i = 0; i < n; i++)
		if (may_be_address(&f->parameters[i]) && try_way(t, i, WAY_NO_ARGUMENT, w))
			return true;
	if (f->is_method && try_way(t, WAY_THIS, WAY_NO_ARGUMENT, w))
		return true;
	t->addr = t->len = WAY_NO_ARGUMENT;
	if (!run(t, RUN_BASE, 0, &e) || e.flushes || !e.fences)
		return false;
	*w = (struct way){ .unit = WAY_FENCE,
			   .does = DOES_FENCE,
			   .addr = WAY_NO_ARGUMENT,
			   .len = WAY_NO_ARGUMENT };
	return true;
}

/* Asks whether the function calls through pointers, whose targets are unknown. */
static bool calls_pointers(const struct source_function *f)
{
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if (n->kind == SOURCE_CALL && way_is_by_pointer(n))
			return true;
	return false;
}

/* Asks whether the function was run and flushes, so that no guess by its name is needed. */
static bool is_understood(struct trial *t)
{
	struct effect e;

	t->addr = t->len = WAY_NO_ARGUMENT;
	for (int i = 0; i < (int)t->f->nparameters && i < RUN_ARGUMENTS; i++) {
		if (t->addr < 0 && may_be_address(&t->f->parameters[i]))
			t->addr = i;
		else if (t->len < 0 && t->f->parameters[i].is_integer)
			t->len = i;
	}
	run(t, RUN_BASE, SHORT_BYTES, &e);
	if (e.is_followed && !e.flushes)
		run(t, RUN_BASE, LONG_BYTES, &e); /* it may flush nothing for less than a line */
	return e.is_followed && e.flushes;
}

void way_with(struct repair *r, const struct source_unit *u, const struct source_function *f,
	      const struct run_value *given, struct way *w)
{
	static const struct run_value nothing[RUN_ARGUMENTS];
	unsigned does = f->body ? idiom_function_does_all(r, u, f) : idiom_name(f->name),
		 by_name = idiom_name(f->name);
	struct trial t = { .r = r, .u = u, .f = f, .given = given ? given : nothing };
	struct trial alone = { .r = r, .u = u, .f = f, .given = nothing };

	*w = (struct way){ .unit = WAY_NONE };
	if (given && (way_of_function(r, u, f)->is_short || find_left_out(&alone, true)))
		return;
	if (f->is_template && f->body) {
		*w = way_of_template(r, u, f, way_of_declared);
		return;
	}
	if (!(does & (DOES_FLUSH | DOES_FENCE)) && by_name && f->body && calls_pointers(f))
		does |= by_name;
	if (!(does & (DOES_FLUSH | DOES_FENCE)) || (does & DOES_MORE && !by_name))
		return;
	if (f->body && find_by_running(&t, w))
		return;
	if (by_name && !(does & DOES_STORE) && !(f->body && is_understood(&t)))
		guess(f, does & ~(unsigned)DOES_MORE, w);
}

void way_alone(struct repair *r, const struct source_unit *u, const struct source_function *f,
	       struct way *w)
{
	static const struct run_value nothing[RUN_ARGUMENTS];
	struct trial t = { .r = r, .u = u, .f = f, .given = nothing };

	*w = (struct way){ .unit = WAY_NONE };
	if (!find_by_running(&t, w) || w->is_short)
		*w = (struct way){ .unit = WAY_NONE };
}

const struct way *way_of_function(struct repair *r, const struct source_unit *u,
				  const struct source_function *f)
{
	struct way w;

	if (!way_memo(r, f)->is_known) {
		/* set before, since the function may call itself */
		*way_memo(r, f) = (struct way_memo){ .is_known = true };
		way_with(r, u, f, NULL, &w);
		*way_memo(r, f) = (struct way_memo){ true, w };
	}
	return &way_memo(r, f)->way;
}

/* ---- functions of other files ---- */

/* Asks whether the text defines the function: "name(…) {". */
static bool defines(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = text; (p = strstr(p, name)); p += len) {
		const char *q = p + len;
		int depth = 0;

		if ((p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_')) ||
		    *(q += strspn(q, " \t")) != '(')
			continue;
		do
			depth += *q == '(' ? 1 : *q == ')' ? -1 : 0;
		while (*q++ && depth);
		if (q[strspn(q, " \t\r\n")] == '{')
			return true;
	}
	return false;
}

static uint64_t hash(const char *text)
{
	uint64_t h = 14695981039346656037u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 1099511628211u;
	return h;
}

/* Parses the files that may define the function, once per name. */
static void search(struct repair *r, const struct source_unit *u,
		   const struct source_function *declared)
{
	const char *name = declared->name, *why;

	if (map_get(&r->idioms->searched, hash(name)) || run_definition(r, &u, declared))
		return;
	map_set(&r->idioms->searched, hash(name), r);
	for (size_t i = 0; i < r->code->db->n; i++) {
		const struct file *f = file_open(r->code, r->code->db->files[i]);

		if (f && defines(f->text, name))
			unit_open(r->code, r->code->db->files[i], &why);
	}
}

const struct way *way_of_declared(struct repair *r, const struct source_unit *u,
				  const struct source_function *f)
{
	const struct source_function *body = f;
	const struct source_unit *in = u;

	if (!f->body && !f->is_system && f->nparameters <= 4) {
		search(r, u, f);
		body = run_definition(r, &in, f);
	}
	return body && body->body ? way_of_function(r, in, body) : way_of_function(r, u, f);
}
