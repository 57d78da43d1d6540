/* What the files that run fibers know of one. */
#ifndef APUS_FIBER_H
#define APUS_FIBER_H

#include "apus_guard.h"

#define STACK_CANARY UINT64_C(0x41505553a5a5a5a5)

struct apus_fiber {
	zend_fiber_context context;
	zend_fiber_context *resumer;    /* who entered last, and is left to */
	zend_fiber_context *inner;      /* the context that left last: ours, or a user's Fiber that runs inside */
	zend_execute_data *execute_data; /* where the PHP code stands while it waits */
	zend_vm_stack vm_stack;
	apus_standing bottom;           /* of its stack, below every job */
	apus_job *job;                  /* NULL: idle */
	int64_t coroutine;              /* whose job it is */
	apus_ambient ambient;
	apus_talks talks;
	zval handler;                   /* the error handler that was set when it was entered */
	apus_marks *marks;              /* while it waits */
	apus_handlers handlers;         /* its own, while it waits */
	int handler_depth;              /* of what lies below them, while it runs */
	bool fresh;                     /* its job has not begun */
	/* One of ambient, marks, handlers and bailed_in_release is to be put in place when it is entered. */
	bool laden;
	bool keeps_handlers;            /* those that the job leaves behind stay for the process */
	bool bailed_in_release;         /* apus_bailed_in_release of the waiting code */
	bool guarded;                   /* its guard is one of guarded_stacks */
	uint64_t *canary;               /* lowest word of an unguarded stack, or NULL */
};

extern zend_function apus_fiber_function; /* what the frame at the bottom of each is of */

#endif
