// Package engines tests pebble and bbolt on a crash disk, neither of which is changed.
package engines

import (
	"io"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
	"ssdlab.dev/crash"
)

// RecordedFS is a file system of pebble that records what is done to it.
type RecordedFS struct {
	vfs.FS
	tape *crash.Tape
	// mutex makes a call and its record one.
	mutex sync.Mutex
	// files by name, as they were created.
	files map[string]crash.Recorded
}

// NewRecordedFS records what is done to files in memory.
func NewRecordedFS(tape *crash.Tape) *RecordedFS {
	return &RecordedFS{FS: vfs.NewMem(), tape: tape, files: map[string]crash.Recorded{}}
}

// on takes the slashes from a name's ends: the tape's paths begin at the top.
func on(name string) string {
	if name == "." {
		return ""
	}
	return strings.Trim(name, "/")
}

type recordedFile struct {
	vfs.File
	fs       *RecordedFS
	number   crash.Recorded
	position int64
}

// Create makes a file in place of any other.
func (r *RecordedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	_, statErr := r.FS.Stat(name)
	file, err := r.FS.Create(name, category)
	if err != nil {
		return nil, err
	}
	if statErr == nil {
		r.tape.Remove(on(name))
	}
	r.files[on(name)] = r.tape.Create(on(name))
	return &recordedFile{File: file, fs: r, number: r.files[on(name)]}, nil
}

// OpenReadWrite makes the file if it is not there.
func (r *RecordedFS) OpenReadWrite(
	name string, category vfs.DiskWriteCategory, options ...vfs.OpenOption,
) (vfs.File, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	_, statErr := r.FS.Stat(name)
	file, err := r.FS.OpenReadWrite(name, category, options...)
	if err != nil {
		return nil, err
	}
	if statErr != nil {
		r.files[on(name)] = r.tape.Create(on(name))
	}
	return &recordedFile{File: file, fs: r, number: r.files[on(name)]}, nil
}

// ReuseForWrite takes a file under another name.
func (r *RecordedFS) ReuseForWrite(
	from, to string, category vfs.DiskWriteCategory,
) (vfs.File, error) {
	if err := r.Rename(from, to); err != nil {
		return nil, err
	}
	return r.OpenReadWrite(to, category)
}

type recordedDir struct {
	vfs.File
	fs   *RecordedFS
	name string
}

// OpenDir opens a directory for its sync.
func (r *RecordedFS) OpenDir(name string) (vfs.File, error) {
	file, err := r.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &recordedDir{File: file, fs: r, name: name}, nil
}

func (d *recordedDir) Sync() error {
	d.fs.mutex.Lock()
	defer d.fs.mutex.Unlock()
	d.fs.tape.SyncDir(on(d.name))
	return d.File.Sync()
}

// Rename renames.
func (r *RecordedFS) Rename(from, to string) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.FS.Rename(from, to); err != nil {
		return err
	}
	r.files[on(to)] = r.files[on(from)]
	r.tape.Rename(on(from), on(to))
	return nil
}

// Link links.
func (r *RecordedFS) Link(from, to string) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.FS.Link(from, to); err != nil {
		return err
	}
	r.files[on(to)] = r.files[on(from)]
	r.tape.Link(on(from), on(to))
	return nil
}

// Remove removes a file or an empty directory.
func (r *RecordedFS) Remove(name string) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.FS.Remove(name); err != nil {
		return err
	}
	r.tape.Remove(on(name))
	return nil
}

// MkdirAll makes a directory and those above.
func (r *RecordedFS) MkdirAll(name string, mode os.FileMode) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	made := ""
	for _, part := range strings.Split(on(name), "/") {
		made = path.Join(made, part)
		if _, err := r.FS.Stat(made); err == nil {
			continue
		}
		if err := r.FS.MkdirAll(made, mode); err != nil {
			return err
		}
		r.tape.Mkdir(made)
	}
	return nil
}

// Lock makes the file of a lock.
func (r *RecordedFS) Lock(name string) (io.Closer, error) {
	file, err := r.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (f *recordedFile) Write(bytes []byte) (int, error) {
	f.fs.mutex.Lock()
	defer f.fs.mutex.Unlock()
	// A file system may change what it is given.
	f.fs.tape.WriteAt(f.number, bytes, f.position)
	count, err := f.File.Write(bytes)
	f.position += int64(count)
	return count, err
}

func (f *recordedFile) WriteAt(bytes []byte, offset int64) (int, error) {
	f.fs.mutex.Lock()
	defer f.fs.mutex.Unlock()
	f.fs.tape.WriteAt(f.number, bytes, offset)
	return f.File.WriteAt(bytes, offset)
}

func (f *recordedFile) Sync() error {
	f.fs.mutex.Lock()
	defer f.fs.mutex.Unlock()
	f.fs.tape.Sync(f.number)
	return f.File.Sync()
}

func (f *recordedFile) SyncData() error {
	f.fs.mutex.Lock()
	defer f.fs.mutex.Unlock()
	f.fs.tape.SyncData(f.number)
	return f.File.SyncData()
}

// SyncTo promises nothing, as pebble's documentation allows.
func (f *recordedFile) SyncTo(int64) (bool, error) { return false, nil }

// Recovered copies what a cut has left into memory.
func Recovered(files *crash.Files) (vfs.FS, error) {
	to := vfs.NewMem()
	return to, copyInto(files, "", to)
}

func copyInto(files *crash.Files, folder string, to vfs.FS) error {
	paths, err := files.List(folder)
	if err != nil {
		return err
	}
	for _, name := range paths {
		if files.IsDir(name) {
			if err := to.MkdirAll(name, 0o755); err != nil {
				return err
			}
			if err := copyInto(files, name, to); err != nil {
				return err
			}
			continue
		}
		bytes, err := Contents(files, name)
		if err != nil {
			return err
		}
		file, err := to.Create(name, vfs.WriteCategoryUnspecified)
		if err != nil {
			return err
		}
		if _, err := file.Write(bytes); err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Contents reads a whole file.
func Contents(files *crash.Files, name string) ([]byte, error) {
	handle, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	size, err := files.Size(handle)
	if err != nil {
		return nil, err
	}
	bytes := make([]byte, size)
	count, err := files.ReadAt(handle, bytes, 0)
	return bytes[:count], err
}
