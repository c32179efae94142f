/* sink: a server that discards every body, so that only the client is measured. It prints its port and serves one connection
   after another: it reads a head, discards `Content-Length` bytes (`MSG_TRUNC`, tcp(7)), and responds with 200 and their
   number. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

static char buffer[1 << 20];

static void say(int connection, const char *text) {
  if (send(connection, text, strlen(text), MSG_NOSIGNAL) < 0) perror("send");
}

/* Returns the number of body bytes that arrived with the head; negative at the end of the connection. */
static long long head(int connection, long long *length) {
  size_t have = 0;
  char *end = NULL;
  while (end == NULL) {
    ssize_t n = recv(connection, buffer + have, 65536 - 1 - have, 0);
    if (n <= 0) return -1;
    have += (size_t)n;
    buffer[have] = 0;
    end = strstr(buffer, "\r\n\r\n");
  }
  *end = 0;
  *length = 0;
  for (char *line = strstr(buffer, "\r\n"); line != NULL; line = strstr(line + 2, "\r\n")) {
    if (strncasecmp(line + 2, "Content-Length:", 15) == 0) *length = atoll(line + 17);
    if (strncasecmp(line + 2, "Expect: 100-continue", 20) == 0) say(connection, "HTTP/1.1 100 Continue\r\n\r\n");
  }
  return (long long)(have - (size_t)(end + 4 - buffer));
}

static void serve(int connection) {
  long long length, done;
  while ((done = head(connection, &length)) >= 0) {
    while (done < length) {
      ssize_t n = recv(connection, buffer, sizeof buffer, MSG_TRUNC);
      if (n <= 0) return;
      done += n;
    }
    char answer[256], text[32];
    int count = snprintf(text, sizeof text, "%lld\n", done);
    snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", count, text);
    say(connection, answer);
  }
}

int main(void) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t size = sizeof address;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 64) != 0 ||
      getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
    perror("sink");
    return 1;
  }
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  for (;;) {
    int connection = accept(listener, NULL, NULL);
    if (connection < 0) continue;
    serve(connection);
    close(connection);
  }
}
