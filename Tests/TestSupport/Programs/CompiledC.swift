import Foundation

/// C code that a test compiles, for things that no Swift program does on purpose.
public struct CompiledC: Sendable {
  public let path: String

  /// A program of these sources.
  public static func program(
    _ sources: [String], including directories: [String] = [], in directory: TemporaryDirectory, named name: String
  ) async throws -> CompiledC {
    try await compile(sources, ["-O1"] + directories.map { "-I" + $0 }, directory, name)
  }

  /// A library for `LD_PRELOAD` from this source text.
  public static func preload(_ text: String, in directory: TemporaryDirectory) async throws -> CompiledC {
    let source = try directory.file("preload.c", text: text)
    return try await compile([source], ["-O1", "-fPIC", "-shared"], directory, "preload.so")
  }

  private static func compile(
    _ sources: [String], _ options: [String], _ directory: TemporaryDirectory, _ name: String
  ) async throws -> CompiledC {
    let path = directory.path(name)
    // Swift includes a compiler for C.
    let compiler =
      try ["clang", "cc"].lazy.compactMap { try? BuiltPrograms.system($0) }.first
      ?? BuiltPrograms.system("cc")
    _ = try await Launch(compiler, options + ["-o", path] + sources + ["-pthread"]).runSuccessfully()
    return CompiledC(path: path)
  }
}
