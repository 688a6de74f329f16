/* Wind-gauge takes and gives the readings of gauges: one thread, epoll, HTTP/1.1. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { GAUGES = 4096, KEPT = 64, MOST = 4096 };

struct gauge {
	double knots[KEPT];
	unsigned n;
};

struct client {
	int fd;
	size_t have;
	char in[MOST];
};

static struct gauge gauges[GAUGES];

static int listen_at(const char *address)
{
	char host[64];
	int port, one = 1;
	if (!address || sscanf(address, "%63[^:]:%d", host, &port) != 2)
		return -1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
	inet_pton(AF_INET, host, &at.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 512))
		return -1;
	return fd;
}

static void answer(struct client *c, const char *status, const char *body)
{
	char out[512];
	int n = snprintf(out, sizeof out, "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n%s", status, strlen(body), body);
	if (write(c->fd, out, n) != n)
		c->have = MOST; /* it is closed */
}

/* mean is that of the last readings, with gusts weighed more. */
static double mean(const struct gauge *g)
{
	double sum = 0, weight = 0;
	for (unsigned i = 0; i < KEPT && i < g->n; i++) {
		double w = 1 + sqrt(fabs(g->knots[i]));
		sum += w * g->knots[i];
		weight += w;
	}
	return weight > 0 ? sum / weight : 0;
}

static void serve(struct client *c, const char *request)
{
	unsigned id;
	double knots;
	char body[64];
	if (sscanf(request, "GET /gauges/%u HTTP", &id) == 1 && id < GAUGES) {
		snprintf(body, sizeof body, "%.2f\n", mean(&gauges[id]));
		answer(c, "200 OK", body);
	} else if (sscanf(request, "POST /gauges/%u/%lf HTTP", &id, &knots) == 2 && id < GAUGES) {
		struct gauge *g = &gauges[id];
		g->knots[g->n++ % KEPT] = knots;
		answer(c, "202 Accepted", "");
	} else {
		answer(c, "404 Not Found", "no such gauge\n");
	}
}

/* ready reads what came and answers all whole requests; 0: the client is gone. */
static int ready(struct client *c)
{
	ssize_t n = read(c->fd, c->in + c->have, MOST - 1 - c->have);
	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	c->have += n;
	c->in[c->have] = 0;
	for (char *end; c->have < MOST && (end = strstr(c->in, "\r\n\r\n"));) {
		size_t used = end + 4 - c->in;
		serve(c, c->in);
		if (c->have >= MOST)
			return 0;
		memmove(c->in, c->in + used, c->have - used + 1);
		c->have -= used;
	}
	return c->have < MOST - 1;
}

int main(void)
{
	int fd = listen_at(getenv("ADDR")), poll = epoll_create1(0), one = 1;
	if (fd < 0) {
		perror("listen");
		return 1;
	}
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, came[128];
	epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
	for (;;) {
		int n = epoll_wait(poll, came, 128, -1);
		for (int i = 0; i < n; i++) {
			struct client *c = came[i].data.ptr;
			if (!c) {
				int in = accept4(fd, NULL, NULL, SOCK_NONBLOCK);
				if (in < 0)
					continue;
				setsockopt(in, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
				c = calloc(1, sizeof *c);
				c->fd = in;
				event = (struct epoll_event){.events = EPOLLIN, .data.ptr = c};
				epoll_ctl(poll, EPOLL_CTL_ADD, in, &event);
			} else if (!ready(c)) {
				close(c->fd);
				free(c);
			}
		}
	}
}
