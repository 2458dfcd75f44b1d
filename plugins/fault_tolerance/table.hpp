// The classification table as configured: the rows and their compiled regular expressions. Built
// once at creation; a row that cannot be meant is an error that names it.
#pragma once

#include <cox/plugin.hpp>

#include <vector>

#include "policies/failure_class.hpp"

class ClassTable {
 public:
  explicit ClassTable(const cox::Config& config);

  // nullptr: no row matches.
  const cox::policies::FailureRow* Find(const cox_failure& failure) const;

 private:
  std::vector<cox::policies::FailureRow> rows_;
};
