package crash

import (
	"errors"
	"fmt"
	"sync"
)

// Tape is what an engine did to its files, in order, and what it had acknowledged between. The engine
// runs once, on files of its own; the tape is replayed on a crash disk and cut. It may be used by
// several goroutines.
type Tape struct {
	mutex sync.Mutex
	steps []func(*played) error
	marks []int
	// opens counts the files that were opened.
	opens int
}

// Recorded is a file on a tape.
type Recorded int

// played are files while a tape is replayed.
type played struct {
	files   *Files
	handles []Handle
	next    int
}

func (t *Tape) add(step func(*played) error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.steps = append(t.steps, step)
}

// Mark says that one more is acknowledged.
func (t *Tape) Mark() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.marks = append(t.marks, len(t.steps))
}

// Calls is the number of calls so far.
func (t *Tape) Calls() int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return len(t.steps)
}

func (t *Tape) acknowledged(call int) int {
	count := 0
	for _, mark := range t.marks {
		if mark <= call {
			count++
		}
	}
	return count
}

// onFile adds a call on a file that is open under a number.
func (t *Tape) onFile(file Recorded, call func(*Files, Handle) error) {
	t.add(func(p *played) error { return call(p.files, p.handles[file]) })
}

// opened gives a file a number, the same in every replay.
func (t *Tape) opened(open func(*Files) (Handle, error)) Recorded {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	number := t.opens
	t.opens++
	t.steps = append(t.steps, func(p *played) error {
		handle, err := open(p.files)
		for len(p.handles) <= number {
			p.handles = append(p.handles, 0)
		}
		p.handles[number] = handle
		return err
	})
	return Recorded(number)
}

// Create records a new file.
func (t *Tape) Create(path string) Recorded {
	return t.opened(func(f *Files) (Handle, error) { return f.Create(path) })
}

// Open records that a file is opened, which must be there.
func (t *Tape) Open(path string) Recorded {
	return t.opened(func(f *Files) (Handle, error) { return f.Open(path) })
}

// WriteAt records a write.
func (t *Tape) WriteAt(file Recorded, bytes []byte, offset int64) {
	copied := append([]byte(nil), bytes...)
	t.onFile(file, func(f *Files, handle Handle) error { return f.WriteAt(handle, copied, offset) })
}

// Truncate records another length.
func (t *Tape) Truncate(file Recorded, length int64) {
	t.onFile(file, func(f *Files, handle Handle) error { return f.Truncate(handle, length) })
}

// Sync records an fsync.
func (t *Tape) Sync(file Recorded) {
	t.onFile(file, (*Files).Sync)
}

// SyncData records an fdatasync.
func (t *Tape) SyncData(file Recorded) {
	t.onFile(file, (*Files).SyncData)
}

// SyncDir records the sync of a directory.
func (t *Tape) SyncDir(path string) {
	t.add(func(p *played) error { return p.files.SyncDir(path) })
}

// Rename records another name.
func (t *Tape) Rename(from, to string) {
	t.add(func(p *played) error { return p.files.Rename(from, to) })
}

// Link records one more name.
func (t *Tape) Link(path, name string) {
	t.add(func(p *played) error { return p.files.Link(path, name) })
}

// Remove records that a name is removed.
func (t *Tape) Remove(path string) {
	t.add(func(p *played) error { return p.files.Remove(path) })
}

// Mkdir records a new directory.
func (t *Tape) Mkdir(path string) {
	t.add(func(p *played) error { return p.files.Mkdir(path) })
}

// Failure is the first cut that failed.
type Failure struct {
	Cut, Call int
	// Acknowledged is the number of marks before it.
	Acknowledged int
	Err          error
}

func (f *Failure) Error() string {
	return fmt.Sprintf("cut %d, at call %d, %d acknowledged: %v", f.Cut, f.Call, f.Acknowledged,
		f.Err)
}

func (f *Failure) Unwrap() error { return f.Err }

// Cut replays the tape on forks of empty files and cuts it so many times, at calls from `first` on in
// turn; check gets the files as they were recovered, and how many marks had been made. Returns nil if
// every cut passed, or a *Failure.
func (t *Tape) Cut(empty *Files, first, cuts int, check func(*Files, int) error) error {
	calls := len(t.steps) + 1 - first
	base := &played{files: empty.Fork()}
	defer func() { base.files.Close() }()
	for cut := 0; cut < cuts; cut++ {
		// Cuts go through the tape once, several at each call.
		call := first + cut*calls/cuts
		for base.next < call {
			if err := t.steps[base.next](base); err != nil {
				return fmt.Errorf("call %d cannot be replayed: %w", base.next, err)
			}
			base.next++
		}
		if reached, err := t.one(base, call, uint64(cut), check); err != nil {
			acknowledged := t.acknowledged(reached)
			return &Failure{Cut: cut + 1, Call: reached, Acknowledged: acknowledged, Err: err}
		}
	}
	return nil
}

// one cuts at a call or soon after; returns the call in which the power went.
func (t *Tape) one(
	base *played, call int, draw uint64, check func(*Files, int) error,
) (int, error) {
	fork := &played{files: base.files.Fork(), next: call}
	defer fork.files.Close()
	fork.handles = append(fork.handles, base.handles...)
	fork.files.Reseed(draw)
	fork.files.ArmCall(0)
	for fork.next < len(t.steps) {
		err := t.steps[fork.next](fork)
		if errors.Is(err, ErrPower) {
			break
		}
		if err != nil {
			return fork.next, err
		}
		fork.next++
	}
	if fork.files.IsOn() {
		if err := fork.files.Cut(); err != nil {
			return fork.next, err
		}
	}
	if err := fork.files.PowerOn(); err != nil {
		return fork.next, err
	}
	return fork.next, check(fork.files, t.acknowledged(fork.next))
}
