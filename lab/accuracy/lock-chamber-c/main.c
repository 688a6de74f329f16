/* lock-chamber-c books passages through the chambers of a canal lock in a file; a clerk's process
 * holds the file's lock for most of the time while it prints lists. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

static int faulty;
static char book[512];

static void open_book(const char *dir)
{
	snprintf(book, sizeof book, "%s/passages.XXXXXX", dir);
	int file = mkstemp(book);
	if (file < 0)
		exit(1);
	close(file);
	if (fork() == 0) {
		pid_t parent = getppid();
		int lists = open(book, O_RDWR);
		while (getppid() == parent) {
			flock(lists, LOCK_EX);
			usleep(faulty ? 25000 : 50);
			flock(lists, LOCK_UN);
			usleep(8000);
		}
		unlink(book);
		_exit(0);
	}
}

__attribute__((noinline)) static void book_passage(const char *path)
{
	int file = open(book, O_RDWR | O_APPEND);
	flock(file, LOCK_EX);
	if (write(file, path, strcspn(path, " ")) < 0)
		perror("book");
	flock(file, LOCK_UN);
	close(file);
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
		book_passage(in + 4);
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
	open_book(dir ? dir : "/tmp");
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
