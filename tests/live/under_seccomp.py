"""Runs a command under a seccomp profile as container engines take it, by libseccomp.

    python3 under_seccomp.py PROFILE COMMAND...
"""

import ctypes
import json
import os
import sys

ALLOW, ERRNO = 0x7FFF0000, 0x00050000
OPERATIONS = {"SCMP_CMP_EQ": 4, "SCMP_CMP_MASKED_EQ": 7}


class Comparison(ctypes.Structure):
    _fields_ = [
        ("argument", ctypes.c_uint),
        ("operation", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    ]


def load(profile):
    library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = [ctypes.c_uint32]
    library.seccomp_load.argtypes = [ctypes.c_void_p]
    add = library.seccomp_rule_add_array
    add.argtypes = [
        ctypes.c_void_p,
        ctypes.c_uint32,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.POINTER(Comparison),
    ]
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO", profile["defaultAction"]
    context = library.seccomp_init(ERRNO | profile["defaultErrnoRet"])
    for rule in profile["syscalls"]:
        assert rule["action"] == "SCMP_ACT_ALLOW", rule
        comparisons = [
            Comparison(a["index"], OPERATIONS[a["op"]], a["value"], a.get("valueTwo", 0))
            for a in rule.get("args", [])
        ]
        array = (Comparison * len(comparisons))(*comparisons)
        for name in rule["names"]:
            number = library.seccomp_syscall_resolve_name(name.encode())
            # A name that this processor's table does not have.
            if number == -1:
                continue
            error = add(context, ALLOW, number, len(comparisons), array)
            # Negative numbers stand for calls of other processors.
            assert error == 0 or number < 0, (name, os.strerror(-error))
    error = library.seccomp_load(context)
    assert error == 0, os.strerror(-error)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        load(json.load(file))
    os.execv(sys.argv[2], sys.argv[2:])
