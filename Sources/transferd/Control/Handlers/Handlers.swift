/// The handlers of the route table; one file a noun.
enum Handlers {}
