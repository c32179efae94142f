import Glibc
import Testing

@testable import TransferEngine

@Suite struct TransferErrorAccessorsTests {
  private struct Refusal: Error {}

  /// All accessors that return a Bool, with a name for each.
  private static let accessors: [(String, @Sendable (TransferError) -> Bool)] = [
    ("cancelled", { $0.isExplicitlyCancelledError }), ("url", { $0.isInvalidURLError }),
    ("task", { $0.isSessionTaskError }), ("create", { $0.isCreateURLRequestError }),
    ("adapt", { $0.isRequestAdaptationError }), ("retry", { $0.isRequestRetryError }),
    ("validation", { $0.isResponseValidationError }), ("serialization", { $0.isResponseSerializationError }),
    ("parameters", { $0.isParameterEncodingError && $0.isParameterEncoderError }),
    ("multipart", { $0.isMultipartEncodingError }), ("trust", { $0.isServerTrustEvaluationError }),
    ("move", { $0.isDownloadedFileMoveError }), ("uploadable", { $0.isCreateUploadableError }),
  ]

  static let rows: [(TransferError, String)] = [
    (.cancelled, "cancelled"), (.invalidURL("x", reason: "r"), "url"), (.unsupportedScheme("x"), "url"),
    (.connection(.stalled), "task"), (.response(.truncated(received: 1, expected: 2)), "task"),
    (.remote(.isDirectory(path: "/")), "task"), (.transport(code: 1, message: "m", isTransient: false), "task"),
    (.hook(.convertible, Refusal()), "create"), (.hook(.adapter, Refusal()), "adapt"),
    (.hook(.retrier, Refusal()), "retry"), (.hook(.validation, Refusal()), "validation"),
    (.response(.unacceptableStatus(404, retryAfter: nil)), "validation"),
    (.response(.unacceptableContentType("a", acceptable: ["b"])), "validation"),
    (.serialization(.inputFileNil), "serialization"), (.parameters(.invalidRootObject("x")), "parameters"),
    (.multipart(.invalidBoundary("x")), "multipart"), (.serverTrust(.invalidCertificate("x")), "trust"),
    (.file(.destinationExists("/x")), "move"), (.source(.missing("/x")), "uploadable"),
    (.body(.streamFailed("x")), "uploadable"), (.hook(.journal, Refusal()), ""), (.invalidResumeData, ""),
    (.verification(.length(expected: 1, actual: 2)), ""), (.redirect(.tooMany(limit: 1)), ""),
  ]

  @Test("each error matches at most one accessor", arguments: rows.indices)
  func questions(_ index: Int) {
    let (error, name) = Self.rows[index]
    #expect(Self.accessors.filter { $0.1(error) }.map(\.0) == (name.isEmpty ? [] : [name]), "\(error)")
  }

  @Test("an error returns its details and its underlying error")
  func facts() {
    let status = TransferError.response(.unacceptableStatus(404, retryAfter: nil))
    #expect(status.responseCode == 404 && status.underlyingError == nil)
    let type = TransferError.response(.unacceptableContentType("text/html", acceptable: ["image/*"]))
    #expect(type.responseContentType == "text/html" && type.acceptableContentTypes == ["image/*"])
    #expect(type.responseCode == nil)
    for error: TransferError in [
      .hook(.adapter, Refusal()), .parameters(.encoderFailed(error: Refusal())),
      .serialization(.customSerializationFailed(error: Refusal())),
    ] {
      #expect(error.underlyingError is Refusal)
    }
    #expect(TransferError.invalidURL("nonsense", reason: "r").failedURL == "nonsense")
  }

  @Test("asTransferError and asAFError convert an error of any type")
  func conversion() {
    let error: any Error = TransferError.cancelled
    #expect(error.asAFError?.isExplicitlyCancelledError == true)
    #expect(error.asTransferError?.code == .cancelled)
    #expect((Refusal() as any Error).asAFError == nil)
  }

  @Test(
    "errors of a file system that may pass are tried again",
    arguments: [(EIO, true), (ESTALE, true), (EROFS, true), (ENOSPC, true), (EACCES, false), (EPERM, false)])
  func fileSystem(code: Int32, isTransient: Bool) {
    #expect(TransferError.file(.system("cannot write", errno: code)).isTransient == isTransient)
  }
}
