/// Called on the loop's thread between two turns, where transfers may be started.
protocol TurnObserver: AnyObject, Sendable {
  func turnEnded(_ loop: isolated TransferLoop)
}
