#include "models/interval_theory.hpp"
