"""Which link another node is asked for: the machine's newest, by its epoch.

A link's subject has its epoch in it, and only the node answers it that has this very link.  So what
is late, or comes twice, reaches the link that it is meant for or nobody; and a node whose link is
not the newest any more is not asked.
"""

from collections import OrderedDict
from typing import Final
from uuid import UUID

from server.bus.bus import NoResponderError
from server.store.machines.machines import MachineStore

MOST_KNOWN: Final = 100_000

MachineKey = tuple[UUID, str]


class LinkAddresses:
    """Knows the epochs of the links that were asked for last; the database knows all.

    A node that ``is_alone`` has no other to ask, and reads nothing for it.
    """

    def __init__(self, machines: MachineStore, node_id: UUID, *, is_alone: bool = False) -> None:
        self._machines = machines
        self.node_id = node_id
        self._is_alone = is_alone
        self._known: OrderedDict[MachineKey, int] = OrderedDict()

    async def find(self, key: MachineKey, *, but: int | None = None) -> int:
        """The epoch of a machine's link, which is another than ``but``.

        Raises NoResponderError where no other node has one, and StoreUnavailable.
        """
        if self._is_alone:
            raise NoResponderError("There is no other node.")
        known = self._known.get(key)
        if known is not None and known != but:
            return known
        self._known.pop(key, None)
        machine = await self._machines.get(*key)
        link = None if machine is None or not machine.is_linked else machine.link
        if machine is None or link is None or link.node_id == self.node_id or machine.epoch == but:
            raise NoResponderError("No other node has a link of this machine.")
        self._known[key] = machine.epoch
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)
        return machine.epoch
