// A log of eight records a file, cut at every call under four seeds. With the argument `missing`, the
// sync of the record that opens a file is left out.
//   cc log.c $(pkg-config --cflags --libs ssdlab-crash) -o log && ./log && ./log missing
#include <ssdlab_crash.h>
#include <stdio.h>
#include <string.h>

enum { RECORDS = 20, OF_A_FILE = 8, SEEDS = 4 };

static int misses_a_sync;

static void name_of(int record, char *path) {
  sprintf(path, "db/log-%d", record / OF_A_FILE);
}

// Appends all records; `acknowledged` is the last that was reported as durable.
static SsdlabStatus run(SsdlabFiles *files, int *acknowledged) {
  for (int record = 0; record < RECORDS; record++) {
    char path[32], text[32];
    uint64_t file, size;
    name_of(record, path);
    int is_first = record % OF_A_FILE == 0;
    SsdlabStatus status =
        is_first ? ssdlab_files_create(files, path, &file) : ssdlab_files_open(files, path, &file);
    if (status == SSDLAB_OK) status = ssdlab_files_size(files, file, &size);
    int len = sprintf(text, "record %d\n", record);
    if (status == SSDLAB_OK)
      status = ssdlab_files_write(files, file, size, (const uint8_t *)text, len);
    if (status == SSDLAB_OK && !(is_first && misses_a_sync)) {
      status = ssdlab_files_fsync(files, file);
      if (status == SSDLAB_OK && is_first) status = ssdlab_files_sync_dir(files, "db");
    }
    if (status != SSDLAB_OK) return status;
    *acknowledged = record + 1;
  }
  return SSDLAB_OK;
}

// How many records of the log are there, in order.
static int found(SsdlabFiles *files) {
  static char bytes[4096];
  int record = 0;
  while (record < RECORDS) {
    char path[32], text[32];
    uint64_t file;
    size_t count = 0;
    name_of(record, path);
    if (ssdlab_files_open(files, path, &file) != SSDLAB_OK) return record;
    ssdlab_files_read(files, file, 0, (uint8_t *)bytes, sizeof bytes - 1, &count);
    bytes[count] = 0;
    char *at = bytes;
    int end = record + OF_A_FILE;
    for (; record < end && record < RECORDS; record++) {
      int len = sprintf(text, "record %d\n", record);
      if (strncmp(at, text, len) != 0) return record;
      at += len;
    }
  }
  return record;
}

static int ledger(void) {
  SsdlabDisk *disk = ssdlab_disk_new(0, 0, 1, NULL);
  uint8_t sector[512] = {7};
  uint64_t may[4];
  if (ssdlab_disk_write(disk, 0, sector, 512) || ssdlab_disk_may_read(disk, 0, may, 4) != 2) return 1;
  if (ssdlab_disk_flush(disk) || ssdlab_disk_may_read(disk, 0, may, 4) != 1 || may[0] != 1) return 1;
  SsdlabDisk *fork = ssdlab_disk_fork(disk);
  if (ssdlab_disk_cut(disk) || ssdlab_disk_power_on(disk, NULL)) return 1;
  if (ssdlab_disk_write(disk, 100, sector, 512) != SSDLAB_REFUSED) return 1;
  if (!strstr(ssdlab_error(), "multiples of 512")) return 1;
  ssdlab_disk_free(disk);
  ssdlab_disk_free(fork);
  SsdlabDisk *lying = ssdlab_disk_new(0, 0, 1, "ignores-flush");
  uint64_t broken = 0;
  ssdlab_disk_write(lying, 0, sector, 512);
  ssdlab_disk_flush(lying);
  ssdlab_disk_cut(lying);
  if (ssdlab_disk_power_on(lying, &broken) != SSDLAB_BROKEN || broken == 0) return 1;
  ssdlab_disk_free(lying);
  return ssdlab_disk_new(0, 0, 1, "no-such-fault") != NULL;
}

int main(int argc, char **argv) {
  misses_a_sync = argc > 1 && strcmp(argv[1], "missing") == 0;
  if (ledger()) return fprintf(stderr, "ledger: %s\n", ssdlab_error()), 2;
  SsdlabDisk *disk = ssdlab_disk_new(0, 0, 1, NULL);
  SsdlabFiles *new = ssdlab_files_format(disk, SSDLAB_POSIX);
  if (!new || ssdlab_files_mkdir(new, "db") || ssdlab_files_sync_dir(new, ""))
    return fprintf(stderr, "%s\n", ssdlab_error()), 2;
  int cuts = 0, failed = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    for (uint64_t nth = 0;; nth++) {
      SsdlabFiles *files = ssdlab_files_fork(new);
      ssdlab_files_reseed(files, seed << 32 | nth);
      ssdlab_files_arm_call(files, nth);
      int acknowledged = 0;
      SsdlabStatus status = run(files, &acknowledged);
      if (status == SSDLAB_REFUSED) return fprintf(stderr, "%s\n", ssdlab_error()), 2;
      int is_last = status == SSDLAB_OK && ssdlab_files_is_on(files);
      if (ssdlab_files_is_on(files)) ssdlab_files_cut(files);
      if (ssdlab_files_power_on(files, NULL)) return fprintf(stderr, "%s\n", ssdlab_error()), 2;
      cuts++;
      int there = found(files);
      if (there < acknowledged && failed++ == 0)
        printf("seed %d, call %d: %d acknowledged, %d found\n", (int)seed, (int)nth, acknowledged,
               there);
      ssdlab_files_free(files);
      if (is_last) break;
    }
  }
  ssdlab_files_free(new);
  printf("%d cuts, %d failed\n", cuts, failed);
  return failed > 0;
}
