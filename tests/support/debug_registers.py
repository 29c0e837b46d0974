"""Whether this machine's debug registers tell of writes: some virtual machines take a breakpoint and never report it."""
import ctypes
import functools
import os
import struct

PERF_EVENT_OPEN = 298  # of x86-64
BREAKPOINT, ON_WRITE = 5, 2  # include/uapi/linux/perf_event.h, hw_breakpoint.h
SIZE = 128  # of struct perf_event_attr


@functools.cache
def tell():
    """A word of this very process is watched and written to. True as well where it can't be tried: others say why."""
    if os.uname().machine != "x86_64":
        return True
    word = (ctypes.c_uint64 * 1)()
    attributes = bytearray(SIZE)
    struct.pack_into("<IIQQ", attributes, 0, BREAKPOINT, SIZE, 0, 1)
    struct.pack_into("<Q", attributes, 40, 1 << 5 | 1 << 6)  # without the kernel and the hypervisor
    struct.pack_into("<IIQQ", attributes, 48, 1, ON_WRITE, ctypes.addressof(word), 8)
    event = ctypes.CDLL(None).syscall(PERF_EVENT_OPEN, (ctypes.c_char * SIZE).from_buffer(attributes), 0, -1, -1, 8)
    if event < 0:
        return True
    for value in range(3):
        word[0] = value
    count = struct.unpack("<Q", os.read(event, 8))[0]
    os.close(event)
    return count > 0
