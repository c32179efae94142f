#define _GNU_SOURCE 1

#include "CLinux.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// Signals that a process raises itself on a fatal error: Swift and compiler traps (SIGILL, SIGTRAP), memory errors
// (SIGSEGV, SIGBUS), C arithmetic (SIGFPE), abort(3).
static const int fatal_signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
enum { FATAL_COUNT = sizeof fatal_signals / sizeof *fatal_signals };

static struct {
  atomic_int descriptor;
  atomic_int owner;
  atomic_flag is_written;
  char run[LINUX_CRASH_RUN_SIZE];
  struct sigaction before[FATAL_COUNT];
} crash = {.descriptor = -1, .is_written = ATOMIC_FLAG_INIT};

int linux_crash_mark_write(int descriptor, const char *run, int signal) {
  char mark[LINUX_CRASH_MARK_SIZE];
  memset(mark, ' ', sizeof mark);
  memcpy(mark, "transferd crash ", 16);
  memcpy(mark + 16, run, LINUX_CRASH_RUN_SIZE);
  memcpy(mark + 16 + LINUX_CRASH_RUN_SIZE, " signal ", 8);
  mark[24 + LINUX_CRASH_RUN_SIZE] = (char)('0' + signal / 10 % 10);
  mark[25 + LINUX_CRASH_RUN_SIZE] = (char)('0' + signal % 10);
  mark[sizeof mark - 1] = '\n';
  if (pwrite(descriptor, mark, sizeof mark, 0) != (ssize_t)sizeof mark) return -1;
  return fdatasync(descriptor);
}

int linux_crash_mark_clear(int descriptor) {
  char blank[LINUX_CRASH_MARK_SIZE];
  memset(blank, ' ', sizeof blank);
  blank[sizeof blank - 1] = '\n';
  ssize_t count = pwrite(descriptor, blank, sizeof blank, 0);
  if (count != (ssize_t)sizeof blank) {
    if (count >= 0) errno = EIO;
    return -1;
  }
  return fdatasync(descriptor);
}

// Whether this process raised the signal. sigaction(2), "The siginfo_t argument": the kernel uses codes above 0; codes up
// to 0 come from the process in si_pid.
static int is_own(const siginfo_t *info) {
  // Between fork(2) and execve(2) a child process has this handler and this descriptor; its signals do not count.
  if (getpid() != atomic_load(&crash.owner)) return 0;
  // Defective hardware memory is not a program error.
  if (info->si_signo == SIGBUS && (info->si_code == BUS_MCEERR_AR || info->si_code == BUS_MCEERR_AO)) return 0;
  if (info->si_code > 0) return 1;
  return (info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE) &&
         info->si_pid == atomic_load(&crash.owner);
}

static void handle(int signal, siginfo_t *info, void *context) {
  (void)context;
  int error = errno;
  // A signal from another process must end this one at once. Swift's backtrace handler would let it continue, because it
  // expects a fault to occur again.
  struct sigaction next;
  memset(&next, 0, sizeof next);
  next.sa_handler = SIG_DFL;
  if (is_own(info)) {
    // Another thread is writing the mark and then ends the process.
    if (atomic_flag_test_and_set(&crash.is_written)) {
      for (;;) pause();
    }
    linux_crash_mark_write(atomic_load(&crash.descriptor), crash.run, signal);
    for (int i = 0; i < FATAL_COUNT; i++) {
      // Not SIG_IGN: a fault ends the process even if it is ignored, but the signal queued below would be lost.
      if (fatal_signals[i] == signal && ((crash.before[i].sa_flags & SA_SIGINFO) != 0 || crash.before[i].sa_handler != SIG_IGN)) {
        next = crash.before[i];
      }
    }
  }
  sigaction(signal, &next, NULL);
  // Queue the signal again with the same siginfo. It is blocked until this handler returns and then has its previous effect
  // at the same instruction. Returning alone is not enough: not every instruction raises its signal again.
  pid_t process = getpid();
  pid_t thread = (pid_t)syscall(SYS_gettid);
  if (syscall(SYS_rt_tgsigqueueinfo, process, thread, signal, info) != 0) {
    syscall(SYS_tgkill, process, thread, signal);
  }
  errno = error;
}

int linux_crash_mark_arm(int descriptor, const char *run) {
  memcpy(crash.run, run, LINUX_CRASH_RUN_SIZE);
  atomic_store(&crash.descriptor, descriptor);
  atomic_store(&crash.owner, getpid());
  atomic_flag_clear(&crash.is_written);
  if (linux_prepare_signal_stack() != 0) return -1;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  // A second fault while the mark is written ends the process at once: the kernel does not block synchronous faults.
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < FATAL_COUNT; i++) sigaddset(&action.sa_mask, fatal_signals[i]);
  for (int i = 0; i < FATAL_COUNT; i++) {
    struct sigaction before;
    if (sigaction(fatal_signals[i], NULL, &before) != 0) return -1;
    // If this handler is installed already, keep the previous handler that was saved then.
    if ((before.sa_flags & SA_SIGINFO) == 0 || before.sa_sigaction != handle) crash.before[i] = before;
    if (sigaction(fatal_signals[i], &action, NULL) != 0) return -1;
  }
  return 0;
}

// MARK: Alternate signal stacks, for stack overflows (sigaltstack(2)). Each thread needs its own.

static pthread_key_t stack_key;
static int has_stack_key;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

// Large enough for the kernel's frame with all registers (getauxval(3), AT_MINSIGSTKSZ) and for previously installed
// handlers.
static size_t stack_size(void) {
  size_t size = 64 << 10;
  long wanted = sysconf(_SC_SIGSTKSZ);
  if (wanted > 0 && (size_t)wanted > size) size = (size_t)wanted;
  return (size + page_size() - 1) & ~(page_size() - 1);
}

static void free_stack(void *memory) {
  stack_t stack;
  if (sigaltstack(NULL, &stack) == 0 && stack.ss_sp == (char *)memory + page_size()) {
    stack.ss_flags = SS_DISABLE;
    stack.ss_size = stack_size();
    sigaltstack(&stack, NULL);
  }
  munmap(memory, page_size() + stack_size());
}

static void make_stack_key(void) { has_stack_key = pthread_key_create(&stack_key, free_stack) == 0; }

int linux_prepare_signal_stack(void) {
  stack_t stack;
  if (sigaltstack(NULL, &stack) != 0) return -1;
  // Sanitizers and Swift's backtrace handler install their own.
  if ((stack.ss_flags & SS_DISABLE) == 0) return 0;
  pthread_once(&stack_once, make_stack_key);
  if (!has_stack_key) return -1;
  size_t page = page_size(), size = stack_size();
  char *memory = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return -1;
  mprotect(memory, page, PROT_NONE);
  stack = (stack_t){.ss_sp = memory + page, .ss_size = size};
  if (sigaltstack(&stack, NULL) != 0 || pthread_setspecific(stack_key, memory) != 0) {
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
    munmap(memory, page + size);
    return -1;
  }
  return 0;
}
