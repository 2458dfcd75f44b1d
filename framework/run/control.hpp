// The local API that the CLI speaks: a Unix stream socket, one JSON object a line in each direction
// (decision 0041). The peer is known by SO_PEERCRED; who may see and do what is run/authorize.
//
//   -> {"verb": "describe", "args": {"job": "llama-k3v9x2ab"}}
//   <- {"ok": true, "result": {...}}
//   <- {"ok": false, "code": "NotFound", "text": "no job named ..."}
//
// clang-format off
// verb               args                                       result
// submit             text, file?, dry_run?                      {name}; dry run: {accepted, refused, warnings}
// judge              text, file?, user? (admin)                 {accepted, refused, warnings}
// list               mine?, all?, states?[], labels?{}          {jobs: [Job...]}
// get                job (name, id, native id or uuid)          Job: the full record, spec, attempts
// describe           job                                        Job + {events: [...], explanation}
// explain            job                                        {task, name, state, state_since, reason, message,
//                                                                placement, candidates, blockers, queue, earliest}
// events             job? | after?, limit?                      {events: [{sequence, ...}], next}
// logs               job, role?, attempt?                       {path}
// stop               job                                        {name, state}
// quota              subject?                                   {rows: [{level, subject, capacity, pool, flavor,
//                                                                limit, used, available}]}
// pool               -                                          {at, pools: [{name, dedicated, nodes, flavors:
//                                                                [{name, total, used, free, not_ready, fragments,
//                                                                idle: [{stability, free, fragments}]}]}]}
// flavors            capacity_type?                             {flavors: [...], reason?}
// nodes              -                                          {nodes: [...]}
// nodepolicy_create  type, node_names, ttl_seconds,             {id, warnings}
//                    tenant_scope?, reason?, job?
// nodepolicy_list    all?                                       {policies: [...]}
// nodepolicy_delete  id                                         {}
// ledger_check       -                                          {consistent, text}
// plugins            -                                          {instances: [...]}
// reload             -                                          {}
// health             -                                          {turns, generation, not_ready, degraded, at, cycles,
//                                                                store_errors}
// clang-format on
//
// Hidden variables are "****" in every reply but to their owner (S13). A job that the peer may not
// see is NotFound (S5), as if it did not exist.
//
// The server runs on a thread of its own and never blocks the decision thread: reads are answered
// from the last Published, writes go through the inbox and are answered when they are durable. A
// write that is not answered in `write_timeout` is Unavailable; it may still be carried out.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "model/task.hpp"
#include "run/loop.hpp"

namespace cox::run {

struct ControlOptions {
  std::string socket;      // path; a left-over socket of a dead daemon is replaced
  std::string store_file;  // for events
  const Clock* clock = nullptr;
  Duration write_timeout = std::chrono::seconds(10);
  mode_t socket_mode = 0666;  // whoever connects is known by his uid
  // Where the adapter keeps the output of `role` in `attempt`.
  std::function<Result<std::string>(const model::Task& task, int64_t attempt,
                                    const std::string& role)>
      log_path;
  // uid -> user name; default: the password database. Tests inject.
  std::function<Result<std::string>(uid_t uid)> user_name;
};

class ControlServer {
 public:
  // Binds the socket and starts the thread. `loop` outlives the server.
  static Result<std::unique_ptr<ControlServer>> Start(ControlOptions options, Loop& loop);
  ~ControlServer();  // closes, joins

 private:
  struct State;
  explicit ControlServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The client's half. One request, one reply; both without the line's end. An error is one of
// transport: nobody listens there, or the daemon went away.
Result<std::string> Call(const std::string& socket, std::string_view request,
                         Duration timeout = std::chrono::seconds(15));

}  // namespace cox::run
