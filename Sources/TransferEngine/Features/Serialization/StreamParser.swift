import FoundationEssentials
import Synchronization

/// Turns the pieces of a stream into events for its readers. It keeps what is incomplete until the next piece.
struct StreamParser<Success: Sendable, Failure: Error>: Sendable {
  typealias Event = DataStreamRequest.Event<Success, Failure>

  /// The events of one piece; `nil` marks the end of the body.
  let events: @Sendable (Data?) -> [Event]
}

extension StreamParser where Success == Data, Failure == Never {
  static var data: StreamParser { StreamParser { data in data.map { [.stream(.success($0))] } ?? [] } }
}

extension StreamParser where Success == String, Failure == Never {
  /// UTF-8 text; a character that arrives in two pieces stays whole.
  static var string: StreamParser {
    let assembler = Mutex(UTF8Assembler())
    return StreamParser { data in
      let text = assembler.withLock { assembler in data.map { assembler.append($0) } ?? assembler.finish() }
      return text.isEmpty ? [] : [.stream(.success(text))]
    }
  }
}

extension StreamParser where Failure == TransferError {
  /// The values that a serializer makes of pieces or lines.
  init<Serializer: DataStreamSerializer>(
    _ serializer: Serializer, _ framing: StreamFraming, _ record: RequestRecord
  ) where Serializer.SerializedObject == Success {
    let serialize = { @Sendable (data: Data) -> Event in
      let result = Handlers.serialize { try serializer.serialize(data) }.0
      record.notify(.parse(result.failure))
      return .stream(result)
    }
    switch framing {
    case .pieces:
      self.init { data in data.map { [serialize($0)] } ?? [] }
    case .lines:
      let lines = Mutex(BodyLines())
      self.init { data in
        do throws(TransferError) {
          return try lines.withLock { lines throws(TransferError) in try lines.take(data) }.map(serialize)
        } catch {
          return [.stream(.failure(error))]
        }
      }
    }
  }
}
