// The HTTP endpoint that Prometheus scrapes: the last observed samples, nothing else. Threads:
// Set() the observer's; scrapes come on the server's own threads and get a consistent copy.
#pragma once

#include <cox/plugin.h>

#include <memory>
#include <string>

class Exporter {
 public:
  // Binds "address:port"; port 0 = any free one. Throws when it cannot.
  Exporter(const std::string& address, int port);
  ~Exporter();
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  int port() const;  // the real one
  void Set(const cox_samples& samples);

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};
