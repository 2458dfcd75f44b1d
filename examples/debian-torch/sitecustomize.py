"""Lets Debian 12's torch 1.13 run torchrun under its Python 3.11. Put this folder on PYTHONPATH.

Since Python 3.11 iterating a Flag leaves out the member of value 0; torchrun looks for its default
`--redirects 0` that way, finds nothing and dies. A newer torch needs none of this.
"""

import enum

_iterate = enum.EnumType.__iter__


def _with_zero(cls):
    is_torch_std = cls.__module__ == "torch.distributed.elastic.multiprocessing.api"
    return iter(cls.__members__.values()) if is_torch_std else _iterate(cls)


enum.EnumType.__iter__ = _with_zero
