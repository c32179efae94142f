/// The handlers of the route table; one file for each noun.
enum Handlers {}
