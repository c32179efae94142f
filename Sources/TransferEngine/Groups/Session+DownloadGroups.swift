import HTTPTypes

/// Many downloads at once.
extension Session {
  /// Downloads many files. The sequence ends after the last outcome.
  /// - Parameters:
  ///   - downloads: what to download, and where to.
  ///   - maximumConnections: downloads at once from one origin.
  ///   - journal: makes the ends of the downloads durable; `nil` for none.
  public func downloads(
    _ downloads: [GroupDownload], maximumConnections: Int = 8, journal: (any DownloadGroupJournal)? = nil
  ) -> DownloadGroup {
    let group = downloadGroup(maximumConnections: maximumConnections, journal: journal)
    group.add(downloads)
    group.finish()
    return group
  }

  /// A group to which downloads can be added at any time, until `finish()`.
  public func downloadGroup(
    maximumConnections: Int = 8, journal: (any DownloadGroupJournal)? = nil
  ) -> DownloadGroup {
    var limits = GroupLimits()
    limits.connections = max(1, maximumConnections)
    return DownloadGroup(core: DownloadGroupCore(self, journal, limits))
  }

  /// Downloads many URLs, each to its destination. An outcome's tag is the index of its URL.
  /// - Parameters:
  ///   - files: URLs and where the files go. A URL that cannot be read fails its download.
  ///   - options: how the destinations may be changed.
  ///   - maximumConnections: downloads at once from one origin.
  public func downloads(
    _ files: [(any URLConvertible, to: DownloadDestination)], options: DownloadOptions = [], maximumConnections: Int = 8
  ) -> DownloadGroup {
    let group = downloadGroup(maximumConnections: maximumConnections)
    var downloads: [GroupDownload] = []
    downloads.reserveCapacity(files.count)
    for (tag, file) in files.enumerated() {
      do throws(TransferError) {
        let request = try source(file.0, .get, nil, nil).request()
        downloads.append(GroupDownload(tag: tag, request: request, to: file.to, options: options))
      } catch {
        group.core.fail(tag, error)
      }
    }
    group.add(downloads)
    group.finish()
    return group
  }
}
