/* Waits by epoll, and sends and receives by a system call each. */
#include "loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static int take(struct client *client) {
    ssize_t size = recv(client->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (size <= 0) fail("recv");
    client->received += (size_t)size;
    if (client->received < client->answer_size) return 0;
    if (client->received > client->answer_size) fail("an answer of another size");
    client->received = 0;
    ask(client);
    return 1;
}

uint64_t run(struct client *clients, int count) {
    struct epoll_event events[256];
    uint64_t answered = 0;
    int epoll = epoll_create1(0);
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = &clients[i]};
        epoll_ctl(epoll, EPOLL_CTL_ADD, clients[i].fd, &event);
        ask(&clients[i]);
    }
    while (!stopped) {
        int ready = epoll_wait(epoll, events, 256, -1);
        if (ready < 0 && errno != EINTR) fail("epoll_wait");
        for (int i = 0; i < ready; i++) answered += (uint64_t)take(events[i].data.ptr);
    }
    return answered;
}
