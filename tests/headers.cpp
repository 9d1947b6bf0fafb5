// Nothing: its target carries the headers that all tests share, compiled once
// (cmake/Windtunnel.cmake).
