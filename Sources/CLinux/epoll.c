#include "CLinux.h"

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

int linux_poll_open(void) { return epoll_create1(EPOLL_CLOEXEC); }

int linux_poll_watch(int poll, int descriptor, int interest, int is_watched) {
  struct epoll_event event = {0};
  if (interest & LINUX_READING) event.events |= EPOLLIN;
  if (interest & LINUX_WRITING) event.events |= EPOLLOUT;
  if (interest & LINUX_EDGES) event.events |= EPOLLET;
  event.data.fd = descriptor;
  return epoll_ctl(poll, is_watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, &event);
}

int linux_poll_forget(int poll, int descriptor) {
  // Kernels before 2.6.9 required an event here.
  struct epoll_event unused = {0};
  return epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, &unused);
}

int linux_poll_wait(int poll, struct linux_ready ready[LINUX_READY_COUNT], int milliseconds) {
  struct epoll_event events[LINUX_READY_COUNT];
  int count = epoll_wait(poll, events, LINUX_READY_COUNT, milliseconds);
  for (int i = 0; i < count; i++) {
    ready[i].descriptor = events[i].data.fd;
    ready[i].state = (events[i].events & EPOLLIN ? LINUX_READING : 0) | (events[i].events & EPOLLOUT ? LINUX_WRITING : 0) |
                     (events[i].events & (EPOLLERR | EPOLLHUP) ? LINUX_FAILING : 0);
  }
  return count;
}

int linux_wakeup_open(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void linux_wakeup_send(int descriptor) {
  uint64_t one = 1;
  // It fails only if 2^64 calls were not read: then the descriptor is ready anyway.
  if (write(descriptor, &one, sizeof one) < 0) return;
}
