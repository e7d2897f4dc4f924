"""Operations on logical vectors, `pto.vmi.*`: what to compute on lanes, wherever they lie."""
