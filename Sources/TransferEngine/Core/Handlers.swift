import Dispatch
import FoundationEssentials

enum Handlers {
  /// Returns after the handler has returned.
  static func call<Response: Sendable>(
    _ handler: @escaping @Sendable (Response) -> Void, with response: Response, on queue: DispatchQueue?
  ) async {
    guard let queue else { return handler(response) }
    await withCheckedContinuation { continuation in
      queue.async {
        handler(response)
        continuation.resume()
      }
    }
  }

  /// Runs a serializer and measures its time.
  static func serialize<Value>(_ work: () throws -> Value) -> (Result<Value, TransferError>, Duration) {
    let began = ContinuousClock.now
    do {
      let value = try work()
      return (.success(value), began.duration(to: .now))
    } catch {
      return (.failure(.ofSerializer(error)), began.duration(to: .now))
    }
  }
}
