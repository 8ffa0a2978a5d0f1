/* Uses every annotation once; prints whether it believes to be in recovery. */
#include <stdio.h>

#include "pmend.h"

int main(void)
{
	PMEND_ROI_BEGIN();
	PMEND_ROI_END();
	PMEND_FAILURE_POINT();
	PMEND_SKIP_FAILURE_BEGIN();
	PMEND_SKIP_FAILURE_END();
	PMEND_SKIP_CHECK_BEGIN();
	PMEND_SKIP_CHECK_END();
	PMEND_COMMIT_VAR(1, 2);
	PMEND_COMMIT_RANGE(3, 4, 5);
	PMEND_OP_BEGIN("put");
	PMEND_OP_END("put");
	PMEND_ASSERT_DURABLE(6, 7);
	PMEND_ASSERT_ORDERED(8, 9, 10, 11);
	PMEND_IGNORE(12, 13);
	printf("in recovery: %d\n", PMEND_IN_RECOVERY());
	PMEND_DONE();
	return 0;
}
