import Foundation

/// One connection of the loopback server. It reads requests and runs their scripts on its own thread.
struct ServedConnection {
  let number: Int
  let socket: ClientSocket
  let core: ServerCore

  private enum Ending {
    case keep, finish, reset
  }

  /// Serves requests until the connection ends, and closes it.
  func run() {
    var ending = Ending.keep
    var served = 0
    while case .keep = ending {
      do {
        guard let head = try socket.readHead(), var request = parse(head, served) else {
          ending = .finish
          break
        }
        ending = try serve(&request)
        served += 1
      } catch {
        ending = .finish
      }
    }
    if case .reset = ending { socket.reset() } else { socket.finish() }
  }

  private func parse(_ head: String, _ served: Int) -> ServedRequest? {
    let lines = head.components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ", maxSplits: 2).map(String.init)
    guard words.count == 3 else { return nil }
    var headers = HeaderList()
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      headers.add(String(line[..<colon]), value)
    }
    return ServedRequest(
      index: 0, connection: number, indexOnConnection: served, method: words[0], target: words[1],
      headers: headers, port: core.port)
  }

  private func serve(_ request: inout ServedRequest) throws -> Ending {
    var reader = BodyReader(request.headers)
    if core.bodies == .beforeHandler {
      if reader.isEmpty == false, request.headers["Expect"]?.lowercased() == "100-continue" {
        try socket.write(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
      }
      try reader.read(from: socket, upTo: .max)
    }
    reader.describe(&request)
    request = record(request)
    defer { core.records.mutate { $0.counters.openRequests -= 1 } }
    for step in core.handler(request).steps {
      if let ending = try act(step, request, &reader) { return ending }
    }
    return .finish
  }

  private func record(_ request: ServedRequest) -> ServedRequest {
    core.records.mutate { records in
      let numbered = request.numbered(records.requests.count)
      records.requests.append(numbered)
      records.counters.openRequests += 1
      records.counters.maxOpenRequests = max(
        records.counters.maxOpenRequests, records.counters.openRequests)
      return numbered
    }
  }

  /// Performs one step; a result ends the script.
  private func act(
    _ step: Script.Step, _ request: ServedRequest, _ reader: inout BodyReader
  ) throws -> Ending? {
    switch step {
    case .status(let status, let reason, let headers):
      var head = "HTTP/1.1 \(status) \(reason ?? reasonPhrase(status))\r\n"
      for (name, value) in headers { head += "\(name): \(value)\r\n" }
      try socket.write(Data((head + "\r\n").utf8))
    case .raw(let data):
      try socket.write(data)
    case .endless(let data):
      while true { try socket.write(data) }
    case .body, .bodyFrom, .chunk, .chunksFrom, .lastChunk:
      if request.method != "HEAD" { try writeBody(step) }
    case .drip(let bytesPerSecond):
      socket.drip(bytesPerSecond: bytesPerSecond)
    case .stall:
      try socket.wait(for: core.released)
    case .waitFor(let gate):
      try socket.wait(for: gate)
    case .signal(let gate):
      gate.open()
    case .readBody(let limit):
      defer { core.records.mutate { [reader] in reader.describe(&$0.requests[request.index]) } }
      try reader.read(from: socket, upTo: limit)
    case .reset:
      return .reset
    case .close:
      return .finish
    case .keepAlive:
      return .keep
    }
    return nil
  }

  private func writeBody(_ step: Script.Step) throws {
    switch step {
    case .body(let data):
      try writeCounted(data)
    case .bodyFrom(let payload, let range):
      for piece in range.pieces(of: 1 << 18) { try writeCounted(payload.bytes(piece)) }
    case .chunk(let data):
      try writeChunk(data)
    case .chunksFrom(let payload, let range):
      for piece in range.pieces(of: 1 << 16) { try writeChunk(payload.bytes(piece)) }
    default:
      try socket.write(Data("0\r\n\r\n".utf8))
    }
  }

  private func writeChunk(_ data: Data) throws {
    try socket.write(Data("\(String(data.count, radix: 16))\r\n".utf8))
    try writeCounted(data)
    try socket.write(Data("\r\n".utf8))
  }

  private func writeCounted(_ data: Data) throws {
    try socket.write(data) { count in
      core.records.mutate { $0.counters.bodyBytesSent += Int64(count) }
    }
  }
}

extension ServedRequest {
  fileprivate func numbered(_ index: Int) -> ServedRequest {
    var numbered = self
    numbered.index = index
    return numbered
  }
}
