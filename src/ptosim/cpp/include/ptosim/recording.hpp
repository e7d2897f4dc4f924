// What an intrinsic leaves behind: a record of its form, its site and the values of its operands. recorder.cpp keeps them.
#pragma once
#include "words.hpp"

#define PTOSIM_FRAME __builtin_frame_address(0)
#define PTOSIM_CALLED [[gnu::noinline]]

namespace ptosim {

// --- kept by recorder.cpp --------------------------------------------------------------------------------------------

int form(const char *text, const char *const *kinds, int count);
const char *kept(const char *format, ...) __attribute__((format(printf, 1, 2)));
int64_t put(int form, void *frame, const int64_t *values, int count);
[[noreturn]] void fail(void *frame, const char *kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
int64_t ask(void *frame);
int next_event(int source, int destination);
void reset_events();
int64_t new_tile(const void *object);
void touched(void *frame, const void *pointer);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct Place {
    int64_t argument, offset;
};
Place place_of(const void *pointer, void *frame, const char *what);

struct State {
    int64_t block, blocks, half, halves, ctrl, clock;
};
State &state();

constexpr int64_t UNASSIGNED = -1;

// --- element types ---------------------------------------------------------------------------------------------------

template <typename T> struct Element {
    static_assert(sizeof(T) == 0, "this type is no element of a tile");
};
#define PTOSIM_ELEMENT(TYPE, NAME) \
    template <> struct Element<TYPE> { static constexpr const char *name = NAME; };
PTOSIM_ELEMENT(void, "i8")
PTOSIM_ELEMENT(float, "f32")
PTOSIM_ELEMENT(half, "f16")
PTOSIM_ELEMENT(bfloat16_t, "bf16")
PTOSIM_ELEMENT(int8_t, "i8")
PTOSIM_ELEMENT(char, "i8")
PTOSIM_ELEMENT(bool, "ui8")
PTOSIM_ELEMENT(uint8_t, "ui8")
PTOSIM_ELEMENT(int16_t, "i16")
PTOSIM_ELEMENT(uint16_t, "ui16")
PTOSIM_ELEMENT(int32_t, "i32")
PTOSIM_ELEMENT(uint32_t, "ui32")
PTOSIM_ELEMENT(long, "i64")
PTOSIM_ELEMENT(unsigned long, "ui64")
PTOSIM_ELEMENT(long long, "i64")
PTOSIM_ELEMENT(unsigned long long, "ui64")
PTOSIM_ELEMENT(hifloat8_t, "!pto.hif8")
PTOSIM_ELEMENT(float8_e4m3_t, "f8E4M3FN")
PTOSIM_ELEMENT(float8_e5m2_t, "f8E5M2")
PTOSIM_ELEMENT(float8_e8m0_t, "!pto.f8E8M0")
PTOSIM_ELEMENT(float4_e1m2x2_t, "!pto.f4E1M2x2")
PTOSIM_ELEMENT(float4_e2m1x2_t, "!pto.f4E2M1x2")
PTOSIM_ELEMENT(int4b_t, "i8")
#undef PTOSIM_ELEMENT

// --- operands --------------------------------------------------------------------------------------------------------
// An operand says once what it is (kind) and at each record its values. Tiles and global tensors say so themselves.

template <typename O, typename = void> struct is_operand : std::false_type {};
template <typename O> struct is_operand<O, std::void_t<decltype(O::ptosim_count)>> : std::true_type {};

template <typename O, typename = void> struct Operand {
    static_assert(is_operand<O>::value, "an operand of this intrinsic is a tile or a global tensor, not a value of another type");
    static const char *kind() { return O::ptosim_kind(); }
    static constexpr int count = O::ptosim_count;
    static void values(const O &operand, int64_t *out, void *frame) { operand.ptosim_values(out, frame); }
};

template <typename N> int64_t bits_of(N number)
{
    int64_t bits = 0;
    std::memcpy(&bits, &number, sizeof(N));
    return bits;
}

template <typename N> struct Scalar {  // as its own type
    N number;
    static const char *ptosim_kind()
    {
        static const char *const known = kept("S %s", Element<N>::name);
        return known;
    }
    static constexpr int ptosim_count = 1;
    void ptosim_values(int64_t *out, void *) const { *out = bits_of(number); }
};

struct Index {
    int64_t number;
    static const char *ptosim_kind() { return "I index"; }
    static constexpr int ptosim_count = 1;
    void ptosim_values(int64_t *out, void *) const { *out = number; }
};

struct Word {
    uint64_t number;
    static const char *ptosim_kind() { return "S i64"; }
    static constexpr int ptosim_count = 1;
    void ptosim_values(int64_t *out, void *) const { *out = static_cast<int64_t>(number); }
};

template <typename O> constexpr int values_of = Operand<std::remove_cv_t<O>>::count;

template <typename... O> int64_t record(void *frame, const char *text, const O &...operands)
{
    struct Known {
        const char *text;
        int form;
    };
    static Known known[16];
    static int count = 0;
    int found = -1;
    for (int index = 0; index < count; ++index)
        if (known[index].text == text)
            found = known[index].form;
    if (found < 0) {
        const char *const kinds[] = {Operand<std::remove_cv_t<O>>::kind()..., nullptr};
        found = form(text, kinds, sizeof...(O));
        if (count < 16)
            known[count++] = {text, found};
    }
    int64_t values[(0 + ... + values_of<O>) + 1];
    int64_t *out = values;
    ((Operand<std::remove_cv_t<O>>::values(operands, out, frame), out += values_of<O>), ...);
    return put(found, frame, values, static_cast<int>(out - values));
}

}  // namespace ptosim
