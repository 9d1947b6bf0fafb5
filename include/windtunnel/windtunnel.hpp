// Windtunnel as a library: load a case, set values, simulate it or a grid of it, read the figures.
#pragma once

#include <windtunnel/case.hpp>
#include <windtunnel/compressor.hpp>
#include <windtunnel/error.hpp>
#include <windtunnel/figures.hpp>
#include <windtunnel/names.hpp>
#include <windtunnel/saving_rule.hpp>
#include <windtunnel/schedule.hpp>
#include <windtunnel/simulate.hpp>
#include <windtunnel/sweep.hpp>
#include <windtunnel/timeline.hpp>
