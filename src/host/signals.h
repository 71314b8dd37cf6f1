/* Signals that ask a run to stop. */
#ifndef WEFT_HOST_SIGNALS_H
#define WEFT_HOST_SIGNALS_H

/* Catches SIGTERM, SIGUSR1 and SIGINT until weft_signals_free. */
void weft_signals_catch(void);
void weft_signals_free(void);
int weft_signals_seen(void); /* number of the last one caught, or 0 */

#endif
