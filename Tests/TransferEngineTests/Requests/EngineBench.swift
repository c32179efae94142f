import Foundation
import TestSupport

extension Launch {
  /// Runs the engine in its own process. With the thread sanitizer it needs the same environment as the tests
  /// (scripts/tsan.sh).
  static func engineBench(_ arguments: [String], environment: [String: String] = cleanEnvironment) throws -> Launch {
    let sanitizer = ProcessInfo.processInfo.environment.filter { ["LD_PRELOAD", "TSAN_OPTIONS"].contains($0.key) }
    return Launch(
      try BuiltPrograms.path("engine-bench"), arguments, environment: environment.merging(sanitizer) { $1 })
  }
}
