/* The reference for small downloads: libcurl, SQLite and the promises of transferd, without anything else.

     durable DATABASE DIRECTORY COUNT PARALLEL PREFIX   COUNT files of PREFIX000000, PREFIX000001, …, PARALLEL at once

   The queue is a table. Jobs are claimed in the transaction that ends others. The files that have arrived land together: part
   files are written and synced, a row names each inode, the files are renamed, the directory is synced, and the rows end. After
   a power cut each job is either waiting or has its whole file. Adding the jobs is not measured: `durable DATABASE add COUNT`.
   No retries, no resume, no events. Exits with 1 if anything fails. */
#define _GNU_SOURCE
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST 65536

struct slot {
  CURL *handle;
  int job; /* -1: free */
  size_t count;
  char body[LARGEST];
};

struct landing {
  int job;
  size_t count;
  char *body;
  ino_t inode;
  int file;
};

static sqlite3 *database;

static void die(const char *what, const char *why) {
  fprintf(stderr, "durable: %s: %s\n", what, why);
  exit(1);
}

static void run(const char *sql) {
  if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) die(sql, sqlite3_errmsg(database));
}

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
    die(sql, sqlite3_errmsg(database));
  return statement;
}

static void step(sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) die("SQLite", sqlite3_errmsg(database));
  sqlite3_reset(statement);
}

static void add(int count) {
  sqlite3_stmt *insert = prepare("INSERT INTO job (id, state) VALUES (?, 'queued')");
  run("BEGIN");
  for (int i = 0; i < count; i++) {
    sqlite3_bind_int(insert, 1, i);
    step(insert);
  }
  run("COMMIT");
}

static size_t keep(char *bytes, size_t size, size_t count, void *context) {
  struct slot *slot = context;
  count *= size;
  if (count > LARGEST - slot->count) return 0;
  memcpy(slot->body + slot->count, bytes, count);
  slot->count += count;
  return count;
}

/* The files get their names and the rows their ends; `claimed` further jobs from `next` on become running. */
static void land(struct landing *landed, int count, int directory, int next, int claimed) {
  static sqlite3_stmt *claim, *name, *end;
  if (claim == NULL) {
    claim = prepare("UPDATE job SET state = 'running' WHERE id = ? AND state = 'queued'");
    name = prepare("UPDATE job SET inode = ? WHERE id = ?");
    end = prepare("UPDATE job SET state = 'completed', inode = NULL, bytes = ? WHERE id = ?");
  }
  char part[64], whole[64];
  for (int i = 0; i < count; i++) {
    struct landing *file = &landed[i];
    snprintf(part, sizeof part, ".f%06d.part", file->job);
    file->file = openat(directory, part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct stat status;
    if (file->file < 0 || write(file->file, file->body, file->count) != (ssize_t)file->count ||
        fstat(file->file, &status) != 0)
      die(part, strerror(errno));
    file->inode = status.st_ino;
  }
  if (count >= 32) {
    if (syncfs(directory) != 0) die("syncfs", strerror(errno));
  } else {
    for (int i = 0; i < count; i++)
      if (fdatasync(landed[i].file) != 0) die("fdatasync", strerror(errno));
  }
  if (count > 0) {
    run("BEGIN");
    for (int i = 0; i < count; i++) {
      sqlite3_bind_int64(name, 1, (sqlite3_int64)landed[i].inode);
      sqlite3_bind_int(name, 2, landed[i].job);
      step(name);
    }
    run("COMMIT");
  }
  for (int i = 0; i < count; i++) {
    snprintf(part, sizeof part, ".f%06d.part", landed[i].job);
    snprintf(whole, sizeof whole, "f%06d", landed[i].job);
    fchmod(landed[i].file, 0644);
    if (renameat2(directory, part, directory, whole, RENAME_NOREPLACE) != 0) die(whole, strerror(errno));
    close(landed[i].file);
  }
  if (count > 0 && fsync(directory) != 0) die("fsync", strerror(errno));
  run("BEGIN");
  for (int i = 0; i < count; i++) {
    sqlite3_bind_int64(end, 1, (sqlite3_int64)landed[i].count);
    sqlite3_bind_int(end, 2, landed[i].job);
    step(end);
    free(landed[i].body);
  }
  for (int i = 0; i < claimed; i++) {
    sqlite3_bind_int(claim, 1, next + i);
    step(claim);
  }
  run("COMMIT");
}

static void start(CURLM *multi, struct slot *slot, int job, const char *prefix) {
  char url[4096];
  snprintf(url, sizeof url, "%s%06d", prefix, job);
  slot->job = job;
  slot->count = 0;
  curl_easy_setopt(slot->handle, CURLOPT_URL, url);
  if (curl_multi_add_handle(multi, slot->handle) != CURLM_OK) die("curl_multi_add_handle", url);
}

static void download(const char *path, int total, int parallel, const char *prefix) {
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) die(path, strerror(errno));
  CURLM *multi = curl_multi_init();
  struct slot *slots = calloc((size_t)parallel, sizeof *slots);
  struct landing *landed = calloc((size_t)parallel, sizeof *landed);
  if (multi == NULL || slots == NULL || landed == NULL) die("memory", "none left");
  int claimed = total < parallel ? total : parallel;
  land(NULL, 0, directory, 0, claimed);
  for (int i = 0; i < parallel; i++) {
    slots[i].job = -1;
    slots[i].handle = curl_easy_init();
    curl_easy_setopt(slots[i].handle, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(slots[i].handle, CURLOPT_WRITEDATA, &slots[i]);
    curl_easy_setopt(slots[i].handle, CURLOPT_PRIVATE, &slots[i]);
    curl_easy_setopt(slots[i].handle, CURLOPT_NOSIGNAL, 1L);
    if (i < claimed) start(multi, &slots[i], i, prefix);
  }
  int finished = 0;
  while (finished < total) {
    int running, left, count = 0;
    curl_multi_perform(multi, &running);
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)) != NULL;) {
      if (message->msg != CURLMSG_DONE) continue;
      if (message->data.result != CURLE_OK) die("transfer", curl_easy_strerror(message->data.result));
      struct slot *slot;
      long status = 0;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &slot);
      curl_easy_getinfo(slot->handle, CURLINFO_RESPONSE_CODE, &status);
      if (status != 200) die("transfer", "the status is not 200");
      curl_multi_remove_handle(multi, slot->handle);
      landed[count].job = slot->job;
      landed[count].count = slot->count;
      landed[count].body = malloc(slot->count);
      if (landed[count].body == NULL) die("memory", "none left");
      memcpy(landed[count++].body, slot->body, slot->count);
      slot->job = -1;
    }
    if (count > 0) {
      int more = total - claimed < count ? total - claimed : count;
      land(landed, count, directory, claimed, more);
      finished += count;
      for (int i = 0; i < parallel && more > 0; i++)
        if (slots[i].job < 0) {
          start(multi, &slots[i], claimed++, prefix);
          more--;
        }
    } else {
      curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
  }
}

int main(int argc, char **argv) {
  int isAdding = argc == 4 && strcmp(argv[2], "add") == 0;
  if (!isAdding && argc != 6) {
    fputs("usage: durable DATABASE add COUNT | durable DATABASE DIRECTORY COUNT PARALLEL PREFIX\n", stderr);
    return 64;
  }
  curl_global_init(CURL_GLOBAL_DEFAULT);
  if (sqlite3_open(argv[1], &database) != SQLITE_OK) die(argv[1], sqlite3_errmsg(database));
  run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
      "CREATE TABLE IF NOT EXISTS job (id INTEGER PRIMARY KEY, state TEXT NOT NULL, inode INTEGER, bytes INTEGER);"
      "CREATE INDEX IF NOT EXISTS queued ON job (id) WHERE state = 'queued'");
  if (isAdding) add(atoi(argv[3]));
  else download(argv[2], atoi(argv[3]), atoi(argv[4]), argv[5]);
  sqlite3_close(database);
  return 0;
}
