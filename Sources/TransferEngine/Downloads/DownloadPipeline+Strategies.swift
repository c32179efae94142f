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
}
