# cmake -DFROM=a.cu -DTO=a.cpp -P Translate.cmake: the launches of a .cu file as C++ (cuda_runtime.h
# of this folder). A launch is a statement, and no argument of it has a semicolon.
file(READ ${FROM} text)
string(REGEX REPLACE
  "([A-Za-z_]+(<[A-Za-z_0-9, ]+>)?)[ \n]*<<<([^;]*)>>>\\(([^;]*)\\);"
  "::cuda_host::Launch{\\3} = ::cuda_host::bound([=](auto... given) { \\1(given...); }, \\4);" text "${text}")
file(WRITE ${TO} "#line 1 \"${FROM}\"\n${text}")
