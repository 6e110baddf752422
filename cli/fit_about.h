/* The text of `roofs fit --help`. */
#ifndef CLI_FIT_ABOUT_H
#define CLI_FIT_ABOUT_H

extern const char fit_about[];

#endif
