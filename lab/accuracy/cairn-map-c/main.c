/* cairn-map-c adds cairns to maps: each request takes 2 MB of memory, keeps it in a ring of the
 * last ones, and appends as much to a file, within a control group whose memory is nearly full. */
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
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define SHEET (2 << 20)
#define KEPT 12

static int sheets;
static off_t end;
static char *ring[KEPT];
static unsigned turn;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void add_sheet(char mark)
{
	char *sheet = mmap(NULL, SHEET, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sheet == MAP_FAILED)
		return;
	memset(sheet, mark, SHEET);
	pthread_mutex_lock(&lock);
	off_t at = end;
	end = (end + SHEET) % (256L << 20);
	unsigned slot = turn++ % KEPT;
	char *old = ring[slot];
	ring[slot] = sheet;
	pthread_mutex_unlock(&lock);
	if (pwrite(sheets, sheet, SHEET, at) != SHEET)
		perror("sheets.map");
	if (old)
		munmap(old, SHEET);
}

static void *serve(void *arg)
{
	static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nadded\n";
	int fd = (int)(long)arg;
	char in[4096];
	while (read(fd, in, sizeof in) > 0) {
		add_sheet(in[5]);
		if (write(fd, ok, sizeof ok - 1) < 0)
			break;
	}
	close(fd);
	return NULL;
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	sheets = open("sheets.map", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	char host[64];
	snprintf(host, sizeof host, "%s", getenv("ADDR"));
	char *colon = strrchr(host, ':');
	*colon = 0;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(colon + 1))};
	inet_pton(AF_INET, host, &at.sin_addr);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (sheets < 0 || bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 512)) {
		perror("start");
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
