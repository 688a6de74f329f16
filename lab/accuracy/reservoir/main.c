/* reservoir tells the levels of reservoirs: one thread with epoll answers from memory. Two others
 * work beside it and nobody waits for them: one computes a forecast, with rests, at nice 19, one
 * writes all levels to a file each half second and syncs it. p99 is 3 ms. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LAKES 2000

static double levels[LAKES];

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void *forecast(void *arg)
{
	setpriority(PRIO_PROCESS, syscall(SYS_gettid), 19);
	for (unsigned n = 0;; n++) {
		double until = now() + 0.006;
		while (now() < until)
			for (int i = 0; i < 500; i++) {
				double *level = &levels[(n + i) % LAKES];
				*level = 40 + 20 * sin(*level + i * 0.01);
			}
		usleep(6000);
	}
	return arg;
}

static void *snapshot(void *arg)
{
	FILE *file = tmpfile();
	if (!file) {
		perror("snapshot");
		exit(1);
	}
	for (;;) {
		rewind(file);
		fwrite(levels, sizeof levels, 1, file);
		fflush(file);
		fsync(fileno(file));
		usleep(500000);
	}
	return arg;
}

static int answer(int fd)
{
	char in[8192], out[256], body[64];
	ssize_t n = read(fd, in, sizeof in - 1);
	if (n <= 0)
		return -1;
	in[n] = 0;
	char *path = strchr(in, ' ');
	int lake = path && !strncmp(path, " /level/", 8) ? atoi(path + 8) % LAKES : 0;
	int size = snprintf(body, sizeof body, "{\"lake\":%d,\"metres\":%.2f}\n", lake, levels[lake]);
	n = snprintf(out, sizeof out, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", size, body);
	return write(fd, out, n) == n ? 0 : -1;
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < LAKES; i++)
		levels[i] = 30 + i % 50;
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
	pthread_t thread;
	pthread_create(&thread, NULL, forecast, NULL);
	pthread_create(&thread, NULL, snapshot, NULL);
	int poller = epoll_create1(0);
	struct epoll_event e = {.events = EPOLLIN, .data.fd = listener};
	epoll_ctl(poller, EPOLL_CTL_ADD, listener, &e);
	for (;;) {
		struct epoll_event ready[64];
		int n = epoll_wait(poller, ready, 64, -1);
		for (int i = 0; i < n; i++) {
			int fd = ready[i].data.fd;
			if (fd == listener) {
				fd = accept(listener, NULL, NULL);
				if (fd < 0)
					continue;
				setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
				e = (struct epoll_event){.events = EPOLLIN, .data.fd = fd};
				epoll_ctl(poller, EPOLL_CTL_ADD, fd, &e);
			} else if (answer(fd)) {
				close(fd);
			}
		}
	}
}
