#include "models/code_survival.hpp"
