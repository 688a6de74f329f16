/* service is what the recordings of the kernel's causes are of: a server of HTTP in C, a thread for each
 * connection, whose requests do one thing: sync a journal, read a file, or compute under a lock. It
 * says where it listens as a line of JSON, and ends when its standard input does.
 *
 *	service sync         each request appends lines to a journal and syncs each, under the journal's lock
 *	service log          each request appends a line; a thread syncs the journal each 200 ms
 *	service cold FILE    each request reads pages all over a file, and drops them from the cache
 *	service warm FILE    the same, and nothing is dropped
 *	service lock MS      each request computes so long under one lock
 *	service free MS      the same without the lock
 *	service table MB     each request touches pages all over a table in memory
 *	service loop MS      one thread serves all connections, and computes so long for each report
 *	service aside MS     the same, and a thread of its own computes
 *	service packets SIZE [MS] no requests: one thread sends datagrams, computing so long before each, another takes them
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define PAGES 512 /* that a request reads; one in four reads one */
#define LINES 24 /* that it writes, likewise */
#define NOINLINE __attribute__((noinline))

static const char *mode;
static char name[512];
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static int journal = -1, data = -1, udp = -1;
static long pages, cost;
static size_t size;
static char *table;
static struct sockaddr_in here;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *start(void *(*run)(void *), void *arg)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, run, arg))
		fail("thread");
	pthread_detach(thread);
	return NULL;
}

NOINLINE static void compute(long ns)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	long long end = t.tv_sec * 1000000000LL + t.tv_nsec + ns;
	volatile unsigned x = 1;
	do {
		for (int i = 0; i < 2000; i++)
			x = x * 1664525 + 1013904223;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_sec * 1000000000LL + t.tv_nsec < end);
}

NOINLINE static void append_line(unsigned n)
{
	char line[128];
	int length = snprintf(line, sizeof line, "order %u, two of one thing and three of another, to be sent on Monday\n", n);
	if (write(journal, line, length) != length)
		fail("journal");
}

NOINLINE static void append_synced(unsigned n)
{
	pthread_mutex_lock(&order);
	for (int i = 0; i < (n % 4 ? LINES : 1); i++) {
		append_line(n);
		fsync(journal);
	}
	pthread_mutex_unlock(&order);
}

NOINLINE static void read_pages(unsigned n, int drop)
{
	static __thread char page[PAGE];
	unsigned long long at = n * 2654435761ULL + 12345;
	for (int i = 0; i < (n % 4 ? PAGES : 1); i++) {
		at = at * 6364136223846793005ULL + 1442695040888963407ULL;
		off_t offset = (off_t)((at >> 33) % pages) * PAGE;
		if (pread(data, page, PAGE, offset) != PAGE)
			fail("data");
		if (drop)
			posix_fadvise(data, offset, PAGE, POSIX_FADV_DONTNEED);
	}
}

static void read_all(void)
{
	static char block[1 << 20];
	while (read(data, block, sizeof block) > 0)
		;
}

NOINLINE static void touch_pages(unsigned n)
{
	unsigned long long at = n * 2654435761ULL + 12345;
	for (int i = 0; i < (n % 4 ? PAGES : 1); i++) {
		at = at * 6364136223846793005ULL + 1442695040888963407ULL;
		table[(at >> 33) % pages * PAGE]++;
	}
}

static void handle(unsigned n)
{
	if (!strcmp(mode, "sync"))
		append_synced(n);
	else if (!strcmp(mode, "log"))
		append_line(n);
	else if (table)
		touch_pages(n);
	else if (data >= 0)
		read_pages(n, !strcmp(mode, "cold"));
	else if (!strcmp(mode, "lock")) {
		pthread_mutex_lock(&order);
		compute(cost);
		pthread_mutex_unlock(&order);
	} else
		compute(cost);
}

/* order is the number of the order that is asked for. */
static unsigned order_in(char *in)
{
	char *slash = strchr(in, '/');
	for (char *s = slash; s && *s != ' '; s++)
		if (*s == '/')
			slash = s;
	return slash ? (unsigned)strtoul(slash + 1, NULL, 10) : 0;
}

static int answer(int fd)
{
	static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
	return write(fd, ok, sizeof ok - 1) > 0;
}

static void *connection(void *arg)
{
	int fd = (int)(long)arg;
	char in[4096];
	for (;;) {
		ssize_t n = read(fd, in, sizeof in - 1);
		if (n <= 0)
			break;
		in[n] = 0;
		handle(order_in(in));
		if (!answer(fd))
			break;
	}
	close(fd);
	return NULL;
}

static void *compute_aside(void *arg)
{
	compute(cost);
	answer((int)(long)arg);
	return NULL;
}

static void serve_one(int fd)
{
	char in[4096];
	ssize_t n = read(fd, in, sizeof in - 1);
	if (n <= 0) {
		close(fd);
		return;
	}
	in[n] = 0;
	if (strstr(in, "/report/")) {
		if (!strcmp(mode, "aside")) {
			start(compute_aside, (void *)(long)fd);
			return;
		}
		compute(cost);
	}
	answer(fd);
}

static void serve_in_turns(int listener)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
	int queue = epoll_create1(0), on = 1;
	if (queue < 0 || epoll_ctl(queue, EPOLL_CTL_ADD, listener, &event))
		fail("epoll");
	while (epoll_wait(queue, &event, 1, -1) >= 0) {
		if (event.data.fd != listener) {
			serve_one(event.data.fd);
			continue;
		}
		event.data.fd = accept(listener, NULL, NULL);
		if (event.data.fd < 0)
			continue;
		setsockopt(event.data.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		epoll_ctl(queue, EPOLL_CTL_ADD, event.data.fd, &event);
	}
}

static void *background_sync(void *arg)
{
	struct timespec pause = {0, 200000000};
	for (;;) {
		nanosleep(&pause, NULL);
		fsync(journal);
	}
	return arg;
}

static void *ended(void *arg)
{
	char c;
	while (read(0, &c, 1) > 0)
		;
	if (*name)
		unlink(name);
	exit(0);
	return arg;
}

NOINLINE static void *send_packets(void *arg)
{
	char *packet = calloc(1, size);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	for (;;) {
		if (cost)
			compute(cost);
		sendto(fd, packet, size, 0, (struct sockaddr *)&here, sizeof here);
	}
	return arg;
}

NOINLINE static void *take_packets(void *arg)
{
	char *packet = calloc(1, 65536);
	while (recv(udp, packet, 65536, 0) > 0)
		;
	return arg;
}

static int listen_at(int type)
{
	int fd = socket(AF_INET, type, 0);
	socklen_t length = sizeof here;
	memset(&here, 0, sizeof here);
	here.sin_family = AF_INET;
	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof here) || getsockname(fd, (struct sockaddr *)&here, &length))
		fail("bind");
	return fd;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2)
		return 2;
	mode = argv[1];
	const char *value = argc > 2 ? argv[2] : "";
	start(ended, NULL);
	if (!strcmp(mode, "packets")) {
		size = strtoul(value, NULL, 10);
		cost = argc > 3 ? 1000000 * strtol(argv[3], NULL, 10) : 0;
		udp = listen_at(SOCK_DGRAM);
		start(take_packets, NULL);
		start(send_packets, NULL);
		printf("{\"serving\":\"127.0.0.1:%d\"}\n", ntohs(here.sin_port));
		fflush(stdout);
		for (;;)
			pause();
	}
	if (!strcmp(mode, "sync") || !strcmp(mode, "log")) {
		const char *dir = getenv("TMPDIR");
		snprintf(name, sizeof name, "%s/journal.XXXXXX", dir ? dir : "/tmp");
		journal = mkstemp(name);
		if (journal < 0)
			fail(name);
		if (!strcmp(mode, "log"))
			start(background_sync, NULL);
	} else if (!strcmp(mode, "cold") || !strcmp(mode, "warm")) {
		struct stat s;
		data = open(value, O_RDONLY);
		if (data < 0 || fstat(data, &s))
			fail(value);
		pages = s.st_size / PAGE;
		posix_fadvise(data, 0, 0, POSIX_FADV_RANDOM);
		if (!strcmp(mode, "warm"))
			read_all();
	} else if (!strcmp(mode, "table")) {
		pages = strtol(value, NULL, 10) * 256;
		table = malloc(pages * PAGE);
		if (!table)
			fail("table");
		for (long i = 0; i < pages; i++)
			table[i * PAGE] = 1;
	} else
		cost = 1000000 * strtol(value, NULL, 10);
	int listener = listen_at(SOCK_STREAM), on = 1;
	if (listen(listener, 512))
		fail("listen");
	printf("{\"serving\":\"127.0.0.1:%d\"}\n", ntohs(here.sin_port));
	fflush(stdout);
	if (!strcmp(mode, "loop") || !strcmp(mode, "aside"))
		serve_in_turns(listener);
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		start(connection, (void *)(long)fd);
	}
}
