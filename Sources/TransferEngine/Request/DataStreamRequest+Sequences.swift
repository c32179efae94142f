public import FoundationEssentials
import Synchronization

/// Sequences: to be iterated once; leaving the loop cancels the request, and so does cancelling the task that iterates.
extension DataStreamRequest {
  /// The body's pieces as they arrive, at most 1 MiB and a little at a time.
  public func streamingData() -> AsyncThrowingStream<Data, any Error> {
    core.resume()
    let reading = StreamReading(core, channel)
    return AsyncThrowingStream { try await reading.next() }
  }

  /// The body as UTF-8 text, cut between characters.
  public func streamingStrings() -> AsyncThrowingStream<String, any Error> {
    core.resume()
    let reading = StreamReading(core, channel)
    let assembler = Mutex(UTF8Assembler())
    return AsyncThrowingStream {
      while let data = try await reading.next() {
        let text = assembler.withLock { $0.append(data) }
        if !text.isEmpty { return text }
      }
      let rest = assembler.withLock { $0.finish() }
      return rest.isEmpty ? nil : rest
    }
  }

  /// Each line of the body, decoded: newline-delimited JSON with the default decoder. Empty lines are passed over. The
  /// network cuts a body anywhere, so pieces are no values.
  public func streamingDecodables<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, decoder: any DataDecoder = JSONDecoder()
  ) -> AsyncThrowingStream<Value, any Error> {
    streaming(using: DecodableStreamSerializer<Value>(decoder: decoder))
  }

  /// What a serializer makes of each line of the body.
  public func streaming<Serializer: DataStreamSerializer>(
    using serializer: Serializer
  ) -> AsyncThrowingStream<Serializer.SerializedObject, any Error> {
    core.resume()
    let reading = StreamReading(core, channel)
    let lines = Mutex(BodyLines())
    return AsyncThrowingStream {
      while true {
        if let line = lines.withLock({ $0.next() }) { return try serializer.serialize(line) }
        guard let data = try await reading.next() else { break }
        try lines.withLock { try $0.append(data) }
      }
      return try lines.withLock { $0.finish() }.map { try serializer.serialize($0) }
    }
  }
}

/// The one reader of a channel. Cancels the request when the stream that holds it is dropped.
private final class StreamReading: Sendable {
  private let core: RequestCore<StreamOutcome>
  private let channel: StreamChannel
  private let isFirst: Bool

  init(_ core: RequestCore<StreamOutcome>, _ channel: StreamChannel) {
    self.core = core
    self.channel = channel
    isFirst = channel.claim()
  }

  deinit { if isFirst { core.cancel() } }

  func next() async throws(TransferError) -> Data? {
    guard isFirst else { throw .body(.alreadyRead) }
    return try await withTaskCancellationHandler {
      await channel.next()
    } onCancel: {
      core.cancel()
    }.get()
  }
}

/// Cuts a body into lines, ended by LF or CRLF.
struct BodyLines {
  /// A longer line is an error: it would fill the memory.
  static let longest = 16 << 20

  private var buffer = Data()
  private var lines: [Data] = []
  private var index = 0

  mutating func append(_ data: Data) throws(TransferError) {
    lines.removeFirst(index)
    index = 0
    var rest = data[...]
    while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
      buffer.append(rest[..<newline])
      rest = rest[(newline + 1)...]
      keep()
    }
    buffer.append(rest)
    guard buffer.count <= Self.longest else { throw .response(.bodyTooLarge(limit: Self.longest)) }
  }

  /// The lines that are whole by now; `nil` stands for the body's end.
  mutating func take(_ data: Data?) throws(TransferError) -> [Data] {
    guard let data else { return finish().map { [$0] } ?? [] }
    try append(data)
    defer { index = lines.count }
    return lines
  }

  mutating func next() -> Data? {
    guard index < lines.count else { return nil }
    defer { index += 1 }
    return lines[index]
  }

  /// What followed the last line's end.
  mutating func finish() -> Data? {
    keep()
    return next()
  }

  private mutating func keep() {
    if buffer.last == UInt8(ascii: "\r") { buffer.removeLast() }
    if !buffer.isEmpty { lines.append(buffer) }
    buffer = Data()
  }
}
