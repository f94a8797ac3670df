"""The routes: static files, models, requests about them, jobs. Starlette is known here alone."""

from __future__ import annotations

import asyncio
import hmac
import json
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import lifagu
from lifagu.errors import LifaguError, TooLargeError
from lifagu.web.guard import HEADERS, NOT_LET_IN, SAFE, TWO_LENGTHS, Gate
from lifagu.web.limits import size_text
from lifagu.web.reply import OWN_MISTAKE, Reply, error_reply, json_reply, refusal
from lifagu.web.sessions import Job, OpenModel, Session, Sessions
from lifagu.web.sources import ENDINGS, EXAMPLES, ModelSource, example_source, upload_source
from lifagu.web.storage import Room

PATIENCE = 0.4  # seconds for which a reply is waited for, before a job is named instead
LONG_POLL = 2.0  # seconds for which a question about a job waits for news
BODY = 2**20  # bytes of a request that is no upload
BODY_SECONDS, UPLOAD_SECONDS = 10.0, 120.0
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
OPERATIONS = (
    "open",
    "overview",
    "check",
    "prepare",
    "find",
    "card",
    "around",
    "ranked",
    "observed",
    "scenarios",
    "list",
    "graph",
    "transfers",
    "lifted",
    "plan",
    "ask",
)
NO_TOKEN = """<!doctype html><html lang=en><meta charset=utf-8><title>lifagu: which token?</title>
<h1>This page asks for a token</h1>
<p>It shows data, so it opens for whoever started it, and for nobody else on this machine.
<p>Look into the terminal in which you started <code>lifagu serve</code>. It says
<pre>lifagu is at http://…/?token=…</pre>
<p>Open that address as a whole, once: this browser then remembers it.
<p>If you cannot find it, end <code>lifagu serve</code> there with Ctrl-C, and start it again with
<code>--open</code>, which opens the page by itself.
"""


class Refused(Exception):
    """A request that is not answered, with what is sent instead."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.reply = error_reply(status, message)


def static_files() -> dict[str, bytes]:
    """The files of the page by name, held in memory: no request leads to the file system."""
    folder = files("lifagu").joinpath("web/static")
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


@dataclass(eq=False)
class Application:
    """One server's state and its routes.

    given: the model named on the command line; token: what a browser must show once.
    """

    sessions: Sessions
    gate: Gate
    given: ModelSource | None
    token: str
    read_only: bool
    static: dict[str, bytes] = field(default_factory=static_files)

    @property
    def cookie(self) -> str:
        """The name of the cookie; cookies do not tell ports apart."""
        return f"lifagu-{self.gate.port}"

    def guarded(self) -> ASGIApp:
        """The whole as an ASGI application, guarded."""
        routes = [
            _route("GET", "/", self.page),
            _route("GET", "/static/{name}", self.file),
            _route("GET", "/api/start", self.start),
            _route("POST", "/api/models", self.open),
            _route("DELETE", "/api/models/{model}", self.close),
            _route("POST", "/api/models/{model}/{operation}", self.ask),
            _route("GET", "/api/jobs/{job}", self.look),
            _route("DELETE", "/api/jobs/{job}", self.cancel),
        ]
        handlers: Any = {404: _nothing_here, 405: _nothing_here, 500: _own_mistake}
        inner = Starlette(routes=routes, exception_handlers=handlers)
        inner.router.redirect_slashes = False
        return Guarded(inner, self.gate, self._lets_in)

    def _lets_in(self, request: Request) -> bool:
        """Whether a request may lead anywhere; without the token only to the page."""
        # not request.url, of which the Host header is a part
        is_entrance = request.scope["path"] == "/" and request.method in SAFE
        return is_entrance or self._is_welcome(self._cookie_of(request)[0])

    # ---- the page

    async def page(self, request: Request) -> Response:
        """The page itself; a browser that shows the token, or did before, gets a session."""
        token = request.query_params.get("token")
        is_known = self._session_of(request) is not None
        if not any(map(self._is_welcome, (token or "", self._cookie_of(request)[0]))):
            return Response(NO_TOKEN, 401, media_type="text/html")
        if token is None:
            response = _file(self.static["index.html"], ".html")
        else:
            response = RedirectResponse("/", 303)
        if not is_known:
            try:
                name = self.sessions.new()
            except TooLargeError as error:
                raise Refused(503, error.message) from None
            held = f"{self.token}.{name}"
            response.set_cookie(self.cookie, held, httponly=True, samesite="lax", path="/")
        return response

    def _is_welcome(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())

    def _cookie_of(self, request: Request) -> tuple[str, str]:
        """The token and the name of the session that a browser remembers."""
        token, _, name = request.cookies.get(self.cookie, "").partition(".")
        return token, name

    async def file(self, request: Request) -> Response:
        """A style sheet or a script: one of a fixed list."""
        name = request.path_params["name"]
        if name not in self.static:
            raise Refused(404, "there is no such file")
        return _file(self.static[name], Path(name).suffix)

    async def start(self, request: Request) -> Response:
        """What can be opened and chosen here."""
        self._session(request)
        examples = [
            {"name": name, "title": each.title, "about": each.about}
            for name, each in EXAMPLES.items()
        ]
        value = {
            "version": lifagu.__version__,
            "examples": examples,
            "given": self.given and self.given.title,
            "read_only": self.read_only,
            "upload_limit": self.sessions.limits.upload,
            "endings": ENDINGS,
        }
        return _response(json_reply(value))

    # ---- models

    async def open(self, request: Request) -> Response:
        """Open an example, the model named on the command line, or the bytes of the request."""
        session, asked = self._session(request), request.query_params
        if len(asked) != 1 or next(iter(asked)) not in ("example", "given", "ending"):
            raise Refused(400, "name an example, the given model, or the ending of an upload")
        name, room = self.sessions.room_for()
        session.opening += 1
        try:
            source = await self._source(request, room)
            model = self.sessions.open(session, name, room, source)
        except BaseException:
            room.close()
            raise
        finally:
            session.opening -= 1
        response = await self._run(session, model, "open", b"{}")
        response.headers["x-lifagu-model"] = name
        return response

    async def _source(self, request: Request, room: Room) -> ModelSource:
        asked = request.query_params
        if "example" in asked:
            return example_source(asked["example"][:100])
        if "given" in asked:
            if self.given is None:
                raise Refused(404, "no model was named when the server was started")
            return self.given
        if self.read_only:
            raise Refused(403, "this server shows its own models only (--read-only)")
        source = upload_source(room.folder, "upload", asked["ending"])
        most = self.sessions.limits.upload
        room.check(min(_told(request), most))
        with source.path.open("wb") as file:
            async for part in _parts(request, most, UPLOAD_SECONDS):
                room.take(len(part))
                file.write(part)
        return source

    async def close(self, request: Request) -> Response:
        """Close a model of this session."""
        session = self._session(request)
        self._model(request, session).close()
        del session.models[request.path_params["model"]]
        return Response(status_code=204)

    async def ask(self, request: Request) -> Response:
        """Ask something about a model of this session."""
        session = self._session(request)
        model, operation = self._model(request, session), request.path_params["operation"]
        if operation not in OPERATIONS:
            known = ", ".join(OPERATIONS)
            raise Refused(404, f"there is no operation of that name; there are {known}")
        return await self._run(session, model, operation, await _body(request))

    async def _run(
        self, session: Session, model: OpenModel, operation: str, body: bytes
    ) -> Response:
        """The reply if it comes soon, else the name of the job."""
        name, job = self.sessions.start(session, model, operation, body)
        return await self._news(session, name, job, PATIENCE)

    # ---- jobs

    async def look(self, request: Request) -> Response:
        """The reply of a job, or how far it is."""
        session = self._session(request)
        job = self._job(request, session)
        return await self._news(session, request.path_params["job"], job, LONG_POLL)

    async def cancel(self, request: Request) -> Response:
        """Stop a job."""
        session = self._session(request)
        self._job(request, session).stop.set()
        return Response(status_code=204)

    async def _news(self, session: Session, name: str, job: Job, seconds: float) -> Response:
        await asyncio.wait({job.task}, timeout=seconds)
        if not job.task.done():
            return _response(json_reply({"job": name, "progress": json.loads(job.progress)}, 202))
        session.jobs.pop(name, None)
        return _response(job.task.result())

    # ---- who asks

    def _session_of(self, request: Request) -> Session | None:
        token, name = self._cookie_of(request)
        return self.sessions.find(name) if self._is_welcome(token) else None

    def _session(self, request: Request) -> Session:
        session = self._session_of(request)
        if session is None:
            raise Refused(401, "this session is not known (any more); load the page again")
        return session

    def _model(self, request: Request, session: Session) -> OpenModel:
        model = session.models.get(request.path_params["model"])
        if model is None:
            raise Refused(404, "this model is not open (any more); open it again")
        return model

    def _job(self, request: Request, session: Session) -> Job:
        job = session.jobs.get(request.path_params["job"])
        if job is None:
            raise Refused(404, "there is no such job (any more)")
        return job


def _route(method: str, path: str, handler: Callable[[Request], Awaitable[Response]]) -> Route:
    """A route to a handler whose refusals become replies."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except Refused as refused:
            return _response(refused.reply)
        except LifaguError as error:
            return _response(refusal(error))
        except ClientDisconnect:
            return Response(status_code=400)

    return Route(path, answer, methods=[method])


class Guarded:
    """An application behind its gate, which gives every reply the headers it must have."""

    def __init__(self, inner: ASGIApp, gate: Gate, lets_in: Callable[[Request], bool]) -> None:
        self._inner, self._gate, self._lets_in = inner, gate, lets_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        asked = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        refused = self._gate.refusal(scope["method"], asked)
        if refused is None and not self._lets_in(Request(scope)):
            refused = NOT_LET_IN

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = {name.encode(): value.encode() for name, value in HEADERS.items()}
                own = message["headers"]
                for name, _ in own:
                    headers.pop(name, None)
                message = {**message, "headers": [*own, *headers.items()]}
            await send(message)

        if refused is None:
            await self._inner(scope, receive, send_with_headers)
            return
        response = _response(error_reply(*refused))
        if refused is TWO_LENGTHS:  # nobody knows where the next request begins
            response.headers["connection"] = "close"
        await response(scope, receive, send_with_headers)


async def _body(request: Request) -> bytes:
    """The body of a request that is no upload."""
    return b"".join([part async for part in _parts(request, BODY, BODY_SECONDS)])


def _told(request: Request) -> int:
    """The size of a body as far as it is told before it comes; h11 lets only digits in."""
    return int(request.headers.get("content-length", "0")[:20])


async def _parts(request: Request, most: int, seconds: float) -> AsyncIterator[bytes]:
    """The body of a request, within so many bytes and seconds."""
    size = 0
    too_large = Refused(413, f"this is more than {size_text(most)}, the most that is taken here")
    if _told(request) > most:
        raise too_large
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise too_large
                yield part
    except TimeoutError:
        raise Refused(408, "the request came too slowly") from None


def _response(reply: Reply) -> Response:
    response = Response(reply.body, reply.status, media_type=reply.type)
    if reply.name is not None:
        response.headers["content-disposition"] = f'attachment; filename="{reply.name}"'
    return response


def _file(body: bytes, ending: str) -> Response:
    return Response(body, media_type=TYPES[ending])


async def _nothing_here(_: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    return _response(error_reply(status, "there is nothing here that answers this"))


async def _own_mistake(_: Request, error: Exception) -> Response:
    traceback.print_exception(error)
    return _response(OWN_MISTAKE)
