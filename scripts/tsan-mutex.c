/* Shows the thread sanitizer what Synchronization.Mutex does where two threads meet: preloaded by `make tsan`.

   The quick half of a Mutex (nobody else wants it) is compiled into its user, and the sanitizer sees its atomic. The slow
   half is in libswiftSynchronization.so, which is not instrumented, and asks the kernel (FUTEX_LOCK_PI, futex(2)): the
   sanitizer does not see that one thread let go before the other went on, and calls every contended Mutex a race. These
   wrappers tell it, and hide nothing else. The names are those of `_MutexHandle._lockSlow(_:)`, `._unlockSlow()` and
   `._tryLockSlow()`; where another Swift has other names they are never called. */
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
