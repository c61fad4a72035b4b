// The crash disk of ssdlab: a drive in your process whose power is cut anywhere, and files on it.
//
// Every function that can fail returns a status; ssdlab_error() then says what and what to do. Handles
// are not for several threads at once. `cbindgen` makes this file from the crate's source.

#ifndef SSDLAB_CRASH_H
#define SSDLAB_CRASH_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// What a file system promises.
typedef enum SsdlabRules {
  // What POSIX promises, and no more: a name needs a sync of its directory.
  SSDLAB_POSIX = 0,
  // ext4 with its defaults.
  SSDLAB_EXT4 = 1,
  // XFS.
  SSDLAB_XFS = 2,
  // btrfs.
  SSDLAB_BTRFS = 3,
} SsdlabRules;

// How a call ended.
typedef enum SsdlabStatus {
  // Done.
  SSDLAB_OK = 0,
  // The power went in the call, or is off: what a test that arms cuts waits for.
  SSDLAB_POWER = 1,
  // The drive broke a promise; ssdlab_error() names the first.
  SSDLAB_BROKEN = 2,
  // The call is impossible: a mistake of the caller.
  SSDLAB_REFUSED = 3,
} SsdlabStatus;

// A crash disk: a modelled drive, and a ledger of its promises.
typedef struct SsdlabDisk SsdlabDisk;

// Files on a crash disk, with a page cache that is written back when the seed says so. Paths are
// such as "db/wal"; "" is the directory at the top.
typedef struct SsdlabFiles SsdlabFiles;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// A new disk, switched on. `kind` 0 is a drive of 1.75 MiB or, of the same kind, of `size` bytes;
// other numbers draw small drives of many kinds (384 KiB). `seed` decides where armed cuts strike.
// `faults` are names with commas between, such as "ignores-flush" or
// "ignores-fua:500,lost-writes"; null or empty: an honest drive. Returns null when there is no
// such drive or fault.
struct SsdlabDisk *ssdlab_disk_new(uint64_t kind, uint64_t size, uint64_t seed, const char *faults);

// A disk in the same state, which goes its own way from here.
struct SsdlabDisk *ssdlab_disk_fork(const struct SsdlabDisk *disk);

// Frees a disk. Null does nothing.
void ssdlab_disk_free(struct SsdlabDisk *disk);

// Bytes that the disk offers.
uint64_t ssdlab_disk_capacity(const struct SsdlabDisk *disk);

// Changes the seed, so that forks of one disk draw differently.
void ssdlab_disk_reseed(struct SsdlabDisk *disk, uint64_t seed);

// Writes whole sectors of 512 bytes; they are not durable yet.
enum SsdlabStatus ssdlab_disk_write(struct SsdlabDisk *disk,
                                    uint64_t offset,
                                    const uint8_t *from,
                                    size_t len);

// The same with FUA: durable when this returns.
enum SsdlabStatus ssdlab_disk_write_fua(struct SsdlabDisk *disk,
                                        uint64_t offset,
                                        const uint8_t *from,
                                        size_t len);

// Reads whole sectors: zeroes where nothing was written.
enum SsdlabStatus ssdlab_disk_read(struct SsdlabDisk *disk,
                                   uint64_t offset,
                                   uint8_t *to,
                                   size_t len);

// Makes every acknowledged write durable.
enum SsdlabStatus ssdlab_disk_flush(struct SsdlabDisk *disk);

// Trims: whole units of 4 KiB read as zeroes.
enum SsdlabStatus ssdlab_disk_trim(struct SsdlabDisk *disk, uint64_t offset, uint64_t len);

// Arms a cut after `events` events from now: completions, and ends of NAND operations.
void ssdlab_disk_arm_event(struct SsdlabDisk *disk, uint64_t events);

// Arms a cut after this number of nanoseconds of the disk's time.
void ssdlab_disk_arm_after(struct SsdlabDisk *disk, uint64_t nanoseconds);

// Arms a cut in the middle of the nth NAND program or erase from now, from 1.
void ssdlab_disk_arm_program(struct SsdlabDisk *disk, uint64_t nth);

// Arms a cut inside the next recovery, after this share of it in thousandths.
void ssdlab_disk_arm_recovery(struct SsdlabDisk *disk, uint16_t share);

// Cuts the power now.
enum SsdlabStatus ssdlab_disk_cut(struct SsdlabDisk *disk);

// Switches the power on and holds the drive against its promises; `broken` gets the number that
// were not kept, and may be null.
enum SsdlabStatus ssdlab_disk_power_on(struct SsdlabDisk *disk, uint64_t *broken);

// Whether the disk has power.
bool ssdlab_disk_is_on(const struct SsdlabDisk *disk);

// The ledger: number of the write that a sector holds now; 0: none. Commands count from 1.
uint64_t ssdlab_disk_holds(const struct SsdlabDisk *disk, uint64_t sector);

// The ledger: number of the oldest write that a sector may hold after a cut now.
uint64_t ssdlab_disk_promised(const struct SsdlabDisk *disk, uint64_t sector);

// The ledger: the writes of which a sector may hold one after a cut now, oldest first, as far as
// `room` of them go to `to`; returns how many there are.
size_t ssdlab_disk_may_read(const struct SsdlabDisk *disk,
                            uint64_t sector,
                            uint64_t *to,
                            size_t room);

// Makes an empty file system on a disk, which is freed with it. `rules` is one of SsdlabRules.
// Null when the disk is too small.
struct SsdlabFiles *ssdlab_files_format(struct SsdlabDisk *disk, uint32_t rules);

// The same files and disk, which go their own way from here; open files stay open.
struct SsdlabFiles *ssdlab_files_fork(const struct SsdlabFiles *files);

// Frees files and their disk. Null does nothing.
void ssdlab_files_free(struct SsdlabFiles *files);

// Changes the seed of write-back and of the disk.
void ssdlab_files_reseed(struct SsdlabFiles *files, uint64_t seed);

// Makes an empty file, which must not exist; `file` gets its handle.
enum SsdlabStatus ssdlab_files_create(struct SsdlabFiles *files, const char *path, uint64_t *file);

// Opens a file; `file` gets its handle. It is good until power is lost or the file loses its name.
enum SsdlabStatus ssdlab_files_open(struct SsdlabFiles *files, const char *path, uint64_t *file);

// Bytes of an open file.
enum SsdlabStatus ssdlab_files_size(struct SsdlabFiles *files, uint64_t file, uint64_t *size);

// Writes into an open file, which grows when it has to.
enum SsdlabStatus ssdlab_files_write(struct SsdlabFiles *files,
                                     uint64_t file,
                                     uint64_t offset,
                                     const uint8_t *from,
                                     size_t len);

// Reads from an open file; `count` gets the number of bytes, fewer than `len` at its end.
enum SsdlabStatus ssdlab_files_read(struct SsdlabFiles *files,
                                    uint64_t file,
                                    uint64_t offset,
                                    uint8_t *to,
                                    size_t len,
                                    size_t *count);

// Makes an open file shorter, or longer by zeroes.
enum SsdlabStatus ssdlab_files_truncate(struct SsdlabFiles *files, uint64_t file, uint64_t len);

// Makes the bytes and the size of an open file durable.
enum SsdlabStatus ssdlab_files_fsync(struct SsdlabFiles *files, uint64_t file);

// The same as fdatasync() does it.
enum SsdlabStatus ssdlab_files_fdatasync(struct SsdlabFiles *files, uint64_t file);

// Makes the names in a directory durable.
enum SsdlabStatus ssdlab_files_sync_dir(struct SsdlabFiles *files, const char *path);

// Makes everything durable.
enum SsdlabStatus ssdlab_files_sync_all(struct SsdlabFiles *files);

// Gives a file or directory another name, atomically; a file replaces a file.
enum SsdlabStatus ssdlab_files_rename(struct SsdlabFiles *files, const char *from, const char *to);

// Gives a file one more name.
enum SsdlabStatus ssdlab_files_link(struct SsdlabFiles *files, const char *path, const char *name);

// Removes a name, and the file if it has no other.
enum SsdlabStatus ssdlab_files_unlink(struct SsdlabFiles *files, const char *path);

// Makes an empty directory.
enum SsdlabStatus ssdlab_files_mkdir(struct SsdlabFiles *files, const char *path);

// Removes an empty directory.
enum SsdlabStatus ssdlab_files_rmdir(struct SsdlabFiles *files, const char *path);

// Whether a file or directory has this name.
bool ssdlab_files_exists(const struct SsdlabFiles *files, const char *path);

// Whether a directory has this name.
bool ssdlab_files_is_dir(const struct SsdlabFiles *files, const char *path);

// The paths in a directory, each ended by a zero, as far as `room` bytes go; `count` gets the
// bytes of all of them.
enum SsdlabStatus ssdlab_files_list(const struct SsdlabFiles *files,
                                    const char *path,
                                    char *to,
                                    size_t room,
                                    size_t *count);

// Arms a cut at the nth call from now, counted from 0: just before it, or in it.
void ssdlab_files_arm_call(struct SsdlabFiles *files, uint64_t nth);

// Arms a cut inside the next recovery, after this share of it in thousandths.
void ssdlab_files_arm_recovery(struct SsdlabFiles *files, uint16_t share);

// Cuts the power now.
enum SsdlabStatus ssdlab_files_cut(struct SsdlabFiles *files);

// Switches the power on, mounts what is there, and holds the drive against its promises; `broken`
// gets the number that were not kept, and may be null. Open files are closed.
enum SsdlabStatus ssdlab_files_power_on(struct SsdlabFiles *files, uint64_t *broken);

// Whether the disk has power.
bool ssdlab_files_is_on(const struct SsdlabFiles *files);

// What the last call of this thread that did not end with SSDLAB_OK said, in two lines: what is
// wrong, and what to do. Good until the next call.
const char *ssdlab_error(void);

#ifdef __cplusplus
} // extern "C"
#endif // __cplusplus

#endif /* SSDLAB_CRASH_H */
