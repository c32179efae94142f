/// Whether a response stays in its group. Pure. `DownloadReceiver` decides about responses that leave the group.
enum GroupDecision: Equatable, Sendable {
  /// A whole file of this length.
  case keep(length: Int64)
  case leave

  /// - Parameters:
  ///   - acceptable: the user's statuses; `nil`: all statuses of responses that contain a file.
  ///   - limit: the longest body that stays.
  init(head: ResponseHead, acceptable: Set<Int>?, limit: Int64) {
    self = .leave
    guard head.status == 200 || head.status == 203, acceptable?.contains(head.status) ?? true,
      head.contentCoding == nil, let length = try? head.contentLength(), length <= limit
    else { return }
    self = .keep(length: length)
  }
}
