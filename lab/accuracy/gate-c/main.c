/* gate-c opens the gates of a car park: one thread does everything with poll(2). A gate that
 * does not answer at once is waited for, in that thread. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST 2000

static int fault_on = 1;

static void wait_for_gate(void)
{
	struct timespec t = {0, 18 * 1000 * 1000};
	nanosleep(&t, NULL);
}

static int answer(int fd)
{
	static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nopen\n";
	char in[8192];
	ssize_t n = read(fd, in, sizeof in - 1);
	if (n <= 0)
		return -1;
	in[n] = 0;
	if (fault_on && strstr(in, "/gate/north"))
		wait_for_gate();
	return write(fd, ok, sizeof ok - 1) < 0 ? -1 : 0;
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const char *fault = getenv("FAULT");
	fault_on = !fault || strcmp(fault, "0");
	char host[64];
	snprintf(host, sizeof host, "%s", getenv("ADDR"));
	char *colon = strrchr(host, ':');
	*colon = 0;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(colon + 1))};
	inet_pton(AF_INET, host, &at.sin_addr);
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 512)) {
		perror("listen");
		return 1;
	}
	static struct pollfd fds[MOST];
	int count = 1;
	fds[0] = (struct pollfd){.fd = listener, .events = POLLIN};
	for (;;) {
		if (poll(fds, count, -1) < 0)
			continue;
		int before = count;
		for (int i = 1; i < before; i++)
			if (fds[i].revents && answer(fds[i].fd)) {
				close(fds[i].fd);
				fds[i].fd = -1;
			}
		if (fds[0].revents && count < MOST) {
			int fd = accept(listener, NULL, NULL);
			if (fd >= 0) {
				setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
				fds[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
			}
		}
		int kept = 1;
		for (int i = 1; i < count; i++)
			if (fds[i].fd >= 0)
				fds[kept++] = fds[i];
		count = kept;
	}
}
