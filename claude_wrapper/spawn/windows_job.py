"""A Windows job object: keeps the processes of an agent together and ends them with this program."""

from __future__ import annotations

import ctypes
import logging
import sys
from ctypes import wintypes

__all__ = ["Job"]

logger = logging.getLogger("claude_wrapper.spawn")

if sys.platform == "win32":
    _kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel.CreateJobObjectW.restype = wintypes.HANDLE
    _kernel.CreateJobObjectW.argtypes = (wintypes.LPVOID, wintypes.LPCWSTR)
    _kernel.OpenProcess.restype = wintypes.HANDLE
    _kernel.OpenProcess.argtypes = (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)
    _kernel.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
    _kernel.TerminateJobObject.argtypes = (wintypes.HANDLE, wintypes.UINT)
    _kernel.CloseHandle.argtypes = (wintypes.HANDLE,)
    _information = (wintypes.HANDLE, ctypes.c_int, wintypes.LPVOID, wintypes.DWORD)
    _kernel.SetInformationJobObject.argtypes = _information
    _kernel.QueryInformationJobObject.argtypes = (*_information, wintypes.LPDWORD)

    _BASIC_ACCOUNTING = 1
    _EXTENDED_LIMITS = 9
    _KILL_ON_JOB_CLOSE = 0x2000
    _PROCESS_SET_QUOTA_AND_TERMINATE = 0x0100 | 0x0001

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("PerProcessUserTimeLimit", ctypes.c_int64),
            ("PerJobUserTimeLimit", ctypes.c_int64),
            ("LimitFlags", wintypes.DWORD),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", wintypes.DWORD),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", wintypes.DWORD),
            ("SchedulingClass", wintypes.DWORD),
        )

    class _ExtendedLimits(ctypes.Structure):
        _fields_ = (
            ("BasicLimitInformation", _BasicLimits),
            ("IoInfo", ctypes.c_uint64 * 6),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        )

    class _Accounting(ctypes.Structure):
        _fields_ = (
            ("Times", ctypes.c_int64 * 4),
            ("TotalPageFaultCount", wintypes.DWORD),
            ("TotalProcesses", wintypes.DWORD),
            ("ActiveProcesses", wintypes.DWORD),
            ("TotalTerminatedProcesses", wintypes.DWORD),
        )

    class Job:
        """A job that a process has been put into, and all that it starts from then on."""

        def __init__(self, handle: int) -> None:
            self._handle = handle

        @classmethod
        def holding(cls, pid: int) -> Job | None:
            """Return a new job with this process; None, with a note in the log, where that fails."""
            handle = _kernel.CreateJobObjectW(None, None)
            if not handle:
                logger.debug("no job object: %s", ctypes.WinError(ctypes.get_last_error()))
                return None
            job = cls(handle)
            limits = _ExtendedLimits()
            limits.BasicLimitInformation.LimitFlags = _KILL_ON_JOB_CLOSE
            size = ctypes.sizeof(limits)
            process = _kernel.OpenProcess(_PROCESS_SET_QUOTA_AND_TERMINATE, False, pid)
            try:
                if (
                    process
                    and _kernel.SetInformationJobObject(handle, _EXTENDED_LIMITS, ctypes.byref(limits), size)
                    and _kernel.AssignProcessToJobObject(handle, process)
                ):
                    return job
                logger.debug("job object not used: %s", ctypes.WinError(ctypes.get_last_error()))
            finally:
                if process:
                    _kernel.CloseHandle(process)
            job.close()
            return None

        def count(self) -> int:
            """Return how many processes run in it."""
            accounting = _Accounting()
            size = ctypes.sizeof(accounting)
            if not _kernel.QueryInformationJobObject(
                self._handle, _BASIC_ACCOUNTING, ctypes.byref(accounting), size, None
            ):
                return 0
            return int(accounting.ActiveProcesses)

        def end(self) -> None:
            """End all its processes at once."""
            _kernel.TerminateJobObject(self._handle, 1)

        def close(self) -> None:
            """Give it back; what still runs in it ends."""
            _kernel.CloseHandle(self._handle)
