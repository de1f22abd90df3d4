/* The least that waits for points in time: epoll_pwait2 until each is due, as dbdyno-load waits, and nothing else.
 *
 * timer RATE SECONDS; prints how many times it woke, the seconds they took, and how late it was at the 99th percentile, in µs. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SECOND_NS = 1000000000 };

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

static int rising(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: %s RATE SECONDS\n", argv[0]), 2;
    int64_t rate = atoll(argv[1]), count = rate * atoll(argv[2]);
    int64_t *late_ns = malloc((size_t)count * sizeof *late_ns), now, begin = now_ns();
    int epoll = epoll_create1(0);
    struct epoll_event event;
    if (count < 100 || !late_ns || epoll < 0) return perror("timer"), 1;
    prctl(PR_SET_TIMERSLACK, 1);
    for (int64_t i = 0; i < count; i++) {
        int64_t due = begin + i * SECOND_NS / rate;
        while ((now = now_ns()) < due) {
            struct timespec wait = {(due - now) / SECOND_NS, (due - now) % SECOND_NS};
            syscall(SYS_epoll_pwait2, epoll, &event, 1, &wait, NULL, 0);
        }
        late_ns[i] = now - due;
    }
    qsort(late_ns, (size_t)count, sizeof *late_ns, rising);
    printf("%lld %.6f %.1f\n", (long long)count, (double)(now - begin) / SECOND_NS, (double)late_ns[count * 99 / 100] / 1e3);
    return 0;
}
