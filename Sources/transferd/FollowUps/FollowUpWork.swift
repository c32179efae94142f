/// The kinds of follow-up actions of ended jobs.
enum FollowUpWork: CaseIterable, Hashable {
  case fileActions, hooks, remoteCleanups, deliveries
}
