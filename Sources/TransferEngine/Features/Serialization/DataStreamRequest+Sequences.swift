public import FoundationEssentials
import Synchronization

/// Sequences of values; `streamTask()` has Alamofire's sequences of events. Each can be iterated once. Leaving the loop or
/// cancelling the task that iterates cancels the request.
extension DataStreamRequest {
  /// The body's pieces as they arrive; a piece is seldom larger than 1 MiB.
  public func streamingData() -> AsyncThrowingStream<Data, any Error> {
    let reading = StreamReading(self)
    return AsyncThrowingStream { try await reading.next() }
  }

  /// The body as UTF-8 text. A character that arrives in two pieces is delivered whole.
  public func streamingStrings() -> AsyncThrowingStream<String, any Error> {
    let reading = StreamReading(self)
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

  /// Each line of the body, decoded; newline-delimited JSON with the default decoder. Empty lines are left out.
  public func streamingDecodables<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, decoder: any DataDecoder = JSONDecoder()
  ) -> AsyncThrowingStream<Value, any Error> {
    streaming(using: DecodableStreamSerializer<Value>(decoder: decoder))
  }

  /// The value that a serializer makes of each line of the body. Empty lines are left out.
  public func streaming<Serializer: DataStreamSerializer>(
    using serializer: Serializer
  ) -> AsyncThrowingStream<Serializer.SerializedObject, any Error> {
    let reading = StreamReading(self)
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

  /// Alamofire's form of the sequences: they yield events, with errors and the end among them.
  public func streamTask() -> DataStreamTask { DataStreamTask(self) }
}
