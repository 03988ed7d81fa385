"""Recording a run, reading it back, and exporting it for other tools.

A recording is an Apache Arrow IPC stream (`.arrows`): one column per field, batches flushed while
the run goes on, readable to the last flushed batch whatever happens to the process. pyarrow is
imported when a recording is opened, not before.
"""

from __future__ import annotations

from simsched.record.export import FORMATS, export
from simsched.record.reader import Recording, load
from simsched.record.recorder import MemoryRecorder, NullRecorder, Recorder, StepRecorder, import_writer

__all__ = [
    "FORMATS",
    "MemoryRecorder",
    "NullRecorder",
    "Recorder",
    "Recording",
    "StepRecorder",
    "export",
    "import_writer",
    "load",
]
