import Foundation
import Testing
import TransferAPI

@testable import Store

@Suite struct FolderTests {
  private static let folder = NewFolder(directory: "/srv/out", to: "https://h/in/")

  @Test("folders are stored, listed by owner and removed with their files; ids are not used again")
  func folders() async throws {
    let store = try Fixture().store
    var newOnly = Self.folder
    newOnly.newOnly = true
    let first = try await store.addFolder(Self.folder, owner: 1, at: Fixture.at(1))
    let second = try await store.addFolder(newOnly, owner: 2, at: Fixture.at(2))
    #expect(!first.needsBaseline && second.needsBaseline && first.folder.id != second.folder.id)
    #expect(try await store.folders(in: .everything) == [first, second])
    #expect(try await store.folders(in: .owner(2)) == [second])
    try await store.endBaseline(of: second.folder.id)
    #expect(try await store.folders(in: .owner(2)).first?.needsBaseline == false)
    #expect(try await store.removeFolder(second.folder.id, in: .owner(1)) == false)
    #expect(try await store.removeFolder(second.folder.id, in: .everything))
    #expect(try await store.removeFolder(second.folder.id, in: .everything) == false)
    let third = try await store.addFolder(Self.folder, owner: 2, at: Fixture.at(3))
    #expect(third.folder.id > second.folder.id)
  }

  @Test("versions are known by path, size and time, once each, and only uploads are counted")
  func versions() async throws {
    let store = try Fixture().store
    let id = try await store.addFolder(Self.folder, owner: 1, at: Fixture.at(1)).folder.id
    let versions = (0..<4).map { FileVersion(path: "a", size: Int64($0 / 2), modified: Int64($0 % 2)) }
    #expect(try await store.note([(versions[0], JobID(5)), (versions[3], nil)], of: id))
    #expect(try await store.note([(versions[0], JobID(6))], of: id))
    #expect(try await store.knownVersions(versions, of: id) == [versions[0], versions[3]])
    #expect(try await store.knownVersions(versions, of: id + 1).isEmpty)
    #expect(try await store.folders(in: .everything).first?.folder.uploads == 1)
    _ = try await store.removeFolder(id, in: .everything)
    #expect(try await store.knownVersions(versions, of: id).isEmpty)
    #expect(try await store.note([(versions[1], nil)], of: id) == false)
  }
}
