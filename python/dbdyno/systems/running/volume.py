"""A separate file system for a store's data, whose power can be cut: what was not flushed by then is gone.

An ext4 in a file, on a loop device, which takes root. It is shut down as xfstests do it: from one moment on it writes
nothing any more, neither data nor its journal. Mounted again, it recovers from what had reached the device. The device
is assumed to keep everything: a disk that loses the content of its cache is another matter.
"""

import fcntl
import os
import shutil
import struct
import subprocess
from pathlib import Path

from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.running.guard import Guard

IMAGE_BYTES = 8 << 30
"""Size of the sparse file, which takes up only what is written into it."""
EXT4_IOC_SHUTDOWN = 0x8004587D
"""`_IOR('X', 125, __u32)` (linux/fs/ext4/ext4.h)."""
WITHOUT_ITS_LOG = 2
"""EXT4_GOING_FLAGS_NOLOGFLUSH: what the journal has not written is lost, too."""
_MOUNT = """\
device=$(losetup --find --show "$1") || exit
mount "$device" "$2"
status=$?
losetup --detach "$device"
exit $status
"""
"""Mounts an image by a device of its own, which goes with the last mount of it.

`mount -o loop` would take a device that has the image already. In another mount namespace that may still be mounted,
with the file system that was shut down.
"""


class Volume:
    """A mounted file system; path: where it is mounted."""

    def __init__(self, guard: Guard, parent: Path | None = None) -> None:
        """Make and mount it, below `parent` if that is given; raises UserError if that is not permitted."""
        self._guard = guard
        self._folder = guard.new_directory(parent or os.environ.get("DBDYNO_DATA_DIR"))
        # Servers that run as another user must get through.
        self._folder.chmod(0o755)
        self._image, self.path = self._folder / "image", self._folder / "volume"
        self.path.mkdir()
        with self._image.open("wb") as image:
            image.truncate(IMAGE_BYTES)
        try:
            self._call("mkfs.ext4", "-q", "-F", "-J", "size=64", str(self._image))
            self._mount()
        except RunFailed as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._guard.tell("removed", self.path)
            self._guard.tell("removed", self._folder)
            raise UserError(f"crash=power-cut: no file system can be made for it: {error}") from None

    def _mount(self) -> None:
        self._guard.tell("mount", self.path)
        self._call("sh", "-c", _MOUNT, "mount", str(self._image), str(self.path))

    def sync(self) -> None:
        """Flush everything, so that what is lost later was written later."""
        _run("sync", "--file-system", str(self.path))

    def cut(self) -> None:
        """Let nothing reach the device from now on; raises OSError if the file system knows no such thing."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, EXT4_IOC_SHUTDOWN, struct.pack("I", WITHOUT_ITS_LOG))
        finally:
            os.close(descriptor)

    def restore(self) -> None:
        """Mount it as it is after the power cut, once nobody uses it any more; raises RunFailed if that fails."""
        self._unmount()
        self._mount()

    def _call(self, *command: str) -> None:
        # In the folder the guard finds it: a mount that goes on after a kill would be left.
        _run(*command, cwd=self._folder)

    def _unmount(self) -> None:
        _run("umount", str(self.path))
        self._guard.tell("removed", self.path)

    def remove(self) -> None:
        """Unmount it and remove all of it."""
        self._unmount()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._guard.tell("removed", self._folder)


def missing() -> str | None:
    """Return why there can be no such volume here, or None."""
    if os.geteuid() != 0:
        return "it mounts a file system, which takes root"
    lacking = [program for program in ("mkfs.ext4", "losetup", "mount", "umount") if not shutil.which(program)]
    return f"{', '.join(lacking)} not installed: apt install e2fsprogs mount" if lacking else None


def _run(*command: str, cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RunFailed(f"{command[0]}: {done.stderr.strip()}")
