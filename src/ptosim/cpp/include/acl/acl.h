// Words of the host (isa/22 section 7). Programs that record call none of them; `ptosim cpp host` links them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

using aclError = int;
using aclrtStream = void *;
using aclrtContext = void *;
using aclrtEvent = void *;
#ifndef PTOSIM_ACL_FLOAT16
#define PTOSIM_ACL_FLOAT16
using aclFloat16 = uint16_t;
#endif
constexpr aclError ACL_SUCCESS = 0;
constexpr aclError ACL_ERROR_NONE = 0;
enum aclrtMemMallocPolicy { ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_HUGE_ONLY, ACL_MEM_MALLOC_NORMAL_ONLY };
enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEVICE_TO_DEVICE
};

extern "C" {
aclError aclInit(const char *config);
aclError aclFinalize();
aclError aclrtSetDevice(int32_t device);
aclError aclrtResetDevice(int32_t device);
aclError aclrtGetDevice(int32_t *device);
aclError aclrtCreateContext(aclrtContext *context, int32_t device);
aclError aclrtDestroyContext(aclrtContext context);
aclError aclrtCreateStream(aclrtStream *stream);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);
aclError aclrtSynchronizeDevice();
aclError aclrtMalloc(void **pointer, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtMallocHost(void **pointer, size_t size);
aclError aclrtFree(void *pointer);
aclError aclrtFreeHost(void *pointer);
aclError aclrtMemcpy(void *to, size_t most, const void *from, size_t size, aclrtMemcpyKind kind);
aclError aclrtMemcpyAsync(void *to, size_t most, const void *from, size_t size, aclrtMemcpyKind kind, aclrtStream stream);
aclError aclrtMemset(void *to, size_t most, int32_t value, size_t size);
}
