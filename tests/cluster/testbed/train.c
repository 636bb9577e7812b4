/* One rank of a training job that has never heard of Python: it prints its steps.
 *
 * STEPS: how many. HANG_STEP: the step that rank 1 of the first attempt reaches and does not leave; the others wait for
 * it one step further on. Rank 0 listens on MASTER_PORT as torch's does, and fails when it cannot.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int number(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text != NULL && *text != '\0' ? atoi(text) : otherwise;
}

static int can_listen(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  int server = socket(AF_INET, SOCK_STREAM, 0);
  return bind(server, (struct sockaddr *)&address, sizeof address) == 0 && listen(server, 1) == 0;
}

int main(void) {
  int rank = number("RANK", -1), steps = number("STEPS", 40);
  int hang = number("HEDGEROW_ATTEMPT", 0) == 1 ? number("HANG_STEP", 0) : 0;
  if (rank == 0 && !can_listen(number("MASTER_PORT", 0))) {
    fprintf(stderr, "MASTER_PORT cannot be listened on\n");
    return 3;
  }
  for (int step = 1; step <= steps; step++) {
    usleep(100000);
    printf("step %d/%d loss %.3f\n", step, steps, 4.0 / step);
    fflush(stdout);
    if (hang != 0 && step == (rank == 1 ? hang : hang + 1))
      pause();
  }
  return 0;
}
