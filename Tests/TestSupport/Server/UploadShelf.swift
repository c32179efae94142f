import Foundation
import Synchronization

/// The uploads of a scripted server: the pieces of each upload and their requests.
///
/// The bytes are those that the loopback server has kept of each request, so a lost connection keeps what has arrived.
final class UploadShelf: Sendable {
  struct Upload: Sendable {
    var length: Int64
    var pieces: [(request: Int, start: Int64)] = []
    var isComplete = false
    var isGone = false
  }

  private struct State: Sendable {
    var uploads: [String: Upload] = [:]
    var counts: [String: Int] = [:]
  }

  private let state = Mutex(State())
  /// Weak, so that the server's handler, which retains the shelf, does not retain the server.
  private let server = Mutex<Reference>(Reference())

  private struct Reference: Sendable {
    weak var server: LoopbackServer?
  }

  func attach(_ server: LoopbackServer) { self.server.withLock { $0.server = server } }

  private var requests: [ServedRequest] { server.withLock { $0.server }?.requests ?? [] }

  /// Counts the requests of a method from 0.
  func number(_ method: String) -> Int {
    state.withLock { state in
      defer { state.counts[method, default: 0] += 1 }
      return state.counts[method, default: 0]
    }
  }

  var names: [String] { state.withLock { $0.uploads.filter { !$0.value.isGone }.keys.sorted() } }

  /// Creates an upload with the name `u0`, `u1`, ….
  func add(_ make: (_ uploads: [String: Upload]) -> Upload) -> String {
    state.withLock { state in
      let name = "u\(state.uploads.count)"
      state.uploads[name] = make(state.uploads)
      return name
    }
  }

  /// A stored upload.
  subscript(name: String) -> Upload? {
    guard let upload = state.withLock({ $0.uploads[name] }), !upload.isGone else { return nil }
    return upload
  }

  func change(_ name: String, _ change: (inout Upload) -> Void) {
    state.withLock { state in
      guard var upload = state.uploads[name] else { return }
      change(&upload)
      state.uploads[name] = upload
    }
  }

  func bytes(of name: String) -> Data {
    let requests = requests
    var data = Data()
    for piece in state.withLock({ $0.uploads[name]?.pieces ?? [] }) where piece.start == Int64(data.count) {
      data.append(requests[piece.request].body)
    }
    return data
  }

  func offset(of upload: Upload) -> Int64 {
    guard let last = upload.pieces.last else { return 0 }
    return last.start + requests[last.request].bodyLength
  }
}
