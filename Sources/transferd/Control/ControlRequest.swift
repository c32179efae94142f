import FoundationEssentials
import Hummingbird
import NIOCore
import NIOFoundationCompat
import Store
import TransferAPI

/// A request with its one path parameter, and readers that say what is wrong.
struct ControlRequest: Sendable {
  let request: Request
  let parameter: String
  /// Who is at the other end, by the kernel's word.
  let caller: Caller
  /// The connection to it.
  let channel: any Channel

  /// A body that is one value.
  static let maximumBodyBytes = 4 << 20

  func jobID() throws(Problem) -> JobID {
    guard let id = JobID(parameter) else { throw Problem(.notFound, "no job \"\(parameter)\"") }
    return id
  }

  /// Whose jobs the request reaches: all that the caller may reach, or, with `owner=UID`, those of one user.
  func scope() throws(Problem) -> Scope {
    guard let uid: UInt32 = try integer("owner", in: 0...UInt32.max) else { return caller.scope }
    guard caller.scope.includes(uid) else { throw Problem(.notFound, "no jobs of the user \(uid)") }
    return .owner(uid)
  }

  func query(_ name: String) -> String? {
    request.uri.queryParameters[name[...]].map(String.init)
  }

  /// `nil` where it is not given.
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

  func body<Value: Decodable>(_ type: Value.Type) async throws -> Value {
    let buffer: ByteBuffer
    do {
      buffer = try await request.body.collect(upTo: Self.maximumBodyBytes)
    } catch is NIOTooManyBytesError {
      throw Problem(.tooLarge, "the body is larger than \(Self.maximumBodyBytes) bytes")
    } catch {
      throw Problem(.invalid, "the body breaks HTTP or was cut off")
    }
    guard buffer.readableBytes > 0 else { throw Problem(.invalid, "the body is empty; it must be a JSON object") }
    do {
      return try WireCoding.decoder().decode(type, from: Data(buffer: buffer))
    } catch {
      throw Problem(.invalid, WireCoding.explain(error))
    }
  }
}

/// Answers in the API's forms.
enum Reply {
  /// Streams are written in pieces of about this size: a client that does not read holds one of them in memory.
  static let pieceBytes = 1 << 16

  static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) throws
    -> Response
  {
    var headers = headers
    headers[.contentType] = "application/json"
    return Response(
      status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(data: try line(value))))
  }

  static func problem(_ problem: Problem) -> Response {
    let data = (try? line(problem)) ?? Data()
    return Response(
      status: .init(code: problem.status), headers: [.contentType: "application/problem+json"],
      body: .init(byteBuffer: ByteBuffer(data: data)))
  }

  static func text(_ text: String, type: String = "text/plain; charset=utf-8", status: HTTPResponse.Status = .ok)
    -> Response
  {
    Response(
      status: status, headers: [.contentType: type], body: .init(byteBuffer: ByteBuffer(string: text)))
  }

  /// A value and a newline.
  static func line(_ value: some Encodable) throws -> Data {
    var data = try WireCoding.encoder().encode(value)
    data.append(UInt8(ascii: "\n"))
    return data
  }
}
