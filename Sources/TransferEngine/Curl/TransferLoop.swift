import CCurl
import Glibc
import HTTPTypes
import Synchronization

/// The only access to libcurl: an actor that runs on `CurlExecutor`'s thread. One attempt is one call of `perform`.
actor TransferLoop {
  private let executor: CurlExecutor
  private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
  private var byID: [TransferID: Transfer] = [:]
  /// Idle handles, reset; kept so that 10,000 small transfers do not create 10,000 handles.
  private var idle: [EasyHandle] = []
  /// Called at the end of the current turn.
  private var observers: [any TurnObserver] = []
  private let bandwidth: BandwidthLimits
  private let waiting = WaitingTransfers()
  private let state = LoopState()
  private let idleSockets = IdleSockets()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// - Parameter maximumConnections: idle connections that are kept for later transfers.
  init(maximumConnections: Int, _ bandwidth: BandwidthLimits) {
    executor = CurlExecutor()
    self.bandwidth = bandwidth
    transfer_multi_setopt_long(executor.multiPointer, CURLMOPT_MAXCONNECTS, maximumConnections)
    // One connection carries many HTTP/2 transfers.
    transfer_multi_setopt_long(executor.multiPointer, CURLMOPT_PIPELINING, TRANSFER_PIPE_MULTIPLEX)
    executor.start(
      .init(
        perform: { [weak self] in self?.assumeIsolated { $0.turn() } ?? WaitingTransfers.forever },
        finish: { [weak self] in self?.assumeIsolated { $0.dropAll() } }))
    bandwidth.observe { [weak self] in Task { await self?.joinBandwidth() } }
  }

  deinit { executor.stop() }

  /// Runs one transfer to its end. Returns when libcurl has finished with it, however it ended. Cancelling the task
  /// removes the handle; the receiver is not called afterwards.
  func perform(_ request: WireRequest, id: TransferID, receiver: any TransferReceiver) async
    -> TransferOutcome
  {
    if let refusal = await request.refusalBeforeProxy() {
      return .failed(refusal, head: nil, metrics: TransferMetrics())
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard !Task.isCancelled, !id.isCancelled else {
          continuation.resume(returning: .cancelled(metrics: nil))
          return
        }
        start(
          Transfer(
            id: id, request: request, receiver: receiver, handle: takeHandle(), loop: state, .resume(continuation)))
      }
    } onCancel: {
      id.cancel()
      Task { await self.cancel(id) }
    }
  }

  /// Ends a transfer with `.cancelled`. An unknown id belongs to a transfer that has just ended.
  func cancel(_ id: TransferID) {
    guard let transfer = byID[id] else { return }
    finish(transfer, .cancelled(metrics: transfer.metrics))
  }

  /// Continues a transfer whose receiver or body had to wait.
  func unpause(_ id: TransferID) {
    guard let transfer = byID[id], !transfer.isHeld else { return }
    pause(transfer, CURLPAUSE_CONT)
  }

  /// Holds or releases a transfer, according to the current value of `TransferID.isHeld`.
  func adjustHold(_ id: TransferID) {
    guard let transfer = byID[id], transfer.isHeld != id.isHeld else { return }
    transfer.isHeld.toggle()
    if transfers[transfer.handle.pointer] == nil {
      add(transfer)
    } else {
      pause(transfer, transfer.isHeld ? CURLPAUSE_ALL : CURLPAUSE_CONT)
    }
  }

  /// When a transfer continues, libcurl calls the receiver inside this call, and its error is reported only here.
  /// Without a connection there is nothing to pause (`CURLE_BAD_FUNCTION_ARGUMENT`): a held transfer then pauses itself
  /// at its first byte.
  private func pause(_ transfer: Transfer, _ mask: Int32) {
    transfer.remote?.lastMove = .now
    if mask == CURLPAUSE_CONT { transfer.isPaused = false }
    let code = curl_easy_pause(transfer.handle.pointer, mask)
    guard code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT else { return }
    finish(transfer, transfer.outcome(code))
  }

  func ping() {}

  private func start(_ transfer: Transfer) {
    transfer.join(bandwidth, waiting)
    transfer.idleSockets = idleSockets
    transfer.reading = executor.events.reading
    do throws(TransferError) {
      try transfer.configure()
    } catch {
      transfer.leaveBandwidth()
      let metrics = TransferMetrics(of: transfer.handle)
      keep(transfer.handle)
      transfer.completion(.failed(error, head: nil, metrics: metrics))
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
    transfer.remote?.lastMove = .now
    state.transferCount = transfers.count
    if let end = transfer.silenceEnd { state.examineSilence(at: end) }
    let code = curl_multi_add_handle(executor.multiPointer, transfer.handle.pointer)
    precondition(code == CURLM_OK, "curl_multi_add_handle: \(String(cString: curl_multi_strerror(code)))")
  }

  // MARK: Groups

  /// Runs the closure on the loop's thread: one hop for any number of transfers.
  func run(_ work: @Sendable (isolated TransferLoop) -> Void) { work(self) }

  /// Starts one transfer. The outcome goes to the completion on this thread; if the transfer cannot start, before this
  /// returns. Must not be called by a receiver: libcurl is not reentrant.
  func begin(
    _ request: WireRequest, id: TransferID, receiver: any TransferReceiver, completion: TransferCompletion
  ) {
    guard !id.isCancelled else { return completion(.cancelled(metrics: nil)) }
    start(Transfer(id: id, request: request, receiver: receiver, handle: takeHandle(), loop: state, completion))
  }

  /// Calls the observer once when the current turn has ended, outside libcurl.
  func notifyAtEndOfTurn(_ observer: any TurnObserver) { observers.append(observer) }

  private func endTurn() {
    while !observers.isEmpty {
      let current = observers
      observers.removeAll(keepingCapacity: true)
      for observer in current { observer.turnEnded(self) }
    }
  }

  // MARK: The thread's turns

  /// - Returns: milliseconds until the next turn at the latest.
  private func turn() -> Int32 {
    move()
    continueWaiting()
    endSilentTransfers()
    endTurn()
    return min(waiting.pause, state.pause)
  }

  /// Ends the transfers whose server has been silent for too long, as far as libcurl does not watch them. For file servers
  /// it has a timer while it connects and while bytes move, but none while it waits for the reply to a command: without
  /// this, such a wait would never end.
  private func endSilentTransfers() {
    guard state.isSilenceDue() else { return }
    let now = ContinuousClock.now
    for transfer in Array(transfers.values) where transfer.examineSilence(now: now) {
      finish(transfer, .failed(.connection(.stalled), head: transfer.currentHead, metrics: transfer.metrics))
    }
  }

  /// Continues the transfers that waited for bandwidth, as far as there is some.
  private func continueWaiting() {
    for transfer in waiting.due() where transfers[transfer.handle.pointer] === transfer {
      guard !transfer.isHeld, transfer.stopsWaiting() else { continue }
      pause(transfer, CURLPAUSE_CONT)
    }
  }

  /// Running transfers join the buckets that have got a limit since they began.
  private func joinBandwidth() {
    for transfer in byID.values { transfer.join(bandwidth, waiting) }
  }

  /// Moves the transfers that are ready, without waiting, and ends those that libcurl has finished.
  private func move() {
    executor.events.act()
    for refusal in executor.events.takeRefusals() {
      guard let transfer = transfers[refusal.handle] else { continue }
      finish(transfer, transfer.outcome(refusingSocket: refusal.error))
    }
    var left: Int32 = 0
    while let message = curl_multi_info_read(executor.multiPointer, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let pointer = message.pointee.easy_handle,
        let transfer = transfers[pointer]
      else { continue }
      let code = message.pointee.data.result
      if transfer.needsNewConnection {
        reconnect(transfer)
        continue
      }
      if code == CURLE_OK { transfer.leaveConnection() }
      dropConnection(of: transfer, after: code)
      finish(transfer, transfer.outcome(code))
    }
  }

  /// Begins a transfer again of which nothing was sent. libcurl has closed the connection that it chose.
  private func reconnect(_ transfer: Transfer) {
    transfer.needsNewConnection = false
    curl_multi_remove_handle(executor.multiPointer, transfer.handle.pointer)
    transfer.handle.set(CURLOPT_FRESH_CONNECT, true)
    add(transfer)
  }

  /// Ends a connection that seems to be dead, unless another transfer still moves something on it. libcurl has no call
  /// for that, but a connection that has ended is never used again.
  private func dropConnection(of transfer: Transfer, after code: CURLcode) {
    guard let socket = transfer.suspectSocket(after: code) else { return }
    let time = transfer.request.stallTimeout ?? .zero
    let isAlive = transfers.values.contains { $0 !== transfer && $0.hasMoved(onConnectionOf: transfer, within: time) }
    if !isAlive { _ = shutdown(socket, Int32(SHUT_RDWR)) }
  }

  private func finish(_ transfer: Transfer, _ outcome: TransferOutcome) {
    byID[transfer.id] = nil
    transfers[transfer.handle.pointer] = nil
    state.transferCount = transfers.count
    curl_multi_remove_handle(executor.multiPointer, transfer.handle.pointer)
    transfer.close()
    transfer.leaveBandwidth()
    keep(transfer.handle)
    transfer.completion(outcome)
  }

  private func dropAll() {
    for transfer in Array(byID.values) { finish(transfer, .cancelled(metrics: transfer.metrics)) }
    observers.removeAll()
    idle.removeAll()
  }

  private func takeHandle() -> EasyHandle { idle.popLast() ?? EasyHandle() }

  private func keep(_ handle: EasyHandle) {
    handle.reset()
    if idle.count < 64, handle.isReusable { idle.append(handle) }
  }
}
