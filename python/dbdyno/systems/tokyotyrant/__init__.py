"""Tokyo Tyrant."""

from dbdyno.systems.base import Family
from dbdyno.systems.tokyotyrant.tokyotyrant import TokyoTyrant

FAMILY = Family((TokyoTyrant,))
