"""Who uses the advisor: users with a role.

What a user may do is checked where it is done; this module reads no request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["reader", "admin"]


@dataclass(frozen=True)
class User:
    """Somebody who may ask; an admin may also change the knowledge base. `name` owns the conversations."""

    name: str
    role: Role


LOCAL_USER = User("local", "admin")  # whoever sits at this machine, where no login is configured
