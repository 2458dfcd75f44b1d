#include "run/sqlite.hpp"

#include <sqlite3.h>

namespace cox::run {

Connection::~Connection() {
  sqlite3_close(db_);
}

Result<void> Connection::Open(const std::string& file, Mode mode) {
  file_ = file;
  const int flags = mode == Mode::kReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (sqlite3_open_v2(file.c_str(), &db_, flags, nullptr) != SQLITE_OK) return Failed("open");
  sqlite3_extended_result_codes(db_, 1);
  sqlite3_busy_timeout(db_, 5000);
  return {};
}

bool Connection::Do(const char* sql) {
  return sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
}

bool Connection::HasMoved() const {
  int moved = 0;
  sqlite3_file_control(db_, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved != 0;
}

Error Connection::Failed(const std::string& doing) const {
  const int code = sqlite3_errcode(db_) & 0xff;
  const std::string text = "store " + file_ + ": " + doing + ": " + sqlite3_errmsg(db_);
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT) {
    return FailedPrecondition(text +
                              "; the file is damaged or not a Coxswain store: restore it from a "
                              "backup, or move it away to start with an empty one");
  }
  if (code == SQLITE_FULL || code == SQLITE_IOERR) {
    return Unavailable(text + "; free space on its file system, it is tried again");
  }
  return Unavailable(text);
}

Statement::Statement(Connection& connection, const char* sql)
    : code_(sqlite3_prepare_v2(connection.db_, sql, -1, &statement_, nullptr)) {}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

Statement& Statement::Bind(int at, const std::string& text) {
  if (code_ == SQLITE_OK) {
    code_ = sqlite3_bind_text(statement_, at, text.data(), static_cast<int>(text.size()),
                              SQLITE_TRANSIENT);
  }
  return *this;
}

Statement& Statement::Bind(int at, uint64_t number) {
  if (code_ == SQLITE_OK) {
    code_ = sqlite3_bind_int64(statement_, at, static_cast<sqlite3_int64>(number));
  }
  return *this;
}

bool Statement::Row() {
  if (code_ != SQLITE_OK && code_ != SQLITE_ROW) return false;
  code_ = sqlite3_step(statement_);
  return code_ == SQLITE_ROW;
}

bool Statement::Run() {
  while (Row()) {
  }
  const bool done = code_ == SQLITE_DONE;
  if (done) code_ = sqlite3_reset(statement_);
  return done;
}

bool Statement::ok() const {
  return code_ == SQLITE_OK || code_ == SQLITE_DONE || code_ == SQLITE_ROW;
}

uint64_t Statement::Number(int column) const {
  return static_cast<uint64_t>(sqlite3_column_int64(statement_, column));
}

std::string Statement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return {text == nullptr ? "" : text,
          static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

}  // namespace cox::run
