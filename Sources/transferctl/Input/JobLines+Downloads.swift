import FoundationEssentials
import TransferAPI
import WireValues

/// Adds downloads from arguments and from lists in each format.
extension JobLines {
  /// Adds an argument: a URL, or with `--glob` all that it names.
  /// - Throws: `CommandFailure` if the globs name too many URLs.
  mutating func add(argument url: String, _ defaults: JobDefaults) throws {
    try add(url: url, .argument(url), defaults)
  }

  /// Adds the lines of a list.
  /// - Parameter format: not `auto`. Lines of `jsonl` may be URLs if `isMixed`.
  /// - Throws: `CommandFailure` for a file that cannot be read, or if the globs name too many URLs.
  mutating func add(file: ListFile, _ defaults: JobDefaults, format: InputFormat = .jsonl, isMixed: Bool = true) throws
  {
    switch format {
    case .aria2: return try add(aria2: file, defaults)
    case .csv: return try add(csv: file, defaults)
    case .auto, .urls, .jsonl: break
    }
    let naming = FieldNaming(format == .urls ? .plain : .json, options: defaults.job.givenFields)
    self.naming = naming
    var failure: (any Error)?
    try InputLines.each(in: file) { number, line in
      guard failure == nil else { return }
      let text: String
      switch line {
      case .failure(let error): return add(fault: Fault(origin: .line(number), message: "\(error)", status: .usage))
      case .success(let line): text = line
      }
      let isJSON =
        format != .urls && Array(text.utf8).withUnsafeBytes { ListContent.isJSON($0, hasGlobs: defaults.globs) }
      guard isJSON || isMixed || format == .urls else {
        return add(fault: Fault(origin: .line(number), message: "is no JSON object", status: .usage))
      }
      guard isJSON else {
        do { try add(url: text, .line(number), defaults) } catch { failure = error }
        return
      }
      let next = nextNumber
      take(.line(number)) { decoder in
        try defaults.job(json: Data(text.utf8), decoder: decoder, number: next, naming: naming)
      }
    }
    if let failure { throw failure }
  }

  private mutating func add(url: String, _ origin: Origin, _ defaults: JobDefaults) throws {
    guard defaults.globs else { return take(url: url, origin, defaults) }
    let glob: URLGlob
    do {
      glob = try URLGlob(parsing: url)
    } catch {
      if error == URLGlob.tooMany { throw CommandFailure(.usage, "\(origin): \(error)") }
      return add(fault: Fault(origin: origin, message: error.description, status: .usage))
    }
    guard globbed.saturatingSum(glob.count) <= URLGlob.maximumCount else {
      throw CommandFailure(.usage, "\(origin): \(URLGlob.tooMany)")
    }
    globbed += glob.count  // checked: at most the maximum
    for index in 0..<glob.count {
      take(url: glob.url(at: index), origin, defaults)
      // All URLs of a glob have the same fault, with few exceptions.
      if faults.last?.origin == origin, faults.last?.isOfFile == false { return }
    }
  }

  private mutating func add(aria2 file: ListFile, _ defaults: JobDefaults) throws {
    naming = FieldNaming(.names(Aria2Entry.namesOfFields), options: defaults.job.givenFields)
    var entries = Aria2Entries()
    try InputLines.eachLiteral(in: file, separator: UInt8(ascii: "\n")) { number, line in
      do {
        if let entry = try entries.push(try line.get(), line: number) { take(entry, defaults) }
      } catch let error as FileFault {
        add(fault: Fault(origin: .line(number), message: "is not valid UTF-8", status: error.status))
      } catch {
        let message = (error as? WireError)?.description.contains("NUL") == true ? "has a NUL byte" : "\(error)"
        add(fault: Fault(origin: .line(number), message: message, status: .usage))
      }
    }
    if let entry = entries.finish() { take(entry, defaults) }
  }

  private mutating func take(_ entry: Aria2Entry, _ defaults: JobDefaults) {
    do {
      let fields = try entry.fields()
      take(.line(entry.line), fields, defaults)
    } catch let error as Aria2Entry.OptionError {
      let message = error.error.text.named { Aria2Entry.namesOfFields[$0] }
      add(fault: Fault(origin: .line(error.line), message: message, status: .usage))
    } catch {
      add(fault: Fault(origin: .line(entry.line), message: "\(error)", status: .usage))
    }
  }

  private mutating func add(csv file: ListFile, _ defaults: JobDefaults) throws {
    let options = defaults.job.givenFields
    var parser = CSVParser()
    var columns: CSVColumns?
    do {
      func take(_ record: CSVParser.Record) throws {
        guard let known = columns else {
          do throws(WireError) {
            columns = try CSVColumns(record.fields)
          } catch {
            throw WireError("line \(record.line): \(error)")
          }
          naming = FieldNaming(.names(columns?.namesOfFields ?? [:]), options: options)
          return
        }
        do throws(WireError) {
          self.take(.line(record.line), try known.fields(of: record), defaults)
        } catch {
          let message = error.text.named { known.namesOfFields[$0] }
          add(fault: Fault(origin: .line(record.line), message: message, status: .usage))
        }
      }
      var reader = file.reader()
      while let piece = try reader.next() { try parser.push(piece, take) }
      if let record = try parser.finish() { try take(record) }
    } catch let error as WireError {
      // What follows has no known beginning.
      throw CommandFailure(.usage, "\(file.name), \(error); nothing was added")
    }
  }

  private mutating func take(_ origin: Origin, _ fields: JobFields, _ defaults: JobDefaults) {
    let (number, encoder, naming) = (nextNumber, encoder, naming)
    take(origin) { decoder in
      try defaults.job(json: try fields.json(encoder), decoder: decoder, number: number, naming: naming)
    }
  }
}
