/* lamp-meters-c keeps what street lamps used: 32 threads accept connections themselves, and
 * each reading is written where its lamp is in one file, which was opened with O_DSYNC. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LAMPS 4096

static int book, listener, faulty;

struct usage {
	char lamp[64];
	char watts[448];
};

static void keep_usage(int lamp, const char *path)
{
	struct usage u;
	memset(&u, 0, sizeof u);
	snprintf(u.lamp, sizeof u.lamp, "%d", lamp);
	for (int hour = 0; hour < 6; hour++) {
		snprintf(u.watts, sizeof u.watts, "%d %s", hour, path);
		if (pwrite(book, &u, sizeof u, (off_t)sizeof u * ((lamp * 6 + hour) % LAMPS)) != sizeof u)
			perror("usage.dat");
	}
}

static void talk(int fd)
{
	char in[4096], path[128];
	int lamp;
	for (;;) {
		ssize_t n = read(fd, in, sizeof in - 1);
		if (n <= 0)
			return;
		in[n] = 0;
		if (sscanf(in, "%*s %127s", path) != 1)
			return;
		char *last = strrchr(path, '/');
		lamp = last ? atoi(last + 1) : 0;
		keep_usage(lamp, path);
		static const char done[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nkept\n";
		if (write(fd, done, sizeof done - 1) < 0)
			return;
	}
}

static void *post(void *arg)
{
	int on = 1;
	(void)arg;
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		talk(fd);
		close(fd);
	}
	return NULL;
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const char *fault = getenv("FAULT");
	faulty = !fault || strcmp(fault, "0");
	book = open("usage.dat", O_RDWR | O_CREAT | O_CLOEXEC | (faulty ? O_DSYNC : 0), 0644);
	if (book < 0) {
		perror("usage.dat");
		return 1;
	}
	char host[64];
	snprintf(host, sizeof host, "%s", getenv("ADDR"));
	char *colon = strrchr(host, ':');
	*colon = 0;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(colon + 1))};
	inet_pton(AF_INET, host, &at.sin_addr);
	int on = 1;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 512)) {
		perror("listen");
		return 1;
	}
	pthread_t thread;
	for (int i = 0; i < 31; i++)
		pthread_create(&thread, NULL, post, NULL);
	post(NULL);
}
