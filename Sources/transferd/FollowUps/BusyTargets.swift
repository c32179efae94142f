/// The targets that get events now, each from a task of its own. Pure.
struct BusyTargets {
  /// Whether there may be more for the target since its task has looked.
  private var targets: [String: Bool] = [:]

  func contains(_ target: String) -> Bool { targets[target] != nil }

  /// - Returns: `false` if the target has a task; then that one looks again.
  mutating func begin(_ target: String) -> Bool {
    let isBusy = contains(target)
    targets[target] = isBusy
    return !isBusy
  }

  /// Call this when the task has found nothing more.
  /// - Returns: `false` if it must look again.
  mutating func end(_ target: String) -> Bool {
    guard targets[target] != true else {
      targets[target] = false
      return false
    }
    targets[target] = nil
    return true
  }
}
