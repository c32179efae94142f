// Replaces the global executor of Swift's concurrency runtime through its hook `swift_task_enqueueGlobal_hook`
// (stdlib/public/Concurrency/GlobalExecutor.cpp). It is written in C because the hook uses the `swiftcall` calling
// convention. A job is opaque here.
#pragma once

/// Passes every job without a custom executor to `enqueue`, which may be called from any thread. It must be called
/// once, before the first task is created.
void tasks_install(void (*enqueue)(void *job));

/// Runs a job on the calling thread until it ends or suspends.
void tasks_run(void *job);
