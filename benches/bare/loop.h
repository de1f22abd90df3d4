/* What loop.c has in common with the ways to wait: epoll.c and uring.c. */
#include "protocol.h"

#include <signal.h>

struct client {
    int fd;
    size_t request_size, answer_size, received;
    uint64_t begun_ns;
    char request[MAX_REQUEST];
};

extern volatile sig_atomic_t stopped;
extern char buffer[BUFFER_SIZE];

/* Puts another key into the request; `ask` sends it too. */
void next_request(struct client *client);
void ask(struct client *client);

/* Asks with each client, again and again until stopped, and returns how many requests were answered. */
uint64_t run(struct client *clients, int count);
