// SQLite, as the store uses it: a connection whose errors say what a person can do, and a prepared
// statement whose first error sticks. Thread: the one that opened it. Why a header of our own: the
// library's is included in sqlite.cpp only (decision 0040).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace cox::run {

class Connection {
 public:
  enum class Mode { kReadOnly, kReadWrite };

  Connection() = default;
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The file must exist.
  Result<void> Open(const std::string& file, Mode mode);
  const std::string& file() const { return file_; }

  // Several statements that answer nothing. False: Failed() tells.
  bool Do(const char* sql);
  // SQLite goes on writing into a file that was moved or removed; nobody would ever read it again.
  bool HasMoved() const;
  // What went wrong last, with the file's name and what a person can do.
  Error Failed(const std::string& doing) const;

 private:
  friend class Statement;
  sqlite3* db_ = nullptr;
  std::string file_;
};

// After the first error Run() and Row() do nothing and ok() is false. Columns count from 0,
// parameters from 1.
class Statement {
 public:
  Statement(Connection& connection, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& Bind(int at, const std::string& text);
  Statement& Bind(int at, uint64_t number);
  // True while there is a row to read.
  bool Row();
  // To its end; it can then be bound and run again.
  bool Run();
  bool ok() const;

  uint64_t Number(int column) const;
  std::string Text(int column) const;

 private:
  sqlite3_stmt* statement_ = nullptr;
  int code_;
};

}  // namespace cox::run
