#include "CTasks.h"

#include <stddef.h>

#define SWIFT_CC __attribute__((swiftcall))

typedef SWIFT_CC void (*original_enqueue)(void *job);

extern SWIFT_CC void (*swift_task_enqueueGlobal_hook)(void *job, original_enqueue original);
extern SWIFT_CC void swift_job_run(void *job, void *identity, void *implementation);

static void (*given_enqueue)(void *job);

static SWIFT_CC void enqueue(void *job, original_enqueue original) {
  (void)original;
  given_enqueue(job);
}

void tasks_install(void (*enqueue_job)(void *job)) {
  given_enqueue = enqueue_job;
  swift_task_enqueueGlobal_hook = enqueue;
}

void tasks_run(void *job) { swift_job_run(job, NULL, NULL); }
