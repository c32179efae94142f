import Foundation
import TestSupport

extension Launch {
  /// The engine in a process of its own. Built like the tests: under the sanitizer it needs what they need (scripts/tsan.sh).
  static func engineBench(_ arguments: [String], environment: [String: String] = cleanEnvironment) throws -> Launch {
    let sanitizer = ProcessInfo.processInfo.environment.filter { ["LD_PRELOAD", "TSAN_OPTIONS"].contains($0.key) }
    return Launch(
      try BuiltPrograms.path("engine-bench"), arguments, environment: environment.merging(sanitizer) { $1 })
  }
}
