#define _GNU_SOURCE 1

#include "CLinux.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int linux_netlink_open(void) {
  int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (descriptor < 0) return -1;
  // An unbound socket receives no notifications. The kernel chooses the address for nl_pid 0.
  struct sockaddr_nl own = {.nl_family = AF_NETLINK};
  if (bind(descriptor, (struct sockaddr *)&own, sizeof own) == 0) return descriptor;
  int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

int linux_netlink_watch(int descriptor, int is_watching) {
  static const int groups[] = {RTNLGRP_LINK,        RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE,
                               RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV4_RULE,   RTNLGRP_IPV6_RULE};
  int option = is_watching ? NETLINK_ADD_MEMBERSHIP : NETLINK_DROP_MEMBERSHIP;
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
    if (setsockopt(descriptor, SOL_NETLINK, option, &groups[i], sizeof groups[i]) != 0) return -1;
  return 0;
}

static int send_to_kernel(int descriptor, const void *message, size_t size) {
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  ssize_t sent = sendto(descriptor, message, size, 0, (struct sockaddr *)&kernel, sizeof kernel);
  return sent == (ssize_t)size ? 0 : -1;
}

int linux_netlink_ask_link(int descriptor, int index, uint32_t sequence) {
  struct {
    struct nlmsghdr header;
    struct ifinfomsg link;
  } message = {
      .header = {.nlmsg_len = sizeof message,
                 .nlmsg_type = RTM_GETLINK,
                 .nlmsg_flags = NLM_F_REQUEST,
                 .nlmsg_seq = sequence},
      .link = {.ifi_family = AF_UNSPEC, .ifi_index = index},
  };
  return send_to_kernel(descriptor, &message, sizeof message);
}

int linux_netlink_ask_route(int descriptor, const void *address, uint32_t size, uint32_t sequence) {
  struct {
    struct nlmsghdr header;
    struct rtmsg route;
    struct rtattr attribute;
    char address[16];
  } message = {
      .header = {.nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST, .nlmsg_seq = sequence},
      .route = {.rtm_family = size == 4 ? AF_INET : AF_INET6, .rtm_dst_len = (unsigned char)(size * 8)},
      .attribute = {.rta_type = RTA_DST},
  };
  if (size != 4 && size != 16) {
    errno = EINVAL;
    return -1;
  }
  memcpy(message.address, address, size);
  message.attribute.rta_len = RTA_LENGTH(size);
  message.header.nlmsg_len = NLMSG_LENGTH(sizeof message.route) + RTA_LENGTH(size);
  return send_to_kernel(descriptor, &message, message.header.nlmsg_len);
}

int64_t linux_netlink_receive(int descriptor, void *buffer, uint64_t size, int milliseconds) {
  for (;;) {
    struct sockaddr_nl sender;
    socklen_t length = sizeof sender;
    ssize_t count = recvfrom(descriptor, buffer, size, 0, (struct sockaddr *)&sender, &length);
    if (count >= 0) {
      if (length == sizeof sender && sender.nl_pid == 0) return count;
      continue;  // not from the kernel: ignore messages that other processes send
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN || milliseconds == 0) return -1;
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    int ready = poll(&entry, 1, milliseconds);
    if (ready == 0) errno = ETIMEDOUT;
    if (ready <= 0 && !(ready < 0 && errno == EINTR)) return -1;
  }
}
