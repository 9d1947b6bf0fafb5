// A fake of NVML for nvml_test, with one device at 0000:1B:00.0. It lacks the function for MIG, and
// reading the memory clock fails, as on devices without these features. With OTHER_DRIVER its
// initialisation fails, as if the library belonged to another driver version than the kernel
// module.
#include <cstdio>
#include <cstring>

extern "C" {

int nvmlInit_v2() {
#ifdef OTHER_DRIVER
  return 18;  // NVML_ERROR_LIB_RM_VERSION_MISMATCH
#else
  return 0;
#endif
}
const char* nvmlErrorString(int status) {
  return status == 18 ? "Driver/library version mismatch" : "Unknown Error";
}
int nvmlSystemGetCudaDriverVersion(int* version) {
  *version = 13000;
  return 0;
}
int nvmlShutdown() {
  return 0;
}
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::snprintf(text, length, "580.65.06");
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  static int only = 0;
  if (std::strcmp(bus, "0000:1B:00.0") != 0) return 6;  // NVML_ERROR_NOT_FOUND
  *device = &only;
  return 0;
}
int nvmlDeviceGetClockInfo(void* /*device*/, int type, unsigned* clock_MHz) {
  if (type != 1) return 3;  // NVML_ERROR_NOT_SUPPORTED
  *clock_MHz = 1980;
  return 0;
}
int nvmlDeviceGetTemperature(void* /*device*/, int sensor, unsigned* temperature_C) {
  *temperature_C = sensor == 0 ? 61 : 0;
  return 0;
}
int nvmlDeviceGetPowerUsage(void* /*device*/, unsigned* power_mW) {
  *power_mW = 612500;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* /*device*/, unsigned long long* reasons) {
  *reasons = 0x4;
  return 0;
}
int nvmlDeviceGetEccMode(void* /*device*/, unsigned* now, unsigned* pending) {
  *now = 1;
  *pending = 0;
  return 0;
}
int nvmlDeviceGetPersistenceMode(void* /*device*/, unsigned* mode) {
  *mode = 1;
  return 0;
}
}
