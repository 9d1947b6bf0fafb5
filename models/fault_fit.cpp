#include "models/fault_fit.hpp"
