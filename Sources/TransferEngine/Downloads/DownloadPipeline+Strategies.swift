/// The ways to request the rest of a file.
extension DownloadPipeline {
  /// The ways to request the rest of the file, by whose bytes are on disk.
  func strategies(_ context: AttemptContext) -> RangeStrategies {
    switch continuity(context) {
    case .sameSource: return Self.strategies(context)
    case .byContent:
      var context = context
      context.resumeData?.validators = Validators()
      context.resumeData?.refusals = 0
      return Self.strategies(context)
    case .byTag:
      guard context.resumeData?.validators.strongETag != nil else { return .whole }
      return Self.strategies(context).conditional
    }
  }

  private static func strategies(_ context: AttemptContext) -> RangeStrategies {
    if let pieces = context.pieces, let total = context.total {
      return RangeStrategies(
        stored: context.resumeData?.validators, pieces: pieces, total: total,
        refusals: context.resumeData?.refusals ?? 0)
    }
    return RangeStrategies(
      stored: context.resumeData?.validators, bytesOnDisk: context.onDisk, refusals: context.resumeData?.refusals ?? 0,
      isComparing: context.comparesFrom != nil)
  }

  /// Whether bytes are missing, or may be: while the file's length is unknown, nothing says that a part is the last one
  /// (RFC 9110 §14.4). The response to a request for what follows does: 416 with the length, or the whole file.
  static func mayHaveMore(_ context: AttemptContext) -> Bool {
    guard let total = context.total else { return context.bodyHead?.status == 206 }
    return context.onDisk < total
  }

  /// Discards the bytes after the last checkpoint, because they differ from the server's.
  /// - Returns: whether bytes remain that can be compared; false if they were discarded before.
  func cutToCheckpoint(_ context: inout AttemptContext) throws(TransferError) -> Bool {
    guard let checkpoint = context.comparesFrom, let part = context.part, checkpoint > 0, checkpoint < context.onDisk
    else {
      return false
    }
    try part.truncate(to: checkpoint)
    context.onDisk = checkpoint
    context.resumedFrom = checkpoint
    // However this attempt ends, the next one compares too, and starts over if the bytes differ again.
    context.comparesFrom = 0
    context.resumeData?.checkpointBytes = 0
    return true
  }
}
