/* The least a client can do: a loop (epoll.c, uring.c) that sends a request with a random key, reads whatever comes, and sends the next when
 * as many bytes have come as an answer has. Nothing is parsed, timed or verified.
 *
 * loop PORT CLIENTS SECONDS ROWS; prints the requests answered and the seconds they took. ROWS is a power of ten; keys are those
 * with all digits. */
#include "loop.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

unsigned digits;
static uint64_t first_key, keys, state = 88172645463325252u;
volatile sig_atomic_t stopped;
char buffer[BUFFER_SIZE];

void fail(const char *what) {
    perror(what);
    exit(1);
}

void send_all(int fd, const void *bytes, size_t size) {
    if (send(fd, bytes, size, MSG_NOSIGNAL) != (ssize_t)size) fail("send");
}

void put_decimal(char *at, uint64_t number) {
    for (unsigned i = digits; i-- > 0; number /= 10) at[i] = (char)('0' + number % 10);
}

static void stop(int signal) {
    (void)signal;
    stopped = 1;
}

/* xorshift64 (Marsaglia 2003). */
static uint64_t random_key(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return first_key + state % keys;
}

void next_request(struct client *client) {
    put_key(client->request, random_key());
}

void ask(struct client *client) {
    next_request(client);
    send_all(client->fd, client->request, client->request_size);
}

static void open_client(struct client *client, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int on = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    client->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(client->fd, (struct sockaddr *)&address, sizeof address)) fail("connect");
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    client->request_size = make_request(client->fd, client->request);
    /* Every answer is as long as this one, which a server sends, and loopback delivers, in one piece. */
    ask(client);
    ssize_t size = recv(client->fd, buffer, sizeof buffer, 0);
    if (size <= 0) fail("the first answer");
    client->answer_size = (size_t)size;
}

int main(int argc, char **argv) {
    if (argc != 5) return fprintf(stderr, "usage: %s PORT CLIENTS SECONDS ROWS\n", argv[0]), 2;
    int count = atoi(argv[2]);
    uint64_t rows = strtoull(argv[4], NULL, 10);
    for (uint64_t n = rows - 1; n > 0; n /= 10) digits++;
    first_key = rows / 10, keys = rows - first_key;
    struct client *clients = calloc((size_t)count, sizeof *clients);
    for (int i = 0; i < count; i++) open_client(&clients[i], atoi(argv[1]));
    struct timespec begin, end;
    signal(SIGALRM, stop);
    alarm((unsigned)atoi(argv[3]));
    clock_gettime(CLOCK_MONOTONIC, &begin);
    uint64_t answered = run(clients, count);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%llu %.6f\n", (unsigned long long)answered,
           (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
    return 0;
}
