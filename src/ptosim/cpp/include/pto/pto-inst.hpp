#pragma once
#include "../ptosim/launch.hpp"
