#include "lookup.h"

#include <netinet/in.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Exported by libslurmfull, which every Slurm program has loaded, but in no header. */
extern char* slurm_conf_get_nodeaddr(const char* node_name);
extern char* slurm_hostlist_nth(hostlist_t list, int index);
extern void slurm_xfree_ptr(void* pointer);

static const char kPrefix[] = "cox:";

bool cox_load_record(uint32_t job, struct cox_record* out) {
  job_info_msg_t* answer = NULL;
  if (slurm_load_job(&answer, job, SHOW_ALL) != SLURM_SUCCESS) return false;
  bool managed = false;
  const job_info_t* found = answer->record_count > 0 ? &answer->job_array[0] : NULL;
  const char* comment = found ? found->admin_comment : NULL;
  if (comment != NULL && found->nodes != NULL && strncmp(comment, kPrefix, strlen(kPrefix)) == 0) {
    const char* uuid = comment + strlen(kPrefix);
    size_t length = strcspn(uuid, " ");
    if (length < kUuidMax) {
      memcpy(out->uuid, uuid, length);
      out->uuid[length] = '\0';
      out->restarts = found->restart_cnt;
      out->nodes = strdup(found->nodes);
      out->words = strdup(uuid + length);
      managed = out->nodes != NULL && out->words != NULL;
      if (!managed) cox_free_record(out);
    }
  }
  slurm_free_job_info_msg(answer);
  return managed;
}

void cox_free_record(struct cox_record* record) {
  free(record->nodes);
  free(record->words);
}

static int hex_value(char digit) {
  const char *digits = "0123456789ABCDEF", *found = digit ? strchr(digits, digit) : NULL;
  return found ? (int)(found - digits) : -1;
}

static bool decode(const char* text, size_t length, char out[kWordMax]) {
  size_t used = 0;
  for (size_t i = 0; i < length && used + 1 < kWordMax; ++i) {
    char byte = text[i];
    if (byte == '%' && i + 2 < length && hex_value(text[i + 1]) >= 0 &&
        hex_value(text[i + 2]) >= 0) {
      byte = (char)(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    }
    out[used++] = byte;
  }
  out[used] = '\0';
  return length > 0;
}

bool cox_record_word(const struct cox_record* record, const char* name, char out[kWordMax]) {
  size_t name_length = strlen(name);
  const char* word = record->words + strspn(record->words, " ");
  /* Why stop at '{': what follows holds text of the user. */
  while (*word != '\0' && *word != '{') {
    size_t length = strcspn(word, " ");
    if (length > name_length && strncmp(word, name, name_length) == 0 && word[name_length] == '=')
      return decode(word + name_length + 1, length - name_length - 1, out);
    word += length;
    word += strspn(word, " ");
  }
  return false;
}

static bool address_of(const char* node, char out[kAddressMax]) {
  node_info_msg_t* answer = NULL;
  out[0] = '\0';
  /* Why slurmctld first: it knows cloud nodes and changed addresses, slurm.conf does not. */
  if (slurm_load_node_single(&answer, (char*)node, SHOW_ALL) == SLURM_SUCCESS) {
    if (answer->record_count > 0 && answer->node_array[0].node_addr != NULL)
      snprintf(out, kAddressMax, "%s", answer->node_array[0].node_addr);
    slurm_free_node_info_msg(answer);
  }
  if (out[0] == '\0') { /* PrivateData=nodes, or no controller right now */
    char* address = slurm_conf_get_nodeaddr(node);
    if (address != NULL) snprintf(out, kAddressMax, "%s", address);
    slurm_xfree_ptr(address);
  }
  return out[0] != '\0';
}

bool cox_first_node_address(const char* nodes, char out[kAddressMax], uint32_t* count) {
  hostlist_t list = slurm_hostlist_create(nodes);
  if (list == NULL) return false;
  *count = (uint32_t)slurm_hostlist_count(list);
  char* first = slurm_hostlist_shift(list);
  bool found = first != NULL && address_of(first, out);
  free(first);
  slurm_hostlist_destroy(list);
  return found;
}

int cox_rank(const char* job_nodes, const char* step_nodes, uint32_t index) {
  hostlist_t job = slurm_hostlist_create(job_nodes), step = slurm_hostlist_create(step_nodes);
  char* node = step && index < (uint32_t)slurm_hostlist_count(step)
                   ? slurm_hostlist_nth(step, (int)index)
                   : NULL;
  int rank = job && node ? slurm_hostlist_find(job, node) : -1;
  free(node);
  if (job) slurm_hostlist_destroy(job);
  if (step) slurm_hostlist_destroy(step);
  return rank;
}

enum { kFirstPort = 20000, kPorts = 12000, kStride = 4099, kTries = 64 };

uint32_t cox_first_port(uint32_t job) {
  return kFirstPort + job % kPorts;
}

/* Of all addresses; a port that only waits for its old connections to die counts as free. */
static bool can_listen(uint32_t port) {
  struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
  struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  int yes = 1, fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const struct sockaddr* address = (const struct sockaddr*)&any;
  socklen_t length = sizeof any;
  if (fd < 0) {
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address = (const struct sockaddr*)&any4;
    length = sizeof any4;
  }
  if (fd < 0) return false;
  bool free_now = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                  bind(fd, address, length) == 0 && listen(fd, 1) == 0;
  close(fd);
  return free_now;
}

uint32_t cox_free_port(uint32_t job) {
  /* Why not the next one: that is where the job with the next id begins. */
  for (uint32_t i = 0; i < kTries; ++i) {
    uint32_t port = kFirstPort + (job % kPorts + i * kStride) % kPorts;
    if (can_listen(port)) return port;
  }
  return 0;
}
