"""The service's errors, in the words that clients look for."""

from typing import Final

from pixivflow.sandbox.message import Refused, Reply, json_reply

DELETED: Final = "該当作品は削除されたか、存在しない作品IDです。"
NO_USER: Final = "該当ユーザーは退会したか、存在しないユーザーIDです。"
RESTRICTED: Final = "アクセスが制限されています。Your access is currently restricted."
OAUTH: Final = (
    "Error occurred at the OAuth process. Please check your Access Token to fix this. Error Message: {reason}"
)


def error_reply(status: int, message: str = "", user_message: str = "") -> Reply:
    """The envelope of the App API. `message` is for programs, `user_message` for people."""
    error = {"user_message": user_message, "message": message, "reason": "", "user_message_details": {}}
    return json_reply({"error": error}, status)


def oauth_reply(reason: str, status: int = 400) -> Reply:
    """What a data call gets whose token is missing or no good."""
    return error_reply(status, OAUTH.format(reason=reason))


def no_end_point() -> Refused:
    return Refused(error_reply(404, "The specified end-point does not exist."))


def bad_parameter(name: str, what: str = "is missing or wrong") -> Refused:
    return Refused(error_reply(400, f"{name}: {what}"))


def no_work() -> Refused:
    return Refused(error_reply(404, "", DELETED))
