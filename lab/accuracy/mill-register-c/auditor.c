/* auditor copies the register of mills entry by entry, under its lock, and then rests. With FAULT=0
 * it reads without the lock, and an entry that changes meanwhile is read as it is. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

int main(void)
{
	const char *fault = getenv("FAULT");
	int locks = !fault || strcmp(fault, "0");
	int book = open("mills.reg", O_RDWR | O_CREAT, 0644);
	char part[4096];
	if (book < 0) {
		perror("mills.reg");
		return 1;
	}
	for (;;) {
		usleep(430 * 1000);
		if (locks && flock(book, LOCK_EX))
			perror("flock");
		for (int n = 0; n < 30; n++) {
			if (pread(book, part, sizeof part, (off_t)sizeof part * n) < 0)
				perror("pread");
			usleep(5 * 1000); /* the copy goes to a tape */
		}
		if (locks)
			flock(book, LOCK_UN);
	}
}
