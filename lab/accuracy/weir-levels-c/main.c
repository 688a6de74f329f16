/* weir-levels-c takes levels of weirs: 24 threads accept by turns, and each
 * appends blocks to one log and waits until the block is written (sync_file_range). */
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

#define BLOCK (64 << 10)

static int listener, faulty, levels;
static off_t end;
static pthread_mutex_t place = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void append_levels(const char *weir)
{
	char *block = malloc(BLOCK);
	for (int i = 0; i < 3; i++) {
		memset(block, weir[i % 3], BLOCK);
		pthread_mutex_lock(&place);
		off_t at = end;
		end = (end + BLOCK) % (256 << 20);
		pthread_mutex_unlock(&place);
		if (pwrite(levels, block, BLOCK, at) != BLOCK)
			perror("levels.log");
		if (faulty)
			sync_file_range(levels, at, BLOCK, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
	}
	free(block);
}

static void *weir(void *arg)
{
	int on = 1;
	(void)arg;
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		char in[4096];
		ssize_t n;
		while ((n = read(fd, in, sizeof in)) > 0) {
			append_levels(in + 4);
			if (dprintf(fd, "HTTP/1.1 204 No Content\r\n\r\n") < 0)
				break;
		}
		close(fd);
	}
	return NULL;
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const char *fault = getenv("FAULT");
	faulty = !fault || strcmp(fault, "0");
	levels = open("levels.log", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	char host[64];
	snprintf(host, sizeof host, "%s", getenv("ADDR"));
	char *colon = strrchr(host, ':');
	*colon = 0;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(colon + 1))};
	inet_pton(AF_INET, host, &at.sin_addr);
	int on = 1;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (levels < 0 || bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 512)) {
		perror("start");
		return 1;
	}
	pthread_t thread;
	for (int i = 0; i < 23; i++)
		pthread_create(&thread, NULL, weir, NULL);
	weir(NULL);
}
