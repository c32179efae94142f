import FoundationEssentials

@testable import TransferEngine

extension FuzzCase {
  static let stored = [resumeData, uploadLedger]

  /// The stored resume data of a download, which a disk or another program may have corrupted.
  private static let resumeData = FuzzCase("resume-data") { bytes in
    guard let data = ResumeData(Data(bytes)) else { return }
    try require(ResumeData(data.encoded()) == data, "what is stored is not what is read")
    for size in [0, 1, 65_536, 1 << 40, Int64.max] {
      for boot in [data.bootID, BootID.current] {
        var data = data
        data.bootID = boot
        guard let usable = data.usableBytes(ofFileWith: size) else { continue }
        try require(0 < usable && usable <= size, "\(usable) usable bytes in a file of \(size)")
        if let total = data.totalBytes { try require(usable <= total, "\(usable) usable bytes of \(total)") }
        let question = RangeQuestion.rest(of: data, bytesOnDisk: usable, scheme: "ftp")
        try require(0 <= question.start && question.start <= usable, "bytes from \(question.start) are asked for")
      }
    }
    _ = data.validators.strongDate
    _ = data.validators.agreeStrongly(with: data.validators)
  }

  private static let uploadLedger = FuzzCase("upload-ledger") { bytes in
    guard let ledger = UploadLedger(Data(bytes)) else { return }
    try require(UploadLedger(ledger.encoded()) == ledger, "what is stored is not what is read")
    try require(ledger.acknowledged >= 0, "\(ledger.acknowledged) bytes are acknowledged")
    switch ledger.progress {
    case .tus(let tus):
      for part in tus.parts {
        try require(0 <= part.start && part.start <= part.end, "a part from \(part.start) to \(part.end)")
      }
    case .s3(let s3): try require(s3.partSize > 0, "parts of \(s3.partSize) bytes")
    case .posting, .resumable, .temporary: break
    }
    try require(!ledger.protocolName.isEmpty, "a protocol without a name")
  }
}
