// Package crash is a crash disk in your process: a modelled drive whose power is cut anywhere, and
// files on it by the rules of a file system. It needs libssdlab_crash.so, found by pkg-config.
//
// A plain Go program makes its system calls itself, so that no preloaded library sees them: a test
// gives its storage engine these files in place of those of package os.
package crash

/*
#cgo pkg-config: ssdlab-crash
#include <ssdlab_crash.h>
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// ErrPower says that the power went in the call, or is off: what a test that arms cuts waits for.
var ErrPower = errors.New("the power is cut")

// ErrBroken says that the drive broke a promise.
var ErrBroken = errors.New("the drive broke a promise")

// Rules are those of a file system.
type Rules int

// The rules.
const (
	Posix Rules = C.SSDLAB_POSIX
	Ext4  Rules = C.SSDLAB_EXT4
	XFS   Rules = C.SSDLAB_XFS
	Btrfs Rules = C.SSDLAB_BTRFS
)

// Files are files on a crash disk. They may be used by several goroutines.
type Files struct {
	mutex sync.Mutex
	files *C.SsdlabFiles
}

// last returns the error of a status. Its text belongs to the thread, which the caller has locked.
func last(status uint32) error {
	text := C.GoString(C.ssdlab_error())
	switch status {
	case C.SSDLAB_OK:
		return nil
	case C.SSDLAB_POWER:
		return fmt.Errorf("%w: %s", ErrPower, text)
	case C.SSDLAB_BROKEN:
		return fmt.Errorf("%w: %s", ErrBroken, text)
	}
	return errors.New(text)
}

// New makes an empty file system on a drive of so many bytes. Faults are as ssdlab names them.
func New(rules Rules, size, seed uint64, faults ...string) (*Files, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	names := C.CString(strings.Join(faults, ","))
	defer C.free(unsafe.Pointer(names))
	disk := C.ssdlab_disk_new(0, C.uint64_t(size), C.uint64_t(seed), names)
	if disk == nil {
		return nil, errors.New(C.GoString(C.ssdlab_error()))
	}
	files := C.ssdlab_files_format(disk, C.uint32_t(rules))
	if files == nil {
		return nil, errors.New(C.GoString(C.ssdlab_error()))
	}
	return owned(files), nil
}

func owned(files *C.SsdlabFiles) *Files {
	made := &Files{files: files}
	runtime.SetFinalizer(made, (*Files).Close)
	return made
}

// Close frees files and their disk.
func (f *Files) Close() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	C.ssdlab_files_free(f.files)
	f.files = nil
	runtime.SetFinalizer(f, nil)
}

// Fork returns a copy, which goes its own way from here.
func (f *Files) Fork() *Files {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return owned(C.ssdlab_files_fork(f.files))
}

// call runs one call of the library.
func (f *Files) call(run func() uint32) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if f.files == nil {
		return fs.ErrClosed
	}
	return last(run())
}

func (f *Files) onPath(path string, run func(*C.char) uint32) error {
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	return f.call(func() uint32 { return run(text) })
}

// Reseed changes the seed of write-back and of the disk.
func (f *Files) Reseed(seed uint64) {
	f.call(func() uint32 {
		C.ssdlab_files_reseed(f.files, C.uint64_t(seed))
		return C.SSDLAB_OK
	})
}

// ArmCall arms a cut at the nth call from now, counted from 0.
func (f *Files) ArmCall(nth uint64) {
	f.call(func() uint32 {
		C.ssdlab_files_arm_call(f.files, C.uint64_t(nth))
		return C.SSDLAB_OK
	})
}

// Cut cuts the power now.
func (f *Files) Cut() error {
	return f.call(func() uint32 { return C.ssdlab_files_cut(f.files) })
}

// PowerOn switches the power on and mounts what is there. Open files are gone.
func (f *Files) PowerOn() error {
	return f.call(func() uint32 { return C.ssdlab_files_power_on(f.files, nil) })
}

// IsOn says whether the disk has power.
func (f *Files) IsOn() bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return bool(C.ssdlab_files_is_on(f.files))
}

// Handle is an open file.
type Handle uint64

// Create makes an empty file, which must not exist.
func (f *Files) Create(path string) (Handle, error) {
	var handle C.uint64_t
	err := f.onPath(path, func(path *C.char) uint32 {
		return C.ssdlab_files_create(f.files, path, &handle)
	})
	return Handle(handle), err
}

// Open opens a file.
func (f *Files) Open(path string) (Handle, error) {
	var handle C.uint64_t
	err := f.onPath(path, func(path *C.char) uint32 {
		return C.ssdlab_files_open(f.files, path, &handle)
	})
	return Handle(handle), err
}

// Size returns the bytes of a file.
func (f *Files) Size(file Handle) (int64, error) {
	var size C.uint64_t
	err := f.call(func() uint32 {
		return C.ssdlab_files_size(f.files, C.uint64_t(file), &size)
	})
	return int64(size), err
}

// WriteAt writes into a file.
func (f *Files) WriteAt(file Handle, bytes []byte, offset int64) error {
	return f.call(func() uint32 {
		from := (*C.uint8_t)(unsafe.SliceData(bytes))
		return C.ssdlab_files_write(f.files, C.uint64_t(file), C.uint64_t(offset), from,
			C.size_t(len(bytes)))
	})
}

// ReadAt reads from a file; fewer bytes than asked for at its end.
func (f *Files) ReadAt(file Handle, bytes []byte, offset int64) (int, error) {
	if len(bytes) == 0 {
		return 0, nil
	}
	var count C.size_t
	err := f.call(func() uint32 {
		to := (*C.uint8_t)(unsafe.SliceData(bytes))
		return C.ssdlab_files_read(f.files, C.uint64_t(file), C.uint64_t(offset), to,
			C.size_t(len(bytes)), &count)
	})
	return int(count), err
}

// Truncate gives a file another length.
func (f *Files) Truncate(file Handle, length int64) error {
	return f.call(func() uint32 {
		return C.ssdlab_files_truncate(f.files, C.uint64_t(file), C.uint64_t(length))
	})
}

// Sync makes bytes and size of a file durable.
func (f *Files) Sync(file Handle) error {
	return f.call(func() uint32 { return C.ssdlab_files_fsync(f.files, C.uint64_t(file)) })
}

// SyncData does the same as fdatasync.
func (f *Files) SyncData(file Handle) error {
	return f.call(func() uint32 {
		return C.ssdlab_files_fdatasync(f.files, C.uint64_t(file))
	})
}

// SyncDir makes the names in a directory durable.
func (f *Files) SyncDir(path string) error {
	return f.onPath(path, func(path *C.char) uint32 {
		return C.ssdlab_files_sync_dir(f.files, path)
	})
}

// Rename gives a file or directory another name.
func (f *Files) Rename(from, to string) error {
	name := C.CString(to)
	defer C.free(unsafe.Pointer(name))
	return f.onPath(from, func(path *C.char) uint32 {
		return C.ssdlab_files_rename(f.files, path, name)
	})
}

// Link gives a file one more name.
func (f *Files) Link(path, name string) error {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	return f.onPath(path, func(path *C.char) uint32 {
		return C.ssdlab_files_link(f.files, path, text)
	})
}

// Remove removes a name, or an empty directory.
func (f *Files) Remove(path string) error {
	isDir := f.IsDir(path)
	return f.onPath(path, func(path *C.char) uint32 {
		if isDir {
			return C.ssdlab_files_rmdir(f.files, path)
		}
		return C.ssdlab_files_unlink(f.files, path)
	})
}

// Mkdir makes an empty directory.
func (f *Files) Mkdir(path string) error {
	return f.onPath(path, func(path *C.char) uint32 {
		return C.ssdlab_files_mkdir(f.files, path)
	})
}

// Exists says whether a file or directory has this name.
func (f *Files) Exists(path string) bool {
	exists := false
	f.onPath(path, func(path *C.char) uint32 {
		exists = bool(C.ssdlab_files_exists(f.files, path))
		return C.SSDLAB_OK
	})
	return exists
}

// IsDir says whether a directory has this name.
func (f *Files) IsDir(path string) bool {
	isDir := false
	f.onPath(path, func(path *C.char) uint32 {
		isDir = bool(C.ssdlab_files_is_dir(f.files, path))
		return C.SSDLAB_OK
	})
	return isDir
}

// List returns the paths in a directory.
func (f *Files) List(path string) ([]string, error) {
	for room := 1 << 14; ; room *= 4 {
		buffer := make([]byte, room)
		var count C.size_t
		err := f.onPath(path, func(path *C.char) uint32 {
			to := (*C.char)(unsafe.Pointer(unsafe.SliceData(buffer)))
			return C.ssdlab_files_list(f.files, path, to, C.size_t(room), &count)
		})
		if err != nil {
			return nil, err
		}
		if int(count) <= room {
			text := strings.TrimSuffix(string(buffer[:count]), "\x00")
			if text == "" {
				return nil, nil
			}
			return strings.Split(text, "\x00"), nil
		}
	}
}
