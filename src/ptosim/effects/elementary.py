"""exp and log, said once: constants and the one sequence of IEEE double operations that both engines evaluate.

Every operation below is one IEEE double operation rounded to nearest even, in the order written. A product and the sum
after it are two roundings: contracting them into a fused multiply-add changes bits and is not allowed. The argument is
an f16 or f32 value widened exactly to double; the double result is rounded once to the instruction's type, which also
yields its subnormals, zeros and infinities. Nothing traps; there is no branch, only the selects named
here. A NaN result is the canonical one.

exp(x)
    x = max(x, EXP_LOWEST), then x = min(x, EXP_HIGHEST)    +-inf become finite, and the final rounding
                                                            of e^EXP_LOWEST is +0, of e^EXP_HIGHEST is +inf
    t = x * LOG2_E + ROUNDING_SHIFT                         product, sum: t's low significand bits are the integer n
    n = t - ROUNDING_SHIFT                                  n = x / ln 2 rounded to nearest
    r = (x - n * LN2_HIGH) - n * LN2_LOW                    |r| <= ln(2)/2; the first product and difference are exact
    p = EXP_COEFFICIENTS[11]
    p = p * r + EXP_COEFFICIENTS[k]     for k = 10 .. 0     Horner: product, sum
    result = p * 2^n, as integers:  bits(p) + (bits(t) << 52)      (64-bit, wrapping)
    Select, last: a NaN argument gives NaN.

log(x)
    i = bits(x) - bits(LOG_LOWEST_MANTISSA)                 64-bit integers
    k = i >> 52                                             arithmetic shift: the power of two
    m = double with bits  bits(x) - (k << 52)               m in [sqrt(1/2), sqrt(2)), x = m * 2^k
    e = (double with bits  bits(ROUNDING_SHIFT) + k) - ROUNDING_SHIFT     k as a double, without a conversion
    f = m - 1                                               exact
    s = f / (2 + f)                                         log(1 + f) = 2 atanh(s) = 2s + s * series(s^2)
    z = s * s
    q = LOG_COEFFICIENTS[8];  q = q * z + LOG_COEFFICIENTS[j]     for j = 7 .. 0
    q = q * z
    h = (0.5 * f) * f                                       2s = f - (h - s*h): the large term f is added last
    result = e * LN2_HIGH - ((h - (s * (h + q) + e * LN2_LOW)) - f)
    Selects, last: x = +0 or -0 gives -inf; x = +inf gives +inf; x < 0 and NaN give NaN.
"""

LOG2_E = 1.4426950408889634
# ln 2 in two parts. The high one has 42 significant bits: its product with an integer of up to 11 bits is exact.
LN2_HIGH = 0.6931471805598903
LN2_LOW = 5.497923018708371e-14

# 1.5 * 2^52: adding it to a small double rounds that to an integer, which then stands in the low bits of the sum.
ROUNDING_SHIFT = 6755399441055744.0

# Beyond these every f32 (and so every f16) result is zero or infinite: e^-104 is below half the smallest subnormal,
# e^89 above the largest finite f32. Within them n needs 8 bits and e^x is a normal double.
EXP_LOWEST = -110.0
EXP_HIGHEST = 90.0

# e^r on |r| <= 1.0001 * ln(2)/2: (e^r - 1 - r) / r^2 interpolated in ten Chebyshev nodes and rounded to double.
# Relative error of the polynomial: 1.7e-17, a seventh of the rounding error of one double operation.
EXP_COEFFICIENTS = (
    1.0,
    1.0,
    0.5000000000000001,
    0.16666666666666669,
    0.04166666666662413,
    0.008333333333330062,
    0.0013888888917213717,
    0.00019841269863053618,
    2.4801521295954376e-05,
    2.7557268459997064e-06,
    2.7620088445409746e-07,
    2.510038549551032e-08,
)

LOG_LOWEST_MANTISSA = 0.7071067811865476

# 2/3, 2/5 .. 2/19: the series of 2 atanh(s)/s - 2 in s^2. As s^2 <= 0.0295, what is left out is below 3e-17 of it all.
LOG_COEFFICIENTS = tuple(2.0 / (2 * j + 3) for j in range(9))
