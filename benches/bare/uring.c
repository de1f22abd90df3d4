/* Sends and receives by io_uring, for as little as is known: sockets registered, receives that stay armed, into buffers that the kernel picks,
 * and a quarter of the clients handed over and waited for at a time. With FIRST_ANSWER it waits for one answer, as a client must that
 * times answers: the others may be there already, but none that is there waits for another. With WORK it does the least that a client does
 * with an answer. */
#include "loop.h"
#include "work.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>

#if defined FIRST_ANSWER || defined WORK
#define WAIT_FOR(count) 1
#else
#define WAIT_FOR(count) (((count) + 3) / 4)
#endif
#ifdef WORK
enum { WORKS = 1 };
#else
enum { WORKS = 0 };
#endif

enum { ENTRIES = 1024, BUFFERS = 1024, BUFFER_BYTES = 1024 };
static const uint64_t SENT = UINT64_MAX;

static struct io_uring ring;
static struct io_uring_buf_ring *buffers;
static char *bytes;

static void check(int result, const char *what) {
    if (result >= 0 || result == -EINTR || result == -ETIME) return;
    errno = -result;
    fail(what);
}

static struct io_uring_sqe *entry(void) {
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
    if (sqe) return sqe;
    check(io_uring_submit(&ring), "io_uring_submit");
    return io_uring_get_sqe(&ring);
}

static void send_next(struct client *client, int index) {
    struct io_uring_sqe *sqe = entry();
    next_request(client);
    io_uring_prep_send(sqe, index, client->request, client->request_size, 0);
    sqe->flags |= IOSQE_FIXED_FILE | IOSQE_CQE_SKIP_SUCCESS;
    io_uring_sqe_set_data64(sqe, SENT);
}

static void receive(int index) {
    struct io_uring_sqe *sqe = entry();
    io_uring_prep_recv_multishot(sqe, index, NULL, 0, 0);
    sqe->flags |= IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT;
    sqe->ioprio |= IORING_RECVSEND_POLL_FIRST;
    io_uring_sqe_set_data64(sqe, (uint64_t)index);
}

static void give_back(int id) {
    io_uring_buf_ring_add(buffers, bytes + id * BUFFER_BYTES, BUFFER_BYTES, (unsigned short)id, io_uring_buf_ring_mask(BUFFERS), 0);
    io_uring_buf_ring_advance(buffers, 1);
}

static void set_up(struct client *clients, int count) {
    struct io_uring_params params = {
        .flags = IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SUBMIT_ALL,
        .cq_entries = 4 * ENTRIES,
    };
    check(io_uring_queue_init_params(ENTRIES, &ring, &params), "io_uring_queue_init");
    check(io_uring_register_ring_fd(&ring), "io_uring_register_ring_fd");
    int *fds = calloc((size_t)count, sizeof *fds);
    for (int i = 0; i < count; i++) fds[i] = clients[i].fd;
    check(io_uring_register_files(&ring, fds, (unsigned)count), "io_uring_register_files");
    size_t size = BUFFERS * sizeof(struct io_uring_buf);
    buffers = aligned_alloc(4096, size), bytes = malloc(BUFFERS * BUFFER_BYTES);
    memset(buffers, 0, size);
    struct io_uring_buf_reg registered = {.ring_addr = (uintptr_t)buffers, .ring_entries = BUFFERS};
    check(io_uring_register_buf_ring(&ring, &registered, 0), "io_uring_register_buf_ring");
    for (int id = 0; id < BUFFERS; id++) give_back(id);
}

static int take(struct client *client, int index, struct io_uring_cqe *cqe) {
    int done = 0;
    check(cqe->res, "recv");
    if (cqe->res == 0) fail("the server closed the connection");
    int id = (int)(cqe->flags >> IORING_CQE_BUFFER_SHIFT);
    if (WORKS) read_all(bytes + id * BUFFER_BYTES, (size_t)cqe->res);
    give_back(id);
    client->received += (size_t)cqe->res;
    if (client->received > client->answer_size) fail("an answer of another size");
    if (client->received == client->answer_size) {
        client->received = 0, done = 1;
        if (WORKS) client->begun_ns = count_time(client->begun_ns);
        send_next(client, index);
    }
    if (!(cqe->flags & IORING_CQE_F_MORE)) receive(index);
    return done;
}

uint64_t run(struct client *clients, int count) {
    uint64_t answered = 0;
    set_up(clients, count);
    for (int i = 0; i < count; i++) clients[i].begun_ns = clock_ns(), receive(i), send_next(&clients[i], i);
    while (!stopped) {
        /* With fewer under way than are waited for it would wait for ever. */
        struct __kernel_timespec longest = {.tv_nsec = 2000000};
        struct io_uring_cqe *cqe;
        unsigned head, taken = 0;
        check(io_uring_submit_and_wait_timeout(&ring, &cqe, (unsigned)WAIT_FOR(count), &longest, NULL), "io_uring_submit_and_wait");
        io_uring_for_each_cqe(&ring, head, cqe) {
            taken++;
            uint64_t index = io_uring_cqe_get_data64(cqe);
            if (index == SENT) check(cqe->res, "send");
            else answered += (uint64_t)take(&clients[index], (int)index, cqe);
        }
        io_uring_cq_advance(&ring, taken);
    }
    return answered;
}
