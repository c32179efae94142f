import FoundationEssentials
import Logging
import Store
import TransferAPI
import WireValues

extension FollowUpRunner {
  /// Runs all pending hooks.
  func runHooks() async throws {
    while true {
      let pending = try await store.pendingHooks(after: 0, limit: HookConfiguration.maximumConcurrent * 8)
      guard !pending.isEmpty else { return }
      let hooks = hooks
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (index, hook) in pending.enumerated() {
          if index >= HookConfiguration.maximumConcurrent { try await group.next() }
          group.addTask { try await self.run(hook, hooks) }
        }
        try await group.waitForAll()
      }
    }
  }

  /// What the job has done; empty for a job that failed.
  private nonisolated static func result(_ hook: PendingHook) -> String {
    let job = try? WireCoding.decoder().decode(Job.self, from: Data(hook.payload.utf8))
    return job?.result?.rawValue ?? ""
  }

  /// Runs a hook and records its end. A hook that fails is not run again. A hook that was interrupted by the end of the
  /// daemon is run again.
  private nonisolated func run(_ hook: PendingHook, _ hooks: HookConfiguration) async throws {
    let name = hook.kind == .complete ? "onComplete" : "onFailure"
    guard let command = hooks.command(for: hook.kind) else {
      return try await store.settle(hook, reason: "hook \(name): no longer configured", at: Date())
    }
    let begin = ContinuousClock.now
    let end = await command.run(
      input: hook.payload + "\n",
      environment: [
        "TRANSFERD_JOB": "\(hook.job)", "TRANSFERD_STATE": hook.kind == .complete ? "completed" : "failed",
        "TRANSFERD_RESULT": Self.result(hook),
      ], timeout: hooks.timeout)
    let seconds = begin.duration(to: .now).seconds
    if end != .exited(0) {
      logger.warning("a hook failed", metadata: ["job": "\(hook.job)", "hook": "\(name)", "end": "\(end)"])
    }
    let tenths = CheckedNumber(rounding: seconds * 10).value ?? .max
    try await store.settle(hook, reason: "hook \(name): \(end) after \(tenths / 10).\(tenths % 10) s", at: Date())
  }
}
