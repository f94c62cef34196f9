"""Starts drivers that have their imports behind them: forks for each run, since the imports cost more than most runs.

Started with the names of the modules to import. Each line of stdin is a job (`script`, `arguments`, `cwd`, `env`,
`stderr`); stdout tells the `pid` of its process, and then its exit `code`.
"""

import gc
import importlib
import json
import os
import runpy
import sys
from typing import Any


def tell(**row: float) -> None:
    """One line of stdout."""
    os.write(1, json.dumps(row).encode() + b"\n")


def next_child() -> dict[str, Any]:
    """Fork for each job and wait for its end; only the children return, each with its job."""
    for line in sys.stdin:
        job: dict[str, Any] = json.loads(line)
        child = os.fork()
        if not child:
            return job
        tell(pid=child)
        _, status, used = os.wait4(child, 0)
        tell(code=os.waitstatus_to_exitcode(status), cpu=used.ru_utime + used.ru_stime)
    sys.exit()


def become(job: dict[str, Any]) -> None:
    """Be what a process of its own would be: its session, folder, environment and streams."""
    os.setsid()
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["env"])
    nowhere = os.open(os.devnull, os.O_RDWR)
    complaints = os.open(job["stderr"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for source, target in ((nowhere, 0), (nowhere, 1), (complaints, 2)):
        os.dup2(source, target)
    os.close(nowhere)
    os.close(complaints)
    sys.argv = [job["script"], *job["arguments"]]
    runpy.run_path(job["script"], run_name="__main__")


for name in sys.argv[1:]:
    importlib.import_module(name)
gc.freeze()
become(next_child())
