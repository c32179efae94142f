// swift-tools-version: 6.2

import PackageDescription

// Rooms and their one direction of imports: docs/architecture.md.
let common: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
]

/// The settings of Sources and bench. A member needs an import of its module: otherwise one missing import can bring Foundation
/// and 30 MB of ICU data into a program. Tests may import Foundation.
let strict = common + [.enableUpcomingFeature("MemberImportVisibility")]

// Set by scripts/fuzz.sh alone: the build with the fuzzer and the address sanitizer, in a folder of its own.
let isFuzzing = Context.environment["TRANSFERD_FUZZING"] == "1"

let fuzzing: [SwiftSetting] =
  isFuzzing ? [.unsafeFlags(["-enable-testing", "-sanitize=fuzzer,address"])] : []

/// The settings of the rooms that are fuzzed: dependencies and C targets are built as always. The sanitizer's flags make
/// declarations of Glibc belong to other modules, so members are visible everywhere then.
let fuzzed = isFuzzing ? common + fuzzing : strict

/// One of the two programs. SwiftPM links a program's modules into tests but into no other program, so the fuzzer's
/// build makes libraries of them and renames their `main`, as SwiftPM does for tests.
func program(_ name: String, dependencies: [Target.Dependency]) -> Target {
  guard isFuzzing else {
    return .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
  }
  let rename: SwiftSetting = .unsafeFlags([
    "-parse-as-library", "-Xfrontend", "-entry-point-function-name", "-Xfrontend", "\(name)_main",
  ])
  return .target(name: name, dependencies: dependencies, swiftSettings: fuzzed + [rename])
}

/// The fuzz cases: a test target that replays the corpora kept in the repo, or the fuzzer's program.
var fuzzCases: Target {
  let dependencies: [Target.Dependency] = [
    "transferd", "transferctl", "HTTPServer", "TransferEngine", "TransferAPI", "Store", "WireValues", "CCurl",
    .product(name: "HTTPTypes", package: "swift-http-types"),
    .product(name: "NIOEmbedded", package: "swift-nio"),
  ]
  guard isFuzzing else {
    return .testTarget(
      name: "FuzzTests", dependencies: dependencies + ["TestSupport"], exclude: ["Corpora", "Fuzzer"],
      swiftSettings: common)
  }
  return .executableTarget(
    name: "fuzzer", dependencies: dependencies, path: "Tests/FuzzTests", exclude: ["Corpora", "Replay"],
    swiftSettings: common + fuzzing, linkerSettings: [.unsafeFlags(["-sanitize=address"])])
}

let package = Package(
  name: "transferd",
  products: isFuzzing
    ? []
    : [
      .library(name: "TransferEngine", targets: ["TransferEngine"]),
      .executable(name: "transferd", targets: ["transferd"]),
      .executable(name: "transferctl", targets: ["transferctl"]),
    ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
    .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2", traits: []),
  ],
  targets: [
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
      name: "CCoding", providers: [.apt(["zlib1g-dev", "libbrotli-dev", "libzstd-dev"])]),
    // Loads libcrypto itself, when it is needed.
    .target(name: "CCrypto"),
    // Loads libexpat itself, when it is needed.
    .target(name: "CExpat"),
    .target(name: "CLinux"),
    .target(name: "CSQLite"),
    .target(name: "Digests", dependencies: ["CCrypto"], swiftSettings: strict),
    .target(name: "WireValues", swiftSettings: fuzzed),
    .target(name: "XMLReader", dependencies: ["CExpat"], swiftSettings: fuzzed),
    .target(name: "CTasks"),
    .target(name: "Threads", dependencies: ["CLinux", "CTasks", "WireValues"], swiftSettings: strict),
    .target(
      name: "TransferEngine",
      dependencies: [
        "CCoding", "CCurl", "CLinux", "Digests", "Threads", "WireValues", "XMLReader",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: fuzzed),
    .target(name: "TransferAPI", dependencies: ["WireValues"], swiftSettings: fuzzed),
    .target(
      name: "Store",
      dependencies: [
        "CSQLite", "Threads", "TransferAPI", "WireValues", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: fuzzed),
    .target(
      name: "HTTPServer",
      dependencies: [
        "WireValues",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: fuzzed),
    program(
      "transferd",
      dependencies: [
        "HTTPServer", "TransferEngine", "TransferAPI", "Store", "Digests", "CLinux", "Threads", "WireValues",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "Subprocess", package: "swift-subprocess"),
        .product(name: "SystemPackage", package: "swift-system"),
        .product(name: "Yams", package: "Yams"),
      ]),
    program(
      "transferctl",
      dependencies: [
        "Digests", "TransferAPI", "WireValues", "XMLReader",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    // No product: what scripts/bench.sh and the memory tests run.
    .executableTarget(
      name: "engine-bench",
      dependencies: ["TransferEngine", .product(name: "HTTPTypes", package: "swift-http-types")],
      path: "bench/EngineBench", swiftSettings: strict),
    .target(
      name: "TestSupport",
      dependencies: ["Digests"],
      path: "Tests/TestSupport",
      swiftSettings: common),
    // A server of resumable uploads that somebody else wrote; for tests alone, built by neither program.
    .target(
      name: "ResumableServer",
      dependencies: [
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
        .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOResumableUpload", package: "swift-nio-extras"),
      ],
      path: "Tests/ResumableServer",
      swiftSettings: common),
    .testTarget(
      name: "WireValuesTests", dependencies: ["WireValues"], swiftSettings: common),
    .testTarget(name: "XMLReaderTests", dependencies: ["XMLReader"], swiftSettings: common),
    .testTarget(name: "DigestsTests", dependencies: ["Digests"], swiftSettings: common),
    .testTarget(
      name: "TransferAPITests", dependencies: ["TransferAPI"], swiftSettings: common),
    .testTarget(
      name: "TransferEngineTests",
      dependencies: [
        "CCurl", "CLinux", "Digests", "TransferEngine", "TestSupport", "ResumableServer",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: common),
    .testTarget(
      name: "ThreadsTests", dependencies: ["Threads", "TestSupport"], swiftSettings: common),
    .testTarget(
      name: "HTTPServerTests",
      dependencies: [
        "HTTPServer", "TestSupport", .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: common),
    .testTarget(
      name: "StoreTests",
      dependencies: [
        "Store", "TransferAPI", "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      exclude: ["Fixtures"],
      swiftSettings: common),
    .testTarget(
      name: "transferdTests",
      dependencies: [
        "transferd", "CLinux", "HTTPServer", "TransferEngine", "TransferAPI", "Store", "WireValues", "TestSupport",
        .product(name: "Logging", package: "swift-log"), .product(name: "NIOCore", package: "swift-nio"),
      ],
      swiftSettings: common),
    .testTarget(
      name: "transferctlTests",
      dependencies: [
        "transferctl", "TransferAPI", "TestSupport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: common),
    fuzzCases,
    .testTarget(
      name: "EndToEndTests",
      dependencies: ["Digests", "TransferAPI", "TransferEngine", "TestSupport", "ResumableServer"],
      swiftSettings: common),
  ]
)
