#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A check says whether value is allowed; `allowed` is the option's own column in the table. */
typedef bool (*check_fn)(const char* value, const char* allowed);

static bool is_one_of(const char* value, const char* allowed) {
  size_t length = strlen(value);
  for (const char* word = allowed + strlen("one of: "); *word; word += strspn(word, ", ")) {
    size_t word_length = strcspn(word, ",");
    if (length == word_length && strncmp(value, word, length) == 0) return true;
    word += word_length;
  }
  return false;
}

static bool is_number_from(const char* value, long lowest, long highest) {
  char* end = NULL;
  errno = 0;
  long number = strtol(value, &end, 10);
  return (isdigit((unsigned char)value[0]) || value[0] == '-') && *end == '\0' && errno == 0 &&
         number >= lowest && number <= highest;
}

static bool is_count(const char* value, const char* allowed) {
  (void)allowed;
  return is_number_from(value, 0, INT_MAX);
}
static bool is_count_or_endless(const char* value, const char* allowed) {
  (void)allowed;
  return is_number_from(value, -1, INT_MAX);
}
static bool is_port(const char* value, const char* allowed) {
  (void)allowed;
  return is_number_from(value, 1, 65535);
}
static bool is_count_or_auto(const char* value, const char* allowed) {
  (void)allowed;
  return strcmp(value, "auto") == 0 || is_number_from(value, 1, INT_MAX);
}

/* Every byte of value[0..length) is a letter, a digit or in `more`; length > 0. */
static bool is_made_of(const char* value, size_t length, const char* more) {
  for (size_t i = 0; i < length; ++i)
    if (!isalnum((unsigned char)value[i]) && strchr(more, value[i]) == NULL) return false;
  return length > 0;
}

static bool is_name(const char* value, const char* allowed) {
  (void)allowed;
  return is_made_of(value, strlen(value), "._-");
}
static bool is_node_list(const char* value, const char* allowed) {
  (void)allowed;
  return is_made_of(value, strlen(value), "._-[],");
}
static bool is_time_zone(const char* value, const char* allowed) {
  (void)allowed;
  return isalpha((unsigned char)value[0]) && is_made_of(value, strlen(value), "_+-/");
}
static bool is_path(const char* value, const char* allowed) {
  (void)allowed;
  return value[0] == '/' && strpbrk(value, " \t\n") == NULL;
}
static bool is_word(const char* value, const char* allowed) {
  (void)allowed;
  return value[0] != '\0' && strpbrk(value, " \t\n") == NULL;
}

/* Calls `item` on each part of a comma list; an empty part is no part. */
static bool each_item(const char* list, bool (*item)(const char* text, size_t length)) {
  for (;;) {
    size_t length = strcspn(list, ",");
    if (length == 0 || !item(list, length)) return false;
    if (list[length] == '\0') return true;
    list += length + 1;
  }
}

static bool is_flavor(const char* text, size_t length) {
  const char* colon = memchr(text, ':', length);
  if (colon == NULL) return is_made_of(text, length, "._-");
  const char* count = colon + 1;
  size_t digits = (size_t)(text + length - count);
  return is_made_of(text, (size_t)(colon - text), "._-") && digits > 0 && digits < 6 &&
         strspn(count, "0123456789") >= digits && *count != '0';
}
static bool is_label(const char* text, size_t length) {
  const char* equals = memchr(text, '=', length);
  return equals != NULL && is_made_of(text, (size_t)(equals - text), "._-/") &&
         is_made_of(equals + 1, (size_t)(text + length - equals - 1), "._-");
}
static bool is_flavor_list(const char* value, const char* allowed) {
  (void)allowed;
  return each_item(value, is_flavor);
}
static bool is_label_list(const char* value, const char* allowed) {
  (void)allowed;
  return each_item(value, is_label);
}

static const char kCount[] = "a whole number, 0 or more";
static const char kEndless[] = "a whole number, 0 or more, or -1 for no limit";
static const char kName[] = "a name of letters, digits, '.', '_' and '-'";
static const char kNodes[] = "a Slurm node list such as n[1-4],n9";
static const char kLevels[] = "one of: high, medium, low";

/* In the order of `sbatch --help`: the job, what it asks for, its rank, its nodes, its failures. */
static const struct option {
  const char *name, *argument, *help;
  check_fn check; /* NULL: the option takes no argument */
  const char* allowed;
} kOptions[] = {
    {"cox-type", "type", "job: pytorch or ray", is_one_of, "one of: pytorch, ray"},
    {"cox-project", "name", "job: project that owns it", is_name, kName},
    {"cox-region", "name", "job: region it must run in", is_name, kName},
    {"cox-cluster", "name", "job: cluster it must run in", is_name, kName},
    {"cox-visibility", "who", "job: private or project", is_one_of, "one of: private, project"},
    {"cox-label", "k=v,...", "job: labels", is_label_list, "a list KEY=VALUE[,KEY=VALUE...]"},
    {"cox-time-zone", "zone", "job: IANA zone of its times", is_time_zone,
     "an IANA time zone such as Asia/Shanghai"},
    {"cox-image", "ref", "job: image it runs in", is_word, "an image reference without blanks"},
    {"cox-image-retries", "n", "job: pulls after a failed one, -1 endless", is_count_or_endless,
     kEndless},
    {"cox-metrics-port", "port", "job: port of its own metrics", is_port, "a port from 1 to 65535"},
    {"cox-metrics-path", "path", "job: path of its own metrics", is_path,
     "an absolute path such as /metrics"},
    {"cox-capacity-type", "t", "ask: reserved, on-demand, spot or idle", is_one_of,
     "one of: reserved, on-demand, spot, idle"},
    {"cox-queue", "name", "ask: resource pool", is_name, kName},
    {"cox-flavors", "list", "ask: NAME[:COUNT],... first choice first", is_flavor_list,
     "a list NAME[:COUNT][,NAME[:COUNT]...], COUNT from 1 to 99999"},
    {"cox-workers", "n", "ask: workers beside the master", is_count, kCount},
    {"cox-gang-min", "n", "ask: fewest replicas to start with", is_count_or_auto,
     "auto or a whole number, 1 or more"},
    {"cox-accept-idle", NULL, "ask: idle capacity will do", NULL, NULL},
    {"cox-prefer-idle", NULL, "ask: try idle capacity first", NULL, NULL},
    {"cox-idle-stability", "l", "ask: least stability of idle capacity", is_one_of, kLevels},
    {"cox-priority", "class", "rank: high, medium or low", is_one_of, kLevels},
    {"cox-guarantee", NULL, "rank: may not be preempted", NULL, NULL},
    {"cox-grace", "seconds", "rank: time between notice and end", is_count, kCount},
    {"cox-node-in", "nodes", "nodes: only these", is_node_list, kNodes},
    {"cox-node-not-in", "nodes", "nodes: none of these", is_node_list, kNodes},
    {"cox-node-ttl", "seconds", "nodes: for this long", is_count, kCount},
    {"cox-topology-required", "level", "nodes: all in one domain of it", is_name, kName},
    {"cox-topology-preferred", "level", "nodes: rather in one domain of it", is_name, kName},
    {"cox-spread", NULL, "nodes: one replica on each", NULL, NULL},
    {"cox-max-retries", "n", "failure: tolerate so many", is_count, kCount},
    {"cox-failure-policy", "p", "failure: which ones to retry", is_one_of,
     "one of: on-failure, on-infra-failure, exit-code-and-log, never"},
    {"cox-max-preemption-retries", "n", "failure: restarts after preemption, -1 endless",
     is_count_or_endless, kEndless},
    {"cox-hang-silence", "s", "failure: silent for s seconds is hung", is_count, kCount},
};
enum { kOptionCount = sizeof kOptions / sizeof kOptions[0] };

static int on_option(int index, const char* value, int remote) {
  const struct option* option = &kOptions[index];
  if (remote || option->check == NULL) return 0;
  if (value != NULL && option->check(value, option->allowed)) return 0;
  slurm_error("cox: --%s=%s: must be %s", option->name, value ? value : "", option->allowed);
  return -1;
}

int cox_register_options(spank_t spank) {
  for (int i = 0; i < kOptionCount; ++i) {
    const struct option* option = &kOptions[i];
    /* Slurm copies the strings; its struct only lacks the const. */
    struct spank_option entry = {(char*)option->name,
                                 (char*)option->argument,
                                 (char*)option->help,
                                 option->check != NULL,
                                 i,
                                 on_option};
    if (spank_option_register(spank, &entry) != ESPANK_SUCCESS) {
      slurm_error("cox: --%s cannot be registered, another SPANK plugin has it", option->name);
      return -1;
    }
  }
  return 0;
}
