#include "traces/fault_log.hpp"
