/* xray-viewer shows X-ray pictures, a thread for each connection. A picture is unpacked into 36 MB
 * from malloc, of which only some lines are looked at. So much is more than malloc ever keeps
 * (DEFAULT_MMAP_THRESHOLD_MAX): the kernel maps it, clears each page on its first use, and takes it
 * back at free. With FAULT=0 a thread keeps its picture for the next request: p50 and p99 of
 * pictures are 0.9 and 7.3 ms instead of 22 and 54 ms. */
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

#define WIDTH 4096
#define HEIGHT 9216

static int keeps;

/* Unpacks a picture, a mark in each line, and says how dark it is. */
static unsigned unpack(unsigned char *picture, unsigned patient)
{
	unsigned dark = 0;
	for (int y = 0; y < HEIGHT; y++)
		picture[y * WIDTH + (patient + y) % WIDTH] = (patient ^ y) & 255;
	for (int y = 0; y < HEIGHT; y++)
		dark += picture[y * WIDTH + (patient + y) % WIDTH];
	return dark;
}

static void answer(int fd, const char *path, unsigned char **kept)
{
	char body[64], out[256];
	int size = 0;
	if (!strncmp(path, "/xray/", 6)) {
		unsigned char *picture = *kept ? *kept : malloc((size_t)WIDTH * HEIGHT);
		if (!picture) {
			perror("picture");
			exit(1);
		}
		size = snprintf(body, sizeof body, "{\"dark\":%u}\n", unpack(picture, atoi(path + 6)));
		if (keeps)
			*kept = picture;
		else
			free(picture);
	} else {
		size = snprintf(body, sizeof body, "open\n");
	}
	int n = snprintf(out, sizeof out, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", size, body);
	if (write(fd, out, n) != n)
		perror("write");
}

static void *serve(void *arg)
{
	int fd = (int)(long)arg;
	unsigned char *kept = NULL;
	char in[8192];
	for (;;) {
		ssize_t n = read(fd, in, sizeof in - 1);
		if (n <= 0)
			break;
		in[n] = 0;
		char *path = strchr(in, ' ');
		answer(fd, path ? path + 1 : "/", &kept);
	}
	free(kept);
	close(fd);
	return NULL;
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const char *fault = getenv("FAULT");
	keeps = fault && !strcmp(fault, "0");
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
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		pthread_t thread;
		if (pthread_create(&thread, NULL, serve, (void *)(long)fd)) {
			perror("thread");
			close(fd);
			continue;
		}
		pthread_detach(thread);
	}
}
