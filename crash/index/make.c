/* Makes an index in one walk through the trace, with a checkpoint wherever one is worth its size. A
 * checkpoint that is too large for the distance from the one before is dropped, and the next is
 * tried after twice the distance, because it contains everything that changed since the last one
 * that was kept. */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "crash/index/directory.h"
#include "crash/index/index.h"
#include "trace/position.h"

const struct index_limits index_usual = { .events = 1000, .percent = 6 };

struct maker {
	struct plan *plan;
	struct frames_out out;
	struct directory directory;
	const struct index_limits *limits;
	struct walk walk;
	struct wire points; /* of the frame that is being filled */
	/* last_seq: event of the last checkpoint; wait: number of events until the next try */
	uint64_t last_seq, wait;
	uint64_t point_seq; /* event of the last failure point */
	double bytes_per_event;
	int result; /* -1 with errno */
};

static void add_frame(struct maker *m, const struct wire *w, struct frame *where)
{
	uint64_t len_bytes;
	uint8_t *packed = frame_pack(w, &len_bytes);

	if (m->result == 0)
		m->result = frame_write(&m->out, packed, len_bytes, where);
	free(packed);
}

/* ---- failure points ---- */

static void put_points(struct maker *m)
{
	if (m->points.n == 0)
		return;
	add_frame(m, &m->points, vec_add(&m->directory.points));
	m->points.n = 0;
	m->point_seq = 0;
}

static void add_point(struct maker *m)
{
	wire_number(&m->points, m->walk.seq - m->point_seq);
	wire_number(&m->points, index_cost(&m->walk));
	m->point_seq = m->walk.seq;
	if (++m->directory.npoints % POINTS_EACH == 0)
		put_points(m);
}

/* ---- checkpoints ---- */

/* Tries to add a checkpoint. False: it is too large for what it saves. */
static bool try_checkpoint(struct maker *m)
{
	struct checkpoint *c;
	struct wire state = { 0 }, image = { 0 };
	uint8_t *packed_state, *packed_image;
	uint64_t state_bytes, image_bytes;
	bool is_worth;

	walk_pass(&m->walk, &state);
	image_pass_changes(&m->walk.image, &image);
	packed_state = frame_pack(&state, &state_bytes);
	packed_image = frame_pack(&image, &image_bytes);
	is_worth = (double)(state_bytes + image_bytes) * 100 <=
		   (double)m->limits->percent * (double)(walk_passed_seq(&m->walk) - m->last_seq) *
			   m->bytes_per_event;
	if (is_worth) {
		c = vec_add(&m->directory.checkpoints);
		*c = (struct checkpoint){ .point = m->walk.point,
					  .seq = walk_passed_seq(&m->walk) };
		m->result = frame_write(&m->out, packed_state, state_bytes, &c->state);
		if (m->result == 0)
			m->result = frame_write(&m->out, packed_image, image_bytes, &c->image);
	}
	free(packed_state);
	free(packed_image);
	wire_release(&state);
	wire_release(&image);
	return is_worth;
}

static void maybe_checkpoint(struct maker *m)
{
	if (walk_passed_seq(&m->walk) - m->last_seq < m->wait || !walk_go_past(&m->walk))
		return;
	if (!try_checkpoint(m)) {
		m->wait *= 2;
		return;
	}
	image_forget_lines(&m->walk.image);
	m->last_seq = walk_passed_seq(&m->walk);
	m->wait = m->limits->events;
}

/* ---- the whole index ---- */

static void put_plan(struct maker *m)
{
	struct wire w = { 0 };

	plan_send(m->plan, &w);
	add_frame(m, &w, &m->directory.plan);
	wire_release(&w);
}

/* Writes the directory and then the header, which makes the file valid. */
static void put_directory(struct maker *m)
{
	uint64_t header[INDEX_HEADER_BYTES / sizeof(uint64_t)];
	struct wire w = { 0 };
	struct frame where = { 0 };

	directory_pass(&w, &m->directory);
	add_frame(m, &w, &where);
	wire_release(&w);
	memcpy(header, INDEX_MAGIC, sizeof *header);
	header[1] = htole64(INDEX_VERSION);
	header[2] = htole64(where.at);
	header[3] = htole64(where.len_bytes);
	if (m->result == 0 &&
	    (pwrite(m->out.file.fd, header, sizeof header, 0) != (ssize_t)sizeof header ||
	     fsync(m->out.file.fd) < 0))
		m->result = -1;
}

static void make(struct maker *m, void (*told)(uint64_t seq, void *arg), void *arg)
{
	static const uint8_t header[INDEX_HEADER_BYTES];
	size_t ntold = 0;

	m->result = partial_file_write(&m->out.file, header, sizeof header);
	m->out.at = sizeof header;
	put_plan(m);
	image_forget_lines(&m->walk.image);
	while (m->result == 0 && walk_next(&m->walk)) {
		add_point(m);
		maybe_checkpoint(m);
		if (told && m->directory.checkpoints.n > ntold)
			told(walk_passed_seq(&m->walk), arg);
		ntold = m->directory.checkpoints.n;
	}
	/* then these failure points are valid with WALK_OVERTAKEN, too */
	if (!m->walk.has_overtaken)
		m->directory.stops |= WALK_OVERTAKEN;
	put_points(m);
	put_directory(m);
}

int index_make(struct plan *p, unsigned stops, const struct index_limits *limits, const char *path,
	       void (*told)(uint64_t seq, void *arg), void *arg, struct index_size *size,
	       struct error *err)
{
	struct maker m = { .plan = p,
			   .limits = limits,
			   .wait = limits->events,
			   .bytes_per_event =
				   (double)trace_size_bytes(p->trace) / (double)(p->nevents + 1),
			   .directory = { .identity = trace_identity(p->trace),
					  .version = xstrdup(PMEND_VERSION),
					  .platform = xstrdup(p->platform->name),
					  .is_distrusting = p->is_distrusting,
					  .stops = stops,
					  .making = making_hash(p) } };
	int result;

	if (partial_file_begin(&m.out.file, path, err) < 0)
		return -1;
	walk_init(&m.walk, p, stops);
	m.walk.notes_overtaken = true;
	make(&m, told, arg);
	result = m.result;
	if (result < 0)
		error_set(err, "cannot write %s: %s", path, strerror(errno));
	if (partial_file_end(&m.out.file, result == 0, err) < 0)
		result = -1;
	*size = (struct index_size){ m.out.at, m.directory.npoints, m.directory.checkpoints.n };
	walk_release(&m.walk);
	wire_release(&m.points);
	directory_release(&m.directory);
	return result;
}
