import CCurl
import FoundationEssentials

/// One libcurl easy handle and the lists that it uses. Used on the transfer loop's thread only.
final class EasyHandle {
  let pointer: UnsafeMutableRawPointer
  private var lists: [UnsafeMutablePointer<curl_slist>] = []

  init() {
    guard let pointer = curl_easy_init() else {
      preconditionFailure("curl_easy_init failed: out of memory")
    }
    self.pointer = pointer
  }

  deinit {
    curl_easy_cleanup(pointer)
    freeLists()
  }

  /// Resets all options, so that no option of one transfer affects the next. Connections stay in the multi handle.
  func reset() {
    curl_easy_reset(pointer)
    freeLists()
  }

  /// False if libcurl 7.88 still holds the buffer of a transfer that failed before it was connected (DNS): it would
  /// refuse another CURLOPT_BUFFERSIZE, so a new handle is needed.
  var isReusable: Bool { transfer_setopt_long(pointer, CURLOPT_BUFFERSIZE, 16 * 1024) == CURLE_OK }

  private func freeLists() {
    for list in lists { curl_slist_free_all(list) }
    lists.removeAll()
  }

  func set(_ option: CURLoption, _ value: Int) {
    check(transfer_setopt_long(pointer, option, value), option)
  }

  func set(_ option: CURLoption, _ value: Bool) { set(option, value ? 1 : 0) }

  func set(_ option: CURLoption, offset value: Int64) {
    check(transfer_setopt_offset(pointer, option, Int(value)), option)
  }

  /// libcurl copies the string.
  func set(_ option: CURLoption, _ value: String) {
    check(transfer_setopt_string(pointer, option, value), option)
  }

  func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) {
    check(transfer_setopt_pointer(pointer, option, value), option)
  }

  /// Removes a string option's default.
  func clear(_ option: CURLoption) {
    check(transfer_setopt_string(pointer, option, nil), option)
  }

  /// libcurl copies the bytes.
  func set(_ option: CURLoption, blob bytes: Data) {
    bytes.withUnsafeBytes { check(transfer_setopt_blob(pointer, option, $0.baseAddress, $0.count), option) }
  }

  func set(_ option: CURLoption, _ callback: @escaping transfer_data_callback) {
    check(transfer_setopt_data_callback(pointer, option, callback), option)
  }

  func setReady(_ callback: @escaping transfer_ready_callback) {
    check(transfer_setopt_ready_callback(pointer, callback), CURLOPT_PREREQFUNCTION)
  }

  func setOpenSocket(_ callback: @escaping transfer_open_socket_callback) {
    check(transfer_setopt_open_socket_callback(pointer, callback), CURLOPT_OPENSOCKETFUNCTION)
  }

  func setSeek(_ callback: @escaping transfer_seek_callback) {
    check(transfer_setopt_seek_callback(pointer, callback), CURLOPT_SEEKFUNCTION)
  }

  func setProgress(_ callback: @escaping transfer_progress_callback) {
    check(transfer_setopt_progress_callback(pointer, callback), CURLOPT_XFERINFOFUNCTION)
  }

  func setHostKeyCheck(_ callback: @escaping transfer_host_key_callback) {
    check(transfer_setopt_host_key_callback(pointer, callback), CURLOPT_SSH_HOSTKEYFUNCTION)
  }

  /// Keeps the list until the handle is reset, because libcurl does not copy it.
  func set(_ option: CURLoption, list strings: [String]) {
    var list: UnsafeMutablePointer<curl_slist>?
    for string in strings {
      guard let longer = curl_slist_append(list, string) else {
        preconditionFailure("curl_slist_append failed: out of memory")
      }
      list = longer
    }
    guard let list else { return }
    lists.append(list)
    check(transfer_setopt_list(pointer, option, list), option)
  }

  func long(_ info: CURLINFO) -> Int {
    var value = 0
    transfer_getinfo_long(pointer, info, &value)
    return value
  }

  func offset(_ info: CURLINFO) -> Int64 {
    var value: curl_off_t = 0
    transfer_getinfo_offset(pointer, info, &value)
    return Int64(value)
  }

  func string(_ info: CURLINFO) -> String? {
    var value: UnsafePointer<CChar>?
    transfer_getinfo_string(pointer, info, &value)
    return value.map { String(cString: $0) }
  }

  /// The socket of the connection, also after the transfer; `nil` if libcurl has closed it. Valid until libcurl is
  /// called again.
  var socket: Int32? {
    let socket = transfer_getinfo_socket(pointer)
    return socket == TRANSFER_SOCKET_BAD ? nil : socket
  }

  private func check(_ code: CURLcode, _ option: CURLoption) {
    // Only our own bugs fail here: an option that this libcurl does not know, or no memory.
    assert(
      code == CURLE_OK, "curl_easy_setopt(\(option.rawValue)): \(String(cString: curl_easy_strerror(code)))")
  }
}
