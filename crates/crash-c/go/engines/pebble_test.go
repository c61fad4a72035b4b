package engines

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"ssdlab.dev/crash"
)

const rows = 60

// cuts of each test; SSDLAB_CUTS gives another number.
func cuts() int {
	if count, err := strconv.Atoi(os.Getenv("SSDLAB_CUTS")); err == nil {
		return count
	}
	return 2000
}

func value(row int) []byte {
	return fmt.Appendf(nil, "%0*d", 300+row, row)
}

func empty(t *testing.T, rules crash.Rules) *crash.Files {
	files, err := crash.New(rules, 16<<20, 1)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

type quiet struct{}

func (quiet) Infof(string, ...interface{})  {}
func (quiet) Errorf(string, ...interface{}) {}
func (quiet) Fatalf(format string, args ...interface{}) {
	panic(fmt.Sprintf(format, args...))
}

func options(fs *RecordedFS) *pebble.Options {
	return &pebble.Options{FS: fs, Logger: quiet{}, MemTableSize: 16 << 10}
}

// pebbleTape records transactions, each of which is acknowledged when its Set has returned.
func pebbleTape(t *testing.T, write *pebble.WriteOptions) (*crash.Tape, int) {
	tape := &crash.Tape{}
	db, err := pebble.Open("db", options(NewRecordedFS(tape)))
	if err != nil {
		t.Fatal(err)
	}
	first := tape.Calls()
	for row := range rows {
		if err := db.Set(fmt.Appendf(nil, "row %05d", row), value(row), write); err != nil {
			t.Fatal(err)
		}
		tape.Mark()
	}
	return tape, first
}

// checkPebble opens what a cut has left: every acknowledged row must be there, whole.
func checkPebble(files *crash.Files, acknowledged int) (err error) {
	fs, err := Recovered(files)
	if err != nil {
		return err
	}
	db, err := pebble.Open("db", &pebble.Options{FS: fs, Logger: quiet{}})
	if err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for row := range acknowledged {
		found, closer, err := db.Get(fmt.Appendf(nil, "row %05d", row))
		if err != nil {
			return fmt.Errorf("lost: row %d: %w", row, err)
		}
		if string(found) != string(value(row)) {
			return fmt.Errorf("damaged: row %d", row)
		}
		if err := closer.Close(); err != nil {
			return err
		}
	}
	return nil
}

func TestPebbleKeepsWhatItHasSynced(t *testing.T) {
	for _, rules := range []crash.Rules{crash.Ext4, crash.Posix} {
		tape, first := pebbleTape(t, pebble.Sync)
		t.Logf("%d calls", tape.Calls())
		if err := tape.Cut(empty(t, rules), first, cuts(), checkPebble); err != nil {
			t.Error(err)
		}
	}
}

func TestPebbleWithoutSyncLosesAndIsFound(t *testing.T) {
	tape, first := pebbleTape(t, pebble.NoSync)
	err := tape.Cut(empty(t, crash.Ext4), first, cuts(), checkPebble)
	var failure *crash.Failure
	if !errors.As(err, &failure) {
		t.Fatalf("not found: %v", err)
	}
	t.Log(failure)
}
