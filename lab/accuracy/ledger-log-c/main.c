/* ledger-log-c keeps balances in memory: a thread for each connection, one mutex, and a thread
 * beside them that writes what changed to a log and syncs it ten times a second. */
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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balances[1024], changed;

static void *keep_log(void *arg)
{
	char name[512];
	const char *dir = getenv("TMPDIR");
	snprintf(name, sizeof name, "%s/balances.XXXXXX", dir ? dir : "/tmp");
	int file = mkstemp(name);
	unlink(name);
	for (;;) {
		usleep(100 * 1000);
		pthread_mutex_lock(&lock);
		long n = changed;
		pthread_mutex_unlock(&lock);
		char line[64];
		int size = snprintf(line, sizeof line, "%ld\n", n);
		if (write(file, line, size) != size || fsync(file))
			perror("log");
	}
	return arg;
}

static void *serve(void *arg)
{
	static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
	int fd = (int)(long)arg;
	char in[8192];
	for (;;) {
		ssize_t n = read(fd, in, sizeof in - 1);
		if (n <= 0)
			break;
		in[n] = 0;
		unsigned h = 0;
		for (char *c = in; *c; c++)
			h = h * 31 + *c;
		pthread_mutex_lock(&lock);
		balances[h % 1024]++;
		changed++;
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
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 512)) {
		perror("listen");
		return 1;
	}
	pthread_t thread;
	pthread_create(&thread, NULL, keep_log, NULL);
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
