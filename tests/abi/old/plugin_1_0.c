/* A plugin as its author built it against ABI 1.0. Never rebuilt: the binary beside it must go on
 * loading and judging equally. It refuses node 0 and asks of more than `limit` units, prefers node
 * 1, and ranks job j with j. */
#include <cox/plugin.h>

static int64_t limit_units;

static int Same(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}
static int32_t Admit(void* self, const cox_view* view, const cox_asks* asks, cox_verdict* out,
                     cox_error* error) {
  (void)self, (void)view, (void)error;
  for (uint32_t a = 0; a < asks->count; ++a) out[a] = asks->units[a] > limit_units ? 1 : COX_ALLOW;
  return COX_OK;
}
static int32_t Rank(void* self, const cox_view* view, int64_t* out, cox_error* error) {
  (void)self, (void)error;
  for (uint32_t j = 0; j < view->pending->count; ++j) out[j] = j;
  return COX_OK;
}
static int32_t Filter(void* self, const cox_view* view, const cox_shape* shape, int32_t* verdicts,
                      cox_error* error) {
  (void)self, (void)shape, (void)error;
  if (view->nodes->count > 0) verdicts[0] = 2 | COX_FIXED;
  return COX_OK;
}
static int32_t Score(void* self, const cox_view* view, const cox_shape* shape, int32_t* scores,
                     cox_error* error) {
  (void)self, (void)shape, (void)error;
  if (view->nodes->count > 1) scores[1] = 10000;
  return COX_OK;
}
static int32_t Judge(void* self, const cox_failure* failure, cox_fault_verdict* out,
                     cox_error* error) {
  (void)self, (void)error;
  out->failure_class = COX_CLASS_INFRA;
  out->retry = failure->enabled;
  out->backoff_ns = 5000000000;
  out->reason[0] = 'O', out->reason[1] = 'l', out->reason[2] = 'd';
  return COX_OK;
}
static int32_t Create(const cox_host* host, void** self, cox_error* error) {
  static const char key[] = "limit";
  (void)self, (void)error;
  return host->cfg_i64(host->ctx, (cox_str){key, sizeof key - 1}, &limit_units);
}
static void Destroy(void* self) {
  (void)self;
}
static const void* Extension(void* self, const char* id) {
  static const cox_quota quota = {sizeof quota, 0, Admit, 0};
  static const cox_priority priority = {sizeof priority, 0, Rank};
  static const cox_node_policy policy = {sizeof policy, 0, Filter, Score, 0};
  static const cox_fault fault = {sizeof fault, 0, Judge};
  (void)self;
  if (Same(id, COX_EXT_QUOTA)) return &quota;
  if (Same(id, COX_EXT_PRIORITY)) return &priority;
  if (Same(id, COX_EXT_NODE_POLICY)) return &policy;
  if (Same(id, COX_EXT_FAULT)) return &fault;
  return 0;
}
static const char* Reason(void* self, cox_verdict verdict) {
  (void)self;
  return verdict == 1 ? "over the old limit" : "the old plugin dislikes it";
}
const cox_plugin* cox_plugin_entry(void) {
  static const cox_plugin plugin = {
      sizeof plugin,
      COX_ABI_MAJOR,
      COX_ABI_MINOR,
      "test.old",
      "1.0",
      "built against ABI 1.0",
      "{\"properties\": {\"limit\": {\"type\": \"integer\", \"default\": 4}}}",
      Create,
      Destroy,
      Extension,
      Reason};
  return &plugin;
}
