/// Whether a response stays in its group. Pure. `DownloadReceiver` decides about responses that leave the group.
enum GroupDecision: Equatable, Sendable {
  /// A whole file of this length.
  case keep(length: Int64)
  /// The destination is the server's version.
  case unchanged
  case leave

  /// - Parameters:
  ///   - acceptable: the user's statuses; `nil`: all statuses of responses that contain a file.
  ///   - limit: the longest body that stays.
  ///   - condition: the version for which the request was conditional.
  init(head: ResponseHead, acceptable: Set<Int>?, limit: Int64, unless condition: Validators? = nil) {
    self = .leave
    if let condition {
      if head.status == 304 { self = .unchanged }
      // The server may have ignored the condition.
      guard head.status != 304, !condition.agreeStrongly(with: Validators(of: head)) else { return }
    }
    guard head.status == 200 || head.status == 203, acceptable?.contains(head.status) ?? true,
      head.contentCoding == nil, let length = try? head.contentLength(), length <= limit
    else { return }
    self = .keep(length: length)
  }
}
