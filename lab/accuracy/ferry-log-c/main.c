/* ferry-log-c sells tickets and writes what it sold to a process that archives it, by a pipe: that
 * process compresses slowly, so that the pipe is full. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int faulty, archive;

static void begin_archive(const char *dir)
{
	(void)dir;
	int ends[2];
	if (pipe(ends))
		exit(1);
	if (fork() == 0) {
		char block[4096];
		close(ends[1]);
		while (read(ends[0], block, sizeof block) > 0)
			usleep(faulty ? 1500 : 1);
		_exit(0);
	}
	close(ends[0]);
	archive = ends[1];
}

__attribute__((noinline)) static void note_sale(const char *path)
{
	char entry[24 << 10];
	memset(entry, '.', sizeof entry);
	strncpy(entry, path, 64);
	if (write(archive, entry, sizeof entry) < 0)
		perror("archive");
}

static void *serve(void *arg)
{
	static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
	int fd = (int)(long)arg;
	char in[4096];
	for (;;) {
		ssize_t n = read(fd, in, sizeof in - 1);
		if (n <= 0)
			break;
		in[n] = 0;
		note_sale(in + 4);
		if (write(fd, ok, sizeof ok - 1) < 0)
			break;
	}
	close(fd);
	return NULL;
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const char *fault = getenv("FAULT"), *dir = getenv("TMPDIR");
	faulty = !fault || strcmp(fault, "0");
	begin_archive(dir ? dir : "/tmp");
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
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		pthread_t thread;
		if (pthread_create(&thread, NULL, serve, (void *)(long)fd))
			close(fd);
		else
			pthread_detach(thread);
	}
}
