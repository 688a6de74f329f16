/* contour-c draws contours: four painters take jobs from a queue, each with an arena of its own
 * that it gives back to the kernel after each drawing (MADV_DONTNEED). */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define ARENA (24 << 20)

static int faulty;
static int jobs[2];

__attribute__((noinline)) static unsigned draw(unsigned char *arena)
{
	unsigned sum = 0;
	for (size_t i = 0; i < ARENA; i += 4096) {
		arena[i] = (unsigned char)(i >> 12);
		sum += arena[i];
	}
	return sum;
}

__attribute__((noinline)) static void wash(unsigned char *arena)
{
	if (faulty)
		madvise(arena, ARENA, MADV_DONTNEED);
}

static void *painter(void *arg)
{
	unsigned char *arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd;
	(void)arg;
	madvise(arena, ARENA, MADV_NOHUGEPAGE);
	while (read(jobs[0], &fd, sizeof fd) == sizeof fd) {
		char out[256], body[32];
		int n = snprintf(body, sizeof body, "%u\n", draw(arena));
		n = snprintf(out, sizeof out, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", n, body);
		if (write(fd, out, n) < 0)
			perror("answer");
		wash(arena);
	}
	return NULL;
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const char *fault = getenv("FAULT");
	faulty = !fault || strcmp(fault, "0");
	char host[64];
	snprintf(host, sizeof host, "%s", getenv("ADDR"));
	char *colon = strrchr(host, ':');
	*colon = 0;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(colon + 1))};
	inet_pton(AF_INET, host, &at.sin_addr);
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (pipe(jobs) || bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 512)) {
		perror("start");
		return 1;
	}
	pthread_t thread;
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, painter, NULL);
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
				continue;
			}
			char in[4096];
			if (read(fd, in, sizeof in) <= 0)
				close(fd);
			else if (write(jobs[1], &fd, sizeof fd) < 0)
				perror("jobs");
		}
	}
}
