// Where Swift's tasks run that have no executor of their own: a hook of the concurrency runtime
// (`swift_task_enqueueGlobal_hook`, stdlib/public/Concurrency/GlobalExecutor.cpp). In C, for it has Swift's calling
// convention. A job is opaque here.
#pragma once

/// From now on every job that may run anywhere is given to `enqueue`, from any thread. To be called once, before the first
/// task is made.
void tasks_install(void (*enqueue)(void *job));

/// Runs a job on this thread until it ends or waits.
void tasks_run(void *job);
