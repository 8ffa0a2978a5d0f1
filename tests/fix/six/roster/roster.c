/* roster.c - teams and who is in them: FILE check | FILE (team NAME | join TEAM NAME | leave TEAM NAME | score TEAM NAME)... */
#include <libpmemobj.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define TEAMS 4
#define MEMBERS 6
#define NAME_LEN 48

enum { TYPE_TEAM = 1, TYPE_MEMBER };

struct member {
	char name[NAME_LEN];
	uint64_t score;
};

struct team {
	char name[NAME_LEN];
	uint64_t nmembers;
	PMEMoid members[MEMBERS]; /* OID_NULL from nmembers on, except for one that a crash left behind */
};

struct root {
	uint64_t nteams;
	PMEMoid teams[TEAMS];
};

static struct member *member_of(const struct team *t, uint64_t i)
{
	return pmemobj_direct(t->members[i]);
}

static int64_t member_find(const struct team *t, const char *name)
{
	for (uint64_t i = 0; i < t->nmembers; i++)
		if (strcmp(member_of(t, i)->name, name) == 0)
			return (int64_t)i;
	return -1;
}

static PMEMoid team_find(const struct root *r, const char *name)
{
	for (uint64_t i = 0; i < r->nteams; i++)
		if (strcmp(((struct team *)pmemobj_direct(r->teams[i]))->name, name) == 0)
			return r->teams[i];
	return OID_NULL;
}

static int team_add(PMEMobjpool *pop, PMEMoid root, const char *name)
{
	struct root *r = pmemobj_direct(root);
	int ret = 0;

	if (r->nteams == TEAMS || !OID_IS_NULL(team_find(r, name)))
		return -1;
	TX_BEGIN(pop) {
		PMEMoid oid = pmemobj_tx_zalloc(sizeof(struct team), TYPE_TEAM);
		struct team *t = pmemobj_direct(oid);

		strncpy(t->name, name, NAME_LEN - 1);
		pmemobj_tx_add_range(root, offsetof(struct root, teams[r->nteams]), sizeof(PMEMoid));
		r->teams[r->nteams] = oid;
		pmemobj_tx_add_range(root, offsetof(struct root, nteams), sizeof(r->nteams));
		r->nteams++;
	} TX_ONABORT {
		ret = -1;
	} TX_END

	return ret;
}

static int member_construct(PMEMobjpool *pop, void *ptr, void *arg)
{
	struct member *m = ptr;

	memset(m->name, 0, sizeof(m->name));
	strncpy(m->name, arg, NAME_LEN - 1);
	m->score = 0;
	pmemobj_persist(pop, m, sizeof(*m));
	return 0;
}

/* Without a transaction: nobody looks at what is behind nmembers. */
static int team_join(PMEMobjpool *pop, PMEMoid team, char *name)
{
	struct team *t = pmemobj_direct(team);

	if (!t || t->nmembers == MEMBERS || member_find(t, name) >= 0)
		return -1;
	pmemobj_free(&t->members[t->nmembers]);
	if (pmemobj_alloc(pop, &t->members[t->nmembers], sizeof(struct member), TYPE_MEMBER, member_construct, name) != 0)
		return -1;
	t->nmembers++;
	pmemobj_persist(pop, &t->nmembers, sizeof(t->nmembers));
	return 0;
}

static int team_leave(PMEMobjpool *pop, PMEMoid team, const char *name)
{
	struct team *t = pmemobj_direct(team);
	int64_t i = t ? member_find(t, name) : -1;
	uint64_t last;
	int ret = 0;

	if (i < 0)
		return -1;
	last = t->nmembers - 1;
	TX_BEGIN(pop) {
		pmemobj_tx_free(t->members[i]);
		if ((uint64_t)i != last) {
			pmemobj_tx_add_range(team, offsetof(struct team, members[i]), sizeof(PMEMoid));
			t->members[i] = t->members[last];
		}
		pmemobj_tx_add_range(team, offsetof(struct team, members[last]), sizeof(PMEMoid));
		t->members[last] = OID_NULL;
		pmemobj_tx_add_range(team, offsetof(struct team, nmembers), sizeof(t->nmembers));
		t->nmembers = last;
	} TX_ONABORT {
		ret = -1;
	} TX_END

	return ret;
}

static int team_score(PMEMobjpool *pop, PMEMoid team, const char *name)
{
	struct team *t = pmemobj_direct(team);
	int64_t i = t ? member_find(t, name) : -1;
	struct member *m;

	if (i < 0)
		return -1;
	m = member_of(t, (uint64_t)i);
	m->score++;
	pmemobj_persist(pop, &m->score, sizeof(m->score));
	return 0;
}

static int roster_check(PMEMoid root)
{
	const struct root *r = pmemobj_direct(root);

	for (uint64_t i = 0; i < r->nteams; i++) {
		const struct team *t = pmemobj_direct(r->teams[i]);

		if (!t->name[0] || t->nmembers > MEMBERS) {
			fprintf(stderr, "roster: team %lu is damaged\n", (unsigned long)i);
			return 1;
		}
		for (uint64_t k = 0; k < t->nmembers; k++) {
			const struct member *m = member_of(t, k);

			if (!m || pmemobj_type_num(t->members[k]) != TYPE_MEMBER || !m->name[0] || member_find(t, m->name) != (int64_t)k) {
				fprintf(stderr, "roster: member %lu of %s is damaged\n", (unsigned long)k, t->name);
				return 1;
			}
			printf("%s: %s %lu\n", t->name, m->name, (unsigned long)m->score);
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop;
	PMEMoid root;
	struct stat st;
	int is_there, rc = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: %s FILE check | FILE (team NAME | join TEAM NAME | leave TEAM NAME | score TEAM NAME)...\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	is_there = stat(argv[1], &st) == 0 && st.st_size > 0;
	if (strcmp(argv[2], "check") == 0 && !is_there) {
		puts("nothing there yet");
		return 0;
	}
	pop = is_there ? pmemobj_open(argv[1], "roster") : pmemobj_create(argv[1], "roster", PMEMOBJ_MIN_POOL, 0644);
	if (!pop) {
		fprintf(stderr, "%s: %s\n", argv[1], pmemobj_errormsg());
		return 1;
	}
	root = pmemobj_root(pop, sizeof(struct root));
	if (strcmp(argv[2], "check") == 0)
		rc = roster_check(root);
	for (int i = 2; strcmp(argv[2], "check") != 0 && i + 1 < argc; i++) {
		const char *op = argv[i], *name = argv[++i];
		PMEMoid team = team_find(pmemobj_direct(root), name);

		if (strcmp(op, "team") == 0)
			rc = team_add(pop, root, name);
		else if (strcmp(op, "join") == 0 && i + 1 < argc)
			rc = team_join(pop, team, argv[++i]);
		else if (strcmp(op, "leave") == 0 && i + 1 < argc)
			rc = team_leave(pop, team, argv[++i]);
		else if (strcmp(op, "score") == 0 && i + 1 < argc)
			rc = team_score(pop, team, argv[++i]);
		else
			rc = -1;
		printf("%s %s: %s\n", op, name, rc ? "not possible" : "done");
	}
	pmemobj_close(pop);
	return rc != 0;
}
