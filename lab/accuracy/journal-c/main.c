/* journal-c appends readings to a journal: an acceptor, a queue of connections and twelve
 * workers; each reading is twelve lines, and each line is synced under the journal's lock. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define WORKERS 12
#define QUEUE 4096

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER, journal_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queued = PTHREAD_COND_INITIALIZER;
static int queue[QUEUE], head, tail;
static int journal, poller, sync_lines = 1;

static void append_journal(const char *path)
{
	char line[256];
	for (int n = 0; n < 12; n++) {
		int size = snprintf(line, sizeof line, "%d %.*s\n", n, (int)strcspn(path, " \r"), path);
		if (write(journal, line, size) != size)
			perror("journal");
		if (sync_lines)
			fsync(journal);
	}
}

static int answer(int fd)
{
	static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
	char in[8192];
	ssize_t n = read(fd, in, sizeof in - 1);
	if (n <= 0)
		return -1;
	in[n] = 0;
	if (strncmp(in, "GET /health", 11)) {
		pthread_mutex_lock(&journal_lock);
		append_journal(in + 4);
		pthread_mutex_unlock(&journal_lock);
	}
	return write(fd, ok, sizeof ok - 1) < 0 ? -1 : 0;
}

static void watch(int fd, int op)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLONESHOT, .data.fd = fd};
	epoll_ctl(poller, op, fd, &e);
}

static void *work(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&queue_lock);
		while (head == tail)
			pthread_cond_wait(&queued, &queue_lock);
		int fd = queue[head++ % QUEUE];
		pthread_mutex_unlock(&queue_lock);
		if (answer(fd))
			close(fd);
		else
			watch(fd, EPOLL_CTL_MOD);
	}
	return arg;
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const char *fault = getenv("FAULT"), *dir = getenv("TMPDIR");
	sync_lines = !fault || strcmp(fault, "0");
	char name[512];
	snprintf(name, sizeof name, "%s/readings.XXXXXX", dir ? dir : "/tmp");
	journal = mkstemp(name);
	if (journal < 0) {
		perror(name);
		return 1;
	}
	unlink(name);
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
	poller = epoll_create1(0);
	watch(listener, EPOLL_CTL_ADD);
	for (int n = 0; n < WORKERS; n++) {
		pthread_t thread;
		pthread_create(&thread, NULL, work, NULL);
	}
	for (;;) {
		struct epoll_event ready[64];
		int n = epoll_wait(poller, ready, 64, -1);
		for (int i = 0; i < n; i++) {
			if (ready[i].data.fd == listener) {
				int fd = accept(listener, NULL, NULL);
				watch(listener, EPOLL_CTL_MOD);
				if (fd < 0)
					continue;
				setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
				watch(fd, EPOLL_CTL_ADD);
				continue;
			}
			pthread_mutex_lock(&queue_lock);
			queue[tail++ % QUEUE] = ready[i].data.fd;
			pthread_mutex_unlock(&queue_lock);
			pthread_cond_signal(&queued);
		}
	}
}
