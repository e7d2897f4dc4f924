// The host of `ptosim cpp host`: device memory is files that ptosim maps as well, and a launch is recorded by a child for each
// core of a cluster and then run by ptosim, which answers.
#include <sys/wait.h>

#include "../acl/acl.h"

namespace ptosim {
namespace {

std::string folder() { return getenv("PTOSIM_HOST_FOLDER"); }

int64_t halves() { return atoi(getenv("PTOSIM_HOST_HALVES")); }

void *allocate(size_t size)
{
    Region region{nullptr, static_cast<int64_t>(size), 0, INT64_MAX, 0, false};
    region.mapped = (region.size + PAGE - 1) / PAGE * PAGE + PAGE;
    auto *start = mmap(nullptr, static_cast<size_t>(region.mapped + PAGE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int file = open((folder() + "/r" + std::to_string(regions.size())).c_str(), O_CREAT | O_RDWR, 0600);
    if (start == MAP_FAILED || file < 0 || ftruncate(file, region.mapped) != 0)
        return nullptr;
    mmap(start, static_cast<size_t>(region.mapped - PAGE), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    close(file);
    region.start = static_cast<char *>(start);
    regions.push_back(region);
    return start;
}

void record_launch(const std::string &path, int64_t blocks, int64_t half, const std::vector<int64_t> &known, void (*run)(void *), void *context)
{
    answers = known;
    result = fopen((path + ".txt").c_str(), "w");
    stream = fopen((path + ".bin").c_str(), "wb");
    has_data = true;
    most_records = 10000000;
    seconds = 10;
    current.blocks = blocks;
    current.half = half;
    current.halves = halves();
    for (auto &region : regions)
        mprotect(region.start, static_cast<size_t>(region.mapped), PROT_NONE);
    watch_faults();
    atexit(on_exit);
    struct itimerval limit {};
    limit.it_value.tv_sec = seconds;
    setitimer(ITIMER_VIRTUAL, &limit, nullptr);
    for (current.block = 0; current.block < blocks; ++current.block) {
        reset_events();
        unwritten();
        run_block([&] { run(context); });
        write_block();
    }
    fprintf(result, "done\n");
    finish();
    _exit(0);
}

}  // namespace

// Tells ptosim a line of words; it answers '+' to go on, or '?', how many results of the machine follow, and for each its core.
bool is_done(const std::string &told, std::vector<std::vector<int64_t>> &answers)
{
    int from = atoi(getenv("PTOSIM_HOST_IN"));
    char answer = 0;
    if (write(atoi(getenv("PTOSIM_HOST_OUT")), told.data(), told.size()) < 0 || read(from, &answer, 1) != 1)
        _exit(1);
    int64_t many = 0, known[2];
    if (answer == '?' && read(from, &many, sizeof many) == sizeof many)
        while (many-- > 0 && read(from, known, sizeof known) == sizeof known)
            answers[static_cast<size_t>(known[0])].push_back(known[1]);
    else if (answer != '+')
        _exit(1);
    return answer == '+';
}

void launch(int64_t blocks, void (*run)(void *), void *context)
{
    static int number = 0;
    std::string name = "launch" + std::to_string(number++), folder_ = folder() + "/" + name, told;
    std::vector<std::vector<int64_t>> answers(static_cast<size_t>(halves()));
    mkdir(folder_.c_str(), 0700);
    fflush(nullptr);
    do {
        told = name + " " + std::to_string(blocks);
        for (int64_t half = 0; half < halves(); ++half) {
            pid_t child = fork();
            if (child == 0)
                record_launch(folder_ + "/" + std::to_string(half), blocks, half, answers[static_cast<size_t>(half)], run, context);
            int status = 0;
            waitpid(child, &status, 0);
            told += " " + std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
        }
        for (auto &region : regions)
            told += " " + std::to_string(region.size);
        told += "\n";
    } while (!is_done(told, answers));
}

}  // namespace ptosim

extern "C" {
aclError aclInit(const char *) { return 0; }
aclError aclFinalize() { return 0; }
aclError aclrtSetDevice(int32_t) { return 0; }
aclError aclrtResetDevice(int32_t) { return 0; }
aclError aclrtGetDevice(int32_t *device) { return *device = 0; }
aclError aclrtCreateContext(aclrtContext *context, int32_t) { return *context = nullptr, 0; }
aclError aclrtDestroyContext(aclrtContext) { return 0; }
aclError aclrtCreateStream(aclrtStream *stream) { return *stream = nullptr, 0; }
aclError aclrtDestroyStream(aclrtStream) { return 0; }
aclError aclrtSynchronizeStream(aclrtStream) { return 0; }
aclError aclrtSynchronizeDevice() { return 0; }
aclError aclrtMalloc(void **pointer, size_t size, aclrtMemMallocPolicy) { return (*pointer = ptosim::allocate(size)) == nullptr; }
aclError aclrtMallocHost(void **pointer, size_t size) { return (*pointer = calloc(1, size ? size : 1)) == nullptr; }
aclError aclrtFree(void *) { return 0; }
aclError aclrtFreeHost(void *pointer) { return free(pointer), 0; }
aclError aclrtMemcpy(void *to, size_t, const void *from, size_t size, aclrtMemcpyKind) { return memcpy(to, from, size), 0; }
aclError aclrtMemcpyAsync(void *to, size_t, const void *from, size_t size, aclrtMemcpyKind, aclrtStream) { return memcpy(to, from, size), 0; }
aclError aclrtMemset(void *to, size_t, int32_t value, size_t size) { return memset(to, value, size), 0; }
}
