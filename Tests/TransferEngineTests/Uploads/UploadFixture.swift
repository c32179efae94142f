import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

/// A directory with a source and a session for one test's uploads.
final class UploadFixture: Sendable {
  let directory: TemporaryDirectory
  let session: Session
  let payload: Payload

  init(_ payload: Payload, session: Session = Session()) throws {
    directory = try TemporaryDirectory()
    self.session = session
    self.payload = payload
    try payload.write(to: path)
  }

  convenience init(size: Int64, seed: UInt64 = 1, session: Session = Session()) throws {
    try self.init(Payload(size: size, seed: seed), session: session)
  }

  var path: String { directory.path("source.bin") }

  func upload(
    to url: String, by way: UploadProtocol = .plain, method: HTTPRequest.Method = .put, headers: HTTPFields = [:],
    credentials: Credentials? = nil, onChange: SourceChangePolicy = .restart, onlyIfAbsent: Bool = false,
    verifiesLength: Bool = false, stallTimeout: Duration = .seconds(60), limitRate: Int64? = nil
  ) throws -> FileUpload {
    FileUpload(
      request: TransferRequest(
        url: try RequestURL(allowingS3: url), method: method, headers: headers, credentials: credentials,
        stallTimeout: stallTimeout, limitRate: limitRate),
      source: path, protocol: way, onChange: onChange, onlyIfAbsent: onlyIfAbsent, verifiesLength: verifiesLength)
  }

  func send(
    _ upload: FileUpload, resumingWith ledger: UploadLedger? = nil, journal: (any UploadJournal)? = nil,
    interceptor: (any RequestInterceptor)? = nil
  ) async -> FileUploadResponse {
    await session.upload(
      upload, resumingWith: ledger?.encoded(), journal: journal, interceptor: interceptor
    ).response()
  }

  /// Replaces the source's bytes, in place or with another file.
  func change(to payload: Payload, inPlace: Bool = true) throws {
    if inPlace {
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      try file.truncate(atOffset: UInt64(payload.size))
      try file.seek(toOffset: 0)
      try file.write(contentsOf: payload.data)
      try file.close()
    } else {
      try payload.write(to: directory.path("new"))
      guard rename(directory.path("new"), path) == 0 else { throw POSIXError(.EIO) }
    }
  }
}

/// Stores all recorded ledgers encoded, as a database would.
final class UploadRecorder: UploadJournal {
  let records = Watched<[Data]>([])
  let failure: TransferError?

  init(failing failure: TransferError? = nil) { self.failure = failure }

  func record(_ ledger: UploadLedger, acknowledged: Int64) async throws {
    if let failure { throw failure }
    records.mutate { $0.append(ledger.encoded()) }
  }

  /// The recorded progress values, without the regular records (every two seconds) that only update a byte count.
  var steps: [UploadLedger.Progress] {
    var steps: [UploadLedger.Progress] = []
    for case let ledger? in records.value.map({ UploadLedger($0) }) where ledger.progress != steps.last {
      steps.append(ledger.progress)
    }
    return steps
  }

  /// The ledger that would be left after a kill at this moment.
  var last: UploadLedger? { records.value.last.flatMap { UploadLedger($0) } }
}

/// Retries until the server has noticed that the old connection has ended.
extension RequestInterceptor where Self == RetryPolicy {
  static var soon: RetryPolicy {
    RetryPolicy(retryLimit: 30, exponentialBackoffScale: 0.1, maximumDelay: .milliseconds(300))
  }
}

extension FileUploadResponse {
  var isSuccess: Bool { error == nil }
}

/// A short word for an error's case, for test tables.
func word(_ error: TransferError?) -> String {
  switch error {
  case nil: "success"
  case .response(.unacceptableStatus(let status, _)): "status \(status)"
  case .upload(.outcomeUnknown): "unknown"
  case .upload(.answeredEarly): "early"
  case .upload(.lengthDiffers): "length"
  case .upload(.refused(let code, _, _, _, _)): "refused \(code)"
  case .upload(.stuck): "stuck"
  case .upload(.gone): "gone"
  case .upload(.unsupported): "unsupported"
  case .upload(.credentials): "credentials"
  case .source(.missing): "missing"
  case .source(.notRegular): "not regular"
  case .source(.lengthUnknown): "no length"
  case .source(.changed): "changed"
  case .source(.keepsChanging): "keeps changing"
  case .connection(.broken), .response(.truncated): "broken"
  case .connection(.refused): "refused"
  case .connection(.stalled): "stalled"
  case .redirect: "redirect"
  case .cancelled: "cancelled"
  case .file(.permission): "permission"
  case .hook: "hook"
  case .some(let other): "\(other)"
  }
}
