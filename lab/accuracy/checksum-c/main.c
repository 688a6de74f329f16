/* checksum-c computes checksums of names, a thread for each connection. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int rounds = 60000;

static uint64_t checksum(const char *text)
{
	uint64_t sum = 1469598103934665603ull;
	for (int n = 0; n < rounds; n++)
		for (const char *c = text; *c && *c != ' '; c++) {
			sum ^= (unsigned char)*c + n;
			sum *= 1099511628211ull;
		}
	return sum;
}

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char in[8192], body[64], out[256];
	size_t have = 0;
	for (;;) {
		ssize_t n = read(fd, in + have, sizeof in - 1 - have);
		if (n <= 0)
			break;
		have += n;
		in[have] = 0;
		char *end;
		while ((end = strstr(in, "\r\n\r\n"))) {
			char *path = strchr(in, ' ');
			int length = snprintf(body, sizeof body, "%016llx\n", (unsigned long long)checksum(path ? path + 1 : in));
			int size = snprintf(out, sizeof out, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", length, body);
			if (write(fd, out, size) != size)
				goto done;
			have -= end + 4 - in;
			memmove(in, end + 4, have + 1);
		}
		if (have == sizeof in - 1)
			break;
	}
done:
	close(fd);
	return NULL;
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const char *fault = getenv("FAULT");
	if (fault && !strcmp(fault, "0"))
		rounds /= 5;
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
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		pthread_t thread;
		if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd))
			close(fd);
		else
			pthread_detach(thread);
	}
}
