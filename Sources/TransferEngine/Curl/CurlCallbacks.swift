import CCurl
import WireValues

/// The C functions that libcurl calls on the loop's thread. Each finds its `Transfer` and forwards the call.
enum CurlCallbacks {
  static let header: transfer_data_callback = { bytes, size, count, context in
    let transfer = Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
    // checked: libcurl counts the bytes of its own buffer
    return Int(bitPattern: UInt(bitPattern: transfer.header(.init(start: bytes, count: size * count))))
  }

  static let write: transfer_data_callback = { bytes, size, count, context in
    Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
      .write(.init(start: bytes, count: size * count))  // checked: libcurl counts the bytes of its own buffer
  }

  static let read: transfer_data_callback = { bytes, size, count, context in
    Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
      .read(.init(start: bytes, count: size * count))  // checked: libcurl counts the bytes of its own buffer
  }

  static let seek: transfer_seek_callback = { context, offset, origin in
    Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue().seek(Int64(offset), origin)
  }
}

extension Transfer {
  /// The transfer of a handle (CURLOPT_PRIVATE(3)); `nil` for libcurl's own handles.
  static func of(_ handle: UnsafeMutableRawPointer) -> Transfer? {
    var context: UnsafeMutableRawPointer?
    transfer_getinfo_pointer(handle, CURLINFO_PRIVATE, &context)
    return context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }
}

extension Duration {
  /// Rounded down; the largest number if it does not fit.
  var wholeMilliseconds: Int {
    let (seconds, attoseconds) = components
    let whole = CheckedNumber(seconds) * 1000 + attoseconds / 1_000_000_000_000_000
    return whole.int ?? (seconds < 0 ? .min : .max)
  }

  /// For options of libcurl without fractions.
  var wholeSecondsRoundedUp: Int {
    (CheckedNumber(components.seconds) + (components.attoseconds > 0 ? 1 : 0)).int ?? .max
  }
}
