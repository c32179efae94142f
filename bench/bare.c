/* bare PORT: measures the minimum cost of downloads. Reads lines "PATH FILE" from standard input and downloads each PATH from
   127.0.0.1 into its FILE, one after another on one connection: send, recv, write. No guarantees, no real checks. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char buffer[256 << 10];

static void die(const char *what) {
  perror(what);
  exit(1);
}

static void put(int file, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t n = write(file, bytes, count);
    if (n < 0) die("write");
    bytes += n;
    count -= (size_t)n;
  }
}

static void fetch(int connection, const char *path, const char *name) {
  char request[8192];
  int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path);
  if (send(connection, request, (size_t)length, MSG_NOSIGNAL) != length) die("send");

  size_t have = 0;
  char *body = NULL;
  while (body == NULL) {
    ssize_t n = recv(connection, buffer + have, sizeof buffer - 1 - have, 0);
    if (n <= 0) die("recv");
    have += (size_t)n;
    buffer[have] = 0;
    body = strstr(buffer, "\r\n\r\n");
  }
  body += 4;
  char *field = strstr(buffer, "Content-Length: ");
  if (strncmp(buffer, "HTTP/1.1 200 ", 13) != 0 || field == NULL || field > body) {
    fprintf(stderr, "bare: unexpected answer for %s\n", path);
    exit(1);
  }
  long long left = atoll(field + 16);

  int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) die(name);
  size_t first = have - (size_t)(body - buffer);
  put(file, body, first);
  left -= (long long)first;
  while (left > 0) {
    ssize_t n = recv(connection, buffer, sizeof buffer, 0);
    if (n <= 0) die("recv");
    put(file, buffer, (size_t)n);
    left -= n;
  }
  if (close(file) != 0) die("close");
}

int main(int count, char **words) {
  if (count != 2) {
    fprintf(stderr, "usage: bare PORT < list\n");
    return 64;
  }
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(words[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int connection = socket(AF_INET, SOCK_STREAM, 0);
  if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address) != 0) die("connect");
  char path[4096], name[4096];
  while (scanf("%4095s %4095s", path, name) == 2) fetch(connection, path, name);
  return 0;
}
