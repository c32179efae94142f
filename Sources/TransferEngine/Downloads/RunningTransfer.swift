/// A download's transfer and the objects that follow it.
struct RunningTransfer: Sendable {
  let id: TransferID
  let loop: any TransferPerformer
  let receiver: DownloadReceiver
  let checkpoints: Checkpointer
}
