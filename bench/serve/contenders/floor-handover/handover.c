/* The floor of a script that stays: one process with the connections, and others to which it hands a word over and
 * from which it has one back, by what the kernel has for it: a futex for a process that sleeps, an eventfd for the
 * front. As `apus serve` it wakes nobody who is awake. No parser, no limits: not a server to expose to anybody.
 *
 * usage: handover PORT PROCESSES
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <signal.h>
#include <unistd.h>

#define MOST_CONNECTIONS 4096
#define MOST_PROCESSES 64
#define ANSWER "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=UTF-8\r\nContent-Length: 13\r\n\r\nHello, World!"

/* What both sides have of one process, on lines of its own. */
struct channel {
    _Alignas(128) atomic_uint asleep;
    atomic_uint asked;
    atomic_uint answered;
};

static struct channel *channels;
static atomic_uint *interest;
static int bell, processes;
/* The connection that each process works for, -1 for none, and those that wait. */
static int works_for[MOST_PROCESSES], waiting[MOST_CONNECTIONS], first, count;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static long futex(atomic_uint *word, int operation, unsigned value)
{
    return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void work(struct channel *channel)
{
    for (unsigned seen = 0;;) {
        while (atomic_load(&channel->asked) == seen) {
            atomic_store(&channel->asleep, 1);
            if (atomic_load(&channel->asked) == seen) {
                futex(&channel->asleep, FUTEX_WAIT, 1);
            }
            atomic_store(&channel->asleep, 0);
        }
        atomic_store(&channel->answered, ++seen);
        if (atomic_load(interest) && atomic_exchange(interest, 0)) {
            eventfd_write(bell, 1);
        }
    }
}

static void hand(int number, int connection)
{
    struct channel *channel = &channels[number];
    works_for[number] = connection;
    atomic_fetch_add(&channel->asked, 1);
    if (atomic_load(&channel->asleep) && atomic_exchange(&channel->asleep, 0)) {
        futex(&channel->asleep, FUTEX_WAKE, 1);
    }
}

static void ask(int connection)
{
    for (int number = 0; number < processes; number++) {
        if (works_for[number] < 0) {
            hand(number, connection);
            return;
        }
    }
    waiting[(first + count++) % MOST_CONNECTIONS] = connection;
}

/* Answers what is done, and hands on what waits. */
static void look(void)
{
    for (int number = 0; number < processes; number++) {
        struct channel *channel = &channels[number];
        int connection = works_for[number];
        if (connection < 0 || atomic_load(&channel->answered) != atomic_load(&channel->asked)) {
            continue;
        }
        works_for[number] = -1;
        if (send(connection, ANSWER, sizeof ANSWER - 1, MSG_NOSIGNAL) < 0) {
            close(connection);
        }
        if (count > 0) {
            count--;
            hand(number, waiting[first]);
            first = (first + 1) % MOST_CONNECTIONS;
        }
    }
}

static void serve(int listener)
{
    struct epoll_event events[256], event = { .events = EPOLLIN, .data.fd = listener };
    int epoll = epoll_create1(0);
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) < 0) {
        fail("epoll_ctl");
    }
    /* Edge-triggered, and never read. */
    event = (struct epoll_event) { .events = EPOLLIN | EPOLLET, .data.fd = bell };
    epoll_ctl(epoll, EPOLL_CTL_ADD, bell, &event);
    for (;;) {
        atomic_store(interest, 1);
        look();
        int ready = epoll_wait(epoll, events, 256, -1);
        for (int at = 0; at < ready; at++) {
            int fd = events[at].data.fd;
            char request[4096];
            if (fd == listener) {
                int connection = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
                event = (struct epoll_event) { .events = EPOLLIN, .data.fd = connection };
                int fits = connection < MOST_CONNECTIONS;
                if (connection >= 0 && (!fits || epoll_ctl(epoll, EPOLL_CTL_ADD, connection, &event) < 0)) {
                    close(connection);
                }
            } else if (fd != bell) {
                if (recv(fd, request, sizeof request, 0) > 0) {
                    ask(fd);
                } else {
                    close(fd);
                }
            }
        }
    }
}

int main(int argc, char **argv)
{
    processes = argc == 3 ? atoi(argv[2]) : 0;
    if (processes < 1 || processes > MOST_PROCESSES) {
        fprintf(stderr, "usage: handover PORT PROCESSES\n");
        return 2;
    }
    size_t size = sizeof(struct channel) * (processes + 1);
    channels = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (channels == MAP_FAILED) {
        fail("mmap");
    }
    interest = &channels[processes].asked;
    bell = eventfd(0, EFD_NONBLOCK);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(atoi(argv[1])) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *) &address, sizeof address) < 0 || listen(listener, 4096) < 0) {
        fail("bind");
    }
    for (int number = 0; number < processes; number++) {
        works_for[number] = -1;
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            work(&channels[number]);
        }
    }
    serve(listener);
}
