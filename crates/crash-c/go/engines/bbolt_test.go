package engines

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
	"ssdlab.dev/crash"
)

// boltTape records transactions of bbolt. Its file is a real one, which it maps; four calls of bbolt
// go through hooks that `hooks.sh` puts into a copy of its source: bbolt has no interface for them.
func boltTape(t *testing.T, syncs bool) (*crash.Tape, int) {
	tape := &crash.Tape{}
	number := tape.Create("bolt")
	tape.SyncDir("")
	bbolt.CrashWriteAt = func(file *os.File, bytes []byte, offset int64) (int, error) {
		tape.WriteAt(number, bytes, offset)
		return file.WriteAt(bytes, offset)
	}
	bbolt.CrashSyncData = func(*os.File) error {
		tape.SyncData(number)
		return nil
	}
	bbolt.CrashSync = func(*os.File) error {
		tape.Sync(number)
		return nil
	}
	bbolt.CrashTruncate = func(file *os.File, length int64) error {
		tape.Truncate(number, length)
		return file.Truncate(length)
	}
	db, err := bbolt.Open(filepath.Join(t.TempDir(), "bolt"), 0o600, &bbolt.Options{NoSync: !syncs})
	if err != nil {
		t.Fatal(err)
	}
	if !syncs {
		// It was made with its syncs.
		tape.Sync(number)
	}
	first := tape.Calls()
	for row := range rows {
		err := db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("rows"))
			if err != nil {
				return err
			}
			return bucket.Put(key(row), value(row))
		})
		if err != nil {
			t.Fatal(err)
		}
		tape.Mark()
	}
	t.Cleanup(func() { db.Close() })
	return tape, first
}

func key(row int) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(row))
}

func checkBolt(t *testing.T) func(*crash.Files, int) error {
	path := filepath.Join(t.TempDir(), "recovered")
	return func(files *crash.Files, acknowledged int) (err error) {
		defer func() {
			// A damaged file is mapped and followed: it may panic.
			if why := recover(); why != nil {
				err = fmt.Errorf("damaged: %v", why)
			}
		}()
		bytes, err := Contents(files, "bolt")
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, bytes, 0o600); err != nil {
			return err
		}
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
		if err != nil {
			return fmt.Errorf("damaged: %w", err)
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		return db.View(func(tx *bbolt.Tx) error {
			bucket := tx.Bucket([]byte("rows"))
			for row := range acknowledged {
				if bucket == nil || string(bucket.Get(key(row))) != string(value(row)) {
					return fmt.Errorf("lost: row %d", row)
				}
			}
			for problem := range tx.Check() {
				return fmt.Errorf("damaged: %w", problem)
			}
			return nil
		})
	}
}

func TestBoltKeepsWhatItHasSynced(t *testing.T) {
	tape, first := boltTape(t, true)
	t.Logf("%d calls", tape.Calls())
	if err := tape.Cut(empty(t, crash.Ext4), first, cuts(), checkBolt(t)); err != nil {
		t.Error(err)
	}
}

func TestBoltWithoutSyncLosesAndIsFound(t *testing.T) {
	tape, first := boltTape(t, false)
	err := tape.Cut(empty(t, crash.Ext4), first, cuts(), checkBolt(t))
	var failure *crash.Failure
	if !errors.As(err, &failure) {
		t.Fatalf("not found: %v", err)
	}
	t.Log(failure)
}
