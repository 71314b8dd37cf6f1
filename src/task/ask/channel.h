/* Lines to and from the program that started this one, over standard input and output.
 * Private to task ask. */
#ifndef WEFT_TASK_ASK_CHANNEL_H
#define WEFT_TASK_ASK_CHANNEL_H

#include "weft/arena.h"
#include "weft/status.h"

typedef struct ask_channel {
    int in, out;        /* descriptors */
    weft_arena *mem;    /* of the lines */
    char *text;         /* [room] what was received, */
    int64_t room, have; /* of which so many bytes wait */
    int64_t taken;      /* bytes of the last line that was returned, with its end */
    char *said;         /* [said_room] lines that are to be sent, of nsaid bytes */
    int64_t said_room, nsaid;
} ask_channel;

/* Takes standard input and output; what else is printed there goes to standard error from
 * now on. ECONF: they are a terminal; EFILE. */
WEFT_CHECKED weft_status ask_channel_open(ask_channel *channel, weft_arena *mem);
/* Sends what was said if it has to wait for a line: the next one, without its end, valid
 * until the next call: *line; NULL: none has come within so many seconds, or before a
 * signal. WEFT_STOP: none can come, because the program has closed its end, or sends what
 * is no line. */
WEFT_CHECKED weft_status ask_channel_next(ask_channel *channel, double seconds,
                                          const char **line);
/* Adds a line, given without its end, to what is sent. */
void ask_channel_say(ask_channel *channel, const char *text);
/* Sends what was said, at once, so that the program wakes up once. WEFT_STOP: nobody can
 * read it. */
WEFT_CHECKED weft_status ask_channel_send(ask_channel *channel);

#endif
