"""Does the crash disk keep its contract in Python, and does the fixture find who is at fault?"""

import time

import pytest
import ssdlab

PAGE = 4096


def filled(byte: int, length: int = PAGE) -> bytes:
    return bytes([byte]) * length


def test_what_was_flushed_is_there_after_a_cut() -> None:
    disk = ssdlab.CrashDisk()
    disk.write(0, filled(1))
    disk.flush()
    disk.write(PAGE, bytearray(filled(2)))
    disk.write(2 * PAGE, memoryview(filled(3)), fua=True)
    disk.cut()
    assert not disk.is_on
    with pytest.raises(ssdlab.PowerLost) as caught:
        disk.flush()
    assert caught.value.at_ns is None
    report = disk.power_on()
    report.assert_kept()
    assert disk.read(0, PAGE) == filled(1) and disk.read(2 * PAGE, PAGE) == filled(3)
    assert report.lost == [(3, 1)] and report.recovery_ns > 0
    assert report.sectors()["current"] >= 16


def test_a_number_is_no_data() -> None:
    with pytest.raises(TypeError):
        ssdlab.CrashDisk().write(0, 512)  # type: ignore[arg-type]


def test_forks_go_their_own_way() -> None:
    disk = ssdlab.CrashDisk(3)
    disk.write(0, filled(1, 512), fua=True)
    other = disk.fork(seed=9)
    other.write(0, filled(2, 512), fua=True)
    assert disk.read(0, 512) == filled(1, 512) and other.read(0, 512) == filled(2, 512)


def test_the_same_calls_give_the_same_bytes() -> None:
    def run() -> "tuple[list[tuple[int, int]], int, bytes]":
        disk = ssdlab.CrashDisk("consumer-sata-1tb", seed=5, size="64MiB")
        for page in range(200):
            disk.write(page * PAGE, filled(page % 251 + 1))
        disk.arm(in_program=3)
        with pytest.raises(ssdlab.PowerLost):
            disk.flush()
        report = disk.power_on()
        return report.lost, disk.now_ns, disk.read(0, 200 * PAGE)

    assert run() == run()


@pytest.mark.parametrize("fault", ["ignores-flush", "lost-writes", "misdirected-writes"])
def test_a_drive_that_lies_is_found_with_the_smallest_history(fault: str) -> None:
    disk = ssdlab.CrashDisk(faults=[fault])
    for page in range(40):
        disk.write(2 * page * PAGE, filled(7))
        disk.flush()
    disk.cut()
    assert not disk.power_on().is_kept
    found = disk.minimise()
    assert found is not None
    assert len(found[0]) == 4, "a write, a flush, the cut, power on"


def log_program(flushes: bool) -> ssdlab._crash.Program:
    def append(disk: ssdlab.CrashDisk, done: "list[int]") -> None:
        for n in range(1, 4):
            disk.write(8192 + 512 * n, filled(n, 512))
            if flushes:
                disk.flush()
            disk.write(0, filled(n, 512), fua=True)
            done.append(n)

    return append


def log_check(disk: ssdlab.CrashDisk, done: "list[int]") -> None:
    count = disk.read(0, 512)[0]
    assert count >= len(done), "the header is older than what was acknowledged"
    for n in range(1, count + 1):
        assert disk.read(8192 + 512 * n, 512) == filled(n, 512), f"record {n} is gone"


def test_a_program_is_cut_at_every_place() -> None:
    new = ssdlab.CrashDisk(0)
    assert ssdlab.crash_test(new, log_program(True), log_check) > 20
    with pytest.raises(ssdlab.Failure) as caught:
        ssdlab.crash_test(new, log_program(False), log_check)
    assert len(caught.value.writes) == 1 and "write 512 B" in caught.value.writes[0]
    assert "record" in str(caught.value)
    with pytest.raises(ssdlab.BrokenPromise, match="smallest history"):
        liar = ssdlab.CrashDisk(0, faults=["ignores-flush", "ignores-fua"])
        ssdlab.crash_test(liar, log_program(True), log_check)


def test_a_mistake_of_the_program_is_not_a_crash() -> None:
    def wrong(disk: ssdlab.CrashDisk, done: "list[int]") -> None:
        disk.write(1, b"x")

    with pytest.raises(ssdlab.Error, match="whole units"):
        ssdlab.crash_test(ssdlab.CrashDisk(), wrong, log_check)


PLANTED = '''
import pytest

PAGE = 4096

def test_honest(ssd):
    ssd.write(0, b"x" * PAGE)
    ssd.flush()
    ssd.cut()
    ssd.power_on()
    assert ssd.read(0, 512) == b"x" * 512

@pytest.mark.ssd(faults=["ignores-flush"])
def test_lying(ssd):
    for page in range(20):
        ssd.write(page * PAGE, b"x" * PAGE)
        ssd.flush()
    # It never cuts the power itself.

def test_missing_flush(ssd):
    for page in range(20):
        ssd.write(page * PAGE, b"x" * PAGE)
    def check(disk):
        assert disk.read(5 * PAGE, 512) == b"x" * 512, "page 5 is gone"
    ssd.check(check)

@pytest.mark.ssd(drive="consumer-sata-1tb", size="64MiB", seed=3)
def test_served(ssd):
    with ssd.serve() as served:
        assert served.status().powered
        assert not served.off().powered
    assert ssd.capacity_bytes == 64 << 20
'''


def test_the_fixture_fails_whom_it_should(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PLANTED)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=2, failed=2)
    text = result.stdout.str()
    for said in (
        "the drive broke its promises",
        "the smallest history that does:",
        "page 5 is gone",
        "the smallest set of lost writes (1 of 16):",
        "#6 write 4 KiB at 20480",
    ):
        assert said in text, text


def test_a_call_costs_less_than_two_microseconds() -> None:
    """The way into Rust and back, with arguments; nothing is read or written."""
    disk = ssdlab.CrashDisk()
    nothing = b""

    def cost_ns(count: int = 20_000) -> float:
        began = time.process_time_ns()
        for _ in range(count):
            disk.write(0, nothing)
        return (time.process_time_ns() - began) / count

    assert min(cost_ns() for _ in range(7)) < 2000
