import FoundationEssentials

@testable import TransferEngine

extension DataResponse {
  /// The body as text; empty if there is none.
  var text: String { String(decoding: data ?? Data(), as: UTF8.self) }
}
