// lossy FIRST SECOND DELAY-MS LOSS: a slow network between two TUN devices, where the kernel has no netem.
//
// Makes the devices, prints "ready", and passes each packet of one to the other DELAY-MS later. One packet of LOSS that leaves the
// first device is dropped, by a generator with a fixed seed; none with LOSS 0. Ends with SIGTERM, or when its input ends.
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 65536, BYTES = 2048 };

// Packets on their way in one direction, oldest first.
static struct line {
  struct packet {
    int64_t due;
    int count;
    unsigned char bytes[BYTES];
  } *packets;
  unsigned head, tail;
} lines[2];

static int64_t now(void) { // microseconds
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

static int make(const char *name) {
  struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
  int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  if (device < 0 || ioctl(device, TUNSETIFF, &request) < 0) {
    fprintf(stderr, "lossy: cannot make %s: %s\n", name, strerror(errno));
    exit(1);
  }
  return device;
}

static int is_lost(unsigned loss) {
  static uint64_t state = 0x9E3779B97F4A7C15;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return loss && (state >> 11) % loss == 0;
}

int main(int count, char **arguments) {
  if (count != 5) {
    fprintf(stderr, "usage: lossy FIRST SECOND DELAY-MS LOSS\n");
    return 64;
  }
  int devices[2] = {make(arguments[1]), make(arguments[2])};
  int64_t delay = atoll(arguments[3]) * 1000;
  unsigned loss = (unsigned)atoi(arguments[4]);
  for (int i = 0; i < 2; i++) lines[i].packets = calloc(SLOTS, sizeof *lines[i].packets);
  puts("ready");
  fflush(stdout);
  for (;;) {
    int64_t wait = 1000000, time = now();
    for (int i = 0; i < 2; i++) {
      struct line *line = &lines[i];
      for (; line->head != line->tail; line->head++) {
        struct packet *packet = &line->packets[line->head % SLOTS];
        if (packet->due > time) {
          if (packet->due - time < wait) wait = packet->due - time;
          break;
        }
        // A device that takes no packet loses it, as a full queue of a router does.
        if (write(devices[!i], packet->bytes, (size_t)packet->count) < 0 && errno == EBADFD) return 0;
      }
    }
    struct pollfd wanted[3] = {{devices[0], POLLIN, 0}, {devices[1], POLLIN, 0}, {0, POLLIN, 0}};
    if (poll(wanted, 3, (int)(wait / 1000 + 1)) < 0 && errno != EINTR) return 1;
    char end;
    if (wanted[2].revents && read(0, &end, 1) == 0) return 0;
    for (int i = 0; i < 2; i++) {
      struct line *line = &lines[i];
      while (line->tail - line->head < SLOTS) {
        struct packet *packet = &line->packets[line->tail % SLOTS];
        ssize_t bytes = read(devices[i], packet->bytes, BYTES);
        if (bytes <= 0) break;
        if (i == 0 && is_lost(loss)) continue;
        packet->count = (int)bytes;
        packet->due = now() + delay;
        line->tail++;
      }
    }
  }
}
