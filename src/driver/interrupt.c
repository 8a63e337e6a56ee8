/*
 * Ctrl-C while a compiler works: the compiler gets it too and ends, its folder
 * is removed, and then the command ends by the same signal, as its caller
 * expects.
 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700	/* sigaction */
#endif
#include "driver/interrupt.h"

#include <signal.h>
#include <stddef.h>

static const int endings[] = { SIGINT, SIGTERM, SIGHUP };
static volatile sig_atomic_t is_held, caught;

/* The handler is gone by then (SA_RESETHAND), and the signal is let through as
 * soon as this one returns. */
static void on_signal(int number)
{
	if (is_held)
		caught = number;
	else
		(void)raise(number);
}

void interrupt_init(void)
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = (int)SA_RESETHAND }, before;
	size_t i;

	sigemptyset(&action.sa_mask);
	for (i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (!sigaction(endings[i], NULL, &before) &&
		    before.sa_handler != SIG_IGN)
			(void)sigaction(endings[i], &action, NULL);
}

void interrupt_hold(void *data, bool begins)
{
	(void)data;
	is_held = begins;
	if (!begins && caught)
		(void)raise(caught);
}
