import CLinux
import Glibc

/// Starts a thread that runs `body` and then ends. If the system has no free thread (EAGAIN, pthread_create(3)), this
/// retries for 10 seconds and then stops the program, which cannot work without the thread.
package func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
  final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void
    init(_ name: String, _ body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }
  }
  let context = Unmanaged.passRetained(Start(name, body)).toOpaque()
  var id = pthread_t()
  var code: Int32 = EAGAIN
  for _ in 0..<1000 where code == EAGAIN {
    code = pthread_create(
      &id, nil,
      { context in
        let start = Unmanaged<Start>.fromOpaque(context!).takeRetainedValue()
        linux_name_thread(start.name)
        linux_prepare_signal_stack()
        start.body()
        return nil
      }, context)
    if code == EAGAIN { usleep(10_000) }
  }
  precondition(code == 0, "cannot start a thread: \(String(cString: strerror(code)))")
  pthread_detach(id)
}
