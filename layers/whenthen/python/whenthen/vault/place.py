"""Where a secret stands."""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """The row that sealed text belongs to: at another one it does not open."""

    connection_id: str
    owner_id: str
    service: str

    def context(self) -> dict[str, str]:
        """Return it as an encryption context of KMS."""
        return asdict(self)

    def associated_data(self) -> bytes:
        """Return it as the associated data of the cipher: equal for equal places alone."""
        return json.dumps([self.connection_id, self.owner_id, self.service]).encode()
