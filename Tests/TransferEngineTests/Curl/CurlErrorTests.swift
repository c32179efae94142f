import CCurl
import Testing

@testable import TransferEngine

@Suite struct CurlErrorTests {
  private func translate(
    _ code: Int, systemError: Int32 = 0, received: Int64 = 0, isConnected: Bool = false
  ) -> TransferError {
    CurlError.translate(
      CURLcode(UInt32(code)), host: "h:80", systemError: systemError, received: received, isConnected: isConnected)
  }

  /// Every code of libcurl-errors(3) from 7.88 to 8.x, its error case, and whether a retry can help.
  static let codes: [(Int, String, Bool)] = [
    (1, "response.malformed", false), (2, "transport", true), (3, "invalidURL", false), (4, "transport", false),
    (5, "connection.proxy", true), (6, "connection.nameNotResolved", true), (7, "connection.refused", true),
    (8, "response.malformed", false), (9, "transport", false), (10, "transport", true), (11, "transport", false),
    (12, "connection.stalled", true), (13, "transport", false), (14, "transport", false), (15, "transport", false),
    (16, "connection.broken", true), (17, "transport", false), (18, "response.truncated", true),
    (19, "transport", false),
    (20, "transport", false), (21, "transport", false), (22, "transport", false), (23, "response.undecodable", true),
    (24, "transport", false), (25, "transport", false), (26, "file.io", true), (27, "transport", true),
    (28, "connection.timedOut", true), (29, "transport", false), (30, "transport", false), (31, "transport", true),
    (32, "transport", false), (33, "transport", true), (34, "transport", false), (35, "connection.tls", true),
    (36, "transport", true), (37, "file.io", true), (38, "transport", false), (39, "transport", false),
    (40, "transport", false), (41, "transport", false), (42, "cancelled", false), (43, "transport", false),
    (44, "transport", false), (45, "connection.refused", true), (46, "transport", false),
    (47, "redirect.tooMany", false),
    (48, "transport", false), (49, "transport", false), (50, "transport", false), (51, "transport", false),
    (52, "connection.broken", true), (53, "connection.tls", false), (54, "connection.tls", false),
    (55, "connection.broken", true), (56, "connection.broken", true), (57, "transport", false),
    (58, "connection.tls", false), (59, "connection.tls", false), (60, "connection.tls", false),
    (61, "response.undecodable", true), (62, "transport", false), (63, "response.invalidContentLength", false),
    (64, "connection.tls", false), (65, "connection.broken", true), (66, "connection.tls", false),
    (67, "transport", false), (68, "transport", false), (69, "transport", false), (70, "transport", true),
    (71, "transport", false), (72, "transport", true), (73, "transport", false), (74, "transport", false),
    (75, "transport", false), (76, "transport", false), (77, "connection.tls", false), (78, "transport", false),
    (79, "connection.broken", true), (80, "connection.broken", true), (81, "connection.broken", true),
    (82, "connection.tls", false), (83, "connection.tls", false), (84, "transport", false), (85, "transport", false),
    (86, "transport", false), (87, "transport", false), (88, "transport", false), (89, "connection.broken", true),
    (90, "connection.tls", false), (91, "connection.tls", false), (92, "connection.broken", true),
    (93, "transport", false), (94, "transport", false), (95, "connection.broken", true),
    (96, "connection.broken", true),
    (97, "connection.proxy", true), (98, "connection.tls", false), (99, "connection.broken", true),
    (100, "response.headTooLarge", false), (101, "connection.tls", false),
    // Codes that libcurl does not use yet.
    (102, "transport", false), (999, "transport", false),
  ]

  @Test("every code that libcurl can return has a meaning, a text, and a reason to retry or not", arguments: codes)
  func everyCode(_ code: Int, _ meaning: String, _ isWorthRetrying: Bool) {
    let error = translate(code)
    #expect(name(of: error) == meaning)
    #expect(!"\(error)".isEmpty)
    #expect(!"\(error)".contains("CURLE_"))
    #expect(error.isTransient == isWorthRetrying)
    #expect(error.retryAdvice.isWorthRetrying == isWorthRetrying)
    #expect(error.retryAdvice.reason.count > 10)
    #expect("\(error.retryAdvice)".hasPrefix(isWorthRetrying ? "worth retrying: " : "not worth retrying: "))
  }

  @Test("the table lists all error codes of this libcurl")
  func complete() {
    #expect(Self.codes.map(\.0).prefix(101) == Array(1...101)[...])
    // The last name in libcurl's header is one above the last error code.
    #expect(CURL_LAST.rawValue <= 102)
  }

  private func name(of error: TransferError) -> String {
    func label(_ value: Any) -> String { Mirror(reflecting: value).children.first?.label ?? "\(value)" }
    switch error {
    case .connection(.stalled): return "connection.stalled"
    case .connection(let failure): return "connection." + label(failure)
    case .response(let failure): return "response." + label(failure)
    case .redirect(let failure): return "redirect." + label(failure)
    case .file(let failure): return "file." + label(failure)
    case .invalidURL: return "invalidURL"
    case .cancelled: return "cancelled"
    case .transport(let code, let message, _):
      return message.isEmpty || code == 0 ? "empty" : "transport"
    default: return "\(error)"
    }
  }

  @Test("the two timeouts are different errors")
  func timeouts() {
    #expect("\(translate(28))".contains("cannot connect to h:80"))
    #expect("\(translate(28, isConnected: true))".contains("stalled"))
  }

  @Test("a refused connection has the system's reason, and an overlong header is not reported as out of memory")
  func situations() {
    #expect("\(translate(7, systemError: 111))" == "cannot connect to h:80: Connection refused")
    #expect(name(of: translate(27, isConnected: true)) == "response.headTooLarge")
    #expect(name(of: translate(27, received: 5, isConnected: true)) == "transport")
    #expect("\(translate(18, received: 5))".contains("5 bytes"))
  }

  @Test(
    "errors that do not come from libcurl have retry advice",
    arguments: [
      (TransferError.response(.unacceptableStatus(503, retryAfter: .seconds(9))), true, "said when"),
      (.response(.unacceptableStatus(502, retryAfter: nil)), true, "temporary"),
      (.response(.unacceptableStatus(404, retryAfter: nil)), false, "refused"),
      (.file(.diskFull("x")), true, "space"), (.file(.permission("x")), false, "permissions"),
      (.file(.destinationExists("x")), false, "name"),
      (.verification(.length(expected: 1, actual: 2)), false, "same bytes"),
      (.parameters(.invalidRootObject("x")), false, "same input"),
      (.multipart(.invalidBoundary("")), false, "same input"),
      (.serialization(.inputFileNil), false, "same again"), (.unsupportedScheme("x"), false, "URL"),
      (.body(.notReplayable), false, "once"), (.body(.starved), true, "next time"),
      (.invalidResumeData, false, "without"),
      (.response(.unacceptableContentType(nil, acceptable: [])), false, "same"),
      (.hook(.journal, TransferError.cancelled), true, "progress"),
      (.hook(.adapter, TransferError.cancelled), false, "hook"),
    ])
  func otherReasons(_ error: TransferError, _ isWorthRetrying: Bool, _ part: String) {
    #expect(error.retryAdvice.isWorthRetrying == isWorthRetrying)
    #expect(error.retryAdvice.reason.contains(part))
  }
}
