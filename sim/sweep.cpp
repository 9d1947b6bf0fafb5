#include "sim/sweep.hpp"
