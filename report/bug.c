/* Helpers for one bug: which of its frames to show, and deep copies. A copy and all of its strings
 * live in one arena. */
#include <string.h>

#include "report/internal.h"
#include "trace/symbols.h"
#include "util/str.h"

const struct bug_frame *bug_location_frame(const struct bug_location *l)
{
	return l->nframes ? &l->frames[l->shown < l->nframes ? l->shown : 0] : NULL;
}

const struct bug_frame *bug_location_origin(const struct bug_location *l)
{
	const struct bug_frame *shown = bug_location_frame(l);

	return shown && l->nsetters <= l->shown && l->shown < l->nframes ? shown - l->nsetters
									 : shown;
}

const char *bug_frame_called(const struct bug_frame *inside, const struct bug_frame *shown)
{
	const bool is_linked_in = inside->function && !inside->line && shown->line &&
				  str_same(inside->object, shown->object) &&
				  !str_begins(inside->function, "__");

	return is_linked_in ? inside->function : NULL;
}

const char *bug_location_called(const struct bug_location *l)
{
	return l->shown && l->shown < l->nframes
		       ? bug_frame_called(&l->frames[l->shown - 1], &l->frames[l->shown])
		       : NULL;
}

size_t bug_nconsequences(const struct bug *b, bool takes_all)
{
	size_t n = 0;

	for (size_t i = 0; i < b->nconsequences; i++)
		n += b->consequences[i].takes_all == takes_all;
	return n;
}

const char *bug_explains(bool takes_all)
{
	return takes_all ? "Together with the other bugs of this report, it explains"
			 : "The same cause explains";
}

const struct bug_frame *bug_frame(const struct bug *b)
{
	return b->nlocations ? bug_location_frame(&b->locations[0]) : NULL;
}

bool bug_is_same_line(const struct bug_frame *a, const struct bug_frame *b)
{
	return a && b && a->line && a->line == b->line && a->file && b->file &&
	       strcmp(a->file, b->file) == 0;
}

const char *bug_torn_text(const char *torn)
{
	return strcmp(torn, "unaligned") == 0
		       ? "The crash state has only a part of the lost store: it is not aligned to its size. Aligned, it would not be torn"
		       : "The crash state has only a part of the lost store: it is longer than what the processor stores at once";
}

/* ---- copies ---- */

static void frame_copy(struct arena *a, struct bug_frame *copy, const struct bug_frame *f)
{
	*copy = *f;
	copy->function = arena_text(a, f->function);
	copy->file = arena_text(a, f->file);
	copy->object = arena_text(a, f->object);
	copy->folder = arena_text(a, f->folder);
	copy->text = arena_text(a, f->text);
}

static const struct bug_frame *frames_copy(struct arena *a, const struct bug_frame *frames,
					   size_t n)
{
	struct bug_frame *copy = n ? arena_alloc(a, n * sizeof *copy) : NULL;

	for (size_t i = 0; i < n; i++)
		frame_copy(a, &copy[i], &frames[i]);
	return copy;
}

const struct bug_location *bug_locations_copy(struct arena *a, const struct bug_location *locations,
					      size_t n)
{
	struct bug_location *copy = n ? arena_alloc(a, n * sizeof *copy) : NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		copy[i] = locations[i];
		copy[i].role = arena_text(a, locations[i].role);
		copy[i].frames = frames_copy(a, locations[i].frames, locations[i].nframes);
		if (copy[i].shown >= copy[i].nframes)
			copy[i].shown = copy[i].nsetters = 0;
	}
	return copy;
}

const char *const *strings_copy(struct arena *a, const char *const *list, size_t n)
{
	const char **copy = n ? arena_alloc(a, n * sizeof *copy) : NULL;
	size_t i;

	for (i = 0; i < n; i++)
		copy[i] = arena_text(a, list[i]);
	return copy;
}

static const struct bug_comparison *comparison_copy(struct arena *a, const struct bug_comparison *c)
{
	struct bug_comparison *copy;
	struct bug_difference *list;

	if (!c)
		return NULL;
	copy = arena_alloc(a, sizeof *copy);
	list = arena_alloc(a, (c->n + 1) * sizeof *list);
	*copy = *c;
	copy->name = arena_text(a, c->name);
	copy->before = arena_text(a, c->before);
	copy->after = arena_text(a, c->after);
	copy->found = arena_text(a, c->found);
	copy->list = list;
	for (size_t i = 0; i < c->n; i++)
		list[i] =
			(struct bug_difference){ c->list[i].line, arena_text(a, c->list[i].before),
						 arena_text(a, c->list[i].after),
						 arena_text(a, c->list[i].found) };
	return copy;
}

static const struct bug_value *values_copy(struct arena *a, const struct bug_value *values,
					   size_t n)
{
	struct bug_value *copy = n ? arena_alloc(a, n * sizeof *copy) : NULL;

	for (size_t i = 0; i < n; i++)
		copy[i] = (struct bug_value){ arena_text(a, values[i].bytes), values[i].is_taken,
					      frames_copy(a, values[i].lost, values[i].nlost),
					      values[i].nlost };
	return copy;
}

static const struct bug_choice *choices_copy(struct arena *a, const struct bug_choice *choices,
					     size_t n)
{
	struct bug_choice *copy = n ? arena_alloc(a, n * sizeof *copy) : NULL;

	for (size_t i = 0; i < n; i++) {
		copy[i] = choices[i];
		frame_copy(a, &copy[i].read, &choices[i].read);
		copy[i].by = arena_text(a, choices[i].by);
		copy[i].file = arena_text(a, choices[i].file);
		copy[i].values = values_copy(a, choices[i].values, choices[i].nvalues);
	}
	return copy;
}

const struct bug_crash *bug_crash_copy(struct arena *a, const struct bug_crash *c)
{
	struct bug_crash *copy;

	if (!c)
		return NULL;
	copy = arena_alloc(a, sizeof *copy);
	*copy = *c;
	copy->outcome = arena_text(a, c->outcome);
	copy->endings = arena_text(a, c->endings);
	copy->torn = arena_text(a, c->torn);
	copy->command = arena_text(a, c->command);
	copy->output = arena_text(a, c->output);
	copy->replay = arena_text(a, c->replay);
	copy->state = arena_text(a, c->state);
	copy->frames = frames_copy(a, c->frames, c->nframes);
	copy->comparison = comparison_copy(a, c->comparison);
	copy->choices = choices_copy(a, c->choices, c->nchoices);
	return copy;
}

const struct bug_input *bug_input_copy(struct arena *a, const struct bug_input *i)
{
	struct bug_input *copy;

	if (!i)
		return NULL;
	copy = arena_alloc(a, sizeof *copy);
	*copy = (struct bug_input){ arena_text(a, i->file), arena_text(a, i->command), i->size,
				    arena_text(a, i->first) };
	return copy;
}

const struct bug_schedules *bug_schedules_copy(struct arena *a, const struct bug_schedules *s)
{
	struct bug_schedules *copy;
	uint32_t *seen;

	if (!s)
		return NULL;
	copy = arena_alloc(a, sizeof *copy);
	seen = arena_alloc(a, s->n * sizeof *seen + 1);
	memcpy(seen, s->seen, s->n * sizeof *seen);
	*copy = (struct bug_schedules){ seen, s->n, arena_text(a, s->trace) };
	return copy;
}

const struct bug_schedules *bug_schedules_join(struct arena *a, const struct bug_schedules *s,
					       const struct bug_schedules *other, bool takes_trace)
{
	struct bug_schedules *joined;
	uint32_t *seen;
	size_t n = 0, i = 0, k = 0;

	if (!s || !other)
		return bug_schedules_copy(a, s ? s : other);
	joined = arena_alloc(a, sizeof *joined);
	seen = arena_alloc(a, (s->n + other->n) * sizeof *seen + 1);
	while (i < s->n || k < other->n) {
		if (k == other->n || (i < s->n && s->seen[i] < other->seen[k]))
			seen[n++] = s->seen[i++];
		else if (i == s->n || other->seen[k] < s->seen[i])
			seen[n++] = other->seen[k++];
		else
			seen[n++] = s->seen[i++], k++;
	}
	*joined = (struct bug_schedules){ seen, n,
					  arena_text(a, takes_trace ? other->trace : s->trace) };
	return joined;
}

static const struct bug *bugs_copy(struct arena *a, const struct bug *list, size_t n)
{
	struct bug *copy = n ? arena_alloc(a, n * sizeof *copy) : NULL;

	for (size_t i = 0; i < n; i++)
		bug_copy(a, &copy[i], &list[i]);
	return copy;
}

static const struct bug_path *paths_copy(struct arena *a, const struct bug *b)
{
	struct bug_path *copy = b->npaths ? arena_alloc(a, b->npaths * sizeof *copy) : NULL;

	for (size_t i = 0; i < b->npaths; i++) {
		copy[i] = b->paths[i];
		copy[i].locations = bug_locations_copy(a, copy[i].locations, copy[i].nlocations);
		copy[i].crash = bug_crash_copy(a, b->paths[i].crash);
	}
	return copy;
}

void bug_copy(struct arena *a, struct bug *copy, const struct bug *b)
{
	*copy = *b;
	copy->kind = arena_text(a, b->kind ? b->kind : "unknown");
	copy->message = arena_text(a, b->message ? b->message : "");
	copy->advice = arena_text(a, b->advice);
	copy->locations = bug_locations_copy(a, b->locations, b->nlocations);
	copy->platforms = strings_copy(a, b->platforms, b->nplatforms);
	copy->profiles = strings_copy(a, b->profiles, b->nprofiles);
	copy->paths = paths_copy(a, b);
	copy->library = arena_text(a, b->library);
	copy->reason = arena_text(a, b->reason);
	copy->undecided_by = arena_text(a, b->undecided_by);
	copy->test = arena_text(a, b->test);
	copy->crash = bug_crash_copy(a, b->crash);
	copy->input = bug_input_copy(a, b->input);
	copy->schedules = bug_schedules_copy(a, b->schedules);
	copy->evidence = evidence_copy(a, b->evidence);
	copy->consequences = bugs_copy(a, b->consequences, b->nconsequences);
}

struct bug_frame bug_frame_of(const struct symbol *s)
{
	return (struct bug_frame){
		.function = s->function,
		.file = s->file,
		.folder = s->folder,
		.object = s->object,
		.line = s->line,
		.column = s->column,
		.function_line = s->function_line,
		.offset = s->offset,
		.is_inlined = s->is_inlined,
	};
}
