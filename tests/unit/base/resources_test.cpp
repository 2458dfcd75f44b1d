#include "base/resources.hpp"

#include <gtest/gtest.h>

namespace cox {

TEST(Resources, FitOnlyWhenEveryAmountFits) {
  const Resources room{1000, 1024, 2000};
  EXPECT_TRUE((Resources{1000, 1024, 2000}.FitsIn(room)));
  EXPECT_FALSE((Resources{1001, 0, 0}.FitsIn(room)));
  EXPECT_FALSE((Resources{0, 1025, 0}.FitsIn(room)));
  EXPECT_FALSE((Resources{0, 0, 2001}.FitsIn(room)));
}

TEST(Resources, AddAndSubtractAreInverse) {
  const Resources a{1, 2, 3};
  const Resources b{10, 20, 30};
  EXPECT_EQ(a + b - b, a);
  EXPECT_EQ(a * 3, a + a + a);
}

}  // namespace cox
