"""What the documents say a verifier must refuse, line by line (rule.Line). An indented line continues the one above."""

from refusals.kernels import in_cube, in_function, in_scope
from refusals.rule import Line


def _lines(text: str) -> list[str]:
    return text.strip().replace("\n    ", " ").splitlines()


# inside of a vector scope
PREDICATES = _lines(r"""
%x = pto.pset_b32 "PAT_ALL" : !pto.mask<b64>
pto.psts %m_b8, %ub_ui8[%c0] : M<b8>, P<ui8>, index
%i = pto.load_scalar %ub_i64[%c0] : P<i64> -> i64 ¦ %j = arith.index_cast %i : i64 to index ¦
    %x = pto.pldi %ub_ui8[%j], "NORM" : P<ui8>, index -> M<b8>
%a = pto.vldas %ub_ui32 : P<ui32> -> ALIGN ¦
    %a1, %p = pto.pstu %a, %m_b32, %ub_ui32 : ALIGN, M<b32>, P<ui32> -> ALIGN, P<ui32>
pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
pto.barrier #pto.pipe<PIPE_ALL>
pto.pipe_barrier "PIPE_V"
pto.get_buf "PIPE_V", 0, 0
pto.rls_buf "PIPE_V", 0
pto.sync.set <PIPE_V>, 1
pto.set_intra_block <PIPE_V>, 1
pto.dsb "ALL"
pto.set_flag_dyn["PIPE_MTE2", "PIPE_V", %c0]
pto.wait_cross_block <PIPE_V>, 1
pto.set_cross_core %c0_i64, %c1_i64 : i64, i64
pto.mte_gm_ub %gm, %ub_f32, %c0_i64, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64)
    : G<f32>, P<f32>, i64, i64, i64, i64, i64
pto.set_loop_size_outtoub %c1_i64, %c1_i64 : i64, i64
pto.set_mov_pad_val %c0_i32 : i32
pto.set_atomic_none
pto.vecscope { }
""")

ARITHMETIC = _lines(r"""
%x = pto.vabs %v_f32, %m_b32 : !pto.vreg<32xf32>, M<b32> -> V<f32>
%x = pto.vlds %ub_f32[%c0] : P<f32> -> !pto.vreg<63xf32>
%x = pto.vlds %ub_f32[%c0] : P<f32> -> !pto.vreg<32xf64>
%x = pto.vlds %ub_f32[%c0] : P<f32> -> !pto.vreg<0xf32>
%x = pto.vadd %v_si32, %v_ui32, %m_b32 : V<si32>, V<ui32>, M<b32> -> V<si32>
%s = arith.constant 1.0 : f32 ¦ %x = pto.vsubs %v_f32, %s, %m_b32 : V<f32>, f32, M<b32> -> V<f32>
%x = pto.vands %v_i32, %c1_i32, %m_b32 : V<i32>, i32, M<b32> -> V<i32>
%x = pto.vrec %v_f32, %m_b32 : V<f32>, M<b32> -> V<f32>
%x = pto.vrsqrt %v_f32, %m_b32 : V<f32>, M<b32> -> V<f32>
%x = pto.vbcnt %v_i32, %m_b32 : V<i32>, M<b32> -> V<i32>
%x = pto.vcls %v_i32, %m_b32 : V<i32>, M<b32> -> V<i32>
%x = pto.vmov %v_f32, %m_b32 : V<f32>, M<b32> -> V<f32>
""")

CONVERSION = _lines(r"""
%x = pto.vcvt %v_f16, %m_b16 {rnd = "R"} : V<f16>, M<b16> -> V<bf16>
%x = pto.vcvt %v_f32, %m_b32 {rnd = "R", part = "EVEN"} : V<f32>, M<b32> -> V<f16>
%x = pto.vcvt %v_f32, %m_b32 {rnd = "R", sat = "SAT"} : V<f32>, M<b32> -> V<f16>
%x = pto.vcvt %v_f32, %m_b32 {sat = "SAT", part = "EVEN"} : V<f32>, M<b32> -> V<f16>
%x = pto.vcvt %v_f16, %m_b16 {rnd = "R", part = "EVEN"} : V<f16>, M<b16> -> V<f32>
%x = pto.vcvt %v_f16, %m_b16 {rnd = "R", sat = "SAT", part = "EVEN"} : V<f16>, M<b16> -> V<si32>
%x = pto.vcvt %v_f32, %m_b32 {rnd = "R", round_mode = "R", sat = "SAT"} : V<f32>, M<b32> -> V<si32>
%x = pto.vcvt %v_f32, %m_b32 {rnd = "F", sat = "SAT", part = "P0"} : V<f32>, M<b32> -> V<f8E4M3FN>
%x = pto.vcvt %v_f32, %m_b32 {rnd = "R", sat = "SAT", part = "EVEN"} : V<f32>, M<b32> -> V<f8E4M3FN>
%x = pto.vbitcast %v_f32 : V<f32> -> !pto.vreg<64xi16>
""")

REDUCTION_COMPARE_REARRANGE = _lines(r"""
%x = pto.vcadd %v_f16, %m_b16 : V<f16>, M<b16> -> V<f32>
%x = pto.vpack %v_i32, "LOWER" : V<i32> -> V<si16>
%x = pto.vzunpack %v_i16, %c0 : V<i16> -> V<i16>
%x = pto.vslide %v_f32, %v_f32, %c1 : V<f32>, V<f32> -> V<f32>
%x = pto.vperm %v_f32, %v_i32 : V<f32>, V<i32> -> V<f32>
""")

SFU = _lines(r"""
pto.vbitsort %ub_ui32, %ub_f32, %ub_ui32, %c1 : P<ui32>, P<f32>, P<ui32>, index
pto.vmrgsort4 %ub_f32, %ub_f32, %ub_f32, %ub_f32, %ub_f32, %c1_i64, %c1_i64
    : P<f32>, P<f32>, P<f32>, P<f32>, P<f32>, i64, i64
%s = pto.load_scalar %ub_i32[%c0] : P<i32> -> i32 ¦ pto.sprsti "AR", %ub_ui32[%s] : P<ui32>, i32
%a = pto.vldas %ub_f32 : P<f32> -> ALIGN ¦
    %b = pto.vstur %a, %v_f32, %ub_f32, "POST_UPDATE" : ALIGN, V<f32>, P<f32> -> ALIGN
%a = pto.init_align : ALIGN ¦ %x, %b = pto.vldus %ub_f32, %a : P<f32>, ALIGN -> V<f32>, ALIGN
%a = pto.init_align : ALIGN ¦ %b = pto.vstus %a, %c3_i32, %v_f32, %ub_f32 : ALIGN, i32, V<f32>, P<f32> -> ALIGN ¦
    %d = pto.vstus %a, %c3_i32, %v_f32, %ub_f32 : ALIGN, i32, V<f32>, P<f32> -> ALIGN
%a = pto.init_align : ALIGN ¦ scf.for %i = %c0 to %c2 step %c1 { ¦
    ! %b = pto.vstus %a, %c3_i32, %v_f32, %ub_f32 : ALIGN, i32, V<f32>, P<f32> -> ALIGN ¦
    pto.vstas %b, %ub_f32, %c3_i32 : ALIGN, P<f32>, i32 ¦ }
""")

# in the body of a function
SFU_OUTSIDE = _lines(r"""
%a = pto.get_vms4_sr : i64
""")

SCALAR_SYNC_DMA = _lines(r"""
%x = pto.castptr %c0_i64 : i64 -> i32
%x = pto.castptr %ub_f32 : P<f32> -> G<f32>
%x = pto.castptr %gm : G<f32> -> P<f32>
%x = arith.constant 1 : si32
%x = arith.constant 1 : ui8
%x = arith.constant 1.0 : f8E4M3FN
%x = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %c0) -> (index) { ¦ ! scf.yield %c0_i32 : i32 ¦ }
! %x = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %c0) -> (i32) { ¦ scf.yield %a : i32 ¦ }
! %x = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %c0) -> (index) { ¦ %y = arith.addi %a, %a : index ¦ }
%b = arith.constant true ¦ ! %x = scf.if %b -> (index) { ¦ scf.yield %c0 : index ¦ }
%b = arith.constant true ¦ %x = scf.if %b -> (index) { ¦ scf.yield %c0 : index ¦ } else { ¦ ! scf.yield %c0_i32 : i32 ¦
    }
! scf.if %c0 { ¦ }
! scf.forall (%i) in (4) { ¦ }
cf.br ^bb1
! affine.for %i = 0 to 4 { ¦ }
%x = memref.alloc() : memref<4xf32>
%x = llvm.add %s_i32, %s_i32 : i32
%x = math.tanh %c0 : index
pto.nosuchop
nosuch.op
pto.sync.set <PIPE_S>, 1
pto.sync.set <PIPE_M>, 1
pto.set_intra_block <PIPE_M>, 1
pto.set_cross_block <PIPE_V>, 3 {ffts_mode = 1 : i32}
pto.sync.set <PIPE_V>, 3 {ffts_mode = 3 : i32}
pto.set_cross_core %c0_i64, %c1_i64 : i64, i64
%x = func.call @nobody(%c0) : (index) -> (index)
pto.strict_vecscope(%ub_f32) { ¦ ^bb0(%p: P<f32>): ¦ ! %v = pto.vlds %ub_f32[%c0] : P<f32> -> V<f32> ¦
    } : (P<f32>) -> ()
! pto.strict_vecscope(%ub_f32) { ¦ ^bb0(%p: P<f32>, %q: index): ¦ } : (P<f32>) -> ()
! pto.strict_vecscope(%ub_f32) { ¦ ^bb0(%p: P<i32>): ¦ } : (P<f32>) -> ()
pto.strict_vecscope(%ub_f32) { ¦ ^bb0(%p: P<f32>): ¦ } : (P<i32>) -> ()
pto.vecscope { ¦ ! scf.for %i = %c0 to %c1 step %c1 { ¦ } {llvm.loop.aivector_scope} ¦ }
scf.for %i = %c0 to %c1 step %c1 { ¦ ! pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"] ¦ } {llvm.loop.aivector_scope}
scf.for %i = %c0 to %c1 step %c1 { ¦ ! pto.vecscope { ¦ } ¦ } {llvm.loop.aivector_scope}
%x = arith.addi %c0, %c0_i64 : index
%x = arith.addi %undefined, %c0 : index
%c0 = arith.constant 1 : index
%x = arith.cmpi foo, %c0, %c0 : index
pto.copy_gm_to_ubuf %gm, %ub_f32, %c0_i64, %c1_i64 : G<f32>, P<f32>, i64, i64
pto.mte_gm_ub %gm, %ub_f32, %c0_i64, %c64_i64 : G<f32>, P<f32>, i64, i64
pto.mte_gm_ub %gm, %ub_f32, %c0_i64, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64) pad(%c0_i32, %c1_i64)
    : G<f32>, P<f32>, i64, i64, i64, i64, i64, pad i32, i64
pto.mte_gm_ub %gm, %ub_f32, %c0_i64, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64) pad(%c0_i32) loop(%c1_i64, %c1_i64,
    %c1_i64) : G<f32>, P<f32>, i64, i64, i64, i64, i64, pad i32, loop i64, i64, i64
pto.tload %gm : G<f32>
pto.get_tid_x
pto.ldg %gm[%c0] : G<f32> -> f32
""")

# in a cube kernel
CUBE = _lines(r"""
pto.mte_gm_l1_frac %gm, %l1_f32, nd2nz, shape(%c16_i64, %c16_i64), src_layout(%c64_i64), dst_group(%c1_i64, %c1_i64,
    %c16_i64, %c0_i64), ctrl(%c0_i64, %true)
    : G<f32>, L<f32>, nd2nz, shape i64, i64, src_layout(i64), dst_group i64, i64, i64, i64, ctrl i64, i1
pto.mte_gm_l1_frac %gm, %l1_f32, nd2nz, shape(%c16_i64, %c16_i64), src_layout(%c64_i64), dst_group(%c1_i64, %c1_i64,
    %c16_i64, %c0_i64), ctrl(%c0_i64, %false)
    : G<f32>, L<f32>, dn2nz, shape i64, i64, src_layout(i64), dst_group i64, i64, i64, i64, ctrl i64, i1
pto.mte_l1_l0a %l1_f16, %l0a_f16, %c16_i64, %c16_i64, %c0_i64 : L<f16>, X<f16>, i64, i64, i64
pto.mte_l1_l0a %l1_f16, %l0a_f16, %c0_i64, %c0_i64, %c1_i64, %c1_i64, %c1_i64 : L<f16>, X<f16>, i64, i64, i64, i64, i64
pto.mte_l1_l0a %l1_f16, %l0a_f16, m(%c16_i64), %c16_i64 : L<f16>, X<f16>, i64, i64
pto.mte_l1_l0a %l1_f16, %l0a_f16, m(%c16_i64), k(%c16_i64) : L<f16>, X<f16>, i64, i64
pto.mte_l1_l0a %l1_f16, %l0a_f16, m(%c16_i64), m(%c16_i64), start_row(%c0_i64), start_col(%c0_i64)
    : L<f16>, X<f16>, i64, i64, i64, i64
pto.mte_l1_l0a %l1_f16, %l0a_f16, m(%c16_i64), n(%c16_i64), start_row(%c0_i64), start_col(%c0_i64)
    : L<f16>, X<f16>, i64, i64, i64, i64
pto.mte_l1_l0a %l1_f16, %l0a_f16, m(%c16_i64), k(%c16_i64), m_start(%c0_i64), k_start(%c0_i64)
    : L<f16>, X<f16>, i64, i64, i64, i64
pto.mte_l1_l0a %l1_f16, %l0a_f16, %c16_i64, %c16_i64, %cm1_i64, %c0_i64 : L<f16>, X<f16>, i64, i64, i64, i64
pto.mad %l0a_si8, %l0b_si8, %l0c_i32, %c16_i64, %c16_i64, %c16_i64 sat : X<si8>, Y<si8>, C<i32>, i64, i64, i64
pto.mad %l0a_f16, %l0b_f16, %l0c_f32, %c16_i64, %c16_i64, %c16_i64 tf32_mode(round_even)
    : X<f16>, Y<f16>, C<f32>, i64, i64, i64
pto.mad %l0a_hif8, %l0b_e4m3, %l0c_f32, %c16_i64, %c16_i64, %c16_i64 : X<!pto.hif8>, Y<f8E4M3FN>, C<f32>, i64, i64, i64
pto.mad_mx %l0a_e4m3, %l0b_e4m3, %l0c_f32, %c16_i64, %c16_i64, %c64_i64 tf32_mode(round_even)
    : X<f8E4M3FN>, Y<f8E4M3FN>, C<f32>, i64, i64, i64
pto.mad %l0a_f16, %l0b_f16, %l0c_f32, %c16_i64, %c16_i64, %c16_i64 sat nosat : X<f16>, Y<f16>, C<f32>, i64, i64, i64
pto.mad %l0a_f16, %l0b_f16, %l0c_f32, %c16_i64, %c16_i64, %c16_i64 sat disable_gemv
    : X<f16>, Y<f16>, C<f32>, i64, i64, i64
pto.mad %l0a_f16, %l0b_f16, %l0c_f32, %c16_i64, %c16_i64, %c16_i64 unit_flag(check_and_clear)
    : X<f16>, Y<f16>, C<f32>, i64, i64, i64
pto.mad %l0a_f16, %l0b_f16, %l0c_f32, %c16_i64, %c16_i64, %c16_i64 n_dir n_dir : X<f16>, Y<f16>, C<f32>, i64, i64, i64
pto.mad %l0a_f16, %l0b_f16, %l0c_f32, %c16_i64, %c16_i64 : X<f16>, Y<f16>, C<f32>, i64, i64
pto.mte_ub_gm %ub_f32, %gm, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64) : P<f32>, G<f32>, i64, i64, i64, i64
pto.vecscope { }
pto.mte_gm_ub %gm, %ub_f32, %c0_i64, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64)
    : G<f32>, P<f32>, i64, i64, i64, i64, i64
""")

FIXPIPE = _lines(r"""
pto.mte_l0c_ub %l0c_f32, %ub_f32, %c16_i64, %c16_i64, %c16_i64, %c16_i64 : C<f32>, P<f32>, i64, i64, i64, i64
pto.mte_l0c_ub %l0c_f32, %ub_f32, %c16_i64, %c32_i64, %c16_i64, %c32_i64, dst_mode(%c2_i64)
    : C<f32>, P<f32>, i64, i64, i64, i64, i64
pto.mte_l0c_ub %l0c_f32, %ub_f32, %c16_i64, %c32_i64, %c16_i64, %c32_i64, dst_mode(%cm1_i64)
    : C<f32>, P<f32>, i64, i64, i64, i64, i64
pto.mte_l0c_ub %l0c_f32, %ub_f32, %c16_i64, %c48_i64, %c16_i64, %c32_i64, dst_mode(split_n)
    : C<f32>, P<f32>, i64, i64, i64, i64
pto.mte_l0c_ub %l0c_f32, %ub_f32, %c16_i64, %c32_i64, %c16_i64, %c32_i64, dst_mode(split_m), pre_quant(%scale,
    mode = no_convert) : C<f32>, P<f32>, i64, i64, i64, i64, f32
pto.mte_l0c_ub %l0c_f32, %ub_f32, %c16_i64, %c32_i64, %c16_i64, %c32_i64, dst_mode(split_m),
    pre_relu(mode = normal_relu) : C<f32>, P<f32>, i64, i64, i64, i64
pto.mte_l0c_ub %l0c_f32, %ub_f32, %c16_i64, %c32_i64, %c16_i64, %c32_i64, dst_mode(split_m), nz2nd, loop3(%c1_i64,
    %c1_i64, %c1_i64) : C<f32>, P<f32>, i64, i64, i64, i64, i64, i64, i64
pto.mte_l0c_ub %l0c_f32, %ub_f32, %c16_i64, %c32_i64, %c16_i64, %c32_i64, dst_mode(split_n), nz2dn(%c1_i64)
    : C<f32>, P<f32>, i64, i64, i64, i64, i64
pto.mte_l0c_ub %l0c_f32, %ub_f32, %c16_i64, %c32_i64, %c16_i64, %c32_i64, dst_mode(split_n), nz2nz
    : C<f32>, P<f32>, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, pre_quant(mode = f32_f16)
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, pre_quant(%scale)
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64, f32
pto.mte_l0c_gm %l0c_f32, %gmp_f16, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, pre_quant(%fb_ui64,
    mode = qf322f16_pre_vec) : C<f32>, G<f16>, i64, i64, i64, i64, i64, i64, F<ui64>
pto.mte_l0c_gm %l0c_f32, %gmp_bf16, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, pre_quant(%fb_f32,
    mode = f32_bf16) : C<f32>, G<bf16>, i64, i64, i64, i64, i64, i64, F<f32>
pto.mte_l0c_gm %l0c_f32, %gmp_f16, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, pre_quant(%fb_f32,
    mode = qf322f16_pre_scalar) : C<f32>, G<f16>, i64, i64, i64, i64, i64, i64, F<f32>
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, pre_relu(%scale,
    mode = normal_relu) : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64, f32
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, pre_relu(%n,
    mode = scalar_relu) : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64, i32
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, pre_relu(%scale,
    mode = vector_relu) : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64, f32
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, pre_relu(%fb_ui32,
    mode = vector_relu) : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64, F<ui32>
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, clip = %half
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64, f16
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, pre_relu(mode = no_relu,
    clip = %scale) : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64, f32
pto.mte_l0c_gm %l0c_f32, %gmp_ui8, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, pre_quant(%scale,
    mode = qf322b8_pre_scalar), pre_relu(mode = no_relu, clip = %byte)
    : C<f32>, G<ui8>, i64, i64, i64, i64, i64, i64, f32, i8
pto.mte_l0c_gm %l0c_f32, %gmp_f16, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, pre_quant(%scale,
    mode = f32_f16), pre_relu(mode = no_relu, clip = %scale) : C<f32>, G<f16>, i64, i64, i64, i64, i64, i64, f32, f32
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, nz2dn
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, unit_flag(check_only),
    nz2dn(%c2_i64) : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, unit_flag(check_only),
    nz2dn(%dynamic) : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64, i64
pto.mte_l0c_l1 %l0c_f32, %l1_f32, %c16_i64, %c16_i64, %c16_i64, %c16_i64, unit_flag(check_only), nz2dn(%c2_i64)
    : C<f32>, L<f32>, i64, i64, i64, i64, i64
pto.mte_l0c_ub %l0c_f32, %ub_f32, %c16_i64, %c32_i64, %c16_i64, %c32_i64, dst_mode(%c0_i64), unit_flag(check_only),
    nz2dn(%c2_i64) : C<f32>, P<f32>, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, nz2nd(%c1_i64)
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, nz2nz, loop3(%c1_i64, %c1_i64,
    %c1_i64) : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, loop3(%c1_i64, %c1_i64,
    %c1_i64) : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, nz2nd, loop3(%c1_i64, %c1_i64)
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, sat, nosat
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, sat, sat
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64
pto.mte_l0c_l1 %l0c_f32, %l1_f32, %c16_i64, %c16_i64, %c16_i64, %c16_i64, sat, nosat
    : C<f32>, L<f32>, i64, i64, i64, i64
pto.mte_l0c_ub %l0c_f32, %ub_f32, %c16_i64, %c32_i64, %c16_i64, %c32_i64, dst_mode(%c0_i64), sat, nosat
    : C<f32>, P<f32>, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, nz2nd, nz2nd
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, sat, nz2nd
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, fast
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, sat(keep_nan)
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, unit_flag(check_and_set)
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64
pto.mte_l0c_l1 %l0c_f32, %l1_f32, %c16_i64, %c16_i64, %c16_i64, %c16_i64, atomic(type = f32, op = add)
    : C<f32>, L<f32>, i64, i64, i64, i64
pto.mte_l0c_ub %l0c_f32, %ub_f32, %c16_i64, %c32_i64, %c16_i64, %c32_i64, dst_mode(%c0_i64), atomic(type = f32,
    op = add) : C<f32>, P<f32>, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, atomic(type = f32)
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, atomic(op = add)
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, atomic(type = f64, op = add)
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, atomic(type = f32, op = sub)
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64, atomic(op = add, type = f32)
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64
pto.mte_l0c_gm %l0c_f32, %gm, %c16_i64, %c16_i64, %c16_i64, %c16_i64, %c0_i64, %c0_i64 nz2nd sat
    : C<f32>, G<f32>, i64, i64, i64, i64, i64, i64
""")

RULES = [
    *(Line(text, in_scope) for text in (*PREDICATES, *ARITHMETIC, *CONVERSION, *REDUCTION_COMPARE_REARRANGE, *SFU)),
    *(Line(text, in_function) for text in (*SFU_OUTSIDE, *SCALAR_SYNC_DMA)),
    *(Line(text, in_cube) for text in (*CUBE, *FIXPIPE)),
]
