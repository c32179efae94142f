import FoundationEssentials
import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import HTTPServer
@testable import TransferAPI
@testable import transferctl
@testable import transferd

extension FuzzCase {
  static let control = [jobLines, controlJSON, httpRequest, httpResponse, events, inputLines, quantities]

  /// Lines of `POST /v1/jobs:batch`, in one piece and in small pieces.
  private static let jobLines = FuzzCase("job-lines") { bytes in
    let whole = intake(bytes, piece: bytes.count)
    let pieces = intake(bytes, piece: 7)
    try require(whole.map(\.number) == pieces.map(\.number), "small pieces give other lines")
    try require(whole.count <= bytes.count { $0 == 10 } + 1, "more jobs than lines")
    for (one, other) in zip(whole, pieces) {
      switch (one.job, other.job) {
      case (.success(let job), .success(let same)):
        try require(job == same, "small pieces give another job")
        let data = try WireCoding.encoder().encode(job)
        try require(try WireCoding.decoder().decode(NewJob.self, from: data) == job, "\(job) is read as another job")
      case (.failure(let problem), .failure(let same)):
        try require(problem == same, "small pieces are refused for another reason")
        try require(!problem.detail.isEmpty, "a refusal without words")
      default: throw BrokenProperty(description: "small pieces give another result")
      }
    }
  }

  private static func intake(_ bytes: [UInt8], piece: Int) -> [BulkIntake.Line] {
    var intake = BulkIntake()
    var lines: [BulkIntake.Line] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      intake.take(ByteBuffer(bytes: rest.prefix(max(1, piece))))
      rest = rest.dropFirst(max(1, piece))
      while let group = intake.nextGroup(isFinal: false) { lines += group }
    }
    while let group = intake.nextGroup(isFinal: true) { lines += group }
    return lines
  }

  /// One JSON value, decoded as each type that a client or a daemon may send.
  private static let controlJSON = FuzzCase("control-json") { bytes in
    let data = Data(bytes)
    try check(JobChange.self, data)
    try check(JobSelector.self, data)
    try check(Job.self, data)
    try check(Event.self, data)
    try check(Progress.self, data)
    try check(AddResult.self, data)
    try check(ExportedJob.self, data)
    try check(VerbOutcome.self, data)
    try check(Stats.self, data)
  }

  private static func check<Value: Codable & Equatable>(_ type: Value.Type, _ data: Data) throws {
    let value: Value
    do {
      value = try WireCoding.decoder().decode(type, from: data)
    } catch {
      try require(!WireCoding.explain(error).isEmpty, "an error without words")
      return
    }
    let text: Data
    do {
      text = try WireCoding.encoder().encode(value)
    } catch {
      throw BrokenProperty(description: "\(value) was read and cannot be written: \(error)")
    }
    let again = try WireCoding.encoder().encode(WireCoding.decoder().decode(type, from: text))
    try require(again == text, "\(value) is read as another value")
  }

  /// Requests of a client on the control socket, in one piece and byte by byte.
  private static let httpRequest = FuzzCase("http-request") { bytes in
    let (whole, pieces) = (requests([bytes[...]]), requests(bytes.indices.map { bytes[$0...$0] }))
    try require(whole.map(\.uri) == pieces.map(\.uri), "small pieces give other requests")
    let limits = ServerLimits(connections: 8)
    for (one, other) in zip(whole, pieces) {
      let (head, same) = (RequestHead(one, limits), RequestHead(other, limits))
      try require(head.error == same.error, "small pieces give another error")
      try require(head.declaredBytes == same.declaredBytes, "small pieces give another length")
      try require(head.error.map { !"\($0)".isEmpty } ?? true, "a refusal without words")
      if head.error == nil { try require((head.declaredBytes ?? 0) >= 0, "a body of a negative length") }
      let target = RequestTarget(one.uri)
      try require(!target.path.isEmpty && !target.path.utf8.contains(UInt8(ascii: "?")), "\(one.uri) has no path")
      try require(target.components.allSatisfy { !$0.isEmpty }, "an empty component in \(one.uri)")
      _ = target[parameter: "limit"]
    }
  }

  /// The heads that the server's decoder finds before its first error.
  private static func requests(_ pieces: [ArraySlice<UInt8>]) -> [NIOHTTP1.HTTPRequestHead] {
    let channel = EmbeddedChannel(handler: ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)))
    defer { _ = try? channel.finish() }
    var heads: [NIOHTTP1.HTTPRequestHead] = []
    for piece in pieces {
      do {
        try channel.writeInbound(ByteBuffer(bytes: piece))
      } catch {
        break
      }
      heads += collect(channel)
    }
    return heads + collect(channel)
  }

  private static func collect(_ channel: EmbeddedChannel) -> [NIOHTTP1.HTTPRequestHead] {
    var heads: [NIOHTTP1.HTTPRequestHead] = []
    while let part = try? channel.readInbound(as: HTTPServerRequestPart.self) {
      if case .head(let head) = part { heads.append(head) }
    }
    return heads
  }

  /// A response of the daemon on the control socket, in one piece and byte by byte.
  private static let httpResponse = FuzzCase("http-response") { bytes in
    let (whole, pieces) = (response([bytes[...]]), response(bytes.indices.map { bytes[$0...$0] }))
    try require(whole.failure == pieces.failure, "small pieces give another failure")
    // What stands before an error in the same piece is discarded with it.
    let isSame = whole.status == pieces.status && whole.body == pieces.body
    try require(isSame || whole.failure != nil, "small pieces give another response")
    try require(whole.status.map { (200...599).contains($0) } ?? true, "an interim response is final")
    try require(whole.body.count <= bytes.count, "the body is longer than the response")
    try require(whole.failure != nil || whole.status != nil, "a response without a status")
  }

  private static func response(_ pieces: [ArraySlice<UInt8>]) -> (status: Int?, body: Data, failure: String?) {
    var parser = HTTPResponseParser()
    var (status, body): (Int?, Data) = (nil, Data())
    do {
      for piece in pieces {
        for element in try parser.push(piece) {
          switch element {
          case .status(let code): status = code
          case .body(let bytes): body += bytes
          }
        }
      }
      try parser.finish()
      return (status, body, nil)
    } catch {
      return (status, body, "\(error)")
    }
  }

  /// An event stream, in one piece and byte by byte.
  private static let events = FuzzCase("event-stream") { bytes in
    var (whole, single) = (ServerSentEventParser(), ServerSentEventParser())
    let events = whole.push(Data(bytes))
    let same = bytes.flatMap { single.push(Data([$0])) }
    try require(events == same, "small pieces give other events")
    for event in events { try require(!event.name.isEmpty, "an event without a name") }
    var (splitter, slow) = (LineSplitter(), LineSplitter())
    let lines = splitter.push(Data(bytes)) + [splitter.finish()].compactMap { $0 }
    let slowLines = bytes.flatMap { slow.push(Data([$0])) } + [slow.finish()].compactMap { $0 }
    try require(lines == slowLines, "small pieces give other lines")
  }

  /// A file of URLs, of JSON lines, of exported jobs, or of paths.
  private static let inputLines = FuzzCase("input-lines") { bytes in
    var last = 0
    var failure: BrokenProperty?
    InputLines.each(in: bytes) { number, line in
      if number <= last { failure = BrokenProperty(description: "line \(number) comes after line \(last)") }
      last = number
      guard case .success(let text) = line else { return }
      if text.utf8.contains(0) || text.isEmpty { failure = BrokenProperty(description: "an unusable line") }
    }
    for separator in [UInt8(0), 10] {
      InputLines.eachLiteral(in: bytes, separator: separator) { _, item in
        guard case .success(let text) = item else { return }
        if text.utf8.contains(0) || text.isEmpty { failure = BrokenProperty(description: "an unusable item") }
      }
    }
    if let failure { throw failure }
  }

  private static let quantities = FuzzCase("quantities", maximumLength: 100) { bytes in
    let text = Input(bytes).text
    if let rate = ByteRate(text) { try require(rate.bytesPerSecond > 0, "a rate of \(rate.bytesPerSecond)") }
    if let span = TimeSpan(text) {
      try require(span.seconds > 0 && span.duration <= .seconds(366 * 86_400), "a time of \(span.seconds) s")
    }
    if let date = WireCoding.date(rfc3339: text) {
      let written = WireCoding.rfc3339(date)
      try require(WireCoding.date(rfc3339: written) != nil, "\(written) cannot be read again")
    }
    if let checksum = try? Checksum(parsing: text) {
      try require((try? Checksum(parsing: "\(checksum)")) == checksum, "\(checksum) is read as another checksum")
    }
    _ = JobID(text)
  }
}
