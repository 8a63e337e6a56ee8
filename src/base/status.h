/* How an operation ended; the values are the command's exit codes. */
#ifndef TN_BASE_STATUS_H
#define TN_BASE_STATUS_H

enum tn_status {
	TN_OK = 0,
	TN_NO = 1,		/* mismatch, not formatted, test failed */
	TN_USAGE = 2,
	TN_BAD_INPUT = 3,	/* text, model or data is wrong */
	TN_UNSUPPORTED = 4,
	TN_COMPILER = 5,	/* an external compiler failed */
	TN_IO = 6,		/* a file or memory could not be had */
	TN_BUG = 70		/* our own fault */
};

#endif
