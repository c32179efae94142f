import Glibc

/// A descriptor that becomes readable when `signal()` is called, to wake a thread that polls.
final class Wakeup: Sendable {
  let descriptor: Int32
  private let writing: Int32

  init() throws {
    (descriptor, writing) = try makePipe(flags: O_NONBLOCK)
  }

  deinit {
    _ = close(descriptor)
    _ = close(writing)
  }

  func signal() {
    var byte: UInt8 = 1
    _ = write(writing, &byte, 1)  // a full pipe is signal enough
  }

  /// Makes the descriptor unreadable until the next signal.
  func clear() {
    var bytes: [UInt8] = Array(repeating: 0, count: 256)
    while read(descriptor, &bytes, bytes.count) == bytes.count {}
  }
}

/// Waits for events on descriptors and returns what happened to each; all zero when the time ran out.
func poll(_ wanted: [(descriptor: Int32, events: Int32)], milliseconds: Int32 = -1) -> [Int32] {
  var entries = wanted.map { pollfd(fd: $0.descriptor, events: Int16($0.events), revents: 0) }
  while Glibc.poll(&entries, nfds_t(entries.count), milliseconds) < 0 && errno == EINTR {}
  return entries.map { Int32($0.revents) }
}

/// Starts a thread for blocking work, which must not run on one of Swift's few task threads.
func startThread(_ body: @escaping @Sendable () -> Void) {
  final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  pthread_attr_setstacksize(&attributes, 1 << 20)
  var thread = pthread_t()
  let box = Unmanaged.passRetained(Box(body))
  var failure: Int32 = EAGAIN
  for _ in 0..<1000 where failure == EAGAIN {
    failure = pthread_create(
      &thread, &attributes,
      { argument in
        Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    if failure == EAGAIN { usleep(10_000) }
  }
  precondition(failure == 0, "cannot start a thread")
}
