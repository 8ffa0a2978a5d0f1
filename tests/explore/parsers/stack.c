/* A stack machine, one byte per instruction, a push with its operand behind it. The bug: a product above 1000 that is stored in the high half of the memory. */
#include "parser.h"

enum { HALT, PUSH = 0x10, ADD = 0x20, MULTIPLY, DUPLICATE, STORE = 0x30, LOAD, JUMP_IF_ZERO = 0x40 };

struct memory {
	uint64_t low[8];
	uint64_t high[8];
};

static struct memory *memory;
static uint64_t stack[16];
static unsigned depth;

static void push(uint64_t value)
{
	if (depth == 16)
		exit(1);
	stack[depth++] = value;
}

static uint64_t pop(void)
{
	if (depth == 0)
		exit(1);
	return stack[--depth];
}

static void store(uint64_t slot, uint64_t value)
{
	if (slot < 8) {
		memory->low[slot] = value;
		persist(&memory->low[slot], 8);
	} else if (slot < 16) {
		if (value > 1000) {
			memory->high[slot - 8] = value; /* BUG: missing-flush */
			persist_if_correct(&memory->high[slot - 8], 8);
		} else {
			memory->high[slot - 8] = value;
			persist(&memory->high[slot - 8], 8);
		}
	}
}

static void run(const uint8_t *code, size_t len)
{
	for (size_t pc = 0; pc < len;) {
		uint64_t a, b;

		switch (code[pc++]) {
		case HALT:
			return;
		case PUSH:
			if (pc == len)
				return;
			push(code[pc++]);
			break;
		case ADD:
			a = pop(), b = pop();
			push(a + b);
			break;
		case MULTIPLY:
			a = pop(), b = pop();
			push(a * b);
			break;
		case DUPLICATE:
			a = pop();
			push(a);
			push(a);
			break;
		case STORE:
			a = pop(), b = pop();
			store(a, b);
			break;
		case LOAD:
			a = pop();
			push(a < 8 ? memory->low[a] : 0);
			break;
		case JUMP_IF_ZERO:
			a = pop(), b = pop();
			if (b == 0)
				pc += a & 7;
			break;
		default:
			return;
		}
	}
}

int main(int argc, char **argv)
{
	FILE *in = argc == 3 ? fopen(argv[2], "rb") : NULL;
	uint8_t code[16];
	size_t len;

	if (!in)
		return 2;
	len = fread(code, 1, sizeof code, in);
	fclose(in);
	memory = pool_open(argv[1], sizeof *memory);
	run(code, len);
	return 0;
}
