/* mill-register-c enters what mills ground into one register, which other programs use, too: whoever
 * touches it holds its lock (flock). There is a thread for each connection. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#define MILLS 1024

struct entry {
	char mill[32];
	long sacks;
	char miller[88];
};

/* enter_sacks adds a sack to a mill's entry and returns how many it has. */
static long enter_sacks(int book, int mill)
{
	struct entry e;
	off_t at = (off_t)sizeof e * (mill % MILLS);
	if (flock(book, LOCK_EX))
		return -1;
	memset(&e, 0, sizeof e);
	if (pread(book, &e, sizeof e, at) < 0)
		e.sacks = 0;
	snprintf(e.mill, sizeof e.mill, "mill %d", mill);
	snprintf(e.miller, sizeof e.miller, "miller %d", mill * 31 % 211);
	e.sacks++;
	if (pwrite(book, &e, sizeof e, at) != sizeof e)
		perror("mills.reg");
	flock(book, LOCK_UN);
	return e.sacks;
}

static void *talk(void *arg)
{
	int fd = (int)(intptr_t)arg, on = 1;
	int book = open("mills.reg", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	char in[4096], path[128], body[64], out[256];
	size_t have = 0;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	while (book >= 0) {
		ssize_t n = read(fd, in + have, sizeof in - 1 - have);
		if (n <= 0)
			break;
		have += n;
		in[have] = 0;
		if (!strstr(in, "\r\n\r\n"))
			continue;
		have = 0;
		if (sscanf(in, "%*s %127s", path) != 1)
			break;
		char *last = strrchr(path, '/');
		long sacks = enter_sacks(book, last ? atoi(last + 1) : 0);
		int size = snprintf(body, sizeof body, "%ld sacks\n", sacks);
		int length = snprintf(out, sizeof out, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", size, body);
		if (write(fd, out, length) != length)
			break;
	}
	if (book >= 0)
		close(book);
	close(fd);
	return NULL;
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	char host[64];
	snprintf(host, sizeof host, "%s", getenv("ADDR"));
	char *colon = strrchr(host, ':');
	*colon = 0;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(colon + 1))};
	inet_pton(AF_INET, host, &at.sin_addr);
	int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 512)) {
		perror("listen");
		return 1;
	}
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		pthread_t thread;
		if (fd < 0)
			continue;
		if (pthread_create(&thread, NULL, talk, (void *)(intptr_t)fd)) {
			close(fd);
			continue;
		}
		pthread_detach(thread);
	}
}
