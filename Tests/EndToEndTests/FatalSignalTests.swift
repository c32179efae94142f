import Foundation
import Glibc
import TestSupport
import Testing

/// Tests the signal handler in a small program that crashes on purpose.
@Suite("fatal signals", .timeLimit(.minutes(5))) struct FatalSignalTests {
  private static let program = """
    #define _GNU_SOURCE 1
    #include "CLinux.h"
    #include <fcntl.h>
    #include <pthread.h>
    #include <signal.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/wait.h>
    #include <unistd.h>

    static volatile int zero, seven = 7;
    static void bad_address(void) { *(volatile int *)(uintptr_t)zero = 1; }
    static int overflow(volatile char *above) {
      volatile char block[4096];
      block[0] = above ? above[0] : 1;
      return overflow(block) + block[0];
    }
    static void *in_thread(void *mode) {
      linux_prepare_signal_stack();
      if (strcmp(mode, "thread-overflow") == 0) overflow(NULL);
      bad_address();
      return NULL;
    }
    static const char *path;
    static void theirs(int signal) {
      char mark[64] = "";
      (void)signal;
      // The mark is written first.
      _exit(pread(open(path, O_RDONLY), mark, sizeof mark, 0) == 64 && mark[0] == 't' ? 42 : 43);
    }
    static void returning(int signal) { (void)signal; }

    int main(int count, char **words) {
      const char *mode = words[2];
      path = words[1];
      int file = open(words[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      if (count < 3 || linux_crash_mark_clear(file) != 0) return 100;
      if (strcmp(mode, "handled-before") == 0) signal(SIGSEGV, theirs);
      if (strcmp(mode, "returned-before") == 0) signal(SIGSEGV, returning);
      if (linux_crash_mark_arm(file, "0123456789abcdef") != 0) return 101;
      if (strcmp(mode, "trap") == 0) __builtin_trap();
      if (strcmp(mode, "address") == 0 || strcmp(mode, "handled-before") == 0) bad_address();
      if (strcmp(mode, "non-canonical") == 0) *(volatile int *)(UINT64_C(0xdead) << 48) = 1;
      if (strcmp(mode, "abort") == 0) abort();
      if (strcmp(mode, "breakpoint") == 0) raise(SIGTRAP);
      if (strcmp(mode, "division") == 0) {
        #if defined(__x86_64__)
        return seven / zero;
        #else
        raise(SIGFPE);
        #endif
      }
      if (strcmp(mode, "bus") == 0) {
        char *end = mmap(NULL, 65536, PROT_READ, MAP_SHARED, file, 0);
        return end[65000];
      }
      if (strcmp(mode, "overflow") == 0) overflow(NULL);
      if (strncmp(mode, "thread", 6) == 0) {
        pthread_t threads[8];
        int crashing = strcmp(mode, "threads-at-once") == 0 ? 8 : 1;
        for (int i = 0; i < crashing; i++) pthread_create(&threads[i], NULL, in_thread, (void *)mode);
        for (int i = 0; i < crashing; i++) pthread_join(threads[i], NULL);
      }
      if (strcmp(mode, "child") == 0) {
        pid_t child = fork();
        if (child == 0) abort();
        int status = 0;
        waitpid(child, &status, 0);
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? 7 : 8;
      }
      if (strcmp(mode, "command") == 0) {
        pid_t child = fork();
        if (child == 0) execl("/bin/sh", "sh", "-c", "kill -SEGV $$", (char *)NULL);
        int status = 0;
        waitpid(child, &status, 0);
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV ? 7 : 8;
      }
      if (strcmp(mode, "exit") == 0) return 3;
      fprintf(stderr, "ready\\n");
      for (;;) pause();
    }
    """

  private static func compiled(in directory: TemporaryDirectory) async throws -> String {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Sources/CLinux").path
    let main = try directory.file("main.c", text: program)
    return try await CompiledC.program(
      [main, sources + "/crash.c"], including: [sources + "/include"], in: directory, named: "crash"
    ).path
  }

  private static let blank = String(repeating: " ", count: 63) + "\n"

  @Test("signals that the process raises leave a mark and end it with the same signal")
  func own() async throws {
    let directory = try TemporaryDirectory()
    let program = try await Self.compiled(in: directory)
    let own: [(mode: String, signal: Int32)] = [
      ("trap", SIGILL), ("address", SIGSEGV), ("non-canonical", SIGSEGV), ("abort", SIGABRT), ("breakpoint", SIGTRAP),
      ("division", SIGFPE), ("bus", SIGBUS), ("overflow", SIGSEGV), ("thread", SIGSEGV), ("thread-overflow", SIGSEGV),
      ("threads-at-once", SIGSEGV),
    ]
    for (mode, signal) in own {
      let file = directory.path(mode)
      let result = try await Launch(program, [file, mode]).run()
      // Some compilers trap with a breakpoint.
      let isTrap = mode == "trap" && result.ending == .signal(SIGTRAP)
      #expect(result.ending == .signal(signal) || isTrap, "\(mode): \(result.ending)")
      let number = String(isTrap ? SIGTRAP : signal)
      let mark = "transferd crash 0123456789abcdef signal " + (number.count < 2 ? "0" : "") + number
      let expected = mark + String(repeating: " ", count: 63 - mark.count) + "\n"
      #expect(try String(contentsOfFile: file, encoding: .utf8) == expected, "\(mode)")
    }
  }

  @Test("the previous handler runs after the mark is written")
  func before() async throws {
    let directory = try TemporaryDirectory()
    let program = try await Self.compiled(in: directory)
    let result = try await Launch(program, [directory.path("mark"), "handled-before"]).run()
    #expect(result.ending == .exit(42))
    // A handler that returns does not keep the process alive, even if the signal was sent.
    let process = try ChildProcess(Launch(program, [directory.path("sent"), "returned-before"]))
    try await process.waitForErrors("ready")
    process.kill(SIGSEGV)
    #expect(try await process.waitForEnd() == .signal(SIGSEGV))
    #expect(try String(contentsOfFile: directory.path("sent"), encoding: .utf8) == Self.blank)
  }

  @Test("signals that other processes send, or that children raise, leave no mark")
  func foreign() async throws {
    let directory = try TemporaryDirectory()
    let program = try await Self.compiled(in: directory)
    for signal in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGKILL, SIGTERM] {
      let file = directory.path("sent \(signal)")
      let process = try ChildProcess(Launch(program, [file, "wait"]))
      try await process.waitForErrors("ready")
      process.kill(signal)
      #expect(try await process.waitForEnd() == .signal(signal))
      #expect(try String(contentsOfFile: file, encoding: .utf8) == Self.blank, "signal \(signal)")
    }
    for (mode, status) in [("child", Int32(7)), ("command", 7), ("exit", 3)] {
      let file = directory.path(mode)
      #expect(try await Launch(program, [file, mode]).run().ending == .exit(status), "\(mode)")
      #expect(try String(contentsOfFile: file, encoding: .utf8) == Self.blank, "\(mode)")
    }
  }
}
