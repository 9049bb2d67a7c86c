"""What the login service remembers: refresh tokens, access tokens and the codes of half-finished logins."""

from collections import Counter
from dataclasses import dataclass

CODE_TTL_MS = 30_000


@dataclass(slots=True)
class Refresh:
    """A refresh token. One that rotates is revoked by its use."""

    rotates: bool = False
    is_revoked: bool = False


@dataclass(slots=True)
class Code:
    """A code that a browser was sent back with, until it is exchanged once."""

    challenge: str
    made_at: int
    is_used: bool = False


class Tokens:
    """Names are counted, so that the same requests get the same tokens."""

    def __init__(self) -> None:
        self.refresh = {
            "rt-valid": Refresh(),
            "rt-rotating": Refresh(rotates=True),
            "rt-revoked": Refresh(is_revoked=True),
        }
        self.codes: dict[str, Code] = {}
        self._access: dict[str, int] = {}
        self._counts: Counter[str] = Counter()

    def _named(self, kind: str) -> str:
        self._counts[kind] += 1
        return f"{kind}-{self._counts[kind]:06}"

    def is_good(self, access: str, now: int) -> bool:
        """Whether the access token is known and has time left."""
        return self._access.get(access, 0) > now

    def expire_all(self) -> None:
        """End every access token."""
        self._access = dict.fromkeys(self._access, 0)

    def revoke(self, token: str) -> None:
        """Refuse that refresh token from now on."""
        self.refresh.setdefault(token, Refresh()).is_revoked = True

    def issue(self, until: int) -> str:
        """A new access token, good before `until`."""
        access = self._named("at")
        self._access[access] = until
        return access

    def successor(self, token: str) -> str:
        """The refresh token that belongs into the answer to `token`; a rotating one ends here."""
        old = self.refresh[token]
        if not old.rotates:
            return token
        old.is_revoked = True
        return self.first(rotates=True)

    def first(self, *, rotates: bool = False) -> str:
        """A refresh token that nobody had before."""
        token = self._named("rt")
        self.refresh[token] = Refresh(rotates=rotates)
        return token

    def code(self, challenge: str, now: int) -> str:
        """A code for the browser."""
        code = self._named("code")
        self.codes[code] = Code(challenge, now)
        return code

    def redeem(self, code: str, challenge: str, now: int) -> bool:
        """Use the code up; True when it was unused, young enough, and belongs to the challenge."""
        known = self.codes.get(code)
        if known is None or known.is_used or now - known.made_at >= CODE_TTL_MS:
            return False
        known.is_used = True
        return known.challenge == challenge
