/* granary-c says where lots of grain lie. Lots are kept in order by weight, and a steward puts
 * them in order anew, as they dry. With FAULT=0 he orders a copy and exchanges it. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LOTS = 900000, LISTENING = 512 };

struct lot {
	unsigned number, weight;
};

static struct lot shelves[2][LOTS], *lots = shelves[0], *spare = shelves[1];
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int copies;

static int compare_weights(const void *a, const void *b)
{
	const struct lot *x = a, *y = b;
	return x->weight < y->weight ? -1 : x->weight > y->weight;
}

/* dry_lots makes each lot lighter, some more than others. */
static void dry_lots(struct lot *all, unsigned round)
{
	for (unsigned i = 0; i < LOTS; i++)
		all[i].weight = 1000000 + (all[i].number * 2654435761u + round * 40503u) % 900001;
}

static void order_lots(unsigned round)
{
	dry_lots(lots, round);
	qsort(lots, LOTS, sizeof *lots, compare_weights);
}

static void *keep_order(void *arg)
{
	const struct timespec pause = {.tv_nsec = 700000000};
	for (unsigned round = 1;; round++) {
		nanosleep(&pause, NULL);
		if (!copies) {
			pthread_rwlock_wrlock(&lock);
			order_lots(round);
			pthread_rwlock_unlock(&lock);
			continue;
		}
		memcpy(spare, lots, sizeof shelves[0]);
		dry_lots(spare, round);
		qsort(spare, LOTS, sizeof *spare, compare_weights);
		pthread_rwlock_wrlock(&lock);
		struct lot *before = lots;
		lots = spare;
		spare = before;
		pthread_rwlock_unlock(&lock);
	}
	return arg;
}

static struct lot find_lot(unsigned rank)
{
	pthread_rwlock_rdlock(&lock);
	struct lot found = lots[rank % LOTS];
	pthread_rwlock_unlock(&lock);
	return found;
}

static void *serve(void *arg)
{
	int fd = (int)(long)arg;
	char in[4096], body[128], out[256];
	for (ssize_t n; (n = read(fd, in, sizeof in - 1)) > 0;) {
		in[n] = 0;
		unsigned rank = 0;
		if (sscanf(in, "GET /lot/%u", &rank) != 1)
			break;
		struct lot found = find_lot(rank);
		int size = snprintf(body, sizeof body, "lot %u weighs %u g\n", found.number, found.weight);
		int all = snprintf(out, sizeof out, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", size, body);
		if (write(fd, out, all) < 0)
			break;
	}
	close(fd);
	return NULL;
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const char *fault = getenv("FAULT");
	copies = fault && !strcmp(fault, "0");
	for (unsigned i = 0; i < LOTS; i++)
		lots[i].number = i;
	order_lots(0);
	char host[64];
	snprintf(host, sizeof host, "%s", getenv("ADDR"));
	char *colon = strrchr(host, ':');
	*colon = 0;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(colon + 1))};
	inet_pton(AF_INET, host, &at.sin_addr);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, LISTENING)) {
		perror("listen");
		return 1;
	}
	pthread_t thread;
	pthread_create(&thread, NULL, keep_order, NULL);
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
