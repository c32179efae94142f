/* peak COMMAND…: runs a command without its output and prints the most resident memory that it used, in MiB. getrusage(2)
   counts a child's memory before exec(2), too, so the parent must be small. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
  pid_t child = count > 1 ? fork() : -1;
  if (child == 0) {
    dup2(open("/dev/null", O_WRONLY), 1);
    execvp(arguments[1], arguments + 1);
    _exit(127);
  }
  int status;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child) return 1;
  printf("%.1f MiB\n", usage.ru_maxrss / 1024.0);
  return 0;
}
