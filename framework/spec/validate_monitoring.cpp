// Who is told what, and what is scraped: S70, S121.
#include "spec/rules.hpp"
#include "spec/text.hpp"

namespace cox::spec {
namespace {

bool HasBlank(const std::string& text) {
  return text.find_first_of(" \t\r\n") != std::string::npos;
}

bool IsUrl(const std::string& text) {
  const size_t host = text.starts_with("http://") ? 7 : text.starts_with("https://") ? 8 : 0;
  return host > 0 && text.size() > host && text[host] != '/' && !HasBlank(text);
}

bool IsAddress(const std::string& text) {
  const size_t at = text.find('@');
  return at != std::string::npos && at > 0 && at + 1 < text.size() && !HasBlank(text);
}

}  // namespace

void CheckMonitoring(const Case& c, Verdict& verdict) {
  const Metrics& metrics = c.job.metrics;
  if (metrics.port < 1 || metrics.port > 65535) {
    Reject(verdict, "spec.metrics.port", std::to_string(metrics.port) + " is not a TCP port",
           "S121");
  }
  if (!metrics.path.starts_with('/') || HasBlank(metrics.path)) {
    Reject(verdict, "spec.metrics.path",
           Quote(metrics.path) + " is not a path; it begins with / and has no blanks", "S121");
  }
  for (size_t i = 0; i < c.job.notifications.size(); ++i) {
    const Notification& n = c.job.notifications[i];
    const std::string path = At("spec.notifications", i);
    if (n.webhook.empty() && n.email.empty()) {
      Reject(verdict, path, "tells nobody; write webhook or email", "S70");
    }
    if (!n.webhook.empty() && !IsUrl(n.webhook)) {
      Reject(verdict, path + ".webhook",
             Quote(n.webhook) + " is not an address such as http://host/path", "S70");
    }
    if (!n.email.empty() && !IsAddress(n.email)) {
      Reject(verdict, path + ".email", Quote(n.email) + " is not a mail address", "S70");
    }
  }
}

}  // namespace cox::spec
