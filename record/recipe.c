/* Follows a recipe step by step. It never waits: the code that runs the server calls recipe_step()
 * often. The client has a keeper (serve/keeper.h), so everything that it starts ends with it. */
#include "record/recipe.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/listening.h"
#include "serve/keeper.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/proc.h"
#include "util/shell_word.h"
#include "util/str.h"

enum {
	TAIL_BYTES = 4096, /* of the output that are kept */
	SAID_BYTES = 300,  /* of these, in a message */
	LOOK_MS = 50,      /* time between checks of sockets */
};

/* The last output. */
struct tail {
	char at[TAIL_BYTES];
	size_t len_bytes;
};

/* A text that the server must print, or a port. */
struct awaited {
	const char *text;
	uint16_t port; /* 0: wait for the text */
	bool is_there;
};

enum phase {
	STARTING, /* until the server is ready */
	SERVING,  /* until the client has ended */
	STOPPING, /* until the server has ended */
};

struct recipe_run {
	const struct recipe *recipe;
	pid_t root;
	char **client, **stop; /* arguments; stop NULL: by a signal */
	int stop_signal, sent; /* sent: the signal that was sent, 0: none yet */
	struct awaited *awaited;
	size_t nawaited, longest; /* of the texts */
	enum phase phase;
	bool is_cut, is_stop_told, was_over, has_served, is_killed;
	double until_s, look_s; /* until_s 0: no limit */
	struct tail server, helper;
	pid_t keeper; /* of the client, or of the command that stops the server */
	int said;     /* its output; -1: none is running */
	bool is_helper_over;
	int helper_status;
	char *failure;
};

/* ---- parsing the options ---- */

static bool is_number(const char *word)
{
	return *word && strspn(word, "0123456789") == strlen(word);
}

/* Gives the number of TERM, SIGTERM or 15; 0: it is no signal. */
static int signal_of(const char *word)
{
	const char *name = str_begins(word, "SIG") ? word + 3 : word, *known;

	if (is_number(word))
		return atoi(word) > 0 && atoi(word) < NSIG ? atoi(word) : -1;
	for (int i = 1; i < NSIG; i++)
		if ((known = sigabbrev_np(i)) && strcmp(known, name) == 0)
			return i;
	return 0;
}

static int check_command(const char *option, const char *line, char *const *target,
			 struct error *err)
{
	static const char *const places[] = { SCRATCH_POOL, SCRATCH_DIR };
	char **words = shell_words_split(line), *typo = NULL;
	const char *meant;
	int result = 0;

	for (size_t i = 0; words && words[i] && !typo; i++)
		typo = word_misspelled(words[i], &meant);
	if (!words)
		result = error_set(
			err,
			"--%s: '%s' is empty, or a quote is not closed, or a backslash ends it",
			option, line);
	else if (typo)
		result = error_set(err, "--%s: %s is no placeholder; did you mean %s?", option,
				   typo, meant);
	for (size_t i = 0; result == 0 && target && i < sizeof places / sizeof *places; i++)
		if (words_have(words, places[i]) && !words_have(target, places[i]))
			result = error_set(
				err,
				"--%s has %s, but the command line of the program has not; put it there, too",
				option, places[i]);
	words_free(words);
	free(typo);
	return result;
}

static int find_program(const char *option, const char *line, struct error *err)
{
	char **words = shell_words_split(line), *found = proc_find(words[0]);
	int result = found ? 0
			   : error_set(err, "--%s: cannot run %s: %s", option, words[0],
				       strerror(errno));

	words_free(words);
	free(found);
	return result;
}

int recipe_find_programs(const struct recipe *r, struct error *err)
{
	if (!r->client)
		return 0;
	if (r->stop && signal_of(r->stop) == 0 && find_program("stop", r->stop, err) < 0)
		return -1;
	return find_program("client", r->client, err);
}

int recipe_check(const struct recipe *r, char *const *target, struct error *err)
{
	if (!r->client && (r->ready.n > 0 || r->stop))
		return error_set(err, "--ready and --stop need --client");
	if (!r->client)
		return 0;
	for (size_t i = 0; i < r->ready.n; i++) {
		const char *word = r->ready.item[i];

		if (!*word || (is_number(word) &&
			       (strlen(word) > 5 || atoi(word) == 0 || atoi(word) > UINT16_MAX)))
			return error_set(
				err,
				"--ready is a text that the server prints, or a TCP port, not '%s'",
				word);
	}
	if (r->stop && signal_of(r->stop) < 0)
		return error_set(err, "--stop: there is no signal %s", r->stop);
	if (r->stop && signal_of(r->stop) == 0 && check_command("stop", r->stop, target, err) < 0)
		return -1;
	return check_command("client", r->client, target, err);
}

void recipe_words(const struct recipe *r, struct word_list *words)
{
	if (!r->client)
		return;
	word_list_add(words, "--client");
	word_list_add(words, r->client);
	for (size_t i = 0; i < r->ready.n; i++) {
		word_list_add(words, "--ready");
		word_list_add(words, r->ready.item[i]);
	}
	if (r->stop) {
		word_list_add(words, "--stop");
		word_list_add(words, r->stop);
	}
}

/* ---- output ---- */

static void tail_add(struct tail *t, const char *text, size_t len_bytes)
{
	size_t keep;

	if (len_bytes > sizeof t->at) {
		text += len_bytes - sizeof t->at;
		len_bytes = sizeof t->at;
	}
	keep = t->len_bytes + len_bytes > sizeof t->at ? sizeof t->at - len_bytes : t->len_bytes;
	memmove(t->at, t->at + t->len_bytes - keep, keep);
	memcpy(t->at + keep, text, len_bytes);
	t->len_bytes = keep + len_bytes;
}

/* Gives the last output of the process as the end of a message; free() it. */
static char *tail_text(const struct tail *t)
{
	size_t len = t->len_bytes, from;
	char *text;

	while (len > 0 && isspace((unsigned char)t->at[len - 1]))
		len--;
	if (len == 0)
		return xstrdup("it printed nothing");
	from = len > SAID_BYTES ? len - SAID_BYTES : 0;
	text = xasprintf("its last output: %s%.*s", from ? "..." : "", (int)(len - from),
			 t->at + from);
	for (char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	return text;
}

void recipe_hear(struct recipe_run *r, const char *text, size_t len_bytes)
{
	const size_t before = r->server.len_bytes < r->longest ? r->server.len_bytes : r->longest;
	char *joined;

	if (r->phase == STARTING) {
		/* a text may arrive in two pieces */
		joined = xmalloc(before + len_bytes + 1);
		memcpy(joined, r->server.at + r->server.len_bytes - before, before);
		memcpy(joined + before, text, len_bytes);
		for (size_t i = 0; i < r->nawaited; i++)
			r->awaited[i].is_there |=
				!r->awaited[i].port &&
				memmem(joined, before + len_bytes, r->awaited[i].text,
				       strlen(r->awaited[i].text));
		free(joined);
	}
	tail_add(&r->server, text, len_bytes);
}

static void helper_hear(struct recipe_run *r)
{
	char buf[4096];
	ssize_t n;

	while (r->said >= 0 && (n = read(r->said, buf, sizeof buf)) > 0)
		tail_add(&r->helper, buf, (size_t)n);
}

const char *recipe_said(const struct recipe_run *r, size_t *len_bytes)
{
	*len_bytes = r->helper.len_bytes;
	return r->helper.at;
}

/* ---- the client, and the command that stops the server ---- */

struct helper {
	char **words;
	char *path;
	int out;
};

static void helper_become(const void *arg)
{
	const struct helper *h = arg;
	int in = open("/dev/null", O_RDONLY);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(h->out, STDOUT_FILENO) < 0 ||
	    dup2(h->out, STDERR_FILENO) < 0)
		_exit(127);
	close_range(STDERR_FILENO + 1, ~0u, 0);
	execv(h->path, h->words);
	_exit(127);
}

static void fail(struct recipe_run *r, char *why)
{
	if (r->failure || r->is_cut)
		free(why);
	else
		r->failure = why;
}

static void helper_start(struct recipe_run *r, char **words)
{
	struct helper h = { .words = words, .path = proc_find(words[0]) };
	int ends[2] = { -1, -1 };

	r->helper.len_bytes = 0;
	r->is_helper_over = false;
	r->keeper = -1;
	if (h.path && pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
		/* so that the program never finds its output full */
		fcntl(ends[1], F_SETFL, 0);
		h.out = ends[1];
		r->keeper = keeper_start(helper_become, &h);
	}
	if (ends[1] >= 0)
		close(ends[1]);
	r->said = ends[0];
	if (r->keeper < 0) {
		r->keeper = 0;
		fail(r, xasprintf("cannot run %s: %s", words[0], strerror(errno)));
	}
	free(h.path);
}

/* Releases the helper process. is_well: its output is not needed any more. */
static void helper_release(struct recipe_run *r, bool is_well)
{
	helper_hear(r);
	if (is_well)
		r->helper.len_bytes = 0;
	if (r->said >= 0)
		close(r->said);
	r->said = -1;
	r->keeper = 0;
}

static void helper_kill(struct recipe_run *r)
{
	if (r->keeper > 0 && !r->is_helper_over)
		keeper_end(r->keeper);
	helper_release(r, false);
}

bool recipe_is_child(const struct recipe_run *r, pid_t pid)
{
	return r->keeper > 0 && pid == r->keeper;
}

bool recipe_child_ended(struct recipe_run *r, pid_t pid, int wait_status)
{
	if (!recipe_is_child(r, pid))
		return false;
	r->is_helper_over = true;
	r->helper_status = wait_status;
	return true;
}

/* Says "failed with exit status 3; its last output: …"; free() it. NULL: it did not fail, or was
 * not started. */
static char *helper_end_text(struct recipe_run *r)
{
	char name[64], *said, *text;

	if (r->keeper == 0 || (WIFEXITED(r->helper_status) && WEXITSTATUS(r->helper_status) == 0))
		return NULL;
	helper_hear(r);
	said = tail_text(&r->helper);
	text = WIFSIGNALED(r->helper_status)
		       ? xasprintf("was killed by %s; %s",
				   proc_signal_name(WTERMSIG(r->helper_status), name, sizeof name),
				   said)
		       : xasprintf("failed with exit status %d; %s", WEXITSTATUS(r->helper_status),
				   said);
	free(said);
	return text;
}

/* ---- the phases ---- */

static uint32_t seconds(const struct recipe_run *r)
{
	return r->recipe->seconds ? r->recipe->seconds : RECIPE_SECONDS;
}

static void limit_begin(struct recipe_run *r)
{
	r->until_s = clock_s() + seconds(r);
}

static bool is_late(const struct recipe_run *r)
{
	return r->until_s > 0 && clock_s() >= r->until_s;
}

/* Splits a command line and inserts the paths of the run. */
static char **words_of(const char *line, const char *pool, const char *dir)
{
	char **words = shell_words_split(line),
	     **pooled = words_replaced(words, SCRATCH_POOL, pool ? pool : SCRATCH_POOL),
	     **result = words_replaced(pooled, SCRATCH_DIR, dir ? dir : SCRATCH_DIR);

	words_free(words);
	words_free(pooled);
	return result;
}

struct recipe_run *recipe_begin(const struct recipe *recipe, pid_t root, const char *pool,
				const char *dir)
{
	struct recipe_run *r = xcalloc(1, sizeof *r);
	const size_t n = recipe->ready.n;

	*r = (struct recipe_run){ .recipe = recipe, .root = root, .said = -1 };
	r->client = words_of(recipe->client, pool, dir);
	r->stop_signal = recipe->stop ? signal_of(recipe->stop) : SIGTERM;
	if (r->stop_signal == 0)
		r->stop = words_of(recipe->stop, pool, dir);
	r->awaited = xcalloc(n + 1, sizeof *r->awaited);
	for (size_t i = 0; i < n; i++) {
		const char *word = recipe->ready.item[i];

		r->awaited[i] =
			(struct awaited){ .text = word,
					  .port = (uint16_t)(is_number(word) ? atoi(word) : 0) };
		if (strlen(word) > r->longest)
			r->longest = strlen(word);
	}
	r->nawaited = n;
	limit_begin(r);
	return r;
}

static bool is_ready(struct recipe_run *r)
{
	const double now_s = clock_s();
	const bool looks = now_s >= r->look_s;
	bool all = true;

	if (looks)
		r->look_s = now_s + LOOK_MS / 1e3;
	for (size_t i = 0; i < r->nawaited; i++) {
		struct awaited *a = &r->awaited[i];

		if (looks && a->port && !a->is_there)
			a->is_there = listening_is(r->root, a->port);
		all &= a->is_there;
	}
	return all && (r->nawaited > 0 || (looks && listening_is(r->root, 0)));
}

/* Says which sign that the server is ready is still missing, as a part of a sentence; free() it. */
static char *missing_text(struct recipe_run *r)
{
	const struct awaited *a = r->awaited;
	char *where, *text;

	while (a < r->awaited + r->nawaited && a->is_there)
		a++;
	if (a < r->awaited + r->nawaited && !a->port)
		return xasprintf(
			"it did not print '%s'. What a program prints into a pipe, the C library may keep until there is much of it: flush the output, or say --ready PORT",
			a->text);
	where = listening_tell(r->root);
	text = a->port ? xasprintf("it does not listen on port %u; it listens on %s", a->port,
				   where)
		       : xasprintf(
				 "it listens on no TCP port and no Unix socket; say --ready TEXT");
	free(where);
	return text;
}

static void stop_begin(struct recipe_run *r)
{
	r->phase = STOPPING;
	limit_begin(r);
}

static int starting(struct recipe_run *r, bool is_gone)
{
	char *said, *missing;

	if (!is_gone && is_ready(r)) {
		r->phase = SERVING;
		r->has_served = true;
		r->until_s = 0;
		helper_start(r, r->client);
		return 0;
	}
	if (is_gone || is_late(r)) {
		said = tail_text(&r->server);
		missing = is_gone ? NULL : missing_text(r);
		if (is_gone)
			fail(r, xasprintf("the server ended before it was ready; %s", said));
		else
			fail(r, xasprintf("the server was not ready after %u s (--timeout): %s; %s",
					  seconds(r), missing, said));
		stop_begin(r);
		free(said);
		free(missing);
	}
	return 0;
}

static int serving(struct recipe_run *r, bool is_gone)
{
	char *text;

	helper_hear(r);
	if (r->keeper == 0 || r->is_helper_over) {
		text = helper_end_text(r);
		if (text)
			fail(r, xasprintf("the client %s", text));
		free(text);
		helper_release(r, !text);
		stop_begin(r);
	} else if (is_gone && r->until_s == 0) {
		limit_begin(r); /* a client without its server might wait forever */
	} else if (is_gone && is_late(r)) {
		fail(r,
		     xasprintf("the client still ran %u s after the server had ended", seconds(r)));
		helper_kill(r);
		stop_begin(r);
	}
	return 0;
}

static void judge_stop(struct recipe_run *r)
{
	char *text;

	if (!r->is_helper_over)
		return;
	text = helper_end_text(r);
	if (text) {
		fail(r, xasprintf("the command of --stop %s", text));
		r->until_s = clock_s();
	}
	free(text);
	helper_release(r, !text);
}

/* Follows the phase that stops the server: sends the signal once, and once more to processes that
 * are still there when the server's first process has ended. */
static int stopping(struct recipe_run *r, bool is_over, bool is_gone)
{
	helper_hear(r);
	if (r->keeper > 0)
		judge_stop(r);
	if (is_gone) {
		if (r->keeper > 0 && is_late(r))
			helper_kill(r);
		return 0;
	}
	if (is_late(r)) {
		if (r->keeper > 0)
			helper_kill(r);
		fail(r,
		     r->stop ? xasprintf(
				       "the server still ran %u s (--timeout) after '%s', and was killed",
				       seconds(r), r->recipe->stop)
			     : xasprintf(
				       "the server still ran %u s (--timeout) after signal %s, and was killed; say how to end it with --stop",
				       seconds(r), r->recipe->stop ? r->recipe->stop : "TERM"));
		r->is_killed = true;
		return SIGKILL;
	}
	if (r->is_cut || (r->is_stop_told && (r->stop || !is_over || r->was_over)))
		return 0;
	r->was_over = is_over;
	r->is_stop_told = true;
	if (r->stop) {
		helper_start(r, r->stop);
		return 0;
	}
	return r->sent = r->stop_signal;
}

int recipe_step(struct recipe_run *r, bool is_over, bool is_gone)
{
	switch (r->phase) {
	case STARTING: return starting(r, is_gone);
	case SERVING: return serving(r, is_gone);
	case STOPPING: return stopping(r, is_over, is_gone);
	}
	return 0;
}

void recipe_cut(struct recipe_run *r)
{
	if (r->is_cut)
		return;
	r->is_cut = true;
	helper_kill(r);
	stop_begin(r);
}

bool recipe_has_ended(const struct recipe_run *r, int wait_status)
{
	return r->sent && WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == r->sent;
}

bool recipe_blames_server(const struct recipe_run *r, int wait_status)
{
	return r->has_served && !r->is_killed && wait_status != 0 &&
	       !recipe_has_ended(r, wait_status);
}

const char *recipe_failure(const struct recipe_run *r)
{
	return r->failure;
}

void recipe_end(struct recipe_run *r)
{
	if (!r)
		return;
	helper_kill(r);
	words_free(r->client);
	words_free(r->stop);
	free(r->awaited);
	free(r->failure);
	free(r);
}
