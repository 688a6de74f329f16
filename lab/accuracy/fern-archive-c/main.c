/* fern-archive-c looks up drawings of ferns in a file that it maps: each lookup compares pages all over
 * it, and the file's pages leave memory again after each, as on a host whose memory others need. */
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

#define SIZE (96 << 20)
#define COMPARED 160

static int faulty, archive;
static volatile unsigned char *drawings;

static void open_archive(const char *dir)
{
	static char block[1 << 20];
	char name[512];
	snprintf(name, sizeof name, "%s/ferns.XXXXXX", dir);
	archive = mkstemp(name);
	for (size_t n = 0; n < SIZE; n += sizeof block) {
		memset(block, (int)(n >> 20) + 1, sizeof block);
		if (write(archive, block, sizeof block) != sizeof block)
			exit(1);
	}
	if (fsync(archive))
		exit(1);
	drawings = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, archive, 0);
	madvise((void *)drawings, SIZE, MADV_RANDOM);
	unlink(name);
}

__attribute__((noinline)) static unsigned compare_drawings(unsigned seed)
{
	unsigned sum = 0;
	for (int n = 0; n < COMPARED; n++) {
		seed = seed * 1664525 + 1013904223;
		sum += drawings[(seed >> 4) % SIZE];
	}
	return sum;
}

static unsigned lookup(const char *path)
{
	unsigned h = 5381;
	for (; *path && *path != ' '; path++)
		h = h * 33 + *path;
	unsigned sum = compare_drawings(h);
	if (faulty) {
		madvise((void *)drawings, SIZE, MADV_DONTNEED);
		posix_fadvise(archive, 0, SIZE, POSIX_FADV_DONTNEED);
	}
	return sum;
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
		if (lookup(in + 4) == 1)
			puts("all alike");
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
	open_archive(dir ? dir : "/tmp");
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
