/* Says that there are no protection keys: arm64 has none here. Pages are opened and closed for all
 * threads. */
#include "arch.h"

bool keys_work(void)
{
	return false;
}

bool keys_is_closed_frame(int key, ucontext_t *uc)
{
	(void)key, (void)uc;
	return true;
}

int keys_init(void)
{
	return -1;
}

void keys_open(int key)
{
	(void)key;
}

void keys_close(int key)
{
	(void)key;
}

void keys_open_frame(int key, ucontext_t *uc)
{
	(void)key, (void)uc;
}

void keys_close_frame(int key, ucontext_t *uc)
{
	(void)key, (void)uc;
}
