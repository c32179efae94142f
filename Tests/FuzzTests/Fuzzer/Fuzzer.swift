import FoundationEssentials

/// `fuzzer CASE [libFuzzer's arguments]`, or `fuzzer --list`; scripts/fuzz.sh runs it.
@main
struct Fuzzer {
  static func main() {
    var arguments = CommandLine.arguments
    guard arguments.count > 1, arguments[1] != "--list" else {
      for fuzzCase in FuzzCase.all { print(fuzzCase.name, fuzzCase.maximumLength) }
      return
    }
    let name = arguments.remove(at: 1)
    guard let found = FuzzCase.named(name) else { fatalError("no fuzz case is named \(name); --list prints them") }
    current = found
    var count = CInt(arguments.count)
    // libFuzzer keeps pointers into the arguments while it runs.
    var pointers = arguments.map { argument -> UnsafeMutablePointer<CChar>? in
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: argument.utf8.count + 1)
      for (index, byte) in argument.utf8.enumerated() { copy[index] = CChar(bitPattern: byte) }
      copy[argument.utf8.count] = 0
      return copy
    }
    pointers.append(nil)
    pointers.withUnsafeMutableBufferPointer { pointers in
      var vector = pointers.baseAddress
      _ = runLibFuzzer(&count, &vector) { bytes, count in
        let input = Array(UnsafeBufferPointer(start: bytes, count: count))
        do { try Fuzzer.current?.check(input) } catch { fatalError("\(error)") }
        return 0
      }
    }
  }

  /// Set once before libFuzzer starts.
  nonisolated(unsafe) private static var current: FuzzCase?
}

/// `LLVMFuzzerRunDriver` (FuzzerInterface.h, "Using libFuzzer as a library").
@_silgen_name("LLVMFuzzerRunDriver")
private func runLibFuzzer(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
  _ check: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
