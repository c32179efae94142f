import TransferAPI

extension SuccessAction {
  /// The action with an absolute path.
  /// - Throws: `CommandFailure` if the directory of `move=` does not exist.
  func resolved(_ paths: PathResolver) throws -> SuccessAction {
    guard case .move(let directory) = self else { return self }
    let path = try paths.absolute(directory)
    guard PathResolver.isDirectory(path) else {
      throw CommandFailure(
        .cannotCreate,
        PathResolver.exists(path)
          ? "cannot move files to \(path): it is not a directory"
          : "the directory \(path) does not exist; make it before files are moved there")
    }
    return .move(to: path)
  }
}
