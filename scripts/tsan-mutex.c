/* Tells the thread sanitizer about contended locks of Synchronization.Mutex. `make tsan` preloads this library.

   The fast path of a Mutex (no contention) is compiled into the caller, and the sanitizer sees its atomic operation. The slow
   path is in libswiftSynchronization.so, which is not instrumented, and calls the kernel (FUTEX_LOCK_PI, futex(2)). The
   sanitizer does not see that one thread unlocked before the other continued, and reports a race for every contended Mutex.
   These wrappers report lock and unlock to it, and hide nothing else. The symbols are `_MutexHandle._lockSlow(_:)`,
   `._unlockSlow()` and `._tryLockSlow()`. If another Swift release has other names, the wrappers are never called. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"

typedef SWIFT void (*lock_slow)(uint32_t thread, SELF);
typedef SWIFT void (*unlock_slow)(SELF);
typedef SWIFT bool (*try_lock_slow)(SELF);

SWIFT void wrapped_lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void wrapped_unlock(SELF) __asm__(UNLOCK);
SWIFT bool wrapped_try_lock(SELF) __asm__(TRY_LOCK);

static lock_slow real_lock;
static unlock_slow real_unlock;
static try_lock_slow real_try_lock;

__attribute__((constructor)) static void find(void) {
  real_lock = (lock_slow)dlsym(RTLD_NEXT, LOCK);
  real_unlock = (unlock_slow)dlsym(RTLD_NEXT, UNLOCK);
  real_try_lock = (try_lock_slow)dlsym(RTLD_NEXT, TRY_LOCK);
}

SWIFT void wrapped_lock(uint32_t thread, SELF) {
  real_lock(thread, self);
  if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT void wrapped_unlock(SELF) {
  if (__tsan_release) __tsan_release(self);
  real_unlock(self);
}

SWIFT bool wrapped_try_lock(SELF) {
  bool locked = real_try_lock(self);
  if (locked && __tsan_acquire) __tsan_acquire(self);
  return locked;
}
