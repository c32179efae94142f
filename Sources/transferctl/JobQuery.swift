import TransferAPI

/// The filters of `GET /v1/jobs`. A job must match all that are set.
struct JobQuery: Equatable, Sendable {
  var ids: [JobID]?
  var batch: String?
  var state: JobState?
  /// `nil`: by id.
  var order: JobOrder?
  /// The most jobs; `nil`: all.
  var limit: Int?

  /// Maximum number of ids in one request, to keep the request line short. Longer lists take several requests.
  static let idsPerRequest = 200

  var items: [(String, String)] {
    var items: [(String, String)] = []
    if let ids { items.append(("ids", ids.map(\.description).joined(separator: ","))) }
    if let batch { items.append(("batch", batch)) }
    if let state { items.append(("state", state.rawValue)) }
    if let order, order != .id { items.append(("order", order.rawValue)) }
    if let limit { items.append(("limit", String(limit))) }
    return items
  }

  /// The query split into queries of at most `idsPerRequest` ids.
  var pieces: [JobQuery] {
    guard let ids, ids.count > Self.idsPerRequest else { return [self] }
    return stride(from: 0, to: ids.count, by: Self.idsPerRequest).map { start in
      var piece = self
      piece.ids = Array(ids[start..<min(start + Self.idsPerRequest, ids.count)])  // checked: start < ids.count
      return piece
    }
  }
}
