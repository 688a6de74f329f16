/* sluice-log-c opens and closes sluices, and logs much: some 64 KiB for each request through a
 * writer thread of its own, into a file that is never synced and begins anew at 64 MB. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static unsigned waiting;

static void *writer(void *arg)
{
	static char line[64 << 10];
	int log = open("sluice.log", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	off_t end = 0;
	memset(line, '-', sizeof line);
	for (;;) {
		pthread_mutex_lock(&lock);
		while (!waiting)
			pthread_cond_wait(&some, &lock);
		unsigned n = waiting;
		waiting = 0;
		pthread_mutex_unlock(&lock);
		for (; n; n--) {
			if (pwrite(log, line, sizeof line, end) < 0)
				perror("sluice.log");
			end = (end + sizeof line) % (64 << 20);
		}
	}
	return arg;
}

static void *serve(void *arg)
{
	static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nopen\n";
	int fd = (int)(long)arg;
	char in[4096];
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	for (;;) {
		if (poll(&ready, 1, 1000) == 0)
			continue;
		if (read(fd, in, sizeof in) <= 0)
			break;
		pthread_mutex_lock(&lock);
		waiting++;
		pthread_cond_signal(&some);
		pthread_mutex_unlock(&lock);
		if (write(fd, ok, sizeof ok - 1) < 0)
			break;
	}
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
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 512)) {
		perror("listen");
		return 1;
	}
	pthread_t thread;
	pthread_create(&thread, NULL, writer, NULL);
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		if (pthread_create(&thread, NULL, serve, (void *)(long)fd))
			close(fd);
		else
			pthread_detach(thread);
	}
}
