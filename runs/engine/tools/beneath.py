"""Opens paths safely under a folder that somebody hostile may have filled.

The kernel does it where it can (openat2 with RESOLVE_BENEATH, no links, no magic links); elsewhere a walk
from folder to folder with O_NOFOLLOW. Comparing path strings is no control: between the look and the use a
link can appear. Every refusal is a PathTrouble: a sentence with the cure.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SIZE_CAP = 64 * 1024 * 1024
MOUNTED = "/workspace"
"""Where a command in the sandbox sees the workspace; such paths are taken as relative ones."""

UNNAMEABLE = re.compile("[\x00-\x1f\x7f\u2400\ufffd]")
DEEPEST = 64

OPENAT2 = 437
AT_LEAST = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NOCTTY
FOLDER = os.O_RDONLY | os.O_DIRECTORY | AT_LEAST
READ = os.O_RDONLY | os.O_NONBLOCK | AT_LEAST
NO_MAGICLINKS, NO_SYMLINKS, BENEATH = 0x02, 0x04, 0x08


class PathTrouble(ValueError):
    """A path that cannot be used. The message says why and what to do."""


class Missing(PathTrouble):
    """Nothing is there."""


class _OpenHow(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


def parts_of(path: str) -> tuple[str, ...]:
    """The components of a relative path; () for the folder itself. Refuses what leads out of it."""
    given = path.strip()
    if given == MOUNTED or given.startswith(MOUNTED + "/"):
        given = given[len(MOUNTED) :].lstrip("/")
    if given.startswith(("/", "~")):
        raise PathTrouble(f"{path!r} is not inside the workspace. Paths are relative to it.")
    parts = tuple(part for part in given.split("/") if part not in ("", "."))
    if ".." in parts:
        raise PathTrouble(f"{path!r} leads out with `..`. Name a path inside the workspace, without `..`.")
    if UNNAMEABLE.search(given):
        raise PathTrouble("The path holds a control character or one that was lost. Use plain characters.")
    if len(parts) > DEEPEST:
        raise PathTrouble(f"The path goes more than {DEEPEST} folders deep. Choose a shorter one.")
    return parts


@dataclass(frozen=True, slots=True)
class Root:
    """An open folder; everything goes through its descriptor. Paths are relative, as a tool gets them."""

    descriptor: int

    @contextlib.contextmanager
    def folder(self, parts: tuple[str, ...], *, create: bool = False) -> Iterator[int]:
        """The descriptor of a folder beneath; `create` makes what is missing of it."""
        with _sentences("/".join(parts)):
            descriptor = _make(self.descriptor, parts) if create else _open(self.descriptor, parts, FOLDER)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def read(self, path: str, cap: int = SIZE_CAP) -> bytes:
        """The bytes of a regular file of at most `cap` bytes. A FIFO or device is refused, not awaited."""
        with _sentences(path):
            descriptor = _open(self.descriptor, parts_of(path), READ)
            with open(descriptor, "rb", buffering=0) as file:
                found = os.fstat(descriptor)
                _must_be_regular(found, path)
                if found.st_size > cap:
                    raise PathTrouble(
                        f"`{path}` has {found.st_size:,} bytes, more than the {cap:,} that can be read at "
                        "once. Look at a part of it with run_command (head, tail, sed -n, grep)."
                    )
                return file.read(found.st_size)

    def write(self, path: str, data: bytes) -> bytes | None:
        """Replace or make a file in one step; missing folders are made. Gives what was there, None for a new
        one.
        """
        parts = parts_of(path)
        _must_be_writable(parts, path)
        with self.folder(parts[:-1], create=True) as folder, _sentences(path):
            before = self._before(folder, parts[-1], path)
            _replace(folder, parts[-1], data, os.fstat(self.descriptor))
        return before

    def _before(self, folder: int, name: str, path: str) -> bytes | None:
        try:
            _must_be_regular(os.stat(name, dir_fd=folder, follow_symlinks=False), path)
        except FileNotFoundError:
            return None
        return self.read(path)

    def is_folder(self, path: str) -> bool:
        with contextlib.suppress(PathTrouble), self.folder(parts_of(path)):
            return True
        return False


@contextlib.contextmanager
def root(folder: Path) -> Iterator[Root]:
    """Open the folder everything is beneath. PathTrouble where it is gone."""
    with _sentences(str(folder)):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield Root(descriptor)
    finally:
        os.close(descriptor)


def _open(base: int, parts: tuple[str, ...], flags: int) -> int:
    try:
        return _openat2(base, "/".join(parts) or ".", flags)
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.E2BIG):
            raise
    return _walk(base, parts, flags)


def _openat2(base: int, path: str, flags: int) -> int:
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "no openat2")
    how = _OpenHow(flags & ~os.O_NOFOLLOW, 0, BENEATH | NO_MAGICLINKS | NO_SYMLINKS)
    size = ctypes.c_size_t(ctypes.sizeof(how))
    got = _libc().syscall(OPENAT2, ctypes.c_int(base), os.fsencode(path), ctypes.byref(how), size)
    if got < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(got)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _walk(base: int, parts: tuple[str, ...], flags: int) -> int:
    """From folder to folder, following no link; the last part with `flags`."""
    here = os.open(".", FOLDER, dir_fd=base)
    for number, part in enumerate(parts, 1):
        try:
            there = os.open(part, flags if number == len(parts) else FOLDER, dir_fd=here)
        finally:
            os.close(here)
        here = there
    return here


def _make(base: int, parts: tuple[str, ...]) -> int:
    """As _walk, making the folders that are missing; they belong to whom the workspace belongs."""
    here = os.open(".", FOLDER, dir_fd=base)
    for part in parts:
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=here)
                _belong(os.fstat(base), part, here)
            there = os.open(part, FOLDER, dir_fd=here)
        finally:
            os.close(here)
        here = there
    return here


def _replace(folder: int, name: str, data: bytes, owner: os.stat_result) -> None:
    """Write beside and rename: a reader sees the old file or the new one, and a link is never followed."""
    mode = 0o644
    with contextlib.suppress(FileNotFoundError):
        mode = stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    draft = f".agentdash-{secrets.token_hex(8)}"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | AT_LEAST, mode, dir_fd=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            os.fchmod(descriptor, mode & 0o777)
        _belong(owner, draft, folder)
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(draft, dir_fd=folder)
        raise


def _belong(owner: os.stat_result, name: str, folder: int) -> None:
    """What a root worker makes must be the workspace owner's, else commands could not change it."""
    if os.geteuid() == 0:
        os.chown(name, owner.st_uid, owner.st_gid, dir_fd=folder, follow_symlinks=False)


def _must_be_writable(parts: tuple[str, ...], path: str) -> None:
    if not parts:
        raise PathTrouble("The path names the workspace itself. Name a file in it.")
    if ".git" in (part.lower() for part in parts):
        raise PathTrouble(f"`{path}` belongs to git. Change it with git itself, through run_command.")


def _must_be_regular(found: os.stat_result, path: str) -> None:
    mode = found.st_mode
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise PathTrouble(f"`{path}` is a folder. Name a file in it; list_files shows them.")
    if stat.S_ISLNK(mode):
        raise PathTrouble(_link(path))
    kinds = {
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    kind = kinds.get(stat.S_IFMT(mode), "no regular file")
    raise PathTrouble(f"`{path}` is {kind}, and only regular files can be used. Name another file.")


def _link(path: str) -> str:
    return f"`{path}` is or goes through a symbolic link, and links are not followed. Name the file itself."


@contextlib.contextmanager
def _sentences(path: str) -> Iterator[None]:
    """The system's errors as sentences."""
    try:
        yield
    except (FileNotFoundError, UnicodeEncodeError):
        raise Missing(f"There is no `{path}`. list_files shows what there is.") from None
    except OSError as error:
        raise PathTrouble(_sentence(error, path)) from None


def _sentence(error: OSError, path: str) -> str:
    if error.errno in (errno.ELOOP, errno.EXDEV, errno.EMLINK):
        return _link(path)
    if error.errno == errno.ENOTDIR:
        return f"`{path}` goes through something that is no folder (a file, or a link). Check the path."
    if error.errno == errno.EISDIR:
        return f"`{path}` is a folder. Name a file in it; list_files shows them."
    if error.errno == errno.ENXIO:
        return f"`{path}` is a FIFO, a socket or a device. Only regular files can be used: name another file."
    if error.errno == errno.ENAMETOOLONG:
        return "The path is too long for a file name. Choose a shorter one."
    return f"`{path[:200]}` cannot be used: {error.strerror}. Choose another path."
