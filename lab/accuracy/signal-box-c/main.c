/* signal-box-c answers which way a railway signal shows. One loop accepts a connection, reads the
 * question, has the relay room move the signal (22 ms) for one question in eight, answers, and closes;
 * whoever comes meanwhile waits in the listen queue. With FAULT=0 each connection has its own thread. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum aspect { DANGER, CAUTION, CLEAR };

static const char *const shown[] = {"danger", "caution", "clear"};

static void move_arm(void)
{
	struct timespec arm = {.tv_nsec = 22 * 1000 * 1000};
	while (nanosleep(&arm, &arm))
		;
}

static int signal_number(const char *request)
{
	const char *at = strstr(request, "/signal/");
	return at ? atoi(at + strlen("/signal/")) : 0;
}

static void *attend(void *arg)
{
	int fd = (int)(long)arg, len = 0;
	char in[4096], body[64], out[256];
	ssize_t n;
	do {
		n = read(fd, in + len, sizeof in - 1 - len);
		if (n <= 0)
			goto bye;
		in[len += n] = 0;
	} while (!strstr(in, "\r\n\r\n") && len < (int)sizeof in - 1);
	int number = signal_number(in);
	if (number % 8 == 3)
		move_arm();
	int size = snprintf(body, sizeof body, "signal %d shows %s\n", number, shown[number % (CLEAR + 1)]);
	size = snprintf(out, sizeof out, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", size, body);
	if (write(fd, out, size) == size)
		shutdown(fd, SHUT_WR);
bye:
	close(fd);
	return NULL;
}

static int open_box(char *addr)
{
	char *colon = strrchr(addr, ':');
	*colon = 0;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(colon + 1))};
	inet_pton(AF_INET, addr, &at.sin_addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 400)) {
		perror(addr);
		exit(1);
	}
	return fd;
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const char *fault = getenv("FAULT");
	int alone = !fault || strcmp(fault, "0");
	int box = open_box(strdup(getenv("ADDR")));
	for (;;) {
		int fd = accept(box, NULL, NULL);
		pthread_t clerk;
		if (fd < 0)
			continue;
		if (alone || pthread_create(&clerk, NULL, attend, (void *)(long)fd))
			attend((void *)(long)fd);
		else
			pthread_detach(clerk);
	}
}
