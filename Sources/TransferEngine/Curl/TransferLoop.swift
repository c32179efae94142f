import CCurl
import HTTPTypes
import Synchronization

/// The only door to libcurl: an actor that lives on `CurlExecutor`'s thread. One attempt is one call of `perform`.
actor TransferLoop {
  private let executor: CurlExecutor
  private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
  private var byID: [TransferID: Transfer] = [:]
  /// Handles at rest, reset; kept so that 10,000 small transfers do not make 10,000 handles.
  private var idle: [EasyHandle] = []

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// - Parameter maximumConnections: idle connections that are kept for the next transfers.
  init(maximumConnections: Int) {
    executor = CurlExecutor()
    transfer_multi_setopt_long(executor.multiPointer, CURLMOPT_MAXCONNECTS, maximumConnections)
    // One connection carries many HTTP/2 transfers.
    transfer_multi_setopt_long(executor.multiPointer, CURLMOPT_PIPELINING, TRANSFER_PIPE_MULTIPLEX)
    executor.start(
      .init(
        perform: { [weak self] in self?.assumeIsolated { $0.turn() } },
        finish: { [weak self] in self?.assumeIsolated { $0.dropAll() } }))
  }

  deinit { executor.stop() }

  /// Runs one transfer to its end. Returns when libcurl is done with it, however it ended; cancelling the task
  /// removes the handle, after which the receiver is not called again.
  func perform(_ request: WireRequest, id: TransferID, receiver: any TransferReceiver) async
    -> TransferOutcome
  {
    if let refusal = await request.refusalBeforeProxy() {
      return .failed(refusal, head: nil, metrics: TransferMetrics())
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard !Task.isCancelled, !id.isCancelled else {
          continuation.resume(returning: .cancelled)
          return
        }
        start(Transfer(id: id, request: request, receiver: receiver, handle: takeHandle(), continuation))
      }
    } onCancel: {
      id.cancel()
      Task { await self.cancel(id) }
    }
  }

  /// Ends a transfer with `.cancelled`. An unknown id is one that ended a moment ago.
  func cancel(_ id: TransferID) {
    guard let transfer = byID[id] else { return }
    finish(transfer, .cancelled)
  }

  /// Lets a transfer go on whose receiver, or whose body, had to wait.
  func unpause(_ id: TransferID) {
    guard let transfer = byID[id], !transfer.isHeld else { return }
    pause(transfer, CURLPAUSE_CONT)
  }

  /// Holds a transfer or lets it go on, whatever `TransferID.isHeld` says by now.
  func adjustHold(_ id: TransferID) {
    guard let transfer = byID[id], transfer.isHeld != id.isHeld else { return }
    transfer.isHeld.toggle()
    if transfers[transfer.handle.pointer] == nil {
      add(transfer)
    } else {
      pause(transfer, transfer.isHeld ? CURLPAUSE_ALL : CURLPAUSE_CONT)
    }
  }

  /// libcurl calls the receiver from within when a transfer goes on, and an error that this brings is told here alone.
  /// Without a connection there is nothing to pause (`CURLE_BAD_FUNCTION_ARGUMENT`): a transfer that is held then pauses
  /// itself at the first byte.
  private func pause(_ transfer: Transfer, _ mask: Int32) {
    let code = curl_easy_pause(transfer.handle.pointer, mask)
    guard code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT else { return }
    finish(transfer, transfer.outcome(code))
  }

  func ping() {}

  private func start(_ transfer: Transfer) {
    do throws(TransferError) {
      try transfer.configure()
    } catch {
      let metrics = TransferMetrics(of: transfer.handle)
      keep(transfer.handle)
      transfer.continuation.resume(returning: .failed(error, head: nil, metrics: metrics))
      return
    }
    let id = transfer.id
    byID[id] = transfer
    transfer.pipe?.attach { [weak self] in Task { await self?.unpause(id) } }
    transfer.isHeld = id.isHeld
    if !transfer.isHeld { add(transfer) }
  }

  private func add(_ transfer: Transfer) {
    transfers[transfer.handle.pointer] = transfer
    let code = curl_multi_add_handle(executor.multiPointer, transfer.handle.pointer)
    precondition(code == CURLM_OK, "curl_multi_add_handle: \(String(cString: curl_multi_strerror(code)))")
  }

  private func turn() {
    guard !transfers.isEmpty else { return }
    var running: Int32 = 0
    curl_multi_perform(executor.multiPointer, &running)
    var left: Int32 = 0
    while let message = curl_multi_info_read(executor.multiPointer, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let pointer = message.pointee.easy_handle,
        let transfer = transfers[pointer]
      else { continue }
      finish(transfer, transfer.outcome(message.pointee.data.result))
    }
  }

  private func finish(_ transfer: Transfer, _ outcome: TransferOutcome) {
    byID[transfer.id] = nil
    transfers[transfer.handle.pointer] = nil
    curl_multi_remove_handle(executor.multiPointer, transfer.handle.pointer)
    transfer.close()
    keep(transfer.handle)
    transfer.continuation.resume(returning: outcome)
  }

  private func dropAll() {
    for transfer in Array(byID.values) { finish(transfer, .cancelled) }
    idle.removeAll()
  }

  private func takeHandle() -> EasyHandle { idle.popLast() ?? EasyHandle() }

  private func keep(_ handle: EasyHandle) {
    handle.reset()
    if idle.count < 64, handle.isReusable { idle.append(handle) }
  }
}

/// Names a transfer before it begins, so that it can be cancelled from the first moment.
struct TransferID: Hashable, Sendable {
  private let value: ObjectIdentifier
  private let anchor: Anchor

  private final class Anchor: Sendable {
    let isCancelled = Atomic(false)
    let isHeld: (@Sendable () -> Bool)?

    init(_ isHeld: (@Sendable () -> Bool)?) { self.isHeld = isHeld }
  }

  /// The transfer must not begin: what ends one that has not begun, where `TransferLoop.cancel` finds nothing.
  func cancel() { anchor.isCancelled.store(true, ordering: .releasing) }

  var isCancelled: Bool { anchor.isCancelled.load(ordering: .acquiring) }

  /// Whether its request is suspended at this moment.
  var isHeld: Bool { anchor.isHeld?() ?? false }

  /// - Parameter isHeld: says whether the transfer has to stand still.
  init(isHeld: (@Sendable () -> Bool)? = nil) {
    anchor = Anchor(isHeld)
    value = ObjectIdentifier(anchor)
  }

  static func == (lhs: TransferID, rhs: TransferID) -> Bool { lhs.value == rhs.value }
  func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// How a transfer ended.
enum TransferOutcome: Sendable {
  /// libcurl was content, or the receiver wanted no more. `head` is `nil` only for protocols without one.
  case finished(head: ResponseHead?, metrics: TransferMetrics)
  case failed(TransferError, head: ResponseHead?, metrics: TransferMetrics)
  case cancelled
}
