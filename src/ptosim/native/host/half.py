"""Conversions between half and float for processors that have no instruction for them.

LLVM then calls the two functions of the compiler's run-time library, which is not there when code is linked in memory;
a module that uses half brings them along.
"""

from __future__ import annotations

ROUTINES = """
define float @__extendhfsf2(half %x) nounwind {
  %half = bitcast half %x to i16
  %bits = zext i16 %half to i32
  %magnitude = and i32 %bits, 32767
  ; in the place of float's exponent and fraction it is wrong by a power of two, for subnormals as well
  %placed = shl i32 %magnitude, 13
  %wrong = bitcast i32 %placed to float
  %right = fmul float %wrong, 0x46F0000000000000
  %finite = bitcast float %right to i32
  %quiet = or i32 %placed, 2143289344
  %special = icmp ugt i32 %magnitude, 31744
  %infinite = icmp eq i32 %magnitude, 31744
  %unlimited = select i1 %infinite, i32 2139095040, i32 %finite
  %unsigned = select i1 %special, i32 %quiet, i32 %unlimited
  %high = and i32 %bits, 32768
  %sign = shl i32 %high, 16
  %signed = or i32 %unsigned, %sign
  %result = bitcast i32 %signed to float
  ret float %result
}

define half @__truncsfhf2(float %x) nounwind {
  %bits = bitcast float %x to i32
  %magnitude = and i32 %bits, 2147483647
  ; to nearest even, the carry running into the exponent; 112 is the difference of the biases
  %kept = lshr i32 %magnitude, 13
  %odd = and i32 %kept, 1
  %biased = sub i32 %magnitude, 939520001
  %even = add i32 %biased, %odd
  %normal = lshr i32 %even, 13
  ; adding 0.5 rounds to its unit, which is that of the subnormals
  %value = bitcast i32 %magnitude to float
  %above = fadd float %value, 0.5
  %above_bits = bitcast float %above to i32
  %subnormal = sub i32 %above_bits, 1056964608
  %small = icmp ult i32 %magnitude, 947912704
  %finite = select i1 %small, i32 %subnormal, i32 %normal
  %large = icmp uge i32 %magnitude, 1199570944
  %limited = select i1 %large, i32 31744, i32 %finite
  %nan = icmp ugt i32 %magnitude, 2139095040
  %unsigned = select i1 %nan, i32 32256, i32 %limited
  %high = lshr i32 %bits, 16
  %sign = and i32 %high, 32768
  %signed = or i32 %unsigned, %sign
  %half = trunc i32 %signed to i16
  %result = bitcast i16 %half to half
  ret half %result
}
"""
