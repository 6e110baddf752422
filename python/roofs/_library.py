"""The C library as Python objects: a running fit, a model, and errors as exceptions."""
from __future__ import annotations

import math
import os
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import current_process
from threading import current_thread, main_thread
from typing import Any, Callable, Iterator

import joblib
import numpy as np
from joblib.parallel import get_active_backend

from ._callbacks import Callbacks, keep_exception
from ._groups import CredibleGroup
from ._keywords import SETTINGS
from ._native import ffi, lib
from ._ranks import Ranks

FLOATS = {np.dtype(np.float64): lib.ROOFS_F64, np.dtype(np.float32): lib.ROOFS_F32}
BYTES = {np.dtype(np.int8): lib.ROOFS_I8, np.dtype(np.uint8): lib.ROOFS_U8, np.dtype(np.bool_): lib.ROOFS_U8}
DTYPES = {**FLOATS, **BYTES}


def text(pointer: Any) -> str | None:
    return ffi.string(pointer).decode() if pointer else None


def version() -> str:
    """The version of the C library."""
    return text(lib.roofs_version())


def methods() -> dict[str, str]:
    """Name and one-line summary of every method.

    >>> import roofs
    >>> "roofs-bayes" in roofs.methods()
    True
    """
    found: dict[str, str] = {}
    while lib.roofs_method_name(len(found)):
        k = len(found)
        found[text(lib.roofs_method_name(k))] = text(lib.roofs_method_summary(k))
    return found


def _warning_texts() -> dict[str, str]:
    found: dict[str, str] = {}
    while lib.roofs_warning_name(len(found)):
        k = len(found)
        found[text(lib.roofs_warning_name(k))] = text(lib.roofs_warning_text(k))
    return found


WARNINGS = _warning_texts()   # word and text; number k has the flag 1 << k


# ---- errors ------------------------------------------------------------------------------

EXCEPTIONS = {lib.ROOFS_BAD_SETTING: ValueError, lib.ROOFS_BAD_DATA: ValueError, lib.ROOFS_NO_MEMORY: MemoryError,
              lib.ROOFS_OVER_LIMIT: MemoryError, lib.ROOFS_IO: OSError, lib.ROOFS_CANCELLED: KeyboardInterrupt}


def python_message(message: str) -> str:
    """A message of the library with the keywords of Python in place of settings and options."""
    message = message.replace("--device cpu", 'device="cpu"')
    if "not a finite number" in message:
        message = "Input contains NaN or infinity: " + message
    for keyword, (setting, _) in SETTINGS.items():
        if keyword != setting and (message.startswith(setting + " ") or message.startswith(setting + ",")):
            return keyword + message[len(setting):]
    return message


def call(function: Callable, *arguments: Any, callbacks: tuple[Callbacks | None, ...] = ()) -> None:
    """Calls a function of the library whose last argument is a roofs_error. Raises the exception of a callback, or the
    error."""
    error = ffi.new("roofs_error *")
    status = function(*arguments, error)
    for each in callbacks:
        if each is not None and each.raised is not None:
            raise each.raised
    if status != lib.ROOFS_OK:
        message = text(error.text) or text(lib.roofs_status_text(status))
        raise EXCEPTIONS.get(status, RuntimeError)(python_message(message))


# ---- settings ----------------------------------------------------------------------------

def joblib_threads() -> int:
    """The number of threads inside joblib: that of a `parallel_config` around the call, and 1 in a worker whose
    siblings use the other cores; -1 outside of them. Workers in processes of their own have OMP_NUM_THREADS."""
    backend, n_jobs = get_active_backend()
    if n_jobs not in ((None,) if hasattr(joblib, "parallel_config") else (None, 1)):   # 1 was unset before joblib 1.3
        return int(n_jobs)
    is_sibling = current_thread() is not main_thread() or current_process().daemon
    return 1 if is_sibling and (backend.nesting_level or 0) > 0 else -1


def threads_of(n_jobs: int | None) -> int:
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; use None or -1 for one thread per core")
    n_jobs = joblib_threads() if n_jobs is None else n_jobs
    return n_jobs if n_jobs > 0 else max(1, min(lib.roofs_default_threads(), joblib.cpu_count()) + 1 + n_jobs)


def converted(keyword: str, kind: str, value: Any) -> Any:
    if kind == "AUTO" and isinstance(value, str):
        return value
    expected, convert = {"INT": ("a whole number", int), "AUTO": ("a whole number or 'auto'", int),
                         "REAL": ("a number", float), "FLAG": ("True or False", bool),
                         "TEXT": ("text", str), "CHOICE": ("text", str)}[kind]
    try:
        if isinstance(value, str) != (convert is str) or (convert is int and int(value) != value):
            raise TypeError
        return convert(value)
    except (TypeError, ValueError):
        raise ValueError(f"{keyword} must be {expected}, not {value!r}") from None


def set_word(settings: Any, field: str, word: str) -> None:
    """Sets a field from a word. The library checks the word."""
    call(lib.roofs_settings_set, settings, field.encode(), word.encode())


def settings_of(keywords: dict[str, Any]) -> Any:
    """The C struct of checked settings."""
    settings = ffi.new("roofs_settings *")
    lib.roofs_settings_init(settings)
    for keyword, (field, kind) in SETTINGS.items():
        value = keywords[keyword]
        if keyword == "n_jobs":
            value = threads_of(value)
        if value is None:
            continue
        value = converted(keyword, kind, value)
        if keyword == "n_nonzero_coefs" and value == 0:
            raise ValueError("n_nonzero_coefs must be at least 1, not 0; None keeps as many features as help")
        if keyword == "fdr" and value == 0:
            raise ValueError("fdr must be above 0, not 0; None selects features as the keyword select says")
        if isinstance(value, str):
            set_word(settings, field, value)
        else:
            setattr(settings, field, value)
    call(lib.roofs_settings_check, settings)
    return settings


def resolve(settings: Any, n: int, features: int | None, comm: Any = None) -> None:
    """Replaces what the settings leave to the library, mu, select and prior, for n samples and this number of features.
    With ranks, n are the samples of this rank, and all ranks take the smallest mu."""
    total = n if comm is None else sum(comm.allgather(n))
    call(lib.roofs_settings_resolve, settings, n, total, features or 0)
    if comm is not None:
        settings.mu = min(comm.allgather(settings.mu))


def default_features(keywords: dict[str, Any], n: int, features: int) -> tuple[int, dict[str, str]]:
    """The default number of features to keep, and the words of the other settings that follow from this default."""
    settings = settings_of({**keywords, "n_nonzero_coefs": None})
    resolve(settings, n, features)
    return settings.mu, {field: value_of(field, "CHOICE", getattr(settings, field)) for field in ("select", "prior")}


def value_of(field: str, kind: str, value: Any) -> Any:
    """The Python value of a field of the C struct."""
    if kind == "CHOICE":
        return text(lib.roofs_setting_choice(lib.roofs_setting_find(field.encode()), value))
    if kind == "AUTO" and value == 0:
        return "auto"
    return text(value) if kind == "TEXT" else bool(value) if kind == "FLAG" else value


# ---- results -----------------------------------------------------------------------------

def dtype_of(struct: str) -> np.dtype:
    """The NumPy type of a C struct of int64_t, double and pointers."""
    kinds = {"int64_t": "i8", "double": "f8"}
    return np.dtype([(name, kinds.get(field.type.cname, "u8")) for name, field in ffi.typeof(struct).fields])


def array_of(pointer: Any, count: int, dtype: Any) -> np.ndarray:
    """A copy of an array that belongs to the library."""
    dtype = np.dtype(dtype)
    if not count:
        return np.empty(0, dtype)
    return np.frombuffer(ffi.buffer(ffi.cast("char *", pointer), count * dtype.itemsize), dtype).copy()


@dataclass
class Result:
    """The state of a fit or a model, copied out of the library."""

    features_seen: int
    indices: np.ndarray
    names: list[str] | None
    coef: np.ndarray
    probability: np.ndarray | None
    selected: np.ndarray   # of the features above: they count as selected
    intercept: float
    trust: np.ndarray
    clean: np.ndarray | None
    residual: np.ndarray | None
    cut: float
    rounds: int
    history: np.ndarray
    stop: str
    hypothesis: str | None
    warnings: list[str]
    groups: list[CredibleGroup] | None   # None: not searched for
    error: np.ndarray | None             # standard errors of the coefficients; None: not estimated
    noise_scale: float | None
    scale: np.ndarray | None             # standard deviations of the features; None: not known

    @classmethod
    def of(cls, view: Any) -> Result:
        features = view.features
        table = array_of(features, view.selected, dtype_of("roofs_feature"))
        named = view.selected > 0 and bool(features[0].name)
        return cls(
            features_seen=view.features_seen, indices=table["index"].copy(), coef=table["coef"].copy(),
            names=[text(features[k].name) for k in range(view.selected)] if named else None,
            probability=table["probability"].copy() if view.clean else None, intercept=view.intercept,
            selected=array_of(view.is_selected, view.selected, np.uint8).astype(bool),
            trust=array_of(view.trust, view.n, np.uint8).astype(bool),
            clean=array_of(view.clean, view.n, float) if view.clean else None,
            residual=array_of(view.residual, view.n, float) if view.residual else None,
            cut=view.cut, rounds=view.rounds, history=array_of(view.history, view.batches, dtype_of("roofs_batch")),
            stop=text(lib.roofs_stop_text(view.stop)),
            hypothesis=text(lib.roofs_hypothesis_text(view.hypothesis)) if view.hypotheses else None,
            warnings=[word for k, word in enumerate(WARNINGS) if view.warnings >> k & 1],
            groups=[group_of(view.group[k]) for k in range(view.groups)] if view.groups_known else None,
            error=array_of(view.spread, view.selected, dtype_of("roofs_spread"))["error"].copy()
            if view.spread else None,
            noise_scale=view.noise.scale if view.spread else None,
            scale=array_of(view.scale, view.selected, float) if view.scale else None)


def number(value: float) -> float | None:
    """None in place of a number that the library does not have."""
    return None if np.isnan(value) else value


def group_of(group: Any) -> CredibleGroup:
    """A copy of a group that belongs to the library."""
    members = [group.members[k] for k in range(group.count)]
    return CredibleGroup(
        members=[member.index for member in members],
        names=[text(member.name) or f"x{member.index}" for member in members],
        probabilities=[member.probability for member in members], exists=group.exists, fdr=group.fdr,
        correlation=group.correlation, effect=group.effect, error=group.error,
        coef=number(group.coef), coef_error=number(group.coef_error),
        complete=bool(group.complete))


HALF_WIDTH_STEPS = int(lib.ROOFS_HALF_WIDTH_STEPS)   # levels of intervals by cross-validation


class Model:
    """A fitted model of the library."""

    def __init__(self, pointer: Any) -> None:
        self.c = ffi.gc(pointer, lib.roofs_model_destroy)

    @classmethod
    def read(cls, path: str) -> Model:
        out = ffi.new("roofs_model **")
        call(lib.roofs_model_read, out, os.fsencode(path))
        return cls(out[0])

    def write(self, path: str) -> None:
        call(lib.roofs_model_write, self.c, os.fsencode(path))

    @classmethod
    def from_bytes(cls, content: bytes) -> Model:
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            file.write(content)
            file.flush()
            return cls.read(file.name)

    def to_bytes(self) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.json")
            self.write(path)
            with open(path, "rb") as file:
                return file.read()

    def view(self) -> Result:
        out = ffi.new("roofs_result *")
        lib.roofs_model_view(self.c, out)
        return Result.of(out)

    def predict(self, block: Any, selected_only: bool = False) -> np.ndarray:
        c_block, alive = block.on_host().c()
        prediction = np.empty(block.n)
        function = lib.roofs_predict_selected if selected_only else lib.roofs_predict
        call(function, self.c, c_block, ffi.cast("double *", prediction.ctypes.data))
        del alive
        return prediction

    def set_offset(self, name: str) -> None:
        """Stores that the responses were those less an offset; the name may be empty."""
        call(lib.roofs_model_set_offset, self.c, name.encode())

    def offset(self) -> str | None:
        """The name of the offset; None if there was none."""
        return text(lib.roofs_model_offset(self.c))

    def set_half_widths(self, half: np.ndarray) -> None:
        """Stores intervals by cross-validation."""
        half = np.ascontiguousarray(half, float)
        call(lib.roofs_model_set_half_widths, self.c, len(half), ffi.cast("double *", half.ctypes.data))

    def half_width(self, level: float) -> float:
        """Half the width at the next level that the model has."""
        out = ffi.new("roofs_result *")
        lib.roofs_model_view(self.c, out)
        if out.half_widths == 0:
            raise ValueError("this model has no intervals by cross-validation; fit it with intervals=\"cv\"")
        at = math.ceil(level * HALF_WIDTH_STEPS - 1e-9) - 1
        if at >= out.half_widths:
            raise ValueError(f"this model has intervals by cross-validation up to level "
                             f"{out.half_widths / HALF_WIDTH_STEPS:.3g}, not {level:.15g}")
        return float(out.half_width[at])

    def predict_interval(self, block: Any, selected_only: bool, level: float) -> tuple[np.ndarray, ...]:
        """(prediction, low, high)"""
        c_block, alive = block.on_host().c()
        out = np.empty((3, block.n))
        call(lib.roofs_predict_interval, self.c, c_block, selected_only, level,
             *(ffi.cast("double *", row.ctypes.data) for row in out))
        del alive
        return tuple(out)


# ---- a running fit -----------------------------------------------------------------------

@ffi.def_extern(error=lib.ROOFS_MONITOR_UNDO, onerror=keep_exception)
def roofs_python_monitor(user: Any, now: Any) -> int:
    """The library calls this once per round. Python runs its signal handlers here, so Ctrl-C stops the fit."""
    return lib.ROOFS_MONITOR_CONTINUE


class Stream(Callbacks):
    """A file that the library writes or reads through the two functions below."""

    def __init__(self, file: Any) -> None:
        super().__init__()
        self.file = file


@ffi.def_extern(error=1, onerror=keep_exception)
def roofs_python_write(user: Any, data: Any, size: int) -> int:
    ffi.from_handle(user).file.write(ffi.buffer(data, size))
    return 0


@ffi.def_extern(error=-1, onerror=keep_exception)
def roofs_python_read(user: Any, data: Any, size: int) -> int:
    return ffi.from_handle(user).file.readinto(ffi.buffer(data, size))


def create_beside(target: str) -> tuple[int, str]:
    """A new file in the folder of `target`, with its permissions if it exists: the descriptor and the path."""
    like = os.stat(target) if os.path.exists(target) else None
    for k in range(1000):
        name = os.path.join(os.path.dirname(target), f".roofs-{os.getpid()}-{k}.tmp")
        try:
            descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if like else 0o666)
        except FileExistsError:
            continue
        if like:
            os.fchmod(descriptor, like.st_mode & 0o777)
        return descriptor, name
    raise FileExistsError(f"{target}: the folder has too many unfinished files (.roofs-*.tmp); remove them")


@contextmanager
def replaced(path: str) -> Iterator[Any]:
    """A file that replaces `path` when it is complete: written under another name, synced, renamed. Links are followed,
    and permissions kept."""
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    descriptor, temporary = create_beside(target)
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
    entry = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(entry)
    finally:
        os.close(entry)


def is_checkpoint(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(8) == b"\x89roofs\r\n"


class Fit:
    """A running estimator of the library. With undo, Ctrl-C leaves the fit as it was before the current batch."""

    def __init__(self, keywords: dict[str, Any], y: np.ndarray, undo: bool = True, comm: Any = None,
                 features: int | None = None, sample_weight: np.ndarray | None = None) -> None:
        y = np.ascontiguousarray(y, dtype=np.float64)
        weight = None if sample_weight is None else np.ascontiguousarray(sample_weight, dtype=np.float64)
        self.ranks = Ranks(comm) if comm is not None else None
        out, ranks = ffi.new("roofs_estimator **"), self.ranks.c if self.ranks else ffi.NULL
        settings = settings_of(keywords)
        if features is not None:
            resolve(settings, len(y), features, comm)
        weights = ffi.NULL if weight is None else ffi.cast("double *", weight.ctypes.data)
        call(lib.roofs_create_weighted, out, settings, ffi.cast("double *", y.ctypes.data), weights, len(y), ranks)
        self._adopt(out[0], undo)

    def _adopt(self, pointer: Any, undo: bool = True) -> None:
        self.c = ffi.gc(pointer, lib.roofs_destroy)
        self.monitor = Callbacks()
        lib.roofs_set_monitor(self.c, lib.roofs_python_monitor, self.monitor.handle)
        lib.roofs_set_undo(self.c, undo)
        now = self._describe()
        self.n, self.batch_size, self.passes = now.n, now.settings.batch, now.settings.passes   # 0 passes: auto
        self.on_gpu = text(lib.roofs_device(self.c)) != "cpu"
        self._prefetched: tuple[Any, Any, list] | None = None   # block, its C struct, and what they need

    @property
    def is_root(self) -> bool:
        """True on the rank that prints and warns for all."""
        return self.ranks is None or self.ranks.rank == 0

    def _describe(self) -> Any:
        now = ffi.new("roofs_description *")
        lib.roofs_describe(self.c, now)
        return now

    def passes_made(self) -> int:
        return getattr(self._describe(), "pass")

    def settings(self) -> dict[str, Any]:
        """All settings, under the names of the library."""
        now = self._describe().settings
        return {field: value_of(field, kind, getattr(now, field)) for field, kind in SETTINGS.values()}

    def save(self, path: str) -> None:
        with replaced(path) as file:
            to = Stream(file)
            call(lib.roofs_save, self.c, lib.roofs_python_write, to.handle, callbacks=(to,))

    @classmethod
    def load(cls, path: str, device: str | None = None) -> Fit:
        changes = ffi.new("roofs_settings *")
        lib.roofs_settings_as_saved(changes)
        if device is not None:
            set_word(changes, "device", converted("device", "CHOICE", device))
        with open(path, "rb") as file:
            source, out = Stream(file), ffi.new("roofs_estimator **")
            call(lib.roofs_load, out, lib.roofs_python_read, source.handle, changes, callbacks=(source,))
        fit = cls.__new__(cls)
        fit.ranks = None
        fit._adopt(out[0])
        return fit

    def _call(self, function: Callable, *arguments: Any) -> None:
        self.monitor.raised = None
        call(function, self.c, *arguments, callbacks=(self.ranks, self.monitor))

    def consume(self, block: Any, ahead: Any = None) -> None:
        """Consumes a block. Meanwhile a GPU prefetches the block `ahead`."""
        if not self.on_gpu:
            block = block.on_host()
        is_prefetched = self._prefetched is not None and self._prefetched[0] is block
        _, c_block, alive = self._prefetched if is_prefetched else (block, *block.c())
        self._prefetched = (ahead, *ahead.c()) if self.on_gpu and ahead is not None else None
        if self._prefetched is not None:
            lib.roofs_prefetch(self.c, self._prefetched[1])
        try:
            self._call(lib.roofs_consume, c_block)
        except BaseException:
            self._prefetched = None   # a failed call ends the prefetch
            raise
        del alive

    def batches_together(self, features: int | None) -> int:
        """Batches to pass in one call, of so many features in all. Between calls a GPU brings its samples back, and the
        monitor makes it wait after every round: there the calls are few. Ctrl-C takes effect between them."""
        if not self.on_gpu or features is None:
            return 1
        return min(64, max(16, features // (8 * self.batch_size)))

    def set_monitored(self, on: bool) -> None:
        lib.roofs_set_monitor(self.c, lib.roofs_python_monitor if on else ffi.NULL, self.monitor.handle)

    def cancel_prefetch(self) -> None:
        lib.roofs_prefetch(self.c, ffi.NULL)
        self._prefetched = None

    def wants_pass(self) -> bool:
        return bool(lib.roofs_wants_pass(self.c))

    def next_pass(self) -> None:
        self._call(lib.roofs_next_pass)

    def finish(self) -> None:
        self._call(lib.roofs_finish)

    def view(self) -> Result:
        out = ffi.new("roofs_result *")
        call(lib.roofs_view, self.c, out)
        return Result.of(out)

    def model(self) -> Model:
        out = ffi.new("roofs_model **")
        call(lib.roofs_model_create, out, self.c)
        return Model(out[0])
