#pragma once
#include "../../pto-inst.hpp"
