/// The requests of a group that are not prepared yet, in the order in which they were added. Pure.
struct PreparationQueue<Member> {
  /// Those before `first` were taken.
  private var members: [Member] = []
  private var first = 0
  /// The number of requests that are being prepared.
  private var preparing = 0

  mutating func append(_ added: [Member]) { members.append(contentsOf: added) }

  /// The requests to prepare next: none while enough of them are prepared and wait for a connection, or many are being
  /// prepared.
  /// - Parameters:
  ///   - waiting: the number of prepared requests that wait.
  ///   - limit: how many are prepared at once.
  mutating func take(waiting: Int, limit: Int) -> [Member] {
    // Those of a directory that does not respond stay in preparation, and must not stop the others.
    let isEnough = waiting >= limit / 2 || preparing >= 2 * limit  // checked: a small number
    guard !isEnough, first < members.count else { return [] }
    let end = min(members.count, first + limit)  // checked: counts of requests in memory
    let taken = Array(members[first..<end])  // checked: first < count
    first = end
    if end == members.count {
      members = []
      first = 0
    }
    preparing += taken.count  // checked: a count of requests in memory
    return taken
  }

  mutating func preparationEnded(of count: Int) {
    preparing -= count  // checked: they were taken
  }
}
