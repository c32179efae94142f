/* The reference for TransferEngine: libcurl's multi interface, used from C as its manual shows.

     multi get COUNT PARALLEL PREFIX   COUNT requests of PREFIX000000, PREFIX000001, …, PARALLEL at once, bodies in memory
     multi download URL FILE           one body into a file
     multi upload FILE URL             one file as the body of a PUT

   No guarantees: no durability, no validation, no retry. Exits with 1 if a transfer fails. */
#include <curl/curl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct slot {
  CURL *handle;
  char *body;
  size_t count, room;
  int file;
  off_t offset;
};

static void die(const char *what, const char *why) {
  fprintf(stderr, "multi: %s: %s\n", what, why);
  exit(1);
}

static size_t keep(char *bytes, size_t size, size_t count, void *context) {
  struct slot *slot = context;
  count *= size;
  if (slot->count + count > slot->room) {
    slot->room = (slot->count + count) * 2;
    slot->body = realloc(slot->body, slot->room);
    if (slot->body == NULL) return 0;
  }
  memcpy(slot->body + slot->count, bytes, count);
  slot->count += count;
  return count;
}

static size_t store(char *bytes, size_t size, size_t count, void *context) {
  struct slot *slot = context;
  size_t left = count *= size;
  while (left > 0) {
    ssize_t n = pwrite(slot->file, bytes, left, slot->offset);
    if (n <= 0) return 0;
    bytes += n;
    left -= (size_t)n;
    slot->offset += n;
  }
  return count;
}

static size_t load(char *bytes, size_t size, size_t count, void *context) {
  struct slot *slot = context;
  ssize_t n = pread(slot->file, bytes, size * count, slot->offset);
  if (n < 0) return CURL_READFUNC_ABORT;
  slot->offset += n;
  return (size_t)n;
}

/* Handles are reset and reused, as in the engine. */
static void begin(CURLM *multi, struct slot *slot, const char *url) {
  curl_easy_reset(slot->handle);
  slot->count = 0;
  curl_easy_setopt(slot->handle, CURLOPT_URL, url);
  curl_easy_setopt(slot->handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(slot->handle, CURLOPT_PRIVATE, slot);
  curl_easy_setopt(slot->handle, CURLOPT_WRITEDATA, slot);
  curl_easy_setopt(slot->handle, CURLOPT_WRITEFUNCTION, keep);
  if (curl_multi_add_handle(multi, slot->handle) != CURLM_OK) die(url, "curl_multi_add_handle");
}

static struct slot *finished(CURLM *multi) {
  int left;
  CURLMsg *message = curl_multi_info_read(multi, &left);
  if (message == NULL) return NULL;
  struct slot *slot;
  long status = 0;
  curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &slot);
  curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
  if (message->data.result != CURLE_OK) die("transfer", curl_easy_strerror(message->data.result));
  if (status < 200 || status > 299) die("transfer", "unexpected status");
  curl_multi_remove_handle(multi, slot->handle);
  return slot;
}

static void turn(CURLM *multi) {
  int running;
  if (curl_multi_perform(multi, &running) != CURLM_OK) die("curl_multi_perform", "failed");
  if (running > 0) curl_multi_poll(multi, NULL, 0, 1000, NULL);
}

static void get(CURLM *multi, int count, int parallel, const char *prefix) {
  struct slot *slots = calloc((size_t)parallel, sizeof *slots);
  if (slots == NULL) die("get", "no memory");
  char url[4096];
  int begun = 0, done = 0;
  for (; begun < parallel && begun < count; begun++) {
    slots[begun].handle = curl_easy_init();
    snprintf(url, sizeof url, "%s%06d", prefix, begun);
    begin(multi, &slots[begun], url);
  }
  while (done < count) {
    turn(multi);
    for (struct slot *slot; (slot = finished(multi)) != NULL;) {
      done++;
      if (begun == count) continue;
      snprintf(url, sizeof url, "%s%06d", prefix, begun++);
      begin(multi, slot, url);
    }
  }
}

static void one(CURLM *multi, const char *url, const char *path, int isUpload) {
  struct slot slot = {.handle = curl_easy_init()};
  struct stat status;
  slot.file = isUpload ? open(path, O_RDONLY) : open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (slot.file < 0 || fstat(slot.file, &status) != 0) die(path, "cannot open");
  begin(multi, &slot, url);
  curl_multi_remove_handle(multi, slot.handle);
  if (isUpload) {
    curl_easy_setopt(slot.handle, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(slot.handle, CURLOPT_INFILESIZE_LARGE, (curl_off_t)status.st_size);
    curl_easy_setopt(slot.handle, CURLOPT_READDATA, &slot);
    curl_easy_setopt(slot.handle, CURLOPT_READFUNCTION, load);
  } else {
    curl_easy_setopt(slot.handle, CURLOPT_BUFFERSIZE, 102400L); /* the curl program's value */
    curl_easy_setopt(slot.handle, CURLOPT_WRITEFUNCTION, store);
  }
  curl_multi_add_handle(multi, slot.handle);
  do turn(multi);
  while (finished(multi) == NULL);
  if (close(slot.file) != 0) die(path, "cannot close");
}

int main(int count, char **words) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURLM *multi = curl_multi_init();
  if (multi == NULL) die("curl_multi_init", "failed");
  if (count == 5 && strcmp(words[1], "get") == 0) {
    get(multi, atoi(words[2]), atoi(words[3]), words[4]);
  } else if (count == 4 && strcmp(words[1], "download") == 0) {
    one(multi, words[2], words[3], 0);
  } else if (count == 4 && strcmp(words[1], "upload") == 0) {
    one(multi, words[3], words[2], 1);
  } else {
    fprintf(stderr, "usage: multi get COUNT PARALLEL PREFIX | download URL FILE | upload FILE URL\n");
    return 64;
  }
  return 0;
}
