/* tannery-c says how far the hides of a tannery are. Each connection carries one request and has
 * a thread of its own. The guild is asked whether the client is a member. With FAULT=0 the
 * connection's thread asks, and not the thread that accepts. */
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

static struct sockaddr_in guild;
static int asks_first = 1;

static struct sockaddr_in address(const char *name)
{
	char host[64];
	snprintf(host, sizeof host, "%s", getenv(name));
	char *colon = strrchr(host, ':');
	*colon = 0;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(colon + 1))};
	inet_pton(AF_INET, host, &at.sin_addr);
	return at;
}

static int dial_guild(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	if (connect(fd, (struct sockaddr *)&guild, sizeof guild)) {
		close(fd);
		return -1;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return fd;
}

/* is_member asks the guild, over a connection to it. */
static int is_member(int fd)
{
	char said[256];
	if (write(fd, "GET member\n", 11) != 11)
		return 0;
	ssize_t n = read(fd, said, sizeof said);
	return n > 5 && !strncmp(said, "VALUE", 5);
}

static unsigned stage_of(const char *hide)
{
	unsigned h = 5381;
	for (int round = 0; round < 200; round++)
		for (const char *c = hide; *c && *c != ' '; c++)
			h = h * 33 + *c;
	return h % 12;
}

static void *serve(void *arg)
{
	int fd = (int)(long)arg, member = 1;
	char in[4096], out[256], body[64];
	if (!asks_first) {
		int to = dial_guild();
		member = to >= 0 && is_member(to);
		close(to);
	}
	ssize_t n = read(fd, in, sizeof in - 1);
	if (n > 0) {
		in[n] = 0;
		const char *hide = strstr(in, "/hide/");
		int len = member && hide ? snprintf(body, sizeof body, "stage %u of 12\n", stage_of(hide))
					 : snprintf(body, sizeof body, "no\n");
		int all = snprintf(out, sizeof out, "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
				   member && hide ? "200 OK" : "404 Not Found", len, body);
		if (write(fd, out, all) < 0)
			perror("write");
	}
	shutdown(fd, SHUT_WR);
	while (read(fd, in, sizeof in) > 0)
		;
	close(fd);
	return NULL;
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const char *fault = getenv("FAULT");
	asks_first = !fault || strcmp(fault, "0");
	guild = address("ADDR_GUILD");
	struct sockaddr_in at = address("ADDR");
	int to_guild = dial_guild();
	if (to_guild < 0) {
		perror("guild");
		return 1;
	}
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 512)) {
		perror("listen");
		return 1;
	}
	pthread_attr_t apart;
	pthread_attr_init(&apart);
	pthread_attr_setdetachstate(&apart, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&apart, 256 * 1024);
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		if (asks_first && !is_member(to_guild)) {
			close(fd);
			continue;
		}
		pthread_t thread;
		if (pthread_create(&thread, &apart, serve, (void *)(long)fd))
			close(fd);
	}
}
