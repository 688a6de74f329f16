/* toll-audit-c takes toll and tells an auditor of each passage by a datagram to a UNIX socket, as
 * programs tell syslog. The auditor is slow to read, and its socket holds few datagrams. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int faulty, wire;

static void begin_audit(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "audit.sock"};
	int auditor = socket(AF_UNIX, SOCK_DGRAM, 0);
	unlink(at.sun_path);
	if (bind(auditor, (struct sockaddr *)&at, sizeof at)) {
		perror("audit.sock");
		exit(1);
	}
	if (fork() == 0) {
		char passage[1024];
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			if (recv(auditor, passage, sizeof passage, 0) < 0)
				_exit(1);
			if (faulty)
				usleep(5000);
		}
	}
	close(auditor);
	wire = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (connect(wire, (struct sockaddr *)&at, sizeof at)) {
		perror("audit.sock");
		exit(1);
	}
}

__attribute__((noinline)) static void tell_auditor(const char *line)
{
	for (int axle = 0; axle < 3; axle++)
		if (send(wire, line, 400, 0) < 0)
			perror("auditor");
}

static void *booth(void *arg)
{
	static const char open_gate[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\npass\n";
	int fd = (int)(long)arg;
	char in[4096] = {0};
	while (read(fd, in, sizeof in - 1) > 0) {
		tell_auditor(in);
		if (write(fd, open_gate, sizeof open_gate - 1) < 0)
			break;
	}
	close(fd);
	return NULL;
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const char *fault = getenv("FAULT");
	faulty = !fault || strcmp(fault, "0");
	begin_audit();
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
		if (pthread_create(&thread, NULL, booth, (void *)(long)fd))
			close(fd);
		else
			pthread_detach(thread);
	}
}
