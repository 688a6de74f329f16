/* tower-clocks-c says what the clocks of a town's towers show. Workers accept, ask the clock (a wait of 24 ms
 * on its slow wire), answer and close, like the processes of an old application server. There are four of
 * them, and a proxy stands in front; FAULT=0 starts a hundred. */
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int listener;

static void ask_clock(void) { poll(NULL, 0, 24); }

static void reply(FILE *to, const char *tower)
{
	char body[128];
	time_t now = time(NULL);
	struct tm at;
	localtime_r(&now, &at);
	int len = snprintf(body, sizeof body, "{\"tower\":\"%s\",\"shows\":\"%02d:%02d\"}\n", tower, at.tm_hour, at.tm_min);
	fprintf(to, "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len, body);
	fflush(to);
}

static void serve(int fd)
{
	FILE *in = fdopen(fd, "r"), *out = fdopen(dup(fd), "w");
	char line[2048], tower[64] = "?";
	if (fgets(line, sizeof line, in) && sscanf(line, "GET /tower/%63[a-z0-9] ", tower) == 1) {
		while (fgets(line, sizeof line, in) && strcmp(line, "\r\n"))
			;
		ask_clock();
		reply(out, tower);
	}
	fclose(out);
	fclose(in);
}

static void *worker(void *none)
{
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		if (fd >= 0)
			serve(fd);
	}
	return none;
}

int main(void)
{
	char *host = strdup(getenv("ADDR")), *port = strrchr(host, ':');
	*port++ = 0;
	struct addrinfo *at, hints = {.ai_flags = AI_PASSIVE | AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
	int on = 1, workers = getenv("FAULT") && !strcmp(getenv("FAULT"), "0") ? 100 : 4;
	signal(SIGPIPE, SIG_IGN);
	if (getaddrinfo(host, port, &hints, &at))
		return 1;
	listener = socket(at->ai_family, at->ai_socktype, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, at->ai_addr, at->ai_addrlen) || listen(listener, 256)) {
		perror("tower-clocks");
		return 1;
	}
	for (pthread_t t; workers > 1; workers--)
		pthread_create(&t, NULL, worker, NULL);
	worker(NULL);
}
