/* Lines over a pair of descriptors. */
#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define FIRST_FD  3         /* above those of the standard streams */
#define MOST_LINE (1 << 20) /* bytes */
#define MOST_READ (1 << 16)

weft_status ask_channel_open(ask_channel *channel, weft_arena *mem)
{
    *channel = (ask_channel){.in = -1, .out = -1, .mem = mem};
    if (isatty(STDIN_FILENO))
        return weft_fail(WEFT_ECONF,
                         "the jobs of this search are done by the program that starts "
                         "`weft serve`, over its standard input and output, and not by "
                         "hand; in Python: import weft");
    channel->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, FIRST_FD);
    channel->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, FIRST_FD);
    if (channel->in < 0 || channel->out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return weft_fail(WEFT_EFILE, "standard input, output or error is closed: %s",
                         strerror(errno));
    signal(SIGPIPE, SIG_IGN);
    return WEFT_OK;
}

static weft_status left(void)
{
    return weft_fail(WEFT_STOP, "the program that does the jobs has ended");
}

/* Ends the first line of what was received; NULL: it has no end yet. */
static const char *take(ask_channel *channel)
{
    if (channel->have == 0) return NULL;
    char *end = memchr(channel->text, '\n', (size_t)channel->have);
    if (!end) return NULL;
    *end = '\0';
    channel->taken = end + 1 - channel->text;
    return channel->text;
}

/* Receives what has come. */
static weft_status receive(ask_channel *channel)
{
    if (channel->have > MOST_LINE) return left();
    while (channel->room < channel->have + MOST_READ)
        channel->text = weft_regrow(channel->mem, channel->text, 1,
                                    channel->have + MOST_READ - 1, &channel->room);
    ssize_t n = read(channel->in, channel->text + channel->have, MOST_READ);
    if (n < 0 && errno == EINTR) return WEFT_OK;
    if (n <= 0) return left();
    channel->have += n;
    return WEFT_OK;
}

void ask_channel_say(ask_channel *channel, const char *text)
{
    int64_t n = (int64_t)strlen(text);
    while (channel->said_room <= channel->nsaid + n)
        channel->said = weft_regrow(channel->mem, channel->said, 1, channel->nsaid + n,
                                    &channel->said_room);
    memcpy(channel->said + channel->nsaid, text, (size_t)n);
    channel->nsaid += n;
    channel->said[channel->nsaid++] = '\n';
}

weft_status ask_channel_send(ask_channel *channel)
{
    const char *at = channel->said, *end = at + channel->nsaid;
    channel->nsaid = 0;
    while (at < end) {
        ssize_t some = write(channel->out, at, (size_t)(end - at));
        if (some >= 0)
            at += some;
        else if (errno != EINTR)
            return left();
    }
    return WEFT_OK;
}

weft_status ask_channel_next(ask_channel *channel, double seconds, const char **line)
{
    channel->have -= channel->taken;
    if (channel->have > 0)
        memmove(channel->text, channel->text + channel->taken, (size_t)channel->have);
    channel->taken = 0;
    *line = take(channel);
    struct pollfd ready = {.fd = channel->in, .events = POLLIN};
    if (!*line) TRY(ask_channel_send(channel));
    while (!*line) {
        if (poll(&ready, 1, (int)(1e3 * seconds)) <= 0) return WEFT_OK;
        TRY(receive(channel));
        *line = take(channel);
    }
    return WEFT_OK;
}
