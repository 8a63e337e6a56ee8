/* Signals that end the command: at once, but not between a temporary folder's
 * making and its removal. Of the command alone; the library sets no handlers. */
#ifndef TN_DRIVER_INTERRUPT_H
#define TN_DRIVER_INTERRUPT_H

#include <stdbool.h>

void interrupt_init(void);
/* For tenon_context_on_compile. */
void interrupt_hold(void *data, bool begins);

#endif
