import CCoding

/// RFC 8878, one frame or several.
final class ZstandardDecoder: StreamDecoder {
  private let state: OpaquePointer
  private(set) var isAtEnd = false

  /// 8 MiB: the most that a server may demand of a client (RFC 9659 §3).
  private static let maximumWindow: Int32 = 23

  /// - Throws: if there is no memory.
  init() throws(TransferError) {
    guard let state = ZSTD_createDCtx() else { throw .response(.undecodable("no memory for zstd")) }
    self.state = state
    ZSTD_DCtx_setParameter(state, ZSTD_d_windowLogMax, Self.maximumWindow)
  }

  deinit { ZSTD_freeDCtx(state) }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(TransferError) -> (read: Int, written: Int) {
    // Between frames an empty input would begin the next frame.
    if isAtEnd, input.isEmpty { return (0, 0) }
    var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
    var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
    let result = ZSTD_decompressStream(state, &target, &source)
    guard ZSTD_isError(result) == 0 else {
      throw .response(.undecodable(String(cString: ZSTD_getErrorName(result))))
    }
    if source.pos > 0 || target.pos > 0 { isAtEnd = result == 0 }
    return (source.pos, target.pos)
  }
}
