// swift-tools-version: 6.2

import PackageDescription

// Rooms and their one direction of imports: docs/architecture.md.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
]

// Set by scripts/fuzz.sh alone: the build with the fuzzer and the address sanitizer, in a folder of its own.
let isFuzzing = Context.environment["TRANSFERD_FUZZING"] == "1"

/// The settings of the rooms that are fuzzed: dependencies and C targets are built as always.
let fuzzed: [SwiftSetting] =
  strict + (isFuzzing ? [.unsafeFlags(["-enable-testing", "-sanitize=fuzzer,address"])] : [])

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
    "transferd", "transferctl", "TransferEngine", "TransferAPI", "Store", "CCurl",
    .product(name: "HTTPTypes", package: "swift-http-types"),
  ]
  guard isFuzzing else {
    return .testTarget(
      name: "FuzzTests", dependencies: dependencies + ["TestSupport"], exclude: ["Corpora", "Fuzzer"],
      swiftSettings: strict)
  }
  return .executableTarget(
    name: "fuzzer", dependencies: dependencies, path: "Tests/FuzzTests", exclude: ["Corpora", "Replay"],
    swiftSettings: fuzzed, linkerSettings: [.unsafeFlags(["-sanitize=address"])])
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
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.24.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
    .package(url: "https://github.com/onevcat/Rainbow", from: "4.2.0"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0", traits: []),
  ],
  targets: [
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
      name: "CCoding", providers: [.apt(["zlib1g-dev", "libbrotli-dev", "libzstd-dev"])]),
    .target(name: "CLinux"),
    .target(name: "WireValues", swiftSettings: fuzzed),
    .target(name: "CTasks"),
    .target(name: "Threads", dependencies: ["CLinux", "CTasks", "WireValues"], swiftSettings: strict),
    .target(
      name: "TransferEngine",
      dependencies: [
        "CCoding", "CCurl", "CLinux", "Threads", "WireValues",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: fuzzed),
    .target(name: "TransferAPI", dependencies: ["WireValues"], swiftSettings: fuzzed),
    .target(
      name: "Store",
      dependencies: [
        "Threads", "TransferAPI", "WireValues", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: fuzzed),
    program(
      "transferd",
      dependencies: [
        "TransferEngine", "TransferAPI", "Store", "CLinux", "Threads", "WireValues",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOFoundationCompat", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Subprocess", package: "swift-subprocess"),
        .product(name: "SystemPackage", package: "swift-system"),
        .product(name: "Yams", package: "Yams"),
      ]),
    program(
      "transferctl",
      dependencies: [
        "TransferEngine", "TransferAPI", "WireValues",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Rainbow", package: "Rainbow"),
      ]),
    // No product: what scripts/bench.sh and the memory tests run.
    .executableTarget(
      name: "engine-bench", dependencies: ["TransferEngine"], path: "bench/EngineBench", swiftSettings: strict),
    .target(
      name: "TestSupport",
      dependencies: [.product(name: "Crypto", package: "swift-crypto")],
      path: "Tests/TestSupport",
      swiftSettings: strict),
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
      swiftSettings: strict),
    .testTarget(
      name: "WireValuesTests", dependencies: ["WireValues"], swiftSettings: strict),
    .testTarget(
      name: "TransferAPITests", dependencies: ["TransferAPI"], swiftSettings: strict),
    .testTarget(
      name: "TransferEngineTests",
      dependencies: [
        "TransferEngine", "TestSupport", "ResumableServer", .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ThreadsTests", dependencies: ["Threads", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "StoreTests", dependencies: ["Store", "TestSupport"], exclude: ["Fixtures"],
      swiftSettings: strict),
    .testTarget(
      name: "transferdTests",
      dependencies: ["transferd", "TestSupport", .product(name: "NIOEmbedded", package: "swift-nio")],
      swiftSettings: strict),
    .testTarget(
      name: "transferctlTests", dependencies: ["transferctl", "TestSupport"],
      swiftSettings: strict),
    fuzzCases,
    .testTarget(
      name: "EndToEndTests",
      dependencies: ["TransferAPI", "TransferEngine", "TestSupport", "ResumableServer"],
      swiftSettings: strict),
  ]
)
