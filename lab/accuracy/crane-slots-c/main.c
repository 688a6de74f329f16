/* crane-slots-c moves containers: a thread for each connection, and three cranes, each held for 30 ms;
 * who finds none free waits at a condition variable. */
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

static pthread_cond_t freed = PTHREAD_COND_INITIALIZER;
static int cranes = 3;

static void move_container(void)
{
	char plan[2048];
	memset(plan, 1, sizeof plan);
	pthread_mutex_lock(&lock);
	while (cranes == 0)
		pthread_cond_wait(&freed, &lock);
	cranes--;
	pthread_mutex_unlock(&lock);
	usleep(30 * 1000 + plan[7]);
	pthread_mutex_lock(&lock);
	cranes++;
	pthread_cond_signal(&freed);
	pthread_mutex_unlock(&lock);
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
		move_container();
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
