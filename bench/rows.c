/* The reference for adding jobs: inserts the rows that transferd stored, one statement for each, as durably as transferd does.

     rows FROM TO   inserts the rows of the tables job and event of the database FROM into TO, which has the same schema

   A thousand rows of each table are one transaction, with `synchronous=FULL`. Exits with 1 if anything fails. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static sqlite3 *database;

static void die(const char *what) {
  fprintf(stderr, "rows: %s: %s\n", what, sqlite3_errmsg(database));
  exit(1);
}

static void run(const char *sql) {
  if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) die(sql);
}

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK) die(sql);
  return statement;
}

struct table {
  sqlite3_stmt *read, *insert;
};

static struct table open_table(const char *name) {
  char sql[4096];
  struct table table;
  snprintf(sql, sizeof sql, "SELECT * FROM source.%s ORDER BY 1", name);
  table.read = prepare(sql);
  int used = snprintf(sql, sizeof sql, "INSERT INTO main.%s VALUES (?", name);
  for (int i = 1; i < sqlite3_column_count(table.read); i++)
    used += snprintf(sql + used, sizeof sql - (size_t)used, ", ?");
  snprintf(sql + used, sizeof sql - (size_t)used, ")");
  table.insert = prepare(sql);
  return table;
}

/* Returns 0 at the end of the table. */
static int copy_row(struct table table) {
  int state = sqlite3_step(table.read);
  if (state == SQLITE_DONE) return 0;
  if (state != SQLITE_ROW) die("read");
  for (int i = 0; i < sqlite3_column_count(table.read); i++)
    sqlite3_bind_value(table.insert, i + 1, sqlite3_column_value(table.read, i));
  if (sqlite3_step(table.insert) != SQLITE_DONE) die("insert");
  sqlite3_reset(table.insert);
  return 1;
}

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: rows FROM TO\n");
    return 64;
  }
  if (sqlite3_open(arguments[2], &database) != SQLITE_OK) die(arguments[2]);
  run("PRAGMA journal_mode = WAL");
  run("PRAGMA synchronous = FULL");
  sqlite3_stmt *attach = prepare("ATTACH ? AS source");
  sqlite3_bind_text(attach, 1, arguments[1], -1, SQLITE_STATIC);
  if (sqlite3_step(attach) != SQLITE_DONE) die(arguments[1]);
  sqlite3_finalize(attach);
  /* Rows that a job refers to. */
  run("INSERT OR IGNORE INTO main.origin SELECT * FROM source.origin");
  run("INSERT OR IGNORE INTO main.batch SELECT * FROM source.batch");
  struct table jobs = open_table("job"), events = open_table("event");
  for (int more = 1; more;) {
    run("BEGIN");
    for (int i = 0; i < 1000 && (more = copy_row(jobs)); i++) copy_row(events);
    run("COMMIT");
  }
  return 0;
}
