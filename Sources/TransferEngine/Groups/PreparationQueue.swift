/// The requests of a group that are not prepared yet, in the order in which they were added. Pure.
struct PreparationQueue<Member> {
  /// Those before `first` are prepared.
  private var members: [Member] = []
  private var first = 0
  /// The number of requests that are being prepared.
  private var preparing = 0

  mutating func append(_ added: [Member]) { members.append(contentsOf: added) }

  /// The requests to prepare next: none while enough of them are prepared and wait for a connection.
  /// - Parameters:
  ///   - waiting: the number of prepared requests that wait.
  ///   - limit: how many are prepared at once.
  mutating func take(waiting: Int, limit: Int) -> [Member] {
    // checked: counts of requests in memory
    let isEnough = waiting + preparing >= limit / 2
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
