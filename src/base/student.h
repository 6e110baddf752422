/* Quantiles of the noise of clean samples: Student's t distribution with a scale of its own on each
 * side. */
#ifndef BASE_STUDENT_H
#define BASE_STUDENT_H

/* The most degrees of freedom; infinitely many stand for the normal distribution. */
enum { STUDENT_MOST = 1000 };

/* True if nu is a whole number from 1 to STUDENT_MOST, or infinite. */
int student_is_known(double nu);

/* The value that Student's t distribution exceeds with probability 1 - p, 0 < p < 1. */
double student_quantile(double nu, double p);

/* The same for noise whose scale is e^(0.3 skew) above 0 and e^(-0.3 skew) below. */
double skewed_quantile(double nu, double skew, double p);

#endif
