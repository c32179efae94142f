// The one call of SQLite that neither Swift nor GRDB can make: it takes a variable number of arguments.
#pragma once

/// SQLite counts the memory that it uses, with a lock for each allocation. This turns the count off for the whole process.
/// Without effect once SQLite was used. Not safe while another thread uses SQLite for the first time (sqlite3_config).
void csqlite_disable_memory_statistics(void);
