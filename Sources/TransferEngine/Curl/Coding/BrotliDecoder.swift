import CCoding

/// RFC 7932.
final class BrotliDecoder: StreamDecoder {
  private let state: OpaquePointer

  /// - Throws: if there is no memory.
  init() throws(TransferError) {
    guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else {
      throw .response(.undecodable("no memory for brotli"))
    }
    self.state = state
  }

  deinit { BrotliDecoderDestroyInstance(state) }

  var isAtEnd: Bool { BrotliDecoderIsFinished(state) != 0 }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(TransferError) -> (read: Int, written: Int) {
    guard !isAtEnd || BrotliDecoderHasMoreOutput(state) != 0 else { return (0, 0) }
    var (left, space) = (input.count, output.count)
    var source = input.bindMemory(to: UInt8.self).baseAddress
    var target = output.bindMemory(to: UInt8.self).baseAddress
    let result = BrotliDecoderDecompressStream(state, &left, &source, &space, &target, nil)
    guard result != BROTLI_DECODER_RESULT_ERROR else {
      let code = BrotliDecoderGetErrorCode(state)
      throw .response(.undecodable(String(cString: BrotliDecoderErrorString(code))))
    }
    return (input.count - left, output.count - space)
  }
}
