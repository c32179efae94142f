import Foundation
import Glibc

/// A failure of a fixture. It fails the test and is never a reason to skip it.
public enum TestSupportError: Error, CustomStringConvertible {
  case timedOut(String, after: Duration)
  case system(call: String, code: Int32)
  case missingProgram(String, searched: [String])
  case failed(program: String, reason: String)

  public var description: String {
    switch self {
    case .timedOut(let what, let duration):
      return "timed out after \(duration) waiting for \(what)"
    case .system(let call, let code):
      return "cannot \(call): \(String(cString: strerror(code)))"
    case .missingProgram(let name, let searched):
      return "cannot find the program \(name) in \(searched.joined(separator: ", "))"
    case .failed(let program, let reason):
      return "\(program) failed: \(reason)"
    }
  }
}

/// Returns the result of a system call, or throws with `errno` when it is negative.
@discardableResult
func checked<Number: SignedInteger>(_ call: String, _ result: Number) throws -> Number {
  guard result >= 0 else { throw TestSupportError.system(call: call, code: errno) }
  return result
}

extension Duration {
  /// The duration as a floating-point number of seconds.
  public var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
