// checked file: start and end are indices of the input in memory
import FoundationEssentials
import TransferAPI

/// The body of `POST /v1/jobs:batch`, gathered from arguments and files, with where each of its lines came from.
/// Every line is checked before anything is sent; what is wrong with all of them is kept, not the first alone.
struct JobLines: Sendable {
  /// Where a job was named.
  enum Origin: Equatable, Sendable, CustomStringConvertible {
    case argument(String)
    case line(Int)
    /// Of a list whose items end with NUL.
    case item(Int)
    case path(String)

    var description: String {
      switch self {
      case .argument(let url): Secrets.redacting(url: url)
      case .line(let number): "line \(number)"
      case .item(let number): "item \(number)"
      case .path(let path): path
      }
    }
  }

  struct Fault: Equatable, Sendable {
    let origin: Origin
    let message: String
    let status: ExitStatus
    /// The file system's word on one file: the others are added all the same.
    var isOfFile = false
  }

  /// NDJSON of `NewJob`.
  private(set) var body = Data()
  private(set) var origins: [Origin] = []
  /// Every job has a key: all of them may be added again, and are there once.
  private(set) var areKeyed = true
  private(set) var faults: [Fault] = []
  /// Exported jobs that were completed, failed or cancelled.
  private(set) var skippedFinal = 0
  private let encoder = WireCoding.encoder()
  private let decoder = WireCoding.decoder()

  var count: Int { origins.count }

  mutating func add(argument url: String, _ defaults: JobDefaults) {
    take(.argument(url)) { _ in try defaults.job(url: url) }
  }

  /// URLs, or `NewJob` objects, one a line.
  mutating func add(file bytes: [UInt8], _ defaults: JobDefaults) {
    InputLines.each(in: bytes) { number, line in
      take(.line(number)) { decoder in
        let text = try line.get()
        return try text.hasPrefix("{")
          ? defaults.job(json: Data(text.utf8), decoder: decoder) : defaults.job(url: text)
      }
    }
  }

  /// `ExportedJob` objects, or `NewJob` ones. Exported ones in a final state are counted and left out.
  mutating func add(exported bytes: [UInt8], _ defaults: JobDefaults) {
    InputLines.each(in: bytes) { number, line in
      take(.line(number)) { decoder in
        let json = Data(try line.get().utf8)
        let names = try decoder.decode(FieldNames.self, from: json).names
        guard names.contains("request") else {
          return try Self.whole(try defaults.job(json: json, decoder: decoder))
        }
        let exported = try decoder.decode(ExportedJob.self, from: json)
        guard !exported.state.isFinal else { return nil }
        var request = try Self.whole(exported.request)
        request.paused = exported.state == .paused
        let given = try decoder.decode(RequestNames.self, from: json).request.names.union(["paused"])
        return try defaults.completed(request, given: given)
      }
    }
  }

  /// - Throws: `WireError` for a job that could never work: its URL leads nowhere without what the export left out.
  private static func whole(_ job: NewJob) throws -> NewJob {
    guard !Secrets.isRedacted(url: job.source), !Secrets.isRedacted(url: job.destination ?? "") else {
      throw WireError("the URL's secrets were left out of the export; put them in the place of *** and import again")
    }
    return job
  }

  /// Something that gives no job.
  mutating func add(fault: Fault) { faults.append(fault) }

  /// - Parameter make: `nil` for a job that is to be left out.
  mutating func take(_ origin: Origin, _ make: (JSONDecoder) throws -> NewJob?) {
    do {
      guard let job = try make(decoder) else {
        skippedFinal += 1
        return
      }
      body.append(try encoder.encode(job))
      body.append(UInt8(ascii: "\n"))
      origins.append(origin)
      if job.key == nil { areKeyed = false }
    } catch {
      let failure = CommandFailure(error) ?? CommandFailure(.usage, WireCoding.explain(error))
      faults.append(
        Fault(
          origin: origin, message: failure.message ?? "cannot be read", status: failure.status,
          isOfFile: error is FileFault))
    }
  }
}

/// Which fields the request of an exported job names.
private struct RequestNames: Decodable {
  let request: FieldNames
}

/// Lines of text as people's files have them: LF or CRLF, perhaps a byte order mark, blank lines, `#` comments.
enum InputLines {
  /// As `each`, with every byte as it is: a path may begin with a blank or with `#`. Empty lines are passed over.
  ///
  /// A name that is no text concerns its file alone (`FileFault`); a list of the other kind is wrong as a whole.
  static func eachLiteral(in bytes: [UInt8], separator: UInt8, _ body: (Int, Result<String, any Error>) -> Void) {
    var number = 0
    var start = separator != 0 && bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: separator) ?? bytes.count
      number += 1
      let item = bytes[start..<end]
      start = end + 1
      guard !item.isEmpty else { continue }
      if item.contains(0) {
        body(number, .failure(WireError("has a NUL byte; lists that end their items with NUL are read with -0")))
      } else if let text = String(validating: item, as: UTF8.self) {
        body(number, .success(text))
      } else {
        let shown = String(decoding: item, as: UTF8.self)
        body(
          number, .failure(FileFault(status: .usage, description: "cannot upload \(shown): its name is not UTF-8")))
      }
    }
  }

  /// Calls `body` with the number (from 1) and the text, without surrounding blanks, of each line that says
  /// something; with an error for one that is not text.
  static func each(in bytes: [UInt8], _ body: (Int, Result<String, WireError>) -> Void) {
    var number = 0
    var start = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      number += 1
      if let line = text(of: bytes[start..<end]) { body(number, line) }
      start = end + 1
    }
  }

  private static func text(of line: ArraySlice<UInt8>) -> Result<String, WireError>? {
    var line = line
    while let first = line.first, isBlank(first) { line.removeFirst() }
    while let last = line.last, isBlank(last) { line.removeLast() }
    guard let first = line.first, first != UInt8(ascii: "#") else { return nil }
    guard !line.contains(0) else { return .failure(WireError("has a NUL byte")) }
    guard let text = String(validating: line, as: UTF8.self) else {
      return .failure(WireError("is not valid UTF-8"))
    }
    return .success(text)
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }
}
