/* What an operation of VEX does, read from its name: Add8x16, CmpGT16Sx8, 64HIto32. On plain numbers, lane by lane, without the tracer's tables. */
#ifndef VEX_REFERENCE_H
#define VEX_REFERENCE_H

struct reference {
	char base[40]; /* the letters in front, or a whole name */
	unsigned lane, count; /* bits, how many */
	bool is_signed;
	unsigned bits[2], nargs, to; /* of the operands, how many; of the result, where the name says so */
	bool is_division, is_shift; /* all lanes by one number */
	bool second_is_constant, is_partial;
};

static uint64_t low_bits(uint64_t v, unsigned bits)
{
	return bits >= 64 ? v : v & ((1ULL << bits) - 1);
}

static int64_t as_signed(uint64_t v, unsigned bits)
{
	return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

static bool name_is(const struct reference *r, const char *name)
{
	return strcmp(r->base, name) == 0;
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

/* ---- names ---- */

static const char *const unary[] = { "Not", "CmpNEZ", "Left", "CmpwNEZ", "Clz", "Ctz", "ClzNat", "CtzNat", "PopCount", "GetMSBs", NULL };

static bool parse_lanes(const char *name, struct reference *r)
{
	size_t n = strcspn(name, "0123456789");
	char *end;

	if (!n || n >= sizeof r->base || !name[n] || name[n - 1] == 'V')
		return false;
	sprintf(r->base, "%.*s", (int)n, name);
	r->lane = (unsigned)strtoul(name + n, &end, 10);
	r->count = 1;
	r->is_signed = *end == 'S';
	if (*end == 'S' || *end == 'U')
		end++;
	if (*end == 'x')
		r->count = (unsigned)strtoul(end + 1, &end, 10);
	if (*end)
		return false;
	if (strncmp(r->base, "Mull", 4) == 0 || strncmp(r->base, "Div", 3) == 0)
		r->is_signed = r->base[strlen(r->base) - 1] == 'S';
	r->nargs = is_one_of(r->base, unary) ? 1 : 2;
	r->bits[0] = r->bits[1] = r->lane * r->count;
	r->is_shift = name_is(r, "Shl") || name_is(r, "Shr") || name_is(r, "Sar") || name_is(r, "ShlN") || name_is(r, "ShrN") || name_is(r, "SarN");
	if (r->is_shift)
		r->bits[1] = 8;
	r->is_division = strncmp(r->base, "Div", 3) == 0;
	r->second_is_constant = name_is(r, "Perm");
	return true;
}

static bool parse_extend(const char *name, struct reference *r)
{
	unsigned from, to, n = 0;
	char sign;

	if ((sscanf(name, "%u%cto%u%n", &from, &sign, &to, &n) != 3 || name[n]) && (sscanf(name, "%u%ctoV%u%n", &from, &sign, &to, &n) != 3 || name[n]))
		return false;
	*r = (struct reference){ .base = "extend", .is_signed = sign == 'S', .nargs = 1, .bits = { from }, .to = to };
	return sign == 'S' || sign == 'U';
}

/* Parts of a wide value, and wide ones of parts. */
static bool parse_parts(const char *name, struct reference *r)
{
	static const struct {
		const char *format, *base;
		unsigned nargs;
	} forms[] = {
		{ "%uto%u%n", "low", 1 },	{ "V%uto%u%n", "low", 1 },     { "%uHIto%u%n", "high", 1 },	{ "V%uHIto%u%n", "high", 1 },
		{ "%uHLto%u%n", "join", 2 },	{ "%uHLtoV%u%n", "join", 2 },  { "V%uHLtoV%u%n", "join", 2 },
	};
	unsigned from, to, which;

	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		int n = 0;

		if (sscanf(name, forms[i].format, &from, &to, &n) != 2 || name[n])
			continue;
		*r = (struct reference){ .nargs = forms[i].nargs, .bits = { from, from }, .to = to };
		strcpy(r->base, forms[i].base);
		return true;
	}
	if (sscanf(name, "V256toV%u_%u", &to, &which) != 2 && sscanf(name, "V256to%u_%u", &to, &which) != 2)
		return false;
	*r = (struct reference){ .base = "part", .nargs = 1, .bits = { 256 }, .to = to, .lane = which };
	return true;
}

static bool parse_others(const char *name, struct reference *r)
{
	unsigned from, to;
	char sign;

	if (sscanf(name, "DivMod%c%uto%u", &sign, &from, &to) == 3) {
		*r = (struct reference){ .base = "DivMod", .is_signed = sign == 'S', .nargs = 2, .bits = { from, to }, .to = to, .is_division = true,
					 .is_partial = from == 128 };
		return true;
	}
	if (strncmp(name, "Reinterp", 8) == 0 || strncmp(name, "ReinterpV128", 12) == 0) {
		*r = (struct reference){ .base = "low", .nargs = 1 };
		r->bits[0] = r->to = strstr(name, "128") ? 128 : strstr(name, "64") ? 64 : 32;
		return true;
	}
	if (sscanf(name, "SetV128lo%u", &to) == 1) {
		*r = (struct reference){ .base = "set", .nargs = 2, .bits = { 128, to }, .to = to };
		return true;
	}
	if (strcspn(name, "V") == 2 || strcspn(name, "V") == 3) { /* bit by bit, so any lane does */
		const char *v = strchr(name, 'V');

		if (!v)
			return false;
		from = (unsigned)atoi(v + 1);
		*r = (struct reference){ .lane = 64, .count = from / 64, .bits = { from, from }, .nargs = 2 };
		sprintf(r->base, "%.*s", (int)(v - name), name);
		if (name_is(r, "Not"))
			r->nargs = 1;
		if (name_is(r, "Shl") || name_is(r, "Shr")) {
			strcat(r->base, "Whole");
			r->bits[1] = 8;
			r->second_is_constant = true;
		}
		return from == 128 || from == 256;
	}
	return false;
}

static bool reference_parse(const char *name, struct reference *r)
{
	*r = (struct reference){ .nargs = 0 };
	return parse_others(name, r) || parse_parts(name, r) || parse_extend(name, r) || parse_lanes(name, r);
}

/* ---- what they do ---- */

static uint64_t lane_of(const uint64_t *x, unsigned lane, unsigned i)
{
	return lane >= 64 ? x[i] : low_bits(x[i * lane / 64] >> i * lane % 64, lane);
}

static void lane_put(uint64_t *x, unsigned lane, unsigned i, uint64_t v)
{
	x[i * lane / 64] |= low_bits(v, lane) << i * lane % 64;
}

static unsigned zeros_above(uint64_t a, unsigned lane)
{
	unsigned n = 0;

	while (n < lane && !(a >> (lane - 1 - n) & 1))
		n++;
	return n;
}

static unsigned zeros_below(uint64_t a, unsigned lane)
{
	unsigned n = 0;

	while (n < lane && !(a >> n & 1))
		n++;
	return n;
}

static unsigned ones(uint64_t a)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 64; i++)
		n += a >> i & 1;
	return n;
}

/* One lane; false: the machine does not say. */
static bool lane_compute(const struct reference *r, uint64_t a, uint64_t b, uint64_t *v)
{
	const unsigned lane = r->lane;
	const int64_t sa = as_signed(a, lane), sb = as_signed(b, lane);
	const bool less = r->is_signed ? sa < sb : a < b;
	const uint64_t all = r->count > 1 ? ~0ULL : 1;

	if (name_is(r, "Add")) *v = a + b;
	else if (name_is(r, "Sub")) *v = a - b;
	else if (name_is(r, "Mul")) *v = a * b;
	else if (name_is(r, "And")) *v = a & b;
	else if (name_is(r, "Or")) *v = a | b;
	else if (name_is(r, "Xor")) *v = a ^ b;
	else if (name_is(r, "Not")) *v = ~a;
	else if (name_is(r, "Shl") || name_is(r, "ShlN")) *v = a << b;
	else if (name_is(r, "Shr") || name_is(r, "ShrN")) *v = a >> b;
	else if (name_is(r, "Sar") || name_is(r, "SarN")) *v = (uint64_t)(sa >> b);
	else if (name_is(r, "CmpEQ") || name_is(r, "CasCmpEQ")) *v = a == b ? all : 0;
	else if (name_is(r, "CmpNE") || name_is(r, "CasCmpNE") || name_is(r, "ExpCmpNE")) *v = a != b;
	else if (name_is(r, "CmpNEZ")) *v = a ? all : 0;
	else if (name_is(r, "CmpwNEZ")) *v = a ? ~0ULL : 0;
	else if (name_is(r, "Left")) *v = a | -a;
	else if (name_is(r, "CmpLT")) *v = less;
	else if (name_is(r, "CmpLE")) *v = less || a == b;
	else if (name_is(r, "CmpGT")) *v = !less && a != b ? all : 0;
	else if (name_is(r, "Max")) *v = less ? b : a;
	else if (name_is(r, "Min")) *v = less ? a : b;
	else if (name_is(r, "MulHi")) *v = r->is_signed ? (uint64_t)(sa * sb >> lane) : a * b >> lane;
	else if (strncmp(r->base, "Clz", 3) == 0) *v = zeros_above(a, lane);
	else if (strncmp(r->base, "Ctz", 3) == 0) *v = zeros_below(a, lane);
	else if (name_is(r, "PopCount")) *v = ones(a);
	else if (name_is(r, "DivU")) *v = a / b;
	else if (name_is(r, "DivS") && sb == -1) *v = -a;
	else if (name_is(r, "DivS")) *v = (uint64_t)(sa / sb);
	else return false;
	return (strncmp(r->base, "Clz", 3) != 0 && strncmp(r->base, "Ctz", 3) != 0) || a || strstr(r->base, "Nat"); /* of 0: not defined */
}

static void product(const struct reference *r, uint64_t a, uint64_t b, uint64_t *out)
{
	unsigned __int128 p = r->is_signed ? (unsigned __int128)((__int128)as_signed(a, r->lane) * as_signed(b, r->lane)) : (unsigned __int128)a * b;

	out[0] = low_bits((uint64_t)p, 2 * r->lane);
	out[1] = r->lane == 64 ? (uint64_t)(p >> 64) : 0;
}

/* Quotient below, remainder above; the quotient has to fit. */
static bool divide(const struct reference *r, const uint64_t *a, uint64_t b, uint64_t *out)
{
	unsigned __int128 q, m;

	if (r->is_signed) {
		__int128 n = r->bits[0] == 128 ? (__int128)((unsigned __int128)a[1] << 64 | a[0]) : as_signed(a[0], r->bits[0]), d = as_signed(b, r->bits[1]);
		__int128 whole = d == -1 ? -n : n / d;

		if (whole != as_signed((uint64_t)whole, r->to))
			return false;
		q = (unsigned __int128)whole;
		m = (unsigned __int128)(n - whole * d);
	} else {
		unsigned __int128 n = r->bits[0] == 128 ? (unsigned __int128)a[1] << 64 | a[0] : a[0];

		q = n / b;
		m = n % b;
		if (q != low_bits((uint64_t)q, r->to))
			return false;
	}
	if (r->to == 64) {
		out[0] = (uint64_t)q;
		out[1] = (uint64_t)m;
	} else {
		out[0] = low_bits((uint64_t)q, r->to) | low_bits((uint64_t)m, r->to) << r->to;
	}
	return true;
}

/* Bytes are moved as a whole. */
static bool move(const struct reference *r, const uint64_t *x, const uint64_t *y, uint64_t *out)
{
	const unsigned n = r->bits[0] / 8;

	if (name_is(r, "InterleaveLO") || name_is(r, "InterleaveHI")) {
		for (unsigned i = 0; i < r->count; i++)
			lane_put(out, r->lane, i, lane_of(i % 2 ? x : y, r->lane, i / 2 + (name_is(r, "InterleaveHI") ? r->count / 2 : 0)));
	} else if (name_is(r, "ShlWhole") || name_is(r, "ShrWhole")) {
		for (unsigned i = 0; i < n; i++) {
			unsigned from = name_is(r, "ShlWhole") ? i - (unsigned)y[0] / 8 : i + (unsigned)y[0] / 8;

			lane_put(out, 8, i, from < n ? lane_of(x, 8, from) : 0);
		}
	} else if (name_is(r, "Perm")) {
		for (unsigned i = 0; i < r->count; i++)
			lane_put(out, 8, i, lane_of(x, 8, (unsigned)lane_of(y, 8, i) & 15));
	} else if (name_is(r, "GetMSBs")) {
		for (unsigned i = 0; i < r->count; i++)
			out[0] |= (lane_of(x, 8, i) >> 7) << i;
	} else {
		return false;
	}
	return true;
}

static bool convert(const struct reference *r, const uint64_t *x, const uint64_t *y, uint64_t *out)
{
	if (name_is(r, "extend")) {
		out[0] = r->is_signed ? low_bits((uint64_t)as_signed(x[0], r->bits[0]), r->to) : x[0];
	} else if (name_is(r, "low") || name_is(r, "part")) {
		for (unsigned i = 0; i < (r->to + 63) / 64; i++)
			out[i] = low_bits(x[i + r->lane * r->to / 64], r->to < 64 ? r->to : 64);
	} else if (name_is(r, "high")) {
		out[0] = r->bits[0] == 128 ? x[1] : x[0] >> (r->bits[0] - r->to);
	} else if (name_is(r, "join") && r->bits[0] < 64) {
		out[0] = x[0] << r->bits[0] | y[0];
	} else if (name_is(r, "join")) {
		for (unsigned i = 0; i < r->bits[0] / 64; i++) {
			out[i] = y[i];
			out[i + r->bits[0] / 64] = x[i];
		}
	} else if (name_is(r, "set")) {
		out[0] = r->to == 64 ? y[0] : (x[0] >> 32 << 32 | y[0]);
		out[1] = x[1];
	} else {
		return false;
	}
	return true;
}

/* False: the machine does not say what comes of these operands. */
static bool reference_compute(const struct reference *r, const uint64_t *x, const uint64_t *y, uint64_t *out)
{
	if (strncmp(r->base, "Mull", 4) == 0) {
		product(r, x[0], y[0], out);
		return true;
	}
	if (name_is(r, "DivMod"))
		return divide(r, x, y[0], out);
	if (convert(r, x, y, out) || move(r, x, y, out))
		return true;
	for (unsigned i = 0; i < r->count; i++) {
		uint64_t v;

		if (!lane_compute(r, lane_of(x, r->lane, i), r->is_shift ? y[0] : lane_of(y, r->lane, i), &v))
			return false;
		if (strncmp(r->base, "Cmp", 3) == 0 && r->count == 1 && !name_is(r, "CmpwNEZ"))
			out[0] = v;
		else
			lane_put(out, r->lane, i, v);
	}
	return true;
}

#endif
