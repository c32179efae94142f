import FoundationEssentials
import HTTPServer
import NIOCore
import NIOHTTP1
import Store
import TransferAPI

/// A request to the control API: the HTTP request, its path parameter and its caller. The methods decode its values and
/// throw a `Problem` that describes a wrong one.
struct ControlRequest: Sendable {
  let request: Request
  let parameter: String
  /// The user at the other end, as the kernel reports it.
  let caller: Caller

  /// Maximum size in bytes of a body that is one JSON value.
  static let maximumBodyBytes = 4 << 20

  func jobID() throws(Problem) -> JobID {
    guard let id = JobID(parameter) else { throw Problem(.notFound, "no job \"\(parameter)\"") }
    return id
  }

  /// The jobs that the request reaches: all that the caller may reach, or, with `owner=UID`, those of one user.
  func scope() throws(Problem) -> Scope {
    guard let uid: UInt32 = try integer("owner", in: 0...UInt32.max) else { return caller.scope }
    guard caller.scope.includes(uid) else { throw Problem(.notFound, "no jobs of the user \(uid)") }
    return .owner(uid)
  }

  /// A parameter of the query; `nil` if it is not given.
  func query(_ name: String) -> String? { request.target[parameter: name] }

  /// A field of the request; `nil` if it is not given.
  func header(_ name: String) -> String? { request.headers.first(name: name) }

  /// A number of the query; `nil` if it is not given.
  func integer<Number: FixedWidthInteger>(_ name: String, in range: ClosedRange<Number>) throws(Problem) -> Number? {
    guard let text = query(name) else { return nil }
    guard let number = Number(text), range.contains(number) else {
      throw Problem(.invalid, "\(name) must be from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func flag(_ name: String) throws(Problem) -> Bool? {
    switch query(name) {
    case nil: nil
    case "true", "1": true
    case "false", "0": false
    default: throw Problem(.invalid, "\(name) must be true or false")
    }
  }

  func ids(_ name: String) throws(Problem) -> [JobID]? {
    guard let text = query(name) else { return nil }
    var ids: [JobID] = []
    for part in text.split(separator: ",") {
      guard let id = JobID(part) else { throw Problem(.invalid, "\"\(part)\" is not a job id") }
      ids.append(id)
    }
    return ids
  }

  func state(_ name: String) throws(Problem) -> JobState? {
    guard let text = query(name) else { return nil }
    guard let state = JobState(rawValue: text) else {
      let known = JobState.allCases.map(\.rawValue).joined(separator: ", ")
      throw Problem(.invalid, "\"\(text)\" is not a state; the states are \(known)")
    }
    return state
  }

  /// The body, which is one JSON value.
  func body<Value: Decodable>(_ type: Value.Type, upTo limit: Int = Self.maximumBodyBytes) async throws -> Value {
    let body = try await collected(upTo: limit)
    guard body.bytes.readableBytes > 0 else { throw Problem(.invalid, "the body is empty; it must be a JSON object") }
    return try withExtendedLifetime(body.reservation) {
      do {
        return try WireCoding.decode(type, from: Data(body.bytes.readableBytesView))
      } catch {
        throw Problem(.invalid, text: WireCoding.explanation(of: error))
      }
    }
  }

  /// Reads the whole body into memory.
  /// - Throws: `Problem` if the body is larger than the limit, is cut off or arrives too slowly, or if there is no
  ///   memory for it in time.
  func collected(upTo limit: Int) async throws -> RequestBody.Collected {
    do {
      return try await request.body.collect(upTo: limit)
    } catch let error as RequestError {
      throw Problem(error)
    }
  }
}
