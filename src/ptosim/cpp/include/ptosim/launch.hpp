// What the launch syntax `name<args><<<blocks, l2, stream>>>(arguments)` is replaced by, and what runs one block.
#pragma once
#include "host_words.hpp"

namespace ptosim {

enum class Kind : int32_t { pointer = 0, number = 1 };
struct Parameter {
    Kind kind;
    const char *type;
    int64_t size;
};

template <typename T, typename = void> struct Named {
    static constexpr const char *name = "bytes";
};
template <typename T> struct Named<T, std::void_t<decltype(Element<T>::name)>> {
    static constexpr const char *name = Element<T>::name;
};

template <typename T> struct Parameters {
    static_assert(std::is_arithmetic_v<T> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t> || std::is_enum_v<T>,
                  "ptosim launches kernels with pointers and numbers");
    static Parameter parameter() { return {Kind::number, name(), static_cast<int64_t>(sizeof(T))}; }
    static constexpr const char *name()
    {
        if constexpr (std::is_enum_v<T>)
            return Element<std::underlying_type_t<T>>::name;
        else
            return Element<T>::name;
    }
    static T value(int64_t bits)
    {
        T number;
        std::memcpy(&number, &bits, sizeof(T));
        return number;
    }
};
template <typename T> struct Parameters<T *> {
    template <typename E> static constexpr int64_t size()
    {
        if constexpr (std::is_void_v<E>)
            return 1;
        else
            return sizeof(E);
    }
    static Parameter parameter() { return {Kind::pointer, Named<std::remove_cv_t<T>>::name, size<T>()}; }
    static T *value(int64_t bits) { return reinterpret_cast<T *>(bits); }
};

struct Entry {
    const char *symbol;
    int count;
    Parameter (*parameter)(int index);
    void (*run)(const int64_t *bits);
};
void add_entry(const Entry &entry);

template <auto Function> struct Runner;
template <typename... A, void (*Function)(A...)> struct Runner<Function> {
    static Parameter parameter(int index)
    {
        const Parameter known[] = {Parameters<std::remove_cv_t<A>>::parameter()..., Parameter{}};
        return known[index];
    }
    template <size_t... I> static void call(const int64_t *bits, std::index_sequence<I...>)
    {
        Function(Parameters<std::remove_cv_t<A>>::value(bits[I])...);
    }
    static void run(const int64_t *bits) { call(bits, std::index_sequence_for<A...>{}); }
    static Entry entry(const char *symbol) { return {symbol, sizeof...(A), parameter, run}; }
};

// A kernel that the file launches itself: it is recorded by the same program as the one that is asked for.
template <auto Function> struct Known {
    static const char *symbol() { return __PRETTY_FUNCTION__; }
    static inline const bool added = (add_entry(Runner<Function>::entry(symbol())), true);
};

// --- launches written in the file ------------------------------------------------------------------------------------

void launch(int64_t blocks, void (*run)(void *), void *context);

template <typename F> struct Launched {
    int64_t blocks;
    F function;
    template <typename... A> void operator()(A... arguments) const
    {
        auto bound = [&] { function(arguments...); };
        launch(blocks, [](void *context) { (*static_cast<decltype(bound) *>(context))(); }, &bound);
    }
};
template <typename B, typename L, typename S, typename F> Launched<F> launched(B blocks, L, S, F function)
{
    return {static_cast<int64_t>(blocks), function};
}

}  // namespace ptosim
