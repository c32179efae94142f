import Foundation
import TestSupport

/// A download by FTP with wrong, absurd or truncated replies and transfers that end early.
final class FTPConversation: Conversation {
  private let dialogue: Dialogue
  private let server: ScriptedFTP
  private let hasChecksum: Bool

  init(seed: UInt64) throws {
    let dialogue = Dialogue(seed: seed)
    let (file, hasChecksum) = dialogue.state.withLock { state in
      (Payload(size: state.random.one(of: [0, 1, 5000, 300_000, 1_500_000]), seed: seed), state.random.chance(40))
    }
    self.dialogue = dialogue
    self.hasChecksum = hasChecksum
    server = try ScriptedFTP(file) { command, argument, _ in
      dialogue.state.withLock { Self.change(command, argument, file, &$0) }
    }
  }

  func job(in directory: String) throws -> [String: Any] {
    var job: [String: Any] = [
      "url": server.url("/d/a.bin"), "directory": directory, "maxAttempts": 3, "stallTimeout": 2, "connectTimeout": 5,
    ]
    if hasChecksum { job["checksum"] = "sha-256=\(server.file.sha256)" }
    return job
  }

  func fault(ofCompletedJobIn directory: String) throws -> String? {
    try dialogue.fault(ofFilesIn: directory, mustBe: hasChecksum ? server.file : nil)
  }

  var answers: [String] { dialogue.state.withLock { $0.answers } }

  private static func change(
    _ command: String, _ argument: String, _ file: Payload, _ state: inout Dialogue.State
  ) -> ScriptedFTP.Change? {
    state.offer(file, file.size)
    let isTransfer = command == "RETR"
    guard state.random.chance(isTransfer ? 70 : 12) else {
      state.answers.append("\(command) \(argument)")
      return nil
    }
    let change = isTransfer ? transfer(file, &state) : ScriptedFTP.Change.reply(reply(command, file, &state))
    let shown: String
    switch change {
    case .reply(let data): shown = data.map { String(decoding: $0.prefix(80), as: UTF8.self) } ?? "end"
    case .transfer(let opening, let bytes, let closing):
      shown =
        "\(String(decoding: opening.prefix(80), as: UTF8.self)) \(bytes) "
        + (closing.map { String(decoding: $0.prefix(40), as: UTF8.self) } ?? "end")
    }
    state.answers.append("\(command) \(argument): \(shown.debugDescription)")
    return change
  }

  private static func transfer(_ file: Payload, _ state: inout Dialogue.State) -> ScriptedFTP.Change {
    let bytes = state.random.chance(40) ? file.size : state.random.number(0...max(0, file.size))
    let said = state.hostileNumber(near: [file.size, bytes])
    let opening = state.random.one(of: [
      "150 opening (\(said) bytes)\r\n", "150 opening\r\n", "125 already open (\(said) bytes)\r\n",
      "150 (9223372036854775807 bytes)\r\n",
      "550 no such file\r\n", "150-\r\n 150 (\(said) bytes)\r\n150 end (\(said) bytes)\r\n", "226 done\r\n",
    ])
    let closing = state.random.one(of: [
      "226 done\r\n", "226 done\r\n", "426 aborted\r\n", "551 oops\r\n", "", "999\r\n", "226",
    ])
    // If no size is known, 226 completes the file.
    state.offer(file, bytes)
    if let said = Int64(said) { state.offer(file, said) }
    return .transfer(opening: Data(opening.utf8), bytes: bytes, closing: closing.isEmpty ? nil : Data(closing.utf8))
  }

  private static func reply(_ command: String, _ file: Payload, _ state: inout Dialogue.State) -> Data? {
    var choices = [
      "421 too many users\r\n", "500 what?\r\n", "530 login\r\n", "999 x\r\n", "2", "220-\r\n220-\r\n", "\r\n\r\n\r\n",
      "200\r\n", "-1 x\r\n", "331 again\r\n", "550 \u{1B}[31m\u{7}\r\n", "120 soon\r\n120 soon\r\n", "",
      "200 \(String(repeating: "a", count: 30_000))\r\n", String(repeating: "211-x\r\n", count: 20_000),
    ]
    switch command {
    case "SIZE":
      let size = state.hostileNumber(near: [file.size])
      if let said = Int64(size) { state.offer(file, said) }
      choices = ["213 \(size)\r\n", "213\r\n", "213 \(file.size) \(size)\r\n", "550 no size\r\n"]
    case "MDTM":
      choices = [
        "213 \(state.hostileNumber(near: [20_240_101_000_000]))\r\n", "213 99999999999999\r\n",
        "213 20241399256199\r\n",
        "213 20240101000001\r\n", "550 no\r\n",
      ]
    case "REST": choices += ["350 \(state.hostileNumber(near: [0]))\r\n", "502 no\r\n", "200 ok\r\n"]
    case "EPSV":
      choices += [
        "229 (|||0|)\r\n", "229 (|||65536|)\r\n", "229 (|||-1|)\r\n",
        "229 (|||\(state.hostileNumber(near: [21]))|)\r\n",
        "229 (|1|10.255.255.1|21|)\r\n", "229 ()\r\n", "229 (|||1|)\r\n", "502 no\r\n",
      ]
    case "PASV":
      choices += [
        "227 (999,999,999,999,99999,1)\r\n", "227 (127,0,0,1,0,0)\r\n", "227 127,0,0,1\r\n",
        "227 (10,255,255,1,0,21)\r\n",
        "227 (-1,-1,-1,-1,-1,-1)\r\n", "227 (127,0,0,1,0,1)\r\n",
      ]
    default: break
    }
    let reply = state.random.one(of: choices)
    if reply.isEmpty { return nil }
    return state.random.chance(10) ? state.garbage(1...300) + Data("\r\n".utf8) : Data(reply.utf8)
  }
}
