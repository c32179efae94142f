import HTTPTypes

/// Prepares downloads for their transfers on one thread: opens each directory once, checks names, makes wire requests.
enum GroupPreparation {
  /// A download and how it ends before a request is sent; `nil`: it does not.
  typealias Result = (member: GroupMember, end: FileResponse?)

  /// Blocks.
  static func prepare(_ members: [GroupMember]) -> [Result] {
    var directories = OpenDirectories()
    return members.map { member in
      do throws(TransferError) {
        return (member, try prepare(member, &directories))
      } catch {
        return (member, FileResponse(failing: error))
      }
    }
  }

  private static func prepare(
    _ member: GroupMember, _ directories: inout OpenDirectories
  ) throws(TransferError) -> FileResponse? {
    guard !member.isCancelled, staysInGroup(member.download, member.session) else { return nil }
    let session = member.session
    let plan = member.makePlan()
    let directory = try directories.open(plan)
    try plan.checkRules(in: directory)
    try plan.checkFree(in: [directory])
    let existing = try plan.examine(directory)
    switch existing {
    case nil, .fetch?, .ask?: break
    case .skip?: return member.skipped(in: directory)
    // The single download compares.
    case .compare?, .verify?, .fail?: return nil
    }
    var adapted = plan.request
    adapted.redirects = adapted.redirects ?? session.configuration.redirects
    var request = adapted
    var question = RangeQuestion.whole
    question.unless = existing?.condition
    question.apply(to: &request.headers)
    request.headers[.acceptEncoding] = "identity"
    var wire = session.wireRequest(request)
    // The addresses of the host are resolved before a proxy is used.
    guard wire.addresses == .any || wire.proxy == nil else { return nil }
    if !session.eventMonitors.isEmpty {
      let id = member.requestID
      wire.didReceiveHead = { session.notify(id, .receiveHead($0)) }
    }
    member.prepare(plan, directory, wire, adapted: adapted, sent: request, existing)
    return nil
  }

  /// Whether a download can stay in a group, before its response is known.
  static func staysInGroup(_ download: GroupDownload, _ session: Session) -> Bool {
    download.interceptor == nil && session.interceptor == nil && download.resumeData == nil
      && download.destination.partDirectory == nil && download.request.url.isHTTP && download.request.method == .get
      && download.request.body == nil
  }

  /// The directories of the downloads that are prepared together.
  private struct OpenDirectories {
    private struct Entry {
      let rules: PathRules
      let isCreating: Bool
      let directory: Directory
    }
    private var entries: [String: [Entry]] = [:]

    /// The directory of a plan, opened under its rules.
    mutating func open(_ plan: DownloadPlan) throws(TransferError) -> Directory {
      let path = plan.destination.directory
      let isCreating = plan.options.contains(.createIntermediateDirectories)
      if let entry = entries[path]?.first(where: { $0.isCreating == isCreating && $0.rules == plan.rules }) {
        return entry.directory
      }
      let directory = try plan.openDirectory()
      entries[path, default: []].append(Entry(rules: plan.rules, isCreating: isCreating, directory: directory))
      return directory
    }
  }
}
