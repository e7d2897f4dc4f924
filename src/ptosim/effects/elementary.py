"""exp and log, said once: constants and the one sequence of IEEE double operations that both engines evaluate.

Every operation below is one IEEE double operation rounded to nearest even, in the order written. A product and the sum
after it are two roundings: contracting them into a fused multiply-add changes bits and is not allowed. The argument is
an f16 or f32 value widened exactly to double; the double result is rounded once to the instruction's type, which also
yields its subnormals, zeros and infinities. Nothing traps; there is no branch, only the selects named
here. A NaN result is the canonical one.

exp(x)
    x = max(x, EXP_LOWEST), then x = min(x, EXP_HIGHEST)    +-inf become finite, and the final rounding
                                                            of e^EXP_LOWEST is +0, of e^EXP_HIGHEST is +inf
    y = x * LOG2_E                                          e^x = 2^y
    t = y + ROUNDING_SHIFT                                  t's low significand bits are the integer n
    n = t - ROUNDING_SHIFT                                  n = y rounded to nearest
    f = y - n                                               |f| <= 1/2, exact
    p = EXP_COEFFICIENTS[7]
    p = p * f + EXP_COEFFICIENTS[k]     for k = 6 .. 0      Horner: product, sum; p = 2^(f/4)
    p = p * p, twice                                        a shorter polynomial and two squares: fewer operations
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

# 2^(f/4) on |f| <= 1/2: (2^(f/4) - 1) / f interpolated in seven Chebyshev nodes and rounded to double. The relative
# error of its fourth power is 5.3e-15, what the product x * LOG2_E has where e^x is about to overflow. Next to the 6e-8
# of rounding to f32 that is nothing: of all f32 arguments two (68.28939 and -89.45233) get another f32 than the nearest
# to e^x, counted with a long double exp.
EXP_COEFFICIENTS = (
    1.0,
    0.17328679513998632,
    0.015014156684978283,
    0.0008672516978885012,
    3.7570815723296826e-05,
    1.3021052664931598e-06,
    3.761510034852565e-08,
    9.311229045788462e-10,
)

LOG_LOWEST_MANTISSA = 0.7071067811865476

# 2/3, 2/5 .. 2/19: the series of 2 atanh(s)/s - 2 in s^2. As s^2 <= 0.0295, what is left out is below 3e-17 of it all.
LOG_COEFFICIENTS = tuple(2.0 / (2 * j + 3) for j in range(9))
