// Which sanitizer a build has: GCC names them by macros, clang by features.
#pragma once

namespace windtunnel {

#if defined(__has_feature)
#define WINDTUNNEL_FEATURE(name) __has_feature(name)
#else
#define WINDTUNNEL_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || WINDTUNNEL_FEATURE(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || WINDTUNNEL_FEATURE(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

#undef WINDTUNNEL_FEATURE

}  // namespace windtunnel
