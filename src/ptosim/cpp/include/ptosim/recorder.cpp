// Runs the scalar program of a kernel, once for each block, and keeps what its intrinsics record. A process of its own:
// whatever the program does ends here. Usage: program REQUEST RESULT [DATA]; the request is a file of 64-bit integers.
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "launch.hpp"

namespace ptosim {
namespace {

constexpr int EXIT_FAILED = 3, EXIT_NEEDS_DATA = 4, EXIT_ASKS = 5;
constexpr int64_t PAGE = 4096;
constexpr int MOST_FRAMES = 40;

struct Region {
    char *start;
    int64_t size, mapped;
    int64_t low, high;  // the bytes that recorded operations write
    bool readable;
};

struct Written {  // which operand of a form is written in global memory, and where its values begin
    int64_t at;
};

int64_t most_records = 0, seconds = 0;
std::vector<Region> regions;
std::vector<int64_t> tokens, values, answers;
std::vector<std::string> forms;
std::vector<Written> written;
std::unordered_map<std::string, int> form_numbers;
std::unordered_set<std::string> strings;
std::unordered_map<uint64_t, int> site_numbers;
std::vector<std::vector<uintptr_t>> sites;
std::vector<int64_t> site_counts;
std::unordered_map<int, int> event_counters;
size_t asked = 0;
int64_t total = 0;
bool running = false, has_data = false, was_read = false;
State current{};
uintptr_t base_frame = 0;
std::vector<uintptr_t> thrown_at;
FILE *result = nullptr, *stream = nullptr;

std::vector<Entry> &entries()  // filled before main
{
    static std::vector<Entry> known;
    return known;
}

std::string escaped(const std::string &text)
{
    std::string out;
    for (char letter : text)
        out += letter == '\n' ? std::string("\\n") : letter == '\\' ? std::string("\\\\") : std::string(1, letter);
    return out;
}

void chain_of(uintptr_t frame, std::vector<uintptr_t> &out)
{
    while (frame != 0 && frame < base_frame && frame % sizeof(uintptr_t) == 0 && out.size() < MOST_FRAMES) {
        auto *words = reinterpret_cast<const uintptr_t *>(frame);
        out.push_back(words[1] - 1);  // a place in the call, not behind it
        if (words[0] <= frame)
            break;
        frame = words[0];
    }
}

int site_of(uintptr_t frame)
{
    static std::vector<uintptr_t> chain;
    chain.clear();
    chain_of(frame, chain);
    uint64_t hash = 1469598103934665603ull;
    for (uintptr_t address : chain)
        hash = (hash ^ address) * 1099511628211ull;
    auto [found, fresh] = site_numbers.try_emplace(hash, static_cast<int>(sites.size()));
    if (fresh) {
        sites.push_back(chain);
        site_counts.push_back(0);
    }
    return found->second;
}

void write_block()
{
    int64_t header[] = {current.block, static_cast<int64_t>(tokens.size()), static_cast<int64_t>(values.size())};
    fwrite(header, sizeof header, 1, stream);
    fwrite(tokens.data(), 8, tokens.size(), stream);
    fwrite(values.data(), 8, values.size(), stream);
    tokens.clear();
    values.clear();
}

void write_chain(const std::vector<uintptr_t> &chain)
{
    for (uintptr_t address : chain)
        fprintf(result, " %llx", static_cast<unsigned long long>(address));
    fputc('\n', result);
}

void finish()
{
    for (auto &form : forms)
        fprintf(result, "form %s\n", escaped(form).c_str());
    for (auto &site : sites) {
        fprintf(result, "site");
        write_chain(site);
    }
    if (was_read)
        fprintf(result, "read\n");
    fclose(result);
    fclose(stream);
}

[[noreturn]] void stop(int code)
{
    running = false;
    finish();
    _exit(code);
}

void write_error(const char *kind, const std::string &message, const std::vector<uintptr_t> &chain)
{
    fprintf(result, "error %s %lld %s\n", kind, static_cast<long long>(current.block), escaped(message).c_str());
    fprintf(result, "at");
    write_chain(chain);
}

std::vector<uintptr_t> unwound()
{
    void *frames[MOST_FRAMES];
    int count = backtrace(frames, MOST_FRAMES);
    std::vector<uintptr_t> chain;
    for (int index = 0; index < count; ++index)
        chain.push_back(reinterpret_cast<uintptr_t>(frames[index]) - 1);
    return chain;
}

void on_exit()
{
    if (!running)
        return;
    write_error("trap", "the kernel calls exit()", unwound());
    stop(EXIT_FAILED);
}

// --- faults ----------------------------------------------------------------------------------------------------------

std::vector<uintptr_t> interrupted(void *context)
{
#if defined(__x86_64__) && defined(__linux__)
    auto &machine = static_cast<ucontext_t *>(context)->uc_mcontext;
    auto frame = static_cast<uintptr_t>(machine.gregs[REG_RBP]);
    auto stack = static_cast<uintptr_t>(machine.gregs[REG_RSP]);
    if (base_frame - stack < (1 << 20)) {
        auto here = static_cast<uintptr_t>(machine.gregs[REG_RIP]);
        std::vector<uintptr_t> chain{here};
        bool inside = false;
        for (uintptr_t address : unwound()) {  // the frames of the handler come first
            if (inside)
                chain.push_back(address);
            inside |= address == here - 1;
        }
        return chain;
    }
    std::vector<uintptr_t> chain{static_cast<uintptr_t>(machine.gregs[REG_RIP])};
    if (frame >= stack && frame < base_frame)
        chain_of(frame, chain);
    return chain;
#else
    (void)context;
    return unwound();
#endif
}

bool is_stack(const char *address, void *context)
{
#if defined(__x86_64__) && defined(__linux__)
    auto stack = static_cast<intptr_t>(static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RSP]);
    auto distance = reinterpret_cast<intptr_t>(address) - stack;
    return distance > -(1 << 20) && distance < (1 << 16) && base_frame - static_cast<uintptr_t>(stack) > (1 << 20);
#else
    (void)address, (void)context;
    return false;
#endif
}

bool is_write(void *context)
{
#if defined(__x86_64__) && defined(__linux__)
    return (static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
    (void)context;
    return false;
#endif
}

Region *region_at(const char *address)
{
    for (auto &region : regions)
        if (address >= region.start && address < region.start + region.mapped)
            return &region;
    return nullptr;
}

void read_page(Region &region, const char *address, void *context)
{
    int64_t offset = address - region.start, page = offset / PAGE * PAGE;
    if (offset >= region.low && offset < region.high) {
        write_error("unsupported", "a plain pointer reads global memory that the kernel has written before: its scalar program "
                                   "cannot know the result; use GetValue, or compute it on tiles", interrupted(context));
        stop(EXIT_FAILED);
    }
    if (offset >= region.size) {
        char text[160];
        snprintf(text, sizeof text, "argument %d is read at byte %lld, but has %lld bytes", static_cast<int>(&region - regions.data()),
                 static_cast<long long>(offset), static_cast<long long>(region.size));
        write_error("out-of-bounds", text, interrupted(context));
        stop(EXIT_FAILED);
    }
    if (!has_data)
        stop(EXIT_NEEDS_DATA);
    was_read = region.readable = true;
    mprotect(region.start + page, PAGE, PROT_READ);
}

void faulted(int signal, siginfo_t *info, void *context)
{
    auto *address = static_cast<const char *>(info->si_addr);
    Region *region = running && signal == SIGSEGV ? region_at(address) : nullptr;
    if (region != nullptr && !is_write(context))
        return read_page(*region, address, context);
    std::string message = "the scalar program ends with signal " + std::to_string(signal);
    const char *kind = "trap";
    if (region != nullptr) {
        kind = "unsupported";
        message = "global memory is written through a plain pointer; use TSTORE";
    } else if ((signal == SIGSEGV || signal == SIGBUS) && is_stack(address, context)) {
        kind = "limit";
        message = "the stack of the scalar program overflows";
    } else if (signal == SIGSEGV || signal == SIGBUS) {
        char text[120];
        snprintf(text, sizeof text, "the scalar program accesses address 0x%llx, which lies in no argument", static_cast<unsigned long long>(
                 reinterpret_cast<uintptr_t>(address)));
        message = text;
        kind = "out-of-bounds";
    } else if (signal == SIGFPE) {
        kind = "arithmetic";
        message = "the scalar program divides by zero";
    } else if (signal == SIGVTALRM) {
        kind = "limit";
        message = "the scalar program has not ended after " + std::to_string(seconds) + " s of computing";
    } else if (signal == SIGABRT) {
        message = "the scalar program aborts";
    } else if (signal == SIGILL || signal == SIGTRAP) {
        message = "the scalar program reaches code that must not be reached";
    }
    write_error(kind, message, interrupted(context));
    stop(EXIT_FAILED);
}

void watch_faults()
{
    static char stack[1 << 16];
    stack_t own{};
    own.ss_sp = stack;
    own.ss_size = sizeof stack;
    sigaltstack(&own, nullptr);
    struct sigaction action {};
    action.sa_sigaction = faulted;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGVTALRM})
        sigaction(signal, &action, nullptr);
    struct rlimit none {0, 0};
    setrlimit(RLIMIT_CORE, &none);
}

void writes(const int64_t *operand)
{
    if (operand[0] < 0)
        return;
    Region &region = regions[static_cast<size_t>(operand[0])];
    int64_t reach = 0;
    for (int index = 0; index < 5; ++index) {
        if (operand[2 + index] <= 0)
            return;
        reach += (operand[2 + index] - 1) * operand[7 + index];
    }
    int64_t low = operand[1], high = operand[1] + (reach + 1) * 8;
    if (low < region.low || high > region.high) {
        region.low = region.low < low ? region.low : low;
        region.high = region.high > high ? region.high : high;
        if (region.readable) {
            mprotect(region.start, static_cast<size_t>(region.mapped), PROT_NONE);
            region.readable = false;
        }
    }
}

}  // namespace

// --- what headers call -----------------------------------------------------------------------------------------------

State &state() { return current; }

const char *kept(const char *format, ...)
{
    char buffer[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    return strings.insert(buffer).first->c_str();
}

int form(const char *text, const char *const *kinds, int count)
{
    std::string whole = text;
    Written place{-1};
    int64_t at = 0;
    bool stores = whole.rfind("pto.tstore", 0) == 0 || whole.rfind("pto.mscatter", 0) == 0;
    for (int index = 0; index < count; ++index) {
        whole += std::string("\t") + kinds[index];
        if (stores && kinds[index][0] == 'G' && place.at < 0)
            place.at = at;
        at += kinds[index][0] == 'G' ? 12 : kinds[index][0] == 'T' ? 3 : kinds[index][0] == 'P' ? 2 : 1;
    }
    auto [found, fresh] = form_numbers.try_emplace(whole, static_cast<int>(forms.size()));
    if (fresh) {
        forms.push_back(whole);
        written.push_back(place);
    }
    return found->second;
}

int64_t put(int form, void *frame, const int64_t *numbers, int count)
{
    if (!running)
        return -1;
    int site = site_of(reinterpret_cast<uintptr_t>(frame));
    tokens.push_back(static_cast<int64_t>(form) << 32 | site);
    values.insert(values.end(), numbers, numbers + count);
    site_counts[static_cast<size_t>(site)] += 1;
    if (written[static_cast<size_t>(form)].at >= 0)
        writes(numbers + written[static_cast<size_t>(form)].at);
    if (++total > most_records) {
        size_t most = 0;
        for (size_t index = 0; index < site_counts.size(); ++index)
            most = site_counts[index] > site_counts[most] ? index : most;
        std::string message = "the recording has more than " + std::to_string(most_records) + " operations; " +
                              std::to_string(site_counts[most]) + " of them are recorded here";
        write_error("limit", message, sites[most]);
        stop(EXIT_FAILED);
    }
    return static_cast<int64_t>(tokens.size()) - 1;
}

void fail(void *frame, const char *kind, const char *format, ...)
{
    char buffer[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    std::vector<uintptr_t> chain;
    chain_of(reinterpret_cast<uintptr_t>(frame), chain);
    write_error(kind, buffer, frame == nullptr ? unwound() : chain);
    stop(EXIT_FAILED);
}

int64_t ask(void *)
{
    if (asked < answers.size())
        return answers[asked++];
    write_block();
    fprintf(result, "asks %lld\n", static_cast<long long>(current.block));
    stop(EXIT_ASKS);
}

int next_event(int source, int destination)
{
    if (source < 0) {
        event_counters[(-1 - source) * 64 + destination] = 0;
        return 0;
    }
    if (destination < 0)
        return event_counters[source * 64 - 1 - destination] % 8;
    return event_counters[source * 64 + destination]++ % 8;
}

void reset_events() { event_counters.clear(); }

int64_t new_tile(const void *object)  // without an address: the same object at the same place of the program is one tile
{
    static std::unordered_map<uint64_t, int64_t> known;
    auto frame = reinterpret_cast<const uintptr_t *>(__builtin_frame_address(0));
    uint64_t key = reinterpret_cast<uint64_t>(object) * 1099511628211ull ^ frame[1];
    return known.try_emplace(key, -2 - static_cast<int64_t>(known.size())).first->second;
}

void say(const char *format, ...)
{
    char buffer[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    fprintf(result, "say %lld %lld %s\n", static_cast<long long>(current.block), static_cast<long long>(current.half), escaped(buffer).c_str());
}

Place place_of(const void *pointer, void *frame, const char *what)
{
    if (pointer == nullptr)
        fail(frame, "out-of-bounds", "%s has a null pointer", what);
    auto *address = static_cast<const char *>(pointer);
    for (size_t index = 0; index < regions.size(); ++index) {
        auto &region = regions[index];
        if (region.start != nullptr && address >= region.start && address < region.start + region.mapped)
            return {static_cast<int64_t>(index), address - region.start};
    }
    fail(frame, "out-of-bounds", "%s begins at a place that lies in no argument", what);
}

void touched(void *, const void *) {}

void add_entry(const Entry &entry) { entries().push_back(entry); }

#ifndef PTOSIM_HOST
void launch(int64_t, void (*)(void *), void *) {}
#endif

// --- the program -----------------------------------------------------------------------------------------------------

namespace {

void unwritten()
{
    for (auto &region : regions) {
        region.low = INT64_MAX;
        region.high = 0;
    }
}

[[maybe_unused]] int describe(const char *path)
{
    FILE *out = fopen(path, "w");
    for (auto &entry : entries()) {
        fprintf(out, "entry %s\n", entry.symbol);
        for (int index = 0; index < entry.count; ++index) {
            Parameter found = entry.parameter(index);
            fprintf(out, "parameter %s %lld %s\n", found.kind == Kind::pointer ? "pointer" : "number", static_cast<long long>(found.size), found.type);
        }
    }
    fclose(out);
    return 0;
}

constexpr int64_t BOUNDLESS = int64_t{1} << 40;  // as long as the program likes, all zeros

[[maybe_unused]] void map_region(Region &region, int file, int64_t at)
{
    region.mapped = (region.size + PAGE - 1) / PAGE * PAGE + PAGE;
    int64_t whole = region.mapped + PAGE;
    auto *start = static_cast<char *>(mmap(nullptr, static_cast<size_t>(whole), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (start == MAP_FAILED)
        _exit(EXIT_FAILED);
    if (file >= 0 && region.size > 0)
        mmap(start, static_cast<size_t>(region.size), PROT_NONE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, at);
    region.start = start;
}

template <typename F> [[gnu::noinline]] void run_block(F run)
{
    base_frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    running = true;
    try {
        run();
    } catch (const std::exception &thrown) {
        write_error("trap", std::string("the kernel throws an exception: ") + thrown.what(), thrown_at);
        stop(EXIT_FAILED);
    } catch (...) {
        write_error("trap", "the kernel throws an exception", thrown_at);
        stop(EXIT_FAILED);
    }
    running = false;
}

}  // namespace
}  // namespace ptosim

extern "C" [[noreturn]] void __cxa_throw(void *thrown, void *type, void (*destroy)(void *))  // notes where
{
    ptosim::thrown_at = ptosim::unwound();
    using Throw = void (*)(void *, void *, void (*)(void *));
    auto next = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
    next(thrown, type, destroy);
    __builtin_unreachable();
}

#ifdef PTOSIM_HOST
#include "host.hpp"
#else
int main(int count, char **words)
{
    using namespace ptosim;
    if (count == 2)
        return describe(words[1]);
    std::vector<int64_t> request;
    FILE *input = fopen(words[1], "rb");
    int64_t word;
    while (fread(&word, 8, 1, input) == 1)
        request.push_back(word);
    fclose(input);
    result = fopen((std::string(words[2]) + ".txt").c_str(), "w");
    stream = fopen((std::string(words[2]) + ".bin").c_str(), "wb");
    has_data = count > 3;
    int file = has_data ? open(words[3], O_RDONLY) : -1;
    // entry, first block, end of blocks, blocks, half, halves, most records, seconds, arguments, (kind, value)..., answers
    size_t at = 0;
    auto next = [&] { return request[at++]; };
    const Entry &entry = entries()[static_cast<size_t>(next())];
    int64_t first = next(), end = next();
    current.blocks = next();
    current.half = next();
    current.halves = next();
    most_records = next();
    seconds = next();
    int64_t arguments = next(), data = 0;
    std::vector<int64_t> bits;
    regions.resize(static_cast<size_t>(arguments));
    for (int64_t index = 0; index < arguments; ++index) {
        int64_t kind = next(), value = next();
        Region &region = regions[static_cast<size_t>(index)];
        region = Region{nullptr, 0, 0, 0, 0, false};
        region.low = INT64_MAX;
        if (kind == 0 && value >= 0) {
            region.size = value;
            bool held = value < BOUNDLESS;
            map_region(region, held ? file : -1, data);
            data += held ? (value + PAGE - 1) / PAGE * PAGE : 0;
        }
        bits.push_back(kind == 0 ? reinterpret_cast<int64_t>(region.start) : value);
    }
    while (at < request.size())
        answers.push_back(next());
    watch_faults();
    atexit(on_exit);
    struct itimerval limit {};
    limit.it_value.tv_sec = seconds;
    setitimer(ITIMER_VIRTUAL, &limit, nullptr);
    for (current.block = first; current.block < end; ++current.block) {
        reset_events();
        current.ctrl = current.clock = 0;
        unwritten();
        run_block([&] { entry.run(bits.data()); });
        write_block();
    }
    fprintf(result, "done\n");
    finish();
    return 0;
}
#endif
