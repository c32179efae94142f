#include "CSQLite.h"

// From sqlite3.h.
extern int sqlite3_config(int option, ...);
enum { SQLITE_CONFIG_MEMSTATUS = 9 };

void csqlite_disable_memory_statistics(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
