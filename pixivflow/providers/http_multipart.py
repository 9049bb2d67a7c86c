"""A receiver of submissions: one `multipart/form-data` request a promise."""

import uuid

from pixivflow.config.model import HttpMultipart
from pixivflow.delivery.payload import Payload
from pixivflow.delivery.plan import Unsendable
from pixivflow.providers.exchange import Call
from pixivflow.providers.files import Files
from pixivflow.providers.headers import configured, merged
from pixivflow.providers.multipart_body import FilePart, multipart
from pixivflow.providers.multipart_fields import fields_of
from pixivflow.providers.reveal import Reveal


async def submission_call(
    payload: Payload, route: HttpMultipart, reveal: Reveal, files: Files, timeout_ms: int
) -> Call:
    """The request of one attempt.

    Errors: `ConfigError`; `LocalFault` naming a file that is gone; `Unsendable`.
    """
    url, headers = reveal.address(route.url), configured(route.headers, reveal)
    boundary = f"pixivflow-{uuid.uuid4()}"
    body = multipart(boundary, await _parts(payload, route, files), fields_of(payload, route), files)
    ours = [("Content-Type", f"multipart/form-data; boundary={boundary}".encode())]
    return Call(method=route.method, url=url, headers=merged(headers, ours), body=body, timeout_ms=timeout_ms)


async def _parts(payload: Payload, route: HttpMultipart, files: Files) -> list[FilePart]:
    sent, previews = payload.files, payload.preview_files
    if not sent:
        raise Unsendable("there is no file to submit")
    if previews and len(previews) != len(sent):
        raise Unsendable(f"{len(previews)} previews do not fit {len(sent)} files")
    named = [(route.file_field, path) for path in sent] + [(route.preview_file_field, path) for path in previews]
    sizes = await files.sizes([path for _, path in named], payload.checksums)
    return [
        FilePart(name, path, size, payload.checksums.get(path)) for (name, path), size in zip(named, sizes, strict=True)
    ]
